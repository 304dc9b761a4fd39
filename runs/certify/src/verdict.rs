//! Why a certificate is refused.

use super::certificate::{Baseline, ControlFigure};
use super::count::Silence;
use super::figure::{Figure, Standing};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a certificate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every bound holds, every control fired, and every attacker answered.
    Certified,
    /// Something did not; the refusals say what.
    Refused,
}

impl Verdict {
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
pub const UNANSWERED_MOST: f64 = 0.05;

/// One reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", deny_unknown_fields)]
pub enum Refusal {
    /// An attacker may recover more than the threshold allows.
    AboveThreshold {
        /// The probes' kind.
        kind: String,
        /// The attacker.
        attacker: String,
        /// What it recovered.
        measure: String,
        /// Of how many probes, as a share.
        share: f64,
        /// Simultaneous upper bound of that share.
        bound: f64,
        /// What chance recovers.
        chance: f64,
        /// How far above chance the bound may lie.
        threshold: f64,
    },
    /// An attacker left too many probes without an answer.
    Unanswered {
        /// The probes' kind.
        kind: String,
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
        control: String,
        /// What it should have recovered.
        measure: String,
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
        kind: String,
        /// What was recovered.
        measure: String,
        /// Its expectation.
        chance: f64,
        /// Simultaneous interval of what `random` recovered.
        interval: (f64, f64),
        /// How likely that is, over all kinds and measures.
        p_value: f64,
    },
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
                "{attacker} recovers {measure} of {} of the {kind} probes, up to {}: that is more than {} above the {} of chance",
                percent(share),
                percent(bound),
                percent(threshold),
                percent(chance)
            ),
            Self::Unanswered {
                kind,
                attacker,
                probes,
                unanswered,
            } => write!(
                f,
                "{attacker} left {unanswered} of {probes} {kind} probes without an answer: it proves nothing"
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
                "{attacker} is blind: on the control {control} it recovers {measure} of {}, at least {}, and should be {} above the {} of chance",
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
                "random recovers {measure} of {} to {} of the {kind} probes, but chance gives {} (p = {p_value:.1e}): the baseline is wrong",
                percent(&interval.0),
                percent(&interval.1),
                percent(chance)
            ),
        }
    }
}

/// Every reason against a certificate: what attackers recover, the surest first, then what is wrong with the attackers.
#[must_use]
pub fn refusals(
    figures: &[Figure],
    silences: &[Silence],
    controls: &[ControlFigure],
    baseline: &[Baseline],
) -> Vec<Refusal> {
    let mut broken: Vec<&Figure> = figures
        .iter()
        .filter(|figure| figure.standing == Standing::Broken)
        .collect();
    // What is certainly recovered comes before what few probes could not rule out.
    let certain = |figure: &Figure| figure.simultaneous.0 - figure.chance;
    broken.sort_by(|left, right| certain(right).total_cmp(&certain(left)));
    let broken = broken.into_iter().map(|figure| Refusal::AboveThreshold {
        kind: figure.kind.clone(),
        attacker: figure.attacker.clone(),
        measure: figure.measure.clone(),
        share: figure.share,
        bound: figure.simultaneous.1,
        chance: figure.chance,
        threshold: figure.threshold.unwrap_or(0.0),
    });
    let silent = silences
        .iter()
        .filter(|silence| UNANSWERED_MOST < super::figure::share(silence.unanswered, silence.probes))
        .map(|silence| Refusal::Unanswered {
            kind: silence.kind.clone(),
            attacker: silence.attacker.clone(),
            probes: silence.probes,
            unanswered: silence.unanswered,
        });
    let blind = controls
        .iter()
        .filter(|control| !control.fired)
        .map(|control| Refusal::BlindAttacker {
            attacker: control.attacker.clone(),
            control: control.control.clone(),
            measure: control.measure.clone(),
            share: control.share,
            bound: control.lower,
            chance: control.chance,
            need: control.need,
        });
    let off = baseline
        .iter()
        .filter(|baseline| !baseline.holds)
        .map(|baseline| Refusal::BaselineOff {
            kind: baseline.kind.clone(),
            measure: baseline.measure.clone(),
            chance: baseline.chance,
            interval: baseline.interval,
            p_value: baseline.p_value,
        });
    broken.chain(silent).chain(blind).chain(off).collect()
}
