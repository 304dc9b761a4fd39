//! A line of a submission's `events.jsonl`: what was judged of one iteration.
//!
//! What is printed for programs is made of the same types.

use crate::report::{RunEvidence, StressOutcome, SubmissionReport};
use crate::score_evidence::ScoreEvidence;
use crate::submission::StrategySubmission;
use crate::task::StrategyTask;
use crate::versions::{SubmissionVersion, VersionChain};
use ktd_io::sha256::sha256_hex;
use ktd_strategy_code::{
    BreachReport, DriftVerdict, Gate, IterationState, PaperScores, PatchSize, TraceDistances, VersionDrift,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One iteration, with the reply that it is of and the version that stands after it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct VersionEvent {
    #[serde(flatten)]
    pub(crate) verdict: VersionVerdict,
    /// None where there was no reply.
    reply_sha256: Option<String>,
    pub(crate) standing: Option<usize>,
}

impl VersionEvent {
    /// The event of the iteration that was judged last; none where there is none.
    pub(super) fn of_last(chain: &VersionChain, task: &StrategyTask, reply: Option<&str>) -> Option<Self> {
        Some(Self {
            verdict: VersionVerdict::of(chain.versions.last()?, task),
            reply_sha256: reply.map(|reply| sha256_hex(reply.as_bytes())),
            standing: chain.standing().map(|version| version.iteration),
        })
    }
}

/// What was judged of one iteration.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub(crate) struct VersionVerdict {
    pub(crate) iteration: usize,
    pub(crate) state: IterationState,
    problem: Option<String>,
    pub(crate) valid: bool,
    scores: BTreeMap<String, f64>,
    patch: Option<PatchEvent>,
    drift: Option<DriftEvent>,
    pub(crate) report: Option<VersionReport>,
}

impl VersionVerdict {
    /// The verdict on a version of a task.
    pub(crate) fn of(version: &SubmissionVersion, task: &StrategyTask) -> Self {
        let report = version.report.as_ref().zip(version.submission.as_ref());
        Self {
            iteration: version.iteration,
            state: version.state,
            problem: version.problem.clone(),
            valid: version.is_valid(),
            scores: scores(version.measured()),
            patch: version.patch.map(PatchEvent::from),
            drift: version.drift.as_ref().map(DriftEvent::from),
            report: report.map(|(report, submission)| VersionReport::of(report, submission, task)),
        }
    }
}

fn named<T, const N: usize>(names: [&str; N], values: [T; N]) -> BTreeMap<String, T> {
    names.map(str::to_owned).into_iter().zip(values).collect()
}

/// D1, D2 and D3 as measured, of 1, by name.
fn scores(measured: [f64; 3]) -> BTreeMap<String, f64> {
    named(["D1", "D2", "D3"], measured)
}

/// The size of a patch.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct PatchEvent {
    #[serde(flatten)]
    size: PatchSize,
    changed: usize,
    within_budget: bool,
}

impl From<PatchSize> for PatchEvent {
    fn from(patch: PatchSize) -> Self {
        Self {
            size: patch,
            changed: patch.changed(),
            within_budget: patch.is_within_budget(),
        }
    }
}

/// What changed between two versions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct DriftEvent {
    changed_fields: Vec<String>,
    distances: TraceDistances,
    /// None where there is no reference.
    to_reference: Option<BTreeMap<String, TraceDistances>>,
    anchored: String,
    moved_away: Vec<String>,
    published: String,
    greatest_distance: f64,
    diverging: usize,
    patch: PatchEvent,
    drift: bool,
}

impl From<&VersionDrift> for DriftEvent {
    fn from(drift: &VersionDrift) -> Self {
        let has_reference = drift.anchored() != DriftVerdict::NoReference;
        Self {
            changed_fields: drift.changed_fields.clone(),
            distances: drift.distances.clone(),
            to_reference: has_reference.then(|| named(["before", "after"], drift.to_reference.clone())),
            anchored: drift.anchored().label().to_owned(),
            moved_away: drift.moved_away().into_iter().map(str::to_owned).collect(),
            published: drift.published().label().to_owned(),
            greatest_distance: drift.greatest_distance(),
            diverging: drift.diverging(),
            patch: drift.patch.into(),
            drift: drift.is_drift(),
        }
    }
}

/// What a version came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct VersionReport {
    strategy: String,
    valid: bool,
    gates: BTreeMap<String, GateEvent>,
    /// Fields of the card that are not as the document has them.
    card: Vec<String>,
    pub(crate) run: Option<RunEvent>,
    /// None where there is no reference.
    pub(crate) distances: Option<TraceDistances>,
    pub(crate) warnings: Vec<String>,
    measured: BTreeMap<String, f64>,
    published: Option<PaperScores>,
    /// Absent from earlier records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<ScoreEvidence>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
struct GateEvent {
    passed: bool,
    reason: Option<String>,
}

