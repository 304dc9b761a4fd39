//! `certificate.json`: who tried, what they recovered, up to which bound, and what follows.

use super::chance::nine_decimals;
use super::control::{AIMS, Aim, LANGUAGE_AIM};
use super::count::{Count, RANDOM, Silence};
use super::figure::{Figure, Rule, share, wilson_of};
use super::set_plan::SetPlan;
use super::set_record::{Origin, SetRecord};
use super::verdict::{Refusal, Verdict, refusals};
use crate::CertifyError;
use ktd_probes::judge::Terms;
use ktd_probes::judge::{Thresholds, shows};
use ktd_probes::{Measure, ProbeKind};
use ktd_stats::binomial_two_sided_p;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is signed. Everything in it but hashes follows from the counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What follows.
    pub verdict: Verdict,
    /// Why not, where it is refused.
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
    pub figures: Vec<Figure>,
    /// Probes without an answer.
    pub unanswered: Vec<Silence>,
    /// Whether each attacker succeeds where it should.
    pub controls: Vec<ControlFigure>,
    /// Whether chance recovers what it must.
    pub baseline: Vec<Baseline>,
    /// SHA-256 of every file beside this one, by its name.
    pub files: BTreeMap<String, String>,
    /// What this does not say.
    pub not_covered: Vec<String>,
}

/// An attacker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackerRecord {
    /// Its name.
    pub name: String,
    /// What it knows.
    pub knows: Knowledge,
    /// Vendor and name of a language model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

/// What an attacker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knowledge {
    /// It owns the whole price database.
    Database,
    /// It is a language model and knows what it remembers.
    Language,
}

/// What an attacker recovered of a control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlFigure {
    /// The attacker.
    pub attacker: String,
    /// The control.
    pub control: String,
    /// What was asked.
    pub measure: String,
    /// Probes that were asked it.
    pub asked: u64,
    /// Probes of which it was recovered.
    pub hits: u64,
    /// `hits / asked`.
    pub share: f64,
    /// The share that is recovered without looking; 0 where the answer stands in the open.
    pub chance: f64,
    /// Lower end of the share's Wilson interval.
    pub lower: f64,
    /// How far above chance it must lie.
    pub need: f64,
    /// Whether it does.
    pub fired: bool,
}

/// What the attacker `random` recovered beside its exact expectation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The probes' kind.
    pub kind: String,
    /// What was asked.
    pub measure: String,
    /// The expectation.
    pub chance: f64,
    /// Wilson interval that holds for all these rows together.
    pub interval: (f64, f64),
    /// How likely so much or so little is by chance, for all these rows together (exact, Bonferroni).
    pub p_value: f64,
    /// Whether it is likely enough.
    pub holds: bool,
}

/// What was counted, before it is judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// Of the set under test, attacker by attacker.
    pub counts: Vec<Count>,
    /// Probes without an answer.
    pub silences: Vec<Silence>,
    /// Of the controls: what each attacker was to recover, in the order of [`aims`].
    pub controls: Vec<(Aim, Count)>,
}

/// By what a certificate is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Confidence of each interval, by itself and over all attackers.
    pub confidence: f64,
    /// How far above chance an upper bound may lie.
    pub thresholds: Thresholds,
}

/// What every certificate leaves open.
const NOT_COVERED: [&str; 7] = [
    "questions that an agent makes up as it goes: probes ask what is fixed beforehand",
    "a stock that is recognised and then watched for more steps than the one that `anchored` shows, or several of them",
    "sweeps of orders or of `risk_check` that search for a hidden figure",
    "attackers with tools of their own, such as a search engine or later data",
    "panels, windows, episodes longer than these, and limits of tools other than those named here",
    "decision modes other than open-research",
    "what a model may conclude from companies' names or dates in its own words",
];

impl Certificate {
    /// What its signer may have chosen of the judgement.
    #[must_use]
    pub const fn terms(&self) -> Terms {
        Terms {
            thresholds: self.thresholds,
            confidence: self.confidence,
            joint_days: self.set.plan.joint_days,
        }
    }

    /// The certificate that follows from what was counted.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for an unknown mask or counts that are none.
    pub fn judge(
        set: SetRecord,
        judgement: Judgement,
        attackers: Vec<AttackerRecord>,
        counted: &Counted,
        files: BTreeMap<String, String>,
    ) -> Result<Self, CertifyError> {
        let rule = Rule {
            mask: set.plan.mask()?,
            confidence: judgement.confidence,
            thresholds: judgement.thresholds,
            attackers: attackers.len(),
        };
        let figures: Vec<Figure> = counted
            .counts
            .iter()
            .map(|count| rule.figure(count))
            .collect::<Result<_, _>>()?;
        let controls: Vec<ControlFigure> = counted
            .controls
            .iter()
            .map(|(aim, count)| control_figure(aim, count, judgement.confidence))
            .collect::<Result<_, _>>()?;
        let baseline = baseline(&figures, judgement.confidence)?;
        let refusals = refusals(&figures, &counted.silences, &controls, &baseline);
        Ok(Self {
            verdict: if refusals.is_empty() {
                Verdict::Certified
            } else {
                Verdict::Refused
            },
            refusals,
            not_covered: not_covered(&set, &figures),
            set,
            confidence: judgement.confidence,
            thresholds: judgement.thresholds,
            attackers,
            figures,
            unanswered: counted.silences.clone(),
            controls,
            baseline,
            files,
        })
    }

