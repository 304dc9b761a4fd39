//! `certificate.json`: who tried, what they recovered, up to which bound, and what follows.

use super::attacker_record::{AttackerRecord, Knowledge, expected_recoveries};
use super::attempts::AttemptCounts;
use super::models_asked::ModelAsked;
use super::set_record::{Origin, SetRecord};
use crate::CertifyError;
use ktd_probes::judge::{
    AcceptanceCriteria, AcceptanceRule, AttackCounts, BaselineCheck, CertificateVerdict, ClassVerdict,
    ControlRate, DetectableShare, ExpectedRecovery, Judgement, JudgementSettings, KnownStocksVerdict,
    PassOdds, RecoveryCount, RecoveryRate, Refusal, Thresholds, UnansweredCount, WindowRate,
};
use ktd_probes::{AttackerClass, Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Certificate of a mask: what is signed. Everything in it but hashes follows from the counts.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What follows.
    pub verdict: CertificateVerdict,
    /// What follows for each class of attackers.
    pub classes: Vec<ClassVerdict>,
    /// What follows for each number of known stocks, where probes of the kind `asked_known` were put.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub known: Vec<KnownStocksVerdict>,
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
    /// Which language models were asked and when: a verdict on models holds for these alone.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub models: Vec<ModelAsked>,
    /// How often its signer committed to probes of this rung on this panel, and what became of it.
    pub attempts: AttemptCounts,
    /// What they recovered.
    pub figures: Vec<RecoveryRate>,
    /// Of how many windows they found the days.
    pub windows: Vec<WindowRate>,
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

/// What a certificate is judged from, beside the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct CertificateBasis {
    /// The probes, the mask, the panel and the program.
    pub set: SetRecord,
    /// By what it is judged.
    pub criteria: AcceptanceCriteria,
    /// Who tried.
    pub attackers: Vec<AttackerRecord>,
    /// Which language models were asked and when.
    pub models: Vec<ModelAsked>,
    /// How often its signer tried.
    pub attempts: AttemptCounts,
    /// SHA-256 of every other file, by its name.
    pub files: BTreeMap<String, String>,
}

/// By what a set of probes is judged.
pub(super) fn rule(
    set: &SetRecord,
    criteria: AcceptanceCriteria,
    attackers: &[AttackerRecord],
) -> AcceptanceRule {
    let knowing = |knows: Knowledge| {
        attackers
            .iter()
            .filter(|attacker| attacker.knows == knows)
            .count()
    };
    AcceptanceRule {
        mask: set.plan.mask(),
        criteria,
        attackers: knowing(Knowledge::Database),
        models: knowing(Knowledge::Language),
    }
}

/// What every certificate leaves open.
const NOT_COVERED: [&str; 6] = [
    "agents that ask otherwise than the kinds of probes do: what they call and order follows rules that are fixed beforehand",
    "attackers with tools of their own, such as a search engine or later data",
    "panels, windows, episodes longer than these, and limits of tools other than those named here",
    "decision modes other than open-research",
    "attempts under other signing keys, or of a log that was removed: only those of its signer's log are counted",
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
    pub fn judge(basis: CertificateBasis, counts: &AttackCounts) -> Result<Self, CertifyError> {
        let CertificateBasis {
            set,
            criteria,
            attackers,
            models,
            attempts,
            files,
        } = basis;
        let rule = rule(&set, criteria, &attackers);
        let judged = Judgement::of(&rule, counts)?;
        Ok(Self {
            verdict: judged.verdict,
            classes: judged.classes,
            known: judged.known,
            refusals: judged.refusals,
            not_covered: not_covered(&set, &judged.rates),
            set,
            confidence: criteria.confidence,
            thresholds: criteria.thresholds,
            attackers,
            models,
            attempts,
            figures: judged.rates,
            windows: judged.windows,
            unanswered: counts.unanswered.clone(),
            controls: judged.controls,
            baseline: judged.baseline,
            files,
        })
    }

    /// How likely a mask that gives away exactly what is allowed would pass in as many draws as the log counts attempts; none
    /// where nothing is judged.
    ///
    /// # Errors
    /// [`CertifyError::Statistics`] for impossible counts.
    pub fn pass_odds(&self) -> Result<Option<PassOdds>, CertifyError> {
        let rule = self.rule();
        Ok(PassOdds::of(&rule, &self.figures, self.attempts.attempts)?)
    }

    /// What it can see, class by class and column by column.
    ///
    /// # Errors
    /// [`CertifyError::Statistics`] for impossible counts.
    pub fn detectable(&self) -> Result<Vec<DetectableShare>, CertifyError> {
        Ok(DetectableShare::of(&self.rule(), &self.figures)?)
    }

    fn rule(&self) -> AcceptanceRule {
        rule(&self.set, self.criteria(), &self.attackers)
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
        let known = |known: &KnownStocksVerdict| {
            let counts = known.figures.iter().map(RecoveryRate::count).collect();
            (known.given_away, counts)
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
            recovered: self.figures.iter().map(RecoveryRate::count).collect(),
            known: self.known.iter().map(known).collect(),
            unanswered: self.unanswered.clone(),
            windows: self.windows.iter().map(|rate| rate.count.clone()).collect(),
            population: self.set.window_population(),
            controls: expected.into_iter().zip(&self.controls).map(control).collect(),
        };
        Self::judge(self.basis(), &counts)
    }

    /// What it was judged from, beside the counts.
    #[must_use]
    pub fn basis(&self) -> CertificateBasis {
        CertificateBasis {
            set: self.set.clone(),
            criteria: self.criteria(),
            attackers: self.attackers.clone(),
            models: self.models.clone(),
            attempts: self.attempts.clone(),
            files: self.files.clone(),
        }
    }

    /// How many attackers know so.
    #[must_use]
    pub fn attackers_knowing(&self, knows: Knowledge) -> usize {
        self.attackers
            .iter()
            .filter(|attacker| attacker.knows == knows)
            .count()
    }

    /// The largest excess over chance of the simultaneous upper bound of a measure, over these classes of attackers.
    #[must_use]
    pub fn largest_excess(&self, measure: Measure, classes: &[AttackerClass]) -> Option<f64> {
        self.classes
            .iter()
            .filter(|class| classes.contains(&class.class))
            .flat_map(|class| &class.bounds)
            .filter(|bound| bound.measure == measure)
            .map(|bound| bound.excess)
            .max_by(f64::total_cmp)
    }
}

fn not_covered(set: &SetRecord, figures: &[RecoveryRate]) -> Vec<String> {
    let mut lines: Vec<String> = NOT_COVERED.iter().map(|line| (*line).to_owned()).collect();
    let labels = |kinds: Vec<ProbeKind>| -> Option<String> {
        let labels: Vec<&str> = kinds.into_iter().map(ProbeKind::label).collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    };
    if ProbeKind::ALL
        .into_iter()
        .all(|kind| set.count(kind) == 0 || !kind.is_asked())
    {
        lines.push("agents that ask and order at all: no probe is one of theirs".to_owned());
    }
    if let Some(absent) = labels(set.kinds_not_put()) {
        lines.push(format!("probes of the kinds {absent}: none were put"));
    }
    let asks_sector = |kind: ProbeKind| {
        let mut own = figures.iter().filter(|figure| figure.kind == kind);
        own.any(|figure| figure.measure == Measure::Sector)
    };
    let sectorless =
        |kind: &ProbeKind| 0 < set.count(*kind) && *kind != ProbeKind::Linked && !asks_sector(*kind);
    if let Some(sectorless) = labels(ProbeKind::ALL.into_iter().filter(sectorless).collect()) {
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
