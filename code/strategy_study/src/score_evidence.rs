//! What the scores of a judged version are made of, as a record keeps it.

use ktd_strategy_code::{
    FidelityEvidence, PaperEvidence, PaperScores, ReliabilityEvidence, RiskEvidence, SourceFacts,
};
use serde::{Deserialize, Serialize};

/// What the scores of both kinds are made of.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreEvidence {
    /// Of D1, D2 and D3 as measured.
    pub measured: MeasuredEvidence,
    /// Of the published static scores; none for a source that was not looked at.
    pub published: Option<PublishedEvidence>,
}

/// What D1, D2 and D3 as measured are made of.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredEvidence {
    /// Of D1.
    pub fidelity: FidelityEvidence,
    /// Of D2; none for a program that does not run, which scores 0.
    pub risk: Option<RiskEvidence>,
    /// Of D3; none for a program that does not run, which scores 0.
    pub reliability: Option<ReliabilityEvidence>,
}

impl MeasuredEvidence {
    /// Whether each part is a share from 0 to 1, as runs make them: a record may say anything.
    pub(crate) fn is_of_shares(&self) -> bool {
        let (card, near) = self.fidelity.parts();
        let risk = self.risk.into_iter().flat_map(RiskEvidence::parts);
        let reliability = self.reliability.into_iter().flat_map(ReliabilityEvidence::parts);
        let distances = self.fidelity.distances.iter().copied();
        [card]
            .into_iter()
            .chain(near)
            .chain(distances)
            .chain(risk)
            .chain(reliability)
            .all(|part| (0.0..=1.0).contains(&part))
    }

    /// D1, D2 and D3, each 0 to 1; D1 is 0 for a version that has drifted.
    #[must_use]
    pub fn scores(&self, has_drifted: bool) -> [f64; 3] {
        let fidelity = FidelityEvidence {
            has_drifted,
            ..self.fidelity.clone()
        };
        [
            fidelity.score(),
            self.risk.map_or(0.0, RiskEvidence::score),
            self.reliability.map_or(0.0, ReliabilityEvidence::score),
        ]
    }
}

/// What the published static scores of a source are made of, beside its text.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedEvidence {
    /// What its syntax tree shows.
    pub facts: SourceFacts,
    /// The class that is run.
    pub class_name: String,
    /// Whether it gave logs.
    pub has_logs: bool,
    /// Required columns that its logs lack.
    pub missing_columns: usize,
    /// Share of required cells that are filled.
    pub completeness: f64,
    /// Words that a source of the document is expected to contain.
    pub keywords: Vec<String>,
    /// Parameters of the document.
    pub parameters: usize,
}

impl PublishedEvidence {
    /// The published static scores of the source.
    #[must_use]
    pub fn scores(&self, source: &str) -> PaperScores {
        let evidence = PaperEvidence {
            class_name: &self.class_name,
            has_trades: self.has_logs,
            has_bars: self.has_logs,
            missing_columns: self.missing_columns,
            completeness: self.completeness,
            keywords: &self.keywords,
            parameters: self.parameters,
        };
        PaperScores::of(source, &self.facts, evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_beyond_a_whole_is_found() {
        let sound = MeasuredEvidence {
            fidelity: FidelityEvidence {
                checks_held: 3,
                checks: 4,
                distances: vec![0.0, 1.0],
                has_drifted: false,
            },
            risk: Some(RiskEvidence {
                actions: 3,
                breaches: 2,
                logged_breaches: 1,
                stress_passed: 8,
                stress_runs: 8,
            }),
            reliability: None,
        };
        assert!(sound.is_of_shares());
        let mut forged = sound.clone();
        forged.fidelity.checks_held = 5;
        assert!(!forged.is_of_shares());
        let mut forged = sound.clone();
        forged.fidelity.distances = vec![-9.0];
        assert!(!forged.is_of_shares());
        let mut forged = sound;
        forged.risk.as_mut().unwrap().logged_breaches = 3;
        assert!(!forged.is_of_shares());
    }
}
