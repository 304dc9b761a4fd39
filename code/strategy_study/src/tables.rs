//! Reports and versions as tables and for programs.

use crate::cells::of_submissions;
use crate::task::StrategyTask;
use ktd_strategy_code::{
    CardCheck, DocumentId, DriftVerdict, Gate, NO_REFERENCE, PaperScores, PatchSize, RunEvidence,
    StrategyDocument, StrategySubmission, StrictJson, SubmissionReport, SubmissionRows, TraceDistances,
    VersionDrift,
};
use ktd_view::draw::{Align, TableCell, TableData, visible};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The documents.
#[must_use]
pub fn document_table(documents: &[(DocumentId, StrategyDocument)]) -> TableData {
    RowTable::new(format!("{} strategies", documents.len()), documents)
        .text("id", |(id, _)| id.label())
        .text("name", |(_, document)| &document.name)
        .text("family", |(_, document)| &document.family)
        .text("bars", |(_, document)| document.frequency())
        .count("assets", |(_, document)| document.assets.len())
        .count("warm-up", |(_, document)| document.warm_up_bars)
        .count("parameters", |(_, document)| document.parameters.len())
        .count("rules", |(_, document)| document.rules.len())
        .ratio("complexity", |(_, document)| document.complexity())
        .table()
}

/// A document of a strategy, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DescribedStrategy<'d> {
    id: &'d str,
    name: &'d str,
    family: &'d str,
    assets: &'d [String],
    multi_asset: bool,
    intraday: bool,
    warm_up_bars: usize,
    /// Values by name, as a program gets them.
    parameters: Value,
    rules: &'d BTreeSet<String>,
    constraints: BTreeMap<&'d str, Value>,
    columns: &'d [String],
    complexity: f64,
}

impl<'d> DescribedStrategy<'d> {
    /// What a document says.
    #[must_use]
    pub fn of(document: &'d StrategyDocument) -> Self {
        let constraints = document.constraints.iter();
        let mut configuration = document.configuration(&document.default_parameters());
        Self {
            id: &document.id,
            name: &document.name,
            family: &document.family,
            assets: &document.assets,
            multi_asset: document.is_multi_asset,
            intraday: document.is_intraday,
            warm_up_bars: document.warm_up_bars,
            parameters: configuration
                .get_mut("parameters")
                .map(Value::take)
                .unwrap_or_default(),
            rules: &document.rules,
            constraints: constraints
                .map(|(name, value)| (name.as_str(), plain(value)))
                .collect(),
            columns: &document.columns,
            complexity: document.complexity(),
        }
    }
}

