//! Reports and versions as tables and for programs.

use crate::cells::of_submissions;
use crate::task::StrategyTask;
use ktd_strategy_code::{
    DocumentId, DriftVerdict, Gate, NO_REFERENCE, PatchSize, StrategyDocument, StrategySubmission,
    StrictJson, SubmissionReport, SubmissionRows, TraceDistances, VersionDrift,
};
use ktd_view::draw::{Align, TableCell, TableData, visible};
use ktd_view::row_table::RowTable;
use serde_json::{Map, Value, json};

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

/// A document for programs.
#[must_use]
pub fn document_value(document: &StrategyDocument) -> Value {
    let constraints = document.constraints.iter();
    json!({
        "id": document.id,
        "name": document.name,
        "family": document.family,
        "assets": document.assets,
        "multi_asset": document.is_multi_asset,
        "intraday": document.is_intraday,
        "warm_up_bars": document.warm_up_bars,
        "parameters": document.configuration(&document.default_parameters()).get("parameters"),
        "rules": document.rules,
        "constraints": constraints.map(|(name, value)| (name.clone(), plain(value))).collect::<Map<_, _>>(),
        "columns": document.columns,
        "complexity": document.complexity(),
    })
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

/// The same for programs.
#[must_use]
pub fn gate_value(report: &SubmissionReport, submission: &StrategySubmission, task: &StrategyTask) -> Value {
    let [fidelity, risk, reliability] = report.measured(false);
    let gates = Gate::ALL.map(|gate| {
        let reason = report.gates.reason(gate);
        (
            gate.label().to_owned(),
            json!({"passed": reason.is_none(), "reason": reason}),
        )
    });
    json!({
        "strategy": task.id.label(),
        "valid": report.gates.is_valid(),
        "gates": gates.into_iter().collect::<Map<_, _>>(),
        "measured": {"D1": fidelity, "D2": risk, "D3": reliability},
        "published": report.paper(&submission.source, &task.document),
        "distances": task.has_reference().then_some(&report.distances),
        "warnings": report.warnings(),
        "checks": report.checks,
        "run": report.run,
    })
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

/// The same for programs.
#[must_use]
pub fn drift_value(drift: &VersionDrift) -> Value {
    let [before, after] = &drift.to_reference;
    let has_reference = drift.anchored() != DriftVerdict::NoReference;
    json!({
        "changed_fields": drift.changed_fields,
        "distances": drift.distances,
        "to_reference": has_reference.then(|| json!({"before": before, "after": after})),
        "anchored": drift.anchored().label(),
        "moved_away": drift.moved_away(),
        "published": drift.published().label(),
        "greatest_distance": drift.greatest_distance(),
        "diverging": drift.diverging(),
        "patch": patch_value(drift.patch),
        "drift": drift.is_drift(),
    })
}

/// The size of a patch for programs.
#[must_use]
pub fn patch_value(patch: PatchSize) -> Value {
    json!({
        "removed": patch.removed,
        "added": patch.added,
        "similarity": patch.similarity,
        "changed": patch.changed(),
        "within_budget": patch.is_within_budget(),
    })
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
