//! A submission through all gates, each of its runs in the box.

use crate::box_runs::{PlannedRun, Program, ProgramBox, SEED};
use crate::error::StrategyError;
use crate::leak_gate::look_ahead;
use crate::run_outcome::LogsOutcome;
use crate::task::StrategyTask;
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_sandbox::{BoxLimits, ModuleName, SourceText};
use ktd_strategy_code::{
    CandidateLogs, Gate, GateResults, GateSecret, LONG_RUN, MarketTrace, PaperEvidence, PaperScores,
    Parameters, REPETITION_SEEDS, ReferenceRun, RunEvidence, RunLikeness, StrategyBars, StrategyCard,
    StrategyContract, StrategyDocument, StrategySubmission, StrategyTraces, Stress, StressOutcome,
    SubmissionReport, VersionJudge, acting_tokens, candidate_tokens, completeness, missing_columns,
    repetition_difference, scenario_answers, source_facts, trace_distances,
};

/// Purposes of runs whose logs are scored.
const LONG: &str = "long";
const TRACE: &str = "trace";

/// How the boxes of strategies are to be: their limits, libraries that programs import themselves, and scenarios that stand in no file.
#[must_use]
pub fn strategy_boxes(setup: BoxSetup) -> BoxSetup {
    BoxSetup {
        limits: BoxLimits::STRATEGIES,
        modules: ModuleName::strategies(),
        answers: scenario_answers(),
        ..setup
    }
}

/// Judge of a task's versions, in boxes.
#[derive(Debug, Clone, Copy)]
pub struct BoxedJudge<'j> {
    /// What starts boxes.
    pub launcher: &'j BoxLauncher,
    /// The task.
    pub task: &'j StrategyTask,
    /// What the gate on look-ahead draws its cuts with.
    pub secret: &'j GateSecret,
}

impl VersionJudge for BoxedJudge<'_> {
    type Error = StrategyError;

    fn report(&self, submission: &StrategySubmission) -> Result<SubmissionReport, StrategyError> {
        judge_submission(self.launcher, (self.task, self.secret), submission)
    }

    fn reference(&self, values: &Parameters) -> Result<Option<StrategyTraces>, StrategyError> {
        match self.task.reference_traces(Some(self.launcher), values) {
            Err(StrategyError::Reference(_)) => Ok(None),
            traces => traces.map(Some),
        }
    }
}

/// The report on a submission. The secret decides at which bars, and how, the gate on look-ahead changes the future.
///
/// # Errors
/// [`StrategyError`] where no box can be had, and where one failed again and again.
pub fn judge_submission(
    launcher: &BoxLauncher,
    (task, secret): (&StrategyTask, &GateSecret),
    submission: &StrategySubmission,
) -> Result<SubmissionReport, StrategyError> {
    let card = match StrategyCard::parse(&submission.card) {
        Ok(card) => card,
        Err(problem) => return Ok(unrun(task, Gate::Parse, &problem)),
    };
    let checks = card.checks(&task.document);
    let wrong: Vec<&str> = checks
        .iter()
        .filter(|check| !check.holds)
        .map(|check| check.field.as_str())
        .collect();
    let class_name = card.class_name().to_owned();
    if !wrong.is_empty() {
        let report = unrun(task, Gate::Schema, &wrong.join(", "));
        return Ok(SubmissionReport {
            checks,
            class_name,
            ..report
        });
    }
    let report = match SourceText::read(submission.source.as_bytes(), BoxLimits::STRATEGIES.source_kb) {
        Ok(text) => SubmissionRun::open(launcher, task, &card, &text)?.judge(secret)?,
        Err(fault) => unrun(task, Gate::Exec, &format!("source: {fault}")),
    };
    Ok(SubmissionReport {
        checks,
        class_name,
        ..report
    })
}

/// The published static scores of a source, where there is no card: its class is `Strategy`, and it runs once,
/// on the long run with the parameters of its document.
///
/// # Errors
/// As [`judge_submission`]; [`StrategyError::Input`] for a source that is too long.
pub fn static_scores(
    launcher: &BoxLauncher,
    task: &StrategyTask,
    source: &str,
) -> Result<PaperScores, StrategyError> {
    let text = SourceText::read(source.as_bytes(), BoxLimits::STRATEGIES.source_kb)
        .map_err(|fault| StrategyError::invalid(format!("source: {fault}")))?;
    let class = "Strategy";
    let program = Program {
        source: &text,
        class,
        configuration: &task.document.configuration(&task.document.default_parameters()),
        key: task.id.label(),
        contract: task.contract,
    };
    let mut opened = ProgramBox::open(launcher, program, 0)?;
    let nodes = opened.syntax_tree()?.unwrap_or_default();
    let logs = opened.run(&planned(task.long(), LONG))?.ok();
    let logs = logs.as_ref();
    let evidence = PaperEvidence {
        class_name: class,
        has_trades: logs.is_some(),
        has_bars: logs.is_some(),
        missing_columns: logs.map_or(0, |logs| missing_columns(logs, &task.document).len()),
        completeness: logs.map_or(1.0, |logs| completeness(logs, &task.document)),
        keywords: &task.document.keywords,
        parameters: task.document.parameters.len(),
    };
    Ok(PaperScores::of(
        source,
        &source_facts(text.text(), &nodes),
        evidence,
    ))
}