fn plain(value: &StrictJson) -> Value {
    match value {
        StrictJson::Null => Value::Null,
        StrictJson::Bool(flag) => Value::from(*flag),
        StrictJson::Number(number) => Value::from(*number),
        StrictJson::Text(text) => Value::from(text.as_str()),
        StrictJson::List(items) => items.iter().map(plain).collect(),
        StrictJson::Map(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect(),
    }
}

/// What the gates saw, what was broken and failed, and how far a program is from the reference. Reasons are foreign text.
#[must_use]
pub(crate) fn report_tables(report: &SubmissionReport) -> Vec<TableData> {
    let shown = |reason: Option<&str>| reason.map_or_else(String::new, |reason| visible(reason).into_owned());
    let gates = RowTable::new("Gates", Gate::ALL)
        .text("gate", Gate::label)
        .text("state", |gate| {
            if report.gates.is_passed(gate) {
                "passed"
            } else {
                "failed"
            }
        })
        .text("why, or what was seen", |gate| {
            shown(report.gate_note(gate).as_deref())
        });
    let mut tables = vec![gates.table()];
    if let Some(run) = &report.run {
        let breaches = RowTable::new("Broken constraints", &run.breaches.breaches)
            .text("constraint", |breach| breach.kind.label())
            .text("bar", |breach| shown(Some(&breach.time)))
            .text("logged", |breach| if breach.is_logged { "yes" } else { "no" });
        let stress = RowTable::new("Runs on distorted bars", &run.stress)
            .text("bars", |outcome| outcome.stress.label())
            .count("breaches", |outcome| outcome.breaches.breaches.len())
            .text("why it is not passed", |outcome| {
                shown(outcome.problem.as_deref())
            });
        let note = format!(
            "{} trades; {:.4} of the required cells are filled",
            run.trades, run.completeness
        );
        tables.extend([breaches.table(), stress.table().with_note(note)]);
    }
    if !report.distances.is_empty() {
        let distances = RowTable::new("What it does, against the reference", &report.distances)
            .text("scenario", |(name, _)| name)
            .fine("distance to the reference", |(_, distance)| *distance);
        tables.push(distances.table());
    }
    tables
}

/// A report with the scores of both kinds.
#[must_use]
pub fn gate_tables(
    report: &SubmissionReport,
    submission: &StrategySubmission,
    task: &StrategyTask,
) -> Vec<TableData> {
    let [fidelity, risk, reliability] = report.measured(false);
    let paper = report.paper(&submission.source, &task.document);
    let mut scores = RowTable::new("Scores", [()])
        .fine("D1", |()| fidelity)
        .fine("D2", |()| risk)
        .fine("D3", |()| reliability)
        .fine("published D3", |()| paper.map(|paper| paper.d3))
        .fine("published D4", |()| paper.map(|paper| paper.d4))
        .text("valid", |()| if report.gates.is_valid() { "yes" } else { "no" })
        .table()
        .with_note("D1 to D3 as measured, of 1; published ones are static, and of 10");
    if !task.has_reference() {
        scores
            .notes
            .push(format!("behaviour is not judged: {NO_REFERENCE}"));
    }
    let warnings = report.warnings();
    scores.notes.extend(
        warnings
            .iter()
            .map(|warning| format!("warning: {}", visible(warning))),
    );
    let mut tables = report_tables(report);
    tables.push(scores);
    tables
}

/// What the gates found of a submission, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GateDocument<'g> {
    strategy: &'g str,
    valid: bool,
    gates: BTreeMap<&'static str, GateState<'g>>,
    measured: MeasuredScores,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<PaperScores>,
    /// By scenario; absent without a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<&'g TraceDistances>,
    warnings: Vec<String>,
    checks: &'g [CardCheck],
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'g RunEvidence>,
}

/// Whether a gate is passed.
#[derive(Debug, JsonSchema, Serialize)]
struct GateState<'g> {
    passed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'g str>,
}

/// Scores as measured, of 1.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(rename_all = "UPPERCASE")]
struct MeasuredScores {
    d1: Option<f64>,
    d2: Option<f64>,
    d3: Option<f64>,
}

impl<'g> GateDocument<'g> {
    /// The document of a report.
    #[must_use]
    pub fn of(report: &'g SubmissionReport, submission: &StrategySubmission, task: &'g StrategyTask) -> Self {
        let [d1, d2, d3] = report.measured(false);
        let gates = Gate::ALL.map(|gate| {
            let reason = report.gates.reason(gate);
            let passed = reason.is_none();
            (gate.label(), GateState { passed, reason })
        });
        Self {
            strategy: task.id.label(),
            valid: report.gates.is_valid(),
            gates: gates.into_iter().collect(),
            measured: MeasuredScores { d1, d2, d3 },
            published: report.paper(&submission.source, &task.document),
            distances: task.has_reference().then_some(&report.distances),
            warnings: report.warnings(),
            checks: &report.checks,
            run: report.run.as_ref(),
        }
    }
}