impl VersionReport {
    /// The report on a submission of a task.
    #[must_use]
    pub fn of(report: &SubmissionReport, submission: &StrategySubmission, task: &StrategyTask) -> Self {
        let gates = Gate::ALL.map(|gate| {
            let reason = report.gates.reason(gate).map(str::to_owned);
            let passed = reason.is_none();
            (gate.label().to_owned(), GateEvent { passed, reason })
        });
        let broken = report.checks.iter().filter(|check| !check.holds);
        Self {
            strategy: task.id.label().to_owned(),
            valid: report.gates.is_valid(),
            gates: gates.into(),
            card: broken.map(|check| check.field.clone()).collect(),
            run: report.run.as_ref().map(RunEvent::from),
            distances: task.has_reference().then(|| report.distances.clone()),
            warnings: report.warnings(),
            measured: scores(report.measured(false)),
            published: report.paper(&submission.source, &task.document),
            evidence: Some(ScoreEvidence {
                measured: report.measured_evidence(),
                published: report.published_evidence(&task.document),
            }),
        }
    }

    /// Why a gate is not passed.
    pub(crate) fn reason(&self, gate: Gate) -> Option<&str> {
        self.gates.get(gate.label())?.reason.as_deref()
    }
}

/// What the runs of a program showed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub(crate) struct RunEvent {
    trades: usize,
    pub(crate) trade_hash: String,
    completeness: f64,
    missing_columns: Vec<String>,
    untraceable: Option<String>,
    #[serde(flatten)]
    breaches: BreachReport,
    pub(crate) stress: Vec<StressEvent>,
}

impl From<&RunEvidence> for RunEvent {
    fn from(run: &RunEvidence) -> Self {
        let stress = |outcome: &StressOutcome| StressEvent {
            name: outcome.stress.label().to_owned(),
            ended: outcome.has_ended,
            problem: outcome.problem.clone(),
            breaches: outcome.breaches.breaches.len(),
        };
        Self {
            trades: run.trades,
            trade_hash: run.trade_hash.clone(),
            completeness: run.completeness,
            missing_columns: run.missing_columns.clone(),
            untraceable: run.untraceable.clone(),
            breaches: run.breaches.clone(),
            stress: run.stress.iter().map(stress).collect(),
        }
    }
}

/// A run on distorted bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub(crate) struct StressEvent {
    name: String,
    pub(crate) ended: bool,
    problem: Option<String>,
    breaches: usize,
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    /// The line of a version that runs, as records have it.
    pub(crate) const LINE: &str = concat!(
        r#"{"drift":{"anchored":"towards","changed_fields":["name"],"distances":{"long":0.25},"diverging":3,"drift":true,"#,
        r#""greatest_distance":0.25,"moved_away":["long"],"patch":{"added":2,"changed":3,"removed":1,"similarity":0.5,"#,
        r#""within_budget":true},"published":"suspicious","to_reference":{"after":{"long":0.25},"before":{"long":0.25}}},"#,
        r#""iteration":1,"patch":{"added":2,"changed":3,"removed":1,"similarity":0.5,"within_budget":true},"problem":null,"#,
        r#""reply_sha256":"ab","report":{"card":["name"],"distances":{"long":0.25},"#,
        r#""evidence":{"measured":{"fidelity":{"checks":2,"checks_held":1,"distances":[0.25]},"reliability":{"completeness":0.75,"#,
        r#""is_deterministic":false,"is_free_of_leaks":true,"is_traceable":true,"stress_ended":8,"stress_runs":8},"#,
        r#""risk":{"actions":27,"breaches":11,"logged_breaches":0,"stress_passed":8,"stress_runs":8}},"published":null},"#,
        r#""gates":{"audit":{"passed":false,"reason":"upper"},"exec":{"passed":true,"reason":null}},"measured":{"D1":0.5,"#,
        r#""D2":0.5,"D3":1.0},"published":{"D3":8.0,"D4":8.0,"determinism":8.0,"generality":8.0,"logic":8.0,"logs":8.0,"#,
        r#""no_leak":8.0,"no_overfit":8.0,"quality":8.0},"run":{"actions":11,"breaches":[{"kind":"short_selling","logged":false,"#,
        r#""time":"2020-01-02"}],"completeness":0.75,"missing_columns":["upper"],"stress":[{"breaches":1,"ended":true,"#,
        r#""name":"gap_down","problem":null}],"trade_hash":"h","trades":13,"untraceable":"no exit"},"strategy":"S01","#,
        r#""valid":false,"warnings":["1 shifts by a negative constant"]},"scores":{"D1":0.0,"D2":0.5,"D3":1.0},"standing":0,"#,
        r#""state":"drifted","valid":false}"#,
    );

    /// The event of a version with such trades.
    pub(crate) fn event(standing: usize, trade_hash: &str) -> VersionEvent {
        let mut event: VersionEvent = serde_json::from_str(LINE).unwrap();
        event.standing = Some(standing);
        let report = event.verdict.report.as_mut();
        trade_hash.clone_into(&mut report.unwrap().run.as_mut().unwrap().trade_hash);
        event
    }

    #[test]
    fn a_line_comes_back_to_the_byte() {
        let event: VersionEvent = serde_json::from_str(LINE).unwrap();
        assert_eq!(serde_json::json!(event).to_string(), LINE);
    }
}
