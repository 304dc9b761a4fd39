//! Why a certificate is refused.

use super::baseline::BaselineCheck;
use super::control::{ControlRate, ControlSet};
use super::count::UnansweredCount;
use super::rate::{RateInterval, RateStatus, RecoveryRate, share};
use super::window_rate::WindowRate;
use crate::{Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Verdict of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificateVerdict {
    /// Every bound holds, every control fired, and every attacker answered.
    Certified,
    /// Something did not; the refusals say what.
    Refused,
}

impl CertificateVerdict {
    /// The name in files and tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Refused => "refused",
        }
    }
}

/// Share of a kind's probes that an attacker may leave without an answer.
const UNANSWERED_MOST: f64 = 0.05;

impl UnansweredCount {
    /// Whether so many were left without an answer that a certificate is refused for it.
    #[must_use]
    pub fn is_too_few(&self) -> bool {
        UNANSWERED_MOST < share(self.unanswered, self.probes)
    }
}

/// Reason why a certificate is refused.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", deny_unknown_fields)]
pub enum Refusal {
    /// An attacker may recover more than the threshold allows.
    AboveThreshold {
        /// The probes' kind.
        kind: ProbeKind,
        /// The attacker.
        attacker: String,
        /// What it recovered.
        measure: Measure,
        /// Of how many probes, as a share.
        share: f64,
        /// Simultaneous upper bound of that share.
        bound: f64,
        /// What chance recovers.
        chance: f64,
        /// How far above chance the bound may lie.
        threshold: f64,
    },
    /// An attacker may know the days of more windows than the threshold allows.
    WindowsAboveThreshold {
        /// The probes' kind.
        kind: ProbeKind,
        /// The attacker.
        attacker: String,
        /// Windows probed.
        probed: u64,
        /// Windows whose days it found.
        found: u64,
        /// Upper bound of the share of all windows.
        bound: f64,
        /// How large the bound may be.
        threshold: f64,
    },
    /// An attacker left too many probes without an answer.
    Unanswered {
        /// The probes' kind.
        kind: ProbeKind,
        /// The attacker.
        attacker: String,
        /// Probes put.
        probes: u64,
        /// Probes without an answer.
        unanswered: u64,
    },
    /// An attacker did not recover what a control gives away.
    BlindAttacker {
        /// The attacker.
        attacker: String,
        /// The control.
        control: ControlSet,
        /// What it should have recovered.
        measure: Measure,
        /// Of how many probes it did, as a share.
        share: f64,
        /// Lower end of the interval of that share.
        bound: f64,
        /// What chance recovers.
        chance: f64,
        /// How far above chance the bound had to lie.
        need: f64,
    },
    /// Chance does not recover what it must: its expectation lies outside the interval of the attacker `random`.
    BaselineOff {
        /// The probes' kind.
        kind: ProbeKind,
        /// What was recovered.
        measure: Measure,
        /// Its expectation.
        chance: f64,
        /// Simultaneous interval of what `random` recovered.
        interval: RateInterval,
        /// How likely that is, over all kinds and measures.
        p_value: f64,
    },
}

