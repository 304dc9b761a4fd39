//! `certificate.json`: who tried, what they recovered, up to which bound, and what follows.

use super::attacker_record::{AttackerRecord, Knowledge, expected_recoveries};
use super::set_record::{Origin, SetRecord};
use crate::CertifyError;
use ktd_probes::judge::{
    AcceptanceCriteria, AcceptanceRule, AttackCounts, BaselineCheck, CertificateVerdict, ClassVerdict,
    ControlRate, ExpectedRecovery, Judgement, JudgementSettings, RecoveryCount, RecoveryRate, Refusal,
    Thresholds, UnansweredCount,
};
use ktd_probes::{Measure, ProbeKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Certificate of a mask: what is signed. Everything in it but hashes follows from the counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What follows.
    pub verdict: CertificateVerdict,
    /// What follows for each class of attackers.
    pub classes: Vec<ClassVerdict>,
    /// Everything that did not hold, of every class.
    pub refusals: Vec<Refusal>,
    /// The probes, the mask, the panel and the program.
    pub set: SetRecord,
    /// Confidence of each interval, by itself and over all attackers.
    pub confidence: f64,
    /// How far above chance an upper bound may lie.
    pub thresholds: Thresholds,
    /// Who tried.
    pub attackers: Vec<AttackerRecord>,
    /// What they recovered.
    pub figures: Vec<RecoveryRate>,
    /// Probes without an answer.
    pub unanswered: Vec<UnansweredCount>,
    /// Whether each attacker succeeds where it should.
    pub controls: Vec<ControlRate>,
    /// Whether chance recovers what it must.
    pub baseline: Vec<BaselineCheck>,
    /// SHA-256 of every other file of the certificate, by its name.
    pub files: BTreeMap<String, String>,
    /// What this does not say.
    pub not_covered: Vec<String>,
}

/// What every certificate leaves open.
const NOT_COVERED: [&str; 5] = [
    "agents that ask otherwise than the kinds of probes do: what they call and order follows rules that are fixed beforehand",
    "attackers with tools of their own, such as a search engine or later data",
    "panels, windows, episodes longer than these, and limits of tools other than those named here",
    "decision modes other than open-research",
    "what a model may conclude from companies' names or dates in its own words",
];

impl Certificate {
    /// What its signer may have chosen of the judgement.
    #[must_use]
    pub const fn settings(&self) -> JudgementSettings {
        JudgementSettings {
            thresholds: self.thresholds,
            confidence: self.confidence,
            joint_days: self.set.plan.joint_days,
        }
    }

    /// The certificate that follows from what was counted.
    ///
    /// # Errors
    /// [`CertifyError::Statistics`] for impossible counts.
    pub fn judge(
        set: SetRecord,
        criteria: AcceptanceCriteria,
        attackers: Vec<AttackerRecord>,
        counts: &AttackCounts,
        files: BTreeMap<String, String>,
    ) -> Result<Self, CertifyError> {
        let rule = AcceptanceRule {
            mask: set.plan.mask(),
            criteria,
            attackers: attackers.len(),
        };
        let judged = Judgement::of(&rule, counts)?;
        Ok(Self {
            verdict: judged.verdict,
            classes: judged.classes,
            refusals: judged.refusals,
            not_covered: not_covered(&set, &judged.rates),
            set,
            confidence: criteria.confidence,
            thresholds: criteria.thresholds,
            attackers,
            figures: judged.rates,
            unanswered: counts.unanswered.clone(),
            controls: judged.controls,
            baseline: judged.baseline,
            files,
        })
    }

    /// By what it was judged.
    #[must_use]
    pub const fn criteria(&self) -> AcceptanceCriteria {
        AcceptanceCriteria {
            confidence: self.confidence,
            thresholds: self.thresholds,
        }
    }

    /// The certificate that follows from its own counts; no file is needed.
    ///
    /// # Errors
    /// [`CertifyError::Statistics`] for impossible counts.
    pub fn judged_again(&self) -> Result<Self, CertifyError> {
        let expected = expected_recoveries(&self.attackers, &self.set);
        let recovered = |rate: &RecoveryRate| RecoveryCount {
            kind: rate.kind,
            attacker: rate.attacker.clone(),
            measure: rate.measure,
            asked: rate.asked,
            hits: rate.hits,
            chance: rate.chance,
        };
        let control = |((attacker, expected), found): ((&str, ExpectedRecovery), &ControlRate)| {
            let count = RecoveryCount {
                kind: expected.control.kind(),
                attacker: attacker.to_owned(),
                measure: expected.measure,
                asked: found.asked,
                hits: found.hits,
                chance: found.chance,
            };
            (expected, count)
        };
        let counts = AttackCounts {
            recovered: self.figures.iter().map(recovered).collect(),
            unanswered: self.unanswered.clone(),
            controls: expected.into_iter().zip(&self.controls).map(control).collect(),
        };
        let (set, attackers) = (self.set.clone(), self.attackers.clone());
        Self::judge(set, self.criteria(), attackers, &counts, self.files.clone())
    }

    /// How many attackers know so.
    #[must_use]
    pub fn attackers_knowing(&self, knows: Knowledge) -> usize {
        self.attackers
            .iter()
            .filter(|attacker| attacker.knows == knows)
            .count()
    }

    /// The largest excess over chance of the simultaneous upper bound of a measure, over kinds and attackers.
    #[must_use]
    pub fn largest_excess(&self, measure: Measure) -> Option<f64> {
        self.figures
            .iter()
            .filter(|figure| figure.measure == measure && figure.threshold.is_some())
            .map(RecoveryRate::excess)
            .max_by(f64::total_cmp)
    }
}

fn not_covered(set: &SetRecord, figures: &[RecoveryRate]) -> Vec<String> {
    let mut lines: Vec<String> = NOT_COVERED.iter().map(|line| (*line).to_owned()).collect();
    let kinds = |is_so: &dyn Fn(ProbeKind) -> bool| -> Option<String> {
        let labels: Vec<&str> = ProbeKind::ALL
            .into_iter()
            .filter(|kind| is_so(*kind))
            .map(ProbeKind::label)
            .collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    };
    if ProbeKind::ALL
        .into_iter()
        .all(|kind| set.count(kind) == 0 || !kind.is_asked())
    {
        lines.push("agents that ask and order at all: no probe is one of theirs".to_owned());
    }
    if let Some(absent) = kinds(&|kind| set.count(kind) == 0) {
        lines.push(format!("probes of the kinds {absent}: none were put"));
    }
    let asks_sector = |kind: ProbeKind| {
        let mut own = figures.iter().filter(|figure| figure.kind == kind);
        own.any(|figure| figure.measure == Measure::Sector)
    };
    let sectorless = |kind| 0 < set.count(kind) && kind != ProbeKind::Linked && !asks_sector(kind);
    if let Some(sectorless) = kinds(&sectorless) {
        lines.push(format!(
            "sectors: they were not asked of the kinds {sectorless}, for the panel has none of these stocks"
        ));
    }
    if set.probes == Origin::Given {
        lines.push(
            "how the probes were made: they were given, and that they show what this mask shows is only claimed"
                .to_owned(),
        );
    }
    lines
}