/// The traces of a program with these parameters, on all scenarios and the long run.
///
/// # Errors
/// As [`judge_submission`].
pub fn trace_program(
    launcher: &BoxLauncher,
    task: &StrategyTask,
    class: &str,
    parameters: &Parameters,
    source: &str,
) -> Result<StrategyTraces, StrategyError> {
    let Ok(text) = SourceText::read(source.as_bytes(), BoxLimits::STRATEGIES.source_kb) else {
        return Ok(task
            .markets()
            .map(|(name, _)| (name.to_owned(), Vec::new()))
            .collect());
    };
    let program = Program {
        source: &text,
        class,
        configuration: &task.document.configuration(parameters),
        key: task.id.label(),
        contract: task.contract,
    };
    let mut opened = ProgramBox::open(launcher, program, 0)?;
    let runs: Vec<PlannedRun> = task.markets().map(|(_, market)| planned(market, TRACE)).collect();
    let outcomes = opened.run_all(&runs)?;
    let traces = task.markets().zip(outcomes);
    Ok(traces
        .map(|((name, _), outcome)| (name.to_owned(), tokens_of(&outcome)))
        .collect())
}

fn planned(market: &StrategyBars, purpose: &'static str) -> PlannedRun {
    PlannedRun {
        market: market.clone(),
        seed: SEED,
        purpose,
        is_scored: matches!(purpose, LONG | TRACE),
    }
}

/// The tokens of a run; none where it failed.
fn tokens_of(outcome: &LogsOutcome) -> Vec<String> {
    outcome
        .as_ref()
        .map_or_else(|_| Vec::new(), |logs| candidate_tokens(&logs.bars))
}

/// A submission that failed a gate before anything ran: as far as can be from the reference.
fn unrun(task: &StrategyTask, gate: Gate, reason: &str) -> SubmissionReport {
    SubmissionReport {
        gates: GateResults::failed_at(gate, reason),
        checks: Vec::new(),
        facts: None,
        class_name: String::new(),
        run: None,
        traces: task
            .markets()
            .map(|(name, _)| (name.to_owned(), Vec::new()))
            .collect(),
        markets: Vec::new(),
        likeness: Vec::new(),
        distances: task
            .markets()
            .filter(|_| task.has_reference())
            .map(|(name, _)| (name.to_owned(), 1.0))
            .collect(),
    }
}

/// A submission whose card is as it must be, in its box.
struct SubmissionRun<'l, 'a> {
    launcher: &'l BoxLauncher,
    task: &'a StrategyTask,
    source: &'a SourceText,
    class: &'a str,
    parameters: Parameters,
    configuration: serde_json::Value,
    opened: ProgramBox<'l>,
}

impl<'l, 'a> SubmissionRun<'l, 'a> {
    fn open(
        launcher: &'l BoxLauncher,
        task: &'a StrategyTask,
        card: &'a StrategyCard,
        source: &'a SourceText,
    ) -> Result<Self, StrategyError> {
        let parameters = card.parameters();
        let configuration = task.document.configuration(&parameters);
        let program = Program {
            source,
            class: card.class_name(),
            configuration: &configuration,
            key: task.id.label(),
            contract: task.contract,
        };
        Ok(Self {
            launcher,
            task,
            source,
            class: card.class_name(),
            opened: ProgramBox::open(launcher, program, 0)?,
            parameters,
            configuration,
        })
    }

