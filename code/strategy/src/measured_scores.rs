//! Measured scores of a submission, from what its programs did: fidelity, risk, reliability.

use crate::indicators::{count, mean};
use crate::likeness::RunLikeness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What D1, fidelity to the document, is made of.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FidelityEvidence {
    /// Checks of the card that hold.
    pub checks_held: usize,
    /// Checks of the card.
    pub checks: usize,
    /// Distance to the reference in every scenario, 0 to 1; none where a strategy has no reference.
    pub distances: Vec<f64>,
    /// How alike it is to the reference over all bars; none where there is none, or where it does not run.
    pub likeness: Option<RunLikeness>,
    /// Whether the version has drifted: then there is no fidelity. What became of a version says so, not its runs: this is
    /// no part of its record.
    #[serde(skip)]
    pub has_drifted: bool,
}

impl FidelityEvidence {
    /// D1: the smaller of the F1 over acts and the overlap of exposure, 0 for a program that does not run; without a reference the
    /// share of the card's checks that hold; 0 after drift.
    #[must_use]
    pub fn score(&self) -> f64 {
        if self.has_drifted {
            return 0.0;
        }
        match self.likeness {
            Some(likeness) => likeness.fidelity(),
            None if self.distances.is_empty() => self.parts().0,
            None => 0.0,
        }
    }

    /// D1 as it was until format 5, which orders errors badly: 0.4 x share of checks that hold + 0.6 x mean of 1 - distance; without
    /// a reference that share alone; 0 after drift.
    #[must_use]
    pub fn card_and_distance(&self) -> f64 {
        if self.has_drifted {
            return 0.0;
        }
        let (card, near) = self.parts();
        near.map_or(card, |near| 0.4 * card + 0.6 * near)
    }

    /// The share of checks that hold, and the mean of 1 - distance, which nothing has without a reference; each 0 to 1, before
    /// what drift takes away.
    #[must_use]
    pub fn parts(&self) -> (f64, Option<f64>) {
        let near: Vec<f64> = self.distances.iter().map(|distance| 1.0 - distance).collect();
        (share(self.checks_held, self.checks), mean(&near))
    }
}

/// What D2, risk, is made of: sums over the long run and the stress runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RiskEvidence {
    /// Bars with an action, or on which a constraint was broken.
    pub judged_bars: usize,
    /// Bars on which a constraint was broken.
    pub broken_bars: usize,
    /// Constraints broken, each once a bar.
    pub breaches: usize,
    /// Those of them that the program logged itself.
    pub logged_breaches: usize,
    /// Stress runs passed.
    pub stress_passed: usize,
    /// Stress runs.
    pub stress_runs: usize,
}

impl RiskEvidence {
    /// D2: 0.5 x share of judged bars without a breach + 0.3 x share of stress runs passed + 0.2 x share of breaches logged.
    #[must_use]
    pub fn score(self) -> f64 {
        let [kept, passed, logged] = self.parts();
        0.5 * kept + 0.3 * passed + 0.2 * logged
    }

    /// The share of judged bars without a breach, that of stress runs passed, and that of breaches logged; each 0 to 1. A state that
    /// is wrong for many bars, as a short that is kept, is judged on each of them: counted against actions alone the first such
    /// holding would cost as much as all of them.
    #[must_use]
    pub fn parts(self) -> [f64; 3] {
        let broken = share(self.broken_bars, self.judged_bars);
        let logged = if self.breaches == 0 {
            1.0
        } else {
            share(self.logged_breaches, self.breaches)
        };
        [1.0 - broken, share(self.stress_passed, self.stress_runs), logged]
    }
}

/// What D3, reliability, is made of.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReliabilityEvidence {
    /// Whether the gate on determinism is passed.
    pub is_deterministic: bool,
    /// Whether the gate on look-ahead is passed.
    pub is_free_of_leaks: bool,
    /// Share of required cells that are filled.
    pub completeness: f64,
    /// Share of the logs that can be traced to bars and prices.
    pub traced: f64,
    /// Stress runs that ended.
    pub stress_ended: usize,
    /// Stress runs.
    pub stress_runs: usize,
}

impl ReliabilityEvidence {
    /// D3: 0.30 determinism + 0.30 no look-ahead + 0.25 x completeness x share that can be traced + 0.15 x share of stress runs that end.
    #[must_use]
    pub fn score(self) -> f64 {
        let [determinism, no_leak, logs, ended] = self.parts();
        0.30 * determinism + 0.30 * no_leak + 0.25 * logs + 0.15 * ended
    }

    /// Determinism, no look-ahead, completeness times the share that can be traced, and the share of stress runs that end; each 0 to 1.
    #[must_use]
    pub fn parts(self) -> [f64; 4] {
        let one = |holds: bool| if holds { 1.0 } else { 0.0 };
        [
            one(self.is_deterministic),
            one(self.is_free_of_leaks),
            self.completeness * self.traced,
            share(self.stress_ended, self.stress_runs),
        ]
    }
}

/// A share; of nothing 0.
fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { count(part) / count(of) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_submission_has_ones_and_drift_has_no_fidelity() {
        let fidelity = FidelityEvidence {
            checks_held: 12,
            checks: 12,
            distances: vec![0.0; 5],
            likeness: Some(RunLikeness {
                reference_acts: 4,
                acts: 4,
                shared_acts: 4.0,
                shared_exposure: 9.0,
                exposure: 9.0,
            }),
            has_drifted: false,
        };
        assert!((fidelity.score() - 1.0).abs() < 1e-15);
        let half = FidelityEvidence {
            distances: vec![0.5; 5],
            likeness: fidelity.likeness.map(|own| RunLikeness {
                shared_acts: 2.0,
                ..own
            }),
            ..fidelity.clone()
        };
        assert!((half.card_and_distance() - 0.7).abs() < 1e-15 && (half.score() - 0.5).abs() < 1e-15);
        let unrun = FidelityEvidence {
            likeness: None,
            ..fidelity.clone()
        };
        assert!(unrun.score().abs() < 1e-15);
        let without_reference = FidelityEvidence {
            checks_held: 9,
            distances: Vec::new(),
            likeness: None,
            ..fidelity.clone()
        };
        assert!((without_reference.score() - 0.75).abs() < 1e-15);
        assert!(
            FidelityEvidence {
                has_drifted: true,
                ..fidelity
            }
            .score()
            .abs()
                < 1e-15
        );
        let risk = RiskEvidence {
            judged_bars: 0,
            broken_bars: 0,
            breaches: 0,
            logged_breaches: 0,
            stress_passed: 8,
            stress_runs: 8,
        };
        assert!((risk.score() - 1.0).abs() < 1e-15);
        let broken = RiskEvidence {
            judged_bars: 10,
            broken_bars: 6,
            breaches: 8,
            logged_breaches: 2,
            ..risk
        };
        assert!((broken.score() - 0.55).abs() < 1e-15);
        let reliability = ReliabilityEvidence {
            is_deterministic: true,
            is_free_of_leaks: true,
            completeness: 0.8,
            traced: 0.5,
            stress_ended: 4,
            stress_runs: 8,
        };
        assert!((reliability.score() - 0.775).abs() < 1e-15);
    }
}
