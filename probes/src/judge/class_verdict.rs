//! The verdict on each class of attackers: who knows more may recover more, and each is told apart.

use super::attacker::class_of;
use super::rate::RecoveryRate;
use super::verdict::{CertificateVerdict, Refusal};
use crate::{AttackerClass, Attackers, Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Verdict on one class of attackers.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassVerdict {
    /// What its attackers know.
    pub class: AttackerClass,
    /// Whether every bound of theirs holds, every control of theirs fired and each answered.
    pub verdict: CertificateVerdict,
    /// How far above chance their largest upper bound lies, of each measure that is judged.
    pub bounds: Vec<ClassBound>,
}

/// Largest excess of an upper bound over chance within a class.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassBound {
    /// What was asked.
    pub measure: Measure,
    /// By whom it is.
    pub attacker: String,
    /// Of which probes.
    pub kind: ProbeKind,
    /// The excess, as a share.
    pub excess: f64,
    /// How large it may be.
    pub threshold: f64,
}

impl fmt::Display for ClassVerdict {
    /// `database: certified, top5 up to chance +2.10 % (may be 5 %, by census on asked)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.label(), self.verdict.label())?;
        write_bounds(f, &self.bounds)
    }
}

/// Writes bounds after a verdict.
pub(super) fn write_bounds(f: &mut fmt::Formatter<'_>, bounds: &[ClassBound]) -> fmt::Result {
    bounds.iter().try_for_each(|bound| {
        write!(
            f,
            ", {} up to chance {:+.2} % (may be {:.1} %, by {} on {})",
            bound.measure.label(),
            bound.excess * 100.0,
            bound.threshold * 100.0,
            bound.attacker,
            bound.kind.label()
        )
    })
}

/// The largest excess of each measure that is judged.
pub(super) fn bounds(rates: &[&RecoveryRate]) -> Vec<ClassBound> {
    Measure::ALL
        .into_iter()
        .filter_map(|measure| largest(rates, measure))
        .collect()
}

/// Whether a refusal speaks of a class. A blind attacker of the database proves nothing in any class of the database.
fn is_of(refusal: &Refusal, class: AttackerClass) -> bool {
    match refusal {
        Refusal::AboveThreshold { kind, attacker, .. }
        | Refusal::WindowsAboveThreshold { kind, attacker, .. }
        | Refusal::Unanswered { kind, attacker, .. } => class_of(attacker, *kind) == class,
        Refusal::BlindAttacker { attacker, .. } => {
            Attackers::NAMES.contains(&attacker.as_str()) == (class != AttackerClass::Model)
        }
        Refusal::BaselineOff { kind, .. } => AttackerClass::of_database(*kind) == class,
    }
}

/// The verdict on every class that was asked, from the one that knows least.
pub(super) fn class_verdicts(rates: &[RecoveryRate], refusals: &[Refusal]) -> Vec<ClassVerdict> {
    let of_class = |class: AttackerClass| {
        let rates: Vec<&RecoveryRate> = rates
            .iter()
            .filter(|rate| class_of(&rate.attacker, rate.kind) == class)
            .collect();
        let is_refused = refusals.iter().any(|refusal| is_of(refusal, class));
        (!rates.is_empty()).then(|| ClassVerdict {
            class,
            verdict: if is_refused {
                CertificateVerdict::Refused
            } else {
                CertificateVerdict::Certified
            },
            bounds: bounds(&rates),
        })
    };
    AttackerClass::ALL.into_iter().filter_map(of_class).collect()
}

fn largest(rates: &[&RecoveryRate], measure: Measure) -> Option<ClassBound> {
    let judged = rates
        .iter()
        .filter(|rate| rate.measure == measure && rate.threshold.is_some());
    let largest = judged.max_by(|left, right| left.excess().total_cmp(&right.excess()))?;
    Some(ClassBound {
        measure,
        attacker: largest.attacker.clone(),
        kind: largest.kind,
        excess: largest.excess(),
        threshold: largest.threshold?,
    })
}

/// What follows from the classes: a mask is certified when it holds against language models and against the database,
/// as far as they were asked. Who also knows stocks or the day is judged beside it; alone, such a class decides.
pub(super) fn verdict(classes: &[ClassVerdict], refusals: &[Refusal]) -> CertificateVerdict {
    let decides =
        |class: &&ClassVerdict| matches!(class.class, AttackerClass::Model | AttackerClass::Database);
    let is_refused = |class: &ClassVerdict| class.verdict == CertificateVerdict::Refused;
    let refused = if classes.iter().any(|class| decides(&class)) {
        classes.iter().filter(decides).any(is_refused)
    } else {
        !refusals.is_empty()
    };
    if refused {
        CertificateVerdict::Refused
    } else {
        CertificateVerdict::Certified
    }
}