/// What changed between two versions.
#[must_use]
pub fn drift_table(drift: &VersionDrift) -> TableData {
    let [before, after] = &drift.to_reference;
    let has_reference = drift.anchored() != DriftVerdict::NoReference;
    let of = |distances: &TraceDistances, name: &String| {
        has_reference.then(|| distances.get(name).copied().unwrap_or(1.0))
    };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let mut table = RowTable::new(format!("Drift: {}", yes(drift.is_drift())), &drift.distances)
        .text("scenario", |(name, _)| name)
        .fine("distance", |(_, distance)| *distance)
        .fine("to the reference", |(name, _)| of(before, name))
        .fine("then", |(name, _)| of(after, name))
        .table();
    if !drift.changed_fields.is_empty() {
        let fields: Vec<_> = drift.changed_fields.iter().map(|field| visible(field)).collect();
        table
            .notes
            .push(format!("the card says something else: {}", fields.join(", ")));
    }
    let published = drift.published();
    table.notes.push(format!(
        "seen from the reference: {}; as published: {} (greatest distance {:.4}, {} scenarios differ)",
        drift.anchored().label(),
        published.label(),
        drift.greatest_distance(),
        drift.diverging()
    ));
    table
}

/// What changed between two versions, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DriftDocument<'d> {
    changed_fields: &'d [String],
    /// By scenario.
    distances: &'d TraceDistances,
    /// Absent without a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_reference: Option<ReferenceDistances<'d>>,
    anchored: &'static str,
    moved_away: Vec<&'d str>,
    published: &'static str,
    greatest_distance: f64,
    diverging: usize,
    patch: PatchDocument,
    drift: bool,
}

/// Distances to the reference, by scenario.
#[derive(Debug, JsonSchema, Serialize)]
struct ReferenceDistances<'d> {
    before: &'d TraceDistances,
    after: &'d TraceDistances,
}

impl<'d> DriftDocument<'d> {
    /// The document of a drift.
    #[must_use]
    pub fn of(drift: &'d VersionDrift) -> Self {
        let [before, after] = &drift.to_reference;
        let has_reference = drift.anchored() != DriftVerdict::NoReference;
        Self {
            changed_fields: &drift.changed_fields,
            distances: &drift.distances,
            to_reference: has_reference.then_some(ReferenceDistances { before, after }),
            anchored: drift.anchored().label(),
            moved_away: drift.moved_away(),
            published: drift.published().label(),
            greatest_distance: drift.greatest_distance(),
            diverging: drift.diverging(),
            patch: PatchDocument::of(drift.patch),
            drift: drift.is_drift(),
        }
    }
}

/// The size of a patch, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PatchDocument {
    removed: usize,
    added: usize,
    similarity: f64,
    changed: usize,
    within_budget: bool,
}

impl PatchDocument {
    /// The document of a size.
    #[must_use]
    pub fn of(patch: PatchSize) -> Self {
        Self {
            removed: patch.removed,
            added: patch.added,
            similarity: patch.similarity,
            changed: patch.changed(),
            within_budget: patch.is_within_budget(),
        }
    }
}

/// All iterations of all submissions.
#[must_use]
pub fn version_table<'r>(submissions: impl Iterator<Item = &'r SubmissionRows> + Clone) -> TableData {
    let rows = submissions
        .clone()
        .flat_map(|own| own.versions.iter().map(move |version| (own, version)));
    let table = of_submissions(RowTable::new("Iterations", rows), |(own, _)| own);
    let mut table = table
        .count("iteration", |(_, version)| version.iteration)
        .text("state", |(_, version)| version.state.label())
        .text("gates", |(_, version)| &version.gates)
        .fine("D1", |(_, version)| version.score(0))
        .fine("D2", |(_, version)| version.score(1))
        .fine("D3", |(_, version)| version.score(2))
        .column(("changed", Align::Right), |(_, version)| {
            version.changed.map_or(TableCell::Empty, TableCell::Count)
        })
        .text("drift", |(_, version)| version.drift.as_deref().unwrap_or(""))
        .text("published", |(_, version)| version.published_drift.as_deref().unwrap_or(""))
        .text("ranked", |(own, version)| if own.ranked == Some(version.iteration) { "yes" } else { "" })
        .table()
        .with_note(
            "gates: the first that failed; D1 to D3 as measured, of 1; drift: seen from the reference strategy, then by the \
             published thresholds",
        );
    table
        .notes
        .extend(SubmissionRows::contract_note(submissions.clone()));
    table.notes.extend(SubmissionRows::reference_note(submissions));
    table
}