    /// By what it was judged.
    #[must_use]
    pub const fn judgement(&self) -> Judgement {
        Judgement {
            confidence: self.confidence,
            thresholds: self.thresholds,
        }
    }

    /// The certificate that follows from its own counts; no file is needed.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for counts that are none.
    pub fn judged_again(&self) -> Result<Self, CertifyError> {
        let aims = aims(&self.attackers, &self.set.plan);
        let count = |figure: &Figure| Count {
            kind: figure.kind.clone(),
            attacker: figure.attacker.clone(),
            measure: figure.measure.clone(),
            asked: figure.asked,
            hits: figure.hits,
            chance: figure.chance,
        };
        let control = |((attacker, aim), found): ((&str, Aim), &ControlFigure)| {
            let count = Count {
                kind: aim.control.kind().label().to_owned(),
                attacker: attacker.to_owned(),
                measure: aim.measure.label().to_owned(),
                asked: found.asked,
                hits: found.hits,
                chance: found.chance,
            };
            (aim, count)
        };
        let counted = Counted {
            counts: self.figures.iter().map(count).collect(),
            silences: self.unanswered.clone(),
            controls: aims.into_iter().zip(&self.controls).map(control).collect(),
        };
        let (set, attackers) = (self.set.clone(), self.attackers.clone());
        Self::judge(set, self.judgement(), attackers, &counted, self.files.clone())
    }

    /// Attackers that know so.
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
            .filter(|figure| figure.measure == measure.label() && figure.threshold.is_some())
            .map(Figure::excess)
            .max_by(f64::total_cmp)
    }
}

/// Who must recover what of which control of a plan: the attackers of the database, then each language model.
#[must_use]
pub fn aims<'a>(attackers: &'a [AttackerRecord], plan: &SetPlan) -> Vec<(&'a str, Aim)> {
    let language = attackers
        .iter()
        .filter(|attacker| attacker.knows == Knowledge::Language);
    let language = language.map(|attacker| (attacker.name.as_str(), LANGUAGE_AIM));
    let put = AIMS.into_iter().filter(|(_, aim)| aim.control.is_put(plan));
    put.chain(language).collect()
}

fn control_figure(aim: &Aim, count: &Count, confidence: f64) -> Result<ControlFigure, CertifyError> {
    let (lower, _) = wilson_of(count.hits, count.asked, confidence, 1)?;
    // Where the answer stands in the open, reading is what is tried, and no guess is to be beaten.
    let is_shown = shows(aim.control.mask(), aim.measure);
    let chance = if is_shown { 0.0 } else { count.chance };
    Ok(ControlFigure {
        attacker: count.attacker.clone(),
        control: aim.control.label().to_owned(),
        measure: aim.measure.label().to_owned(),
        asked: count.asked,
        hits: count.hits,
        share: share(count.hits, count.asked),
        chance,
        lower,
        need: aim.need,
        fired: chance + aim.need < lower,
    })
}

/// A sound baseline is refused once in a thousand certificates; a broken one is off by far more than chance ever is.
const LEAST_BASELINE_P: f64 = 0.001;

#[expect(clippy::cast_precision_loss, reason = "rows are few")]
const fn count(rows: usize) -> f64 {
    rows as f64
}

fn baseline(figures: &[Figure], confidence: f64) -> Result<Vec<Baseline>, CertifyError> {
    let random: Vec<&Figure> = figures
        .iter()
        .filter(|figure| figure.attacker == RANDOM)
        .collect();
    let row = |figure: &&Figure| {
        let interval = wilson_of(figure.hits, figure.asked, confidence, random.len())?;
        let p_value = binomial_two_sided_p(figure.hits, figure.asked, figure.chance)
            .map_err(|error| CertifyError::input(error.to_string(), error.hint()))?;
        let p_value = nine_decimals((p_value * count(random.len())).min(1.0));
        Ok(Baseline {
            kind: figure.kind.clone(),
            measure: figure.measure.clone(),
            chance: figure.chance,
            interval,
            p_value,
            holds: LEAST_BASELINE_P <= p_value,
        })
    };
    random.iter().map(row).collect()
}

fn not_covered(set: &SetRecord, figures: &[Figure]) -> Vec<String> {
    let mut lines: Vec<String> = NOT_COVERED.iter().map(|line| (*line).to_owned()).collect();
    let kinds = |is_so: &dyn Fn(ProbeKind) -> bool| -> Option<String> {
        let labels: Vec<&str> = ProbeKind::ALL
            .into_iter()
            .filter(|kind| is_so(*kind))
            .map(ProbeKind::label)
            .collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    };
    if let Some(absent) = kinds(&|kind| set.count(kind) == 0) {
        lines.push(format!("probes of the kinds {absent}: none were put"));
    }
    let asks_sector = |kind: ProbeKind| {
        let mut own = figures.iter().filter(|figure| figure.kind == kind.label());
        own.any(|figure| figure.measure == Measure::Sector.label())
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
