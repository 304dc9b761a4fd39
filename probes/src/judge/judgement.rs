//! From counts to a verdict.

use super::baseline::{BaselineCheck, baseline};
use super::class_verdict::{ClassVerdict, class_verdicts, verdict};
use super::control::{ControlRate, ExpectedRecovery};
use super::count::{RecoveryCount, UnansweredCount};
use super::known_stocks::{KnownStocksVerdict, known_stocks_verdicts};
use super::rate::{AcceptanceRule, RecoveryRate};
use super::verdict::{CertificateVerdict, Refusal, refusals};
use super::window_count::WindowCount;
use super::window_rate::WindowRate;
use ktd_stats::StatsError;
use std::collections::BTreeMap;

/// Counts of all attackers, before they are judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttackCounts {
    /// Of the set under test, attacker by attacker.
    pub recovered: Vec<RecoveryCount>,
    /// Probes without an answer.
    pub unanswered: Vec<UnansweredCount>,
    /// Windows whose days were found.
    pub windows: Vec<WindowCount>,
    /// Windows that there are; none of probes that were given, of which nobody knows.
    pub population: Option<u64>,
    /// Of the probes with known stocks, by how many are known: what the attackers of the database recovered.
    pub known: BTreeMap<usize, Vec<RecoveryCount>>,
    /// Of the controls: what each attacker was to recover, and what it did.
    pub controls: Vec<(ExpectedRecovery, RecoveryCount)>,
}

/// Judgement of counts: every rate, every check, and the verdict that follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What follows.
    pub verdict: CertificateVerdict,
    /// What follows for each class of attackers.
    pub classes: Vec<ClassVerdict>,
    /// What follows for each number of known stocks.
    pub known: Vec<KnownStocksVerdict>,
    /// Everything that did not hold, of every class.
    pub refusals: Vec<Refusal>,
    /// What attackers recovered.
    pub rates: Vec<RecoveryRate>,
    /// Of how many windows they found the days.
    pub windows: Vec<WindowRate>,
    /// Whether each attacker succeeds where it should.
    pub controls: Vec<ControlRate>,
    /// Whether chance recovers what it must.
    pub baseline: Vec<BaselineCheck>,
}

impl Judgement {
    /// The judgement of counts by a rule.
    ///
    /// # Errors
    /// [`StatsError`] for impossible counts.
    pub fn of(rule: &AcceptanceRule, counts: &AttackCounts) -> Result<Self, StatsError> {
        let confidence = rule.criteria.confidence;
        let rates = counts.recovered.iter().map(|count| rule.rate(count));
        let rates: Vec<RecoveryRate> = rates.collect::<Result<_, _>>()?;
        let controls = counts.controls.iter();
        let controls = controls.map(|(expected, count)| ControlRate::of(expected, count, confidence));
        let controls: Vec<ControlRate> = controls.collect::<Result<_, _>>()?;
        let baseline = baseline(&rates, confidence)?;
        let windows = counts.population.map_or_else(Vec::new, |population| {
            let of = |count| WindowRate::of(rule, count, population);
            counts.windows.iter().map(of).collect()
        });
        let refusals = refusals((&rates, &windows), &counts.unanswered, &controls, &baseline);
        let classes = class_verdicts(&rates, &refusals);
        Ok(Self {
            verdict: verdict(&classes, &refusals),
            classes,
            known: known_stocks_verdicts(rule, &counts.known)?,
            refusals,
            rates,
            windows,
            controls,
            baseline,
        })
    }
}