impl Refusal {
    /// Of windows: what their refusal says; nothing of another.
    fn of_windows(&self) -> String {
        let Self::WindowsAboveThreshold {
            kind,
            attacker,
            probed,
            found,
            bound,
            threshold,
        } = self
        else {
            return String::new();
        };
        let percent = |share: &f64| format!("{:.2} %", share * 100.0);
        format!(
            "{attacker} finds the days of {found} of {probed} windows with {} probes, so it may know up to {} of all, and {} are allowed",
            kind.label(),
            percent(bound),
            percent(threshold)
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| format!("{:.2} %", share * 100.0);
        match self {
            Self::AboveThreshold {
                kind,
                attacker,
                measure,
                share,
                bound,
                chance,
                threshold,
            } => write!(
                f,
                "{attacker} recovers {} of {} of the {} probes, up to {}: that is more than {} above the {} of chance",
                measure.label(),
                percent(share),
                kind.label(),
                percent(bound),
                percent(threshold),
                percent(chance)
            ),
            Self::WindowsAboveThreshold { .. } => f.write_str(&self.of_windows()),
            Self::Unanswered {
                kind,
                attacker,
                probes,
                unanswered,
            } => write!(
                f,
                "{attacker} left {unanswered} of {probes} {} probes without an answer: it proves nothing",
                kind.label()
            ),
            Self::BlindAttacker {
                attacker,
                control,
                measure,
                share,
                bound,
                chance,
                need,
            } => write!(
                f,
                "{attacker} is blind: on the control {} it recovers {} of {}, at least {}, and should be {} above the {} of chance",
                control.label(),
                measure.label(),
                percent(share),
                percent(bound),
                percent(need),
                percent(chance)
            ),
            Self::BaselineOff {
                kind,
                measure,
                chance,
                interval,
                p_value,
            } => write!(
                f,
                "random recovers {} of {} to {} of the {} probes, but chance gives {} (p = {p_value:.1e}): the baseline is wrong",
                measure.label(),
                percent(&interval.lower),
                percent(&interval.upper),
                kind.label(),
                percent(chance)
            ),
        }
    }
}

/// Every reason against a certificate: what attackers recover, the surest first, then what is wrong with the attackers.
#[must_use]
pub(super) fn refusals(
    (rates, windows): (&[RecoveryRate], &[WindowRate]),
    unanswered: &[UnansweredCount],
    controls: &[ControlRate],
    baseline: &[BaselineCheck],
) -> Vec<Refusal> {
    let mut broken: Vec<&RecoveryRate> = rates
        .iter()
        .filter(|rate| rate.status == RateStatus::Broken)
        .collect();
    // What is certainly recovered comes before what few probes could not rule out.
    let certain = |rate: &RecoveryRate| rate.simultaneous.lower - rate.chance;
    broken.sort_by(|left, right| certain(right).total_cmp(&certain(left)));
    let broken = broken.into_iter().map(|rate| Refusal::AboveThreshold {
        kind: rate.kind,
        attacker: rate.attacker.clone(),
        measure: rate.measure,
        share: rate.share,
        bound: rate.simultaneous.upper,
        chance: rate.chance,
        threshold: rate.threshold.unwrap_or(0.0),
    });
    let known = windows.iter().filter(|rate| rate.status == RateStatus::Broken);
    let known = known.map(|rate| Refusal::WindowsAboveThreshold {
        kind: rate.count.kind,
        attacker: rate.count.attacker.clone(),
        probed: rate.count.probed,
        found: u64::try_from(rate.count.found.len()).unwrap_or(u64::MAX),
        bound: rate.most,
        threshold: rate.threshold.unwrap_or(0.0),
    });
    let silent = unanswered
        .iter()
        .filter(|count| count.is_too_few())
        .map(|count| Refusal::Unanswered {
            kind: count.kind,
            attacker: count.attacker.clone(),
            probes: count.probes,
            unanswered: count.unanswered,
        });
    let blind = controls
        .iter()
        .filter(|control| !control.fired)
        .map(|control| Refusal::BlindAttacker {
            attacker: control.attacker.clone(),
            control: control.control,
            measure: control.measure,
            share: control.share,
            bound: control.lower,
            chance: control.chance,
            need: control.need,
        });
    let off = baseline
        .iter()
        .filter(|baseline| !baseline.holds)
        .map(|baseline| Refusal::BaselineOff {
            kind: baseline.kind,
            measure: baseline.measure,
            chance: baseline.chance,
            interval: baseline.interval,
            p_value: baseline.p_value,
        });
    broken
        .chain(known)
        .chain(silent)
        .chain(blind)
        .chain(off)
        .collect()
}

/// How to fix what refuses: another mask helps where an attacker succeeds, and nowhere else. Another seed is never the way:
/// whoever tries seeds until one certifies has certified nothing.
#[must_use]
pub fn how_to_fix(refusals: &[Refusal]) -> &'static str {
    let is_any = |of: fn(&Refusal) -> bool| refusals.iter().any(of);
    if is_any(|refusal| matches!(refusal, Refusal::AboveThreshold { .. })) {
        "put more probes if the share is small and its bound is not; else choose a mask that hides more, or thresholds \
         that you can defend"
    } else if is_any(|refusal| matches!(refusal, Refusal::WindowsAboveThreshold { .. })) {
        "probe more windows: leave `stretches` out, shorten `episode_steps`, or import a longer panel; else choose a mask that \
         hides more"
    } else if is_any(|refusal| matches!(refusal, Refusal::BlindAttacker { .. })) {
        "use a panel with more days and names, or more `control_probes`: an attacker must succeed somewhere"
    } else if is_any(|refusal| matches!(refusal, Refusal::Unanswered { .. })) {
        "its file in answers/ gives a `reason` for each: fix what keeps it from answering, or ask another model; nobody \
         who was asked may be left out"
    } else {
        "`random` is off its exact expectation, which says nothing of the mask: few probes may do so by chance; put more, \
         and if it is so again report it as a defect"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_for_what_refuses() {
        let silent = Refusal::Unanswered {
            kind: ProbeKind::Day,
            attacker: "a model".to_owned(),
            probes: 10,
            unanswered: 10,
        };
        let off = Refusal::BaselineOff {
            kind: ProbeKind::Day,
            measure: Measure::Top1,
            chance: 0.1,
            interval: RateInterval {
                lower: 0.2,
                upper: 0.3,
            },
            p_value: 1e-6,
        };
        let hint = how_to_fix(&[silent, off.clone()]);
        assert!(hint.contains("reason") && !hint.contains("more probes"), "{hint}");
        let hint = how_to_fix(&[off]);
        assert!(!hint.contains("seed") && hint.contains("defect"), "{hint}");
    }
}