    /// Bars with the document and the values of the card.
    const fn judged_on<'m>(
        &'m self,
        market: &'m StrategyBars,
    ) -> (&'m StrategyBars, &'m StrategyDocument, &'m Parameters) {
        (market, &self.task.document, &self.parameters)
    }

    fn judge(mut self, secret: &GateSecret) -> Result<SubmissionReport, StrategyError> {
        let nodes = self.opened.syntax_tree()?.unwrap_or_default();
        let facts = Some(source_facts(self.source.text(), &nodes));
        let whole = match self.opened.run(&planned(self.task.long(), LONG))? {
            Ok(whole) => whole,
            Err(fault) => {
                let report = unrun(self.task, Gate::Exec, &fault.to_string());
                return Ok(SubmissionReport { facts, ..report });
            }
        };
        // Before all else: what has no reference is not worth the other runs.
        let reference = self.task.reference(Some(self.launcher), &self.parameters)?;
        let (traces, likeness, stress) = self.trace_and_stress((&whole, &reference))?;
        let (leak, witness) = match self.task.contract {
            StrategyContract::Run => {
                let secret = secret.for_program(self.source.text());
                let (leak, witness) =
                    look_ahead((&mut self.opened, self.task), (&whole, &reference), &secret)?;
                (leak, Some(witness))
            }
            StrategyContract::Step => (None, None),
        };
        let likeness = likeness.into_iter().chain(self.further_likeness()?).collect();
        let repetition = self.repetition(&whole)?;
        let markets = MarketTrace::of_version(&reference, (&traces, &whole));
        let run = RunEvidence {
            least_actions: least_actions(&reference),
            witness,
            ..RunEvidence::of(
                &whole,
                self.judged_on(self.task.long()),
                stress,
                self.task.contract,
            )
        };
        let audit = run.audit_problem();
        Ok(SubmissionReport {
            gates: GateResults::new([None, None, None, repetition, leak, audit]),
            checks: Vec::new(),
            facts,
            class_name: String::new(),
            run: Some(run),
            likeness,
            distances: trace_distances(&reference.traces, &traces),
            traces,
            markets,
        })
    }

    /// Runs on all scenarios and on distorted bars, and how alike the scenarios and the long run are to the reference's.
    fn trace_and_stress(
        &mut self,
        (whole, reference): (&CandidateLogs, &ReferenceRun),
    ) -> Result<(StrategyTraces, Option<RunLikeness>, Vec<StressOutcome>), StrategyError> {
        let scenarios = self.task.scenarios();
        let distorted = Stress::ALL.map(|stress| stress.apply(self.task.long()));
        let runs: Vec<PlannedRun> = scenarios
            .iter()
            .map(|scenario| planned(&scenario.market, TRACE))
            .chain(distorted.iter().map(|market| planned(market, "stress")))
            .collect();
        let mut outcomes = self.opened.run_all(&runs)?.into_iter();
        let mut traces = StrategyTraces::new();
        let mut likeness = reference.likeness((LONG_RUN, self.task.long()), whole);
        for (scenario, outcome) in scenarios.iter().zip(outcomes.by_ref()) {
            traces.insert(scenario.name.clone(), tokens_of(&outcome));
            let logs = outcome.unwrap_or_default();
            let own = reference.likeness((&scenario.name, &scenario.market), &logs);
            likeness = likeness.zip(own).map(|(all, own)| all.and(&own));
        }
        traces.insert(LONG_RUN.to_owned(), candidate_tokens(&whole.bars));
        let stress =
            Stress::ALL
                .into_iter()
                .zip(&distorted)
                .zip(outcomes)
                .map(|((stress, market), outcome)| {
                    let outcome = outcome.map_err(|fault| fault.to_string());
                    StressOutcome::of(stress, &outcome, self.judged_on(market))
                });
        Ok((traces, likeness, stress.collect()))
    }

    /// How alike it is to the reference on each further draw of scenarios and long run.
    fn further_likeness(&mut self) -> Result<Vec<RunLikeness>, StrategyError> {
        let draws = self.task.further(&self.parameters)?;
        let markets = draws.iter().flatten().map(|(market, _)| planned(market, TRACE));
        let mut outcomes = self.opened.run_all(&markets.collect::<Vec<_>>())?.into_iter();
        let alike = draws.iter().map(|draw| {
            let each = draw.iter().zip(outcomes.by_ref());
            each.fold(RunLikeness::default(), |all, ((market, reference), outcome)| {
                all.and(&RunLikeness::of(reference, &outcome.unwrap_or_default(), market))
            })
        });
        Ok(alike.collect())
    }

    /// Why the gate on determinism is failed: what a fresh process with other seeds says otherwise.
    fn repetition(&self, whole: &CandidateLogs) -> Result<Option<String>, StrategyError> {
        for (seed, hash_seed) in REPETITION_SEEDS.into_iter().skip(1) {
            let program = Program {
                source: self.source,
                class: self.class,
                configuration: &self.configuration,
                key: self.task.id.label(),
                contract: self.task.contract,
            };
            let mut fresh = ProgramBox::open(self.launcher, program, hash_seed)?;
            let run = PlannedRun {
                seed,
                ..planned(self.task.long(), "repetition")
            };
            let difference = match fresh.run(&run)? {
                Ok(logs) => repetition_difference(whole, &logs).map(|difference| difference.to_string()),
                Err(fault) => Some(fault.to_string()),
            };
            if let Some(difference) = difference {
                return Ok(Some(format!("seeds {seed} and {hash_seed}: {difference}")));
            }
        }
        Ok(None)
    }
}

/// Half as many actions as the reference has on the long run, and one at least.
fn least_actions(reference: &ReferenceRun) -> usize {
    let tokens = reference.traces.get(LONG_RUN);
    let actions = tokens.map_or(0, |tokens| acting_tokens(tokens).len());
    actions.div_ceil(2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_strategy_code::{DocumentId, TraceDistances};

    #[test]
    fn what_fails_before_a_run_is_as_far_as_can_be() {
        let task = StrategyTask::drawn(DocumentId::S01, 7).unwrap();
        let report = unrun(&task, Gate::Exec, "cpu");
        let ones: TraceDistances = task.markets().map(|(name, _)| (name.to_owned(), 1.0)).collect();
        assert_eq!(report.distances, ones);
        assert_eq!(report.traces.len(), task.scenarios().len() + 1);
        assert_eq!(report.gates.first_failed(), Some(Gate::Exec));
        let [fidelity, risk, reliability] = report.measured(false);
        assert_eq!([fidelity, risk, reliability], [Some(0.0); 3]);
    }
}
