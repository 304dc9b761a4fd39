//! Reports and versions as text, tables and JSON.

use crate::cells::text;
use crate::replies::ScoredStrategy;
use crate::report::SubmissionReport;
use crate::rows::{NO_REFERENCE, SubmissionRows, VersionRow};
use crate::run::VersionVerdict;
use crate::submission::StrategySubmission;
use crate::task::StrategyTask;
use ktd_strategy_code::{
    DocumentId, DriftVerdict, Gate, PATCH_LINES_MAX, PaperScores, PatchSize, StrategyDocument, StrictJson,
    VersionDrift,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, visible};
use serde_json::{Value, json};

/// The documents.
#[must_use]
pub fn document_table(documents: &[(DocumentId, StrategyDocument)]) -> TableData {
    let heads = [
        ("id", Left),
        ("name", Left),
        ("family", Left),
        ("bars", Left),
        ("assets", Right),
        ("warm-up", Right),
        ("parameters", Right),
        ("rules", Right),
        ("complexity", Right),
    ];
    let rows = documents.iter().map(|(id, document)| {
        vec![
            text(id.label()),
            text(&document.name),
            text(&document.family),
            text(if document.is_intraday {
                "15 minutes"
            } else {
                "daily"
            }),
            TableCell::Count(document.assets.len()),
            TableCell::Count(document.warm_up_bars),
            TableCell::Count(document.parameters.len()),
            TableCell::Count(document.rules.len()),
            TableCell::Ratio(document.complexity()),
        ]
    });
    TableData::new(format!("{} strategies", documents.len()), heads).with_rows(rows)
}

/// A document for programs.
#[must_use]
pub fn document_value(document: &StrategyDocument) -> Value {
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
        "constraints": document.constraints.iter().map(|(name, value)| (name.clone(), plain(value)))
            .collect::<serde_json::Map<String, Value>>(),
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

/// A report in words, with its evidence.
#[must_use]
pub fn report_text(
    report: &SubmissionReport,
    submission: &StrategySubmission,
    task: &StrategyTask,
) -> String {
    let mut lines: Vec<String> = Gate::ALL
        .into_iter()
        .map(|gate| match report.gates.reason(gate) {
            None => format!("{:<10} passed", gate.label()),
            Some(reason) => format!("{:<10} failed: {reason}", gate.label()),
        })
        .collect();
    if let Some(run) = &report.run {
        lines.push(format!("trades     {} (hash {})", run.trades, run.trade_hash));
        lines.push(format!(
            "filled     {:.4} of the required cells",
            run.completeness
        ));
        for breach in &run.breaches.breaches {
            let logged = if breach.is_logged { "logged" } else { "not logged" };
            lines.push(format!(
                "breach     {} at {} ({logged})",
                breach.kind.label(),
                breach.time
            ));
        }
        for outcome in &run.stress {
            let problem = outcome
                .problem
                .as_deref()
                .map(|problem| format!("failed: {problem}"));
            let broken = outcome.breaches.breaches.len();
            let problem = problem.or_else(|| (broken > 0).then(|| format!("passed, {broken} breaches")));
            if let Some(problem) = problem {
                lines.push(format!("stress     {}: {problem}", outcome.stress.label()));
            }
        }
        let far = report.distances.iter().filter(|(_, distance)| **distance > 0.0);
        if !task.has_reference() {
            lines.push(format!("behaviour  not judged: {NO_REFERENCE}"));
        }
        lines.extend(
            far.map(|(name, distance)| format!("distance   {distance:.4} to the reference in {name}")),
        );
    }
    lines.extend(
        report
            .warnings()
            .into_iter()
            .map(|warning| format!("warning    {warning}")),
    );
    let [fidelity, risk, reliability] = report.measured(false);
    lines.push(format!(
        "measured   D1 {fidelity:.4}, D2 {risk:.4}, D3 {reliability:.4} (of 1)"
    ));
    if let Some(paper) = report.paper(&submission.source, &task.document) {
        lines.push(format!(
            "published  D3 {:.3}, D4 {:.3} (of 10, static)",
            paper.d3, paper.d4
        ));
    }
    lines.push(format!(
        "valid      {}",
        if report.gates.is_valid() { "yes" } else { "no" }
    ));
    // Reasons are foreign text.
    let shown: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    format!("{}\n", shown.join("\n"))
}

/// The published static scores of a source with their parts, in words.
#[must_use]
pub fn published_text(paper: &PaperScores) -> String {
    format!(
        "D3 {:.3}: determinism {:.1}, no leak {:.1}, logs {:.1}, quality {:.1}\n\
         D4 {:.3}: logic {:.1}, no overfitting {:.1}, generality {:.1} (published static scores, of 10)\n",
        paper.d3,
        paper.determinism,
        paper.no_leak,
        paper.logs,
        paper.quality,
        paper.d4,
        paper.logic,
        paper.no_overfit,
        paper.generality
    )
}

/// What changed between two versions, in words.
#[must_use]
pub fn drift_text(drift: &VersionDrift) -> String {
    let mut lines = vec![if drift.changed_fields.is_empty() {
        "card       says the same".to_owned()
    } else {
        format!("card       drift: {}", drift.changed_fields.join(", "))
    }];
    let [before, after] = &drift.to_reference;
    let has_reference = drift.anchored() != DriftVerdict::NoReference;
    for (name, distance) in &drift.distances {
        if !has_reference {
            lines.push(format!("{name:<16} distance {distance:.4}"));
            continue;
        }
        let of = |distances: &ktd_strategy_code::TraceDistances| distances.get(name).copied().unwrap_or(1.0);
        lines.push(format!(
            "{name:<16} distance {distance:.4}; to the reference {:.4}, then {:.4}",
            of(before),
            of(after)
        ));
    }
    let anchored = drift.anchored();
    let moved = drift.moved_away();
    let moved = if moved.is_empty() {
        String::new()
    } else {
        format!(" (away in {})", moved.join(", "))
    };
    lines.push(format!("reference  {}{moved}", anchored.label()));
    lines.push(format!(
        "published  {} (greatest distance {:.4}, {} scenarios differ)",
        drift.published().label(),
        drift.greatest_distance(),
        drift.diverging()
    ));
    lines.push(patch_line(drift.patch));
    lines.push(format!(
        "drift      {}",
        if drift.is_drift() { "yes" } else { "no" }
    ));
    let shown: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    format!("{}\n", shown.join("\n"))
}

/// The size of a patch, in words.
#[must_use]
pub fn patch_text(patch: PatchSize) -> String {
    format!("{}\n", patch_line(patch))
}

fn patch_line(patch: PatchSize) -> String {
    format!(
        "patch      {} lines changed ({} removed, {} added), at most {PATCH_LINES_MAX}; similarity {:.4}",
        patch.changed(),
        patch.removed,
        patch.added,
        patch.similarity
    )
}

/// All iterations of all submissions.
#[must_use]
pub fn version_table(submissions: &[SubmissionRows]) -> TableData {
    let heads = [
        ("model", Left),
        ("strategy", Left),
        ("seed", Right),
        ("iteration", Right),
        ("state", Left),
        ("gates", Left),
        ("D1", Right),
        ("D2", Right),
        ("D3", Right),
        ("changed", Right),
        ("drift", Left),
        ("published", Left),
        ("ranked", Left),
    ];
    let rows = submissions.iter().flat_map(|submission| {
        submission
            .versions
            .iter()
            .map(move |version| version_row(submission, version))
    });
    let mut table = TableData::new("Iterations", heads).with_rows(rows).with_note(
        "gates: the first that failed; D1 to D3 as measured, of 1; drift: seen from the reference strategy, then by the \
         published thresholds",
    );
    table
        .notes
        .extend(SubmissionRows::reference_note(submissions.iter()));
    table
}

fn version_row(submission: &SubmissionRows, version: &VersionRow) -> Vec<TableCell> {
    let mut row = vec![
        text(&submission.model),
        text(&submission.strategy),
        TableCell::Text(submission.seed.to_string()),
        TableCell::Count(version.iteration),
        text(&version.state),
        text(&version.gates),
    ];
    let scores = version.measured.map(|scores| scores.map(TableCell::Fine));
    row.extend(scores.unwrap_or([TableCell::Empty, TableCell::Empty, TableCell::Empty]));
    row.push(version.changed.map_or(TableCell::Empty, TableCell::Count));
    row.push(text(version.drift.as_deref().unwrap_or("")));
    row.push(text(version.published_drift.as_deref().unwrap_or("")));
    row.push(text(if submission.ranked == Some(version.iteration) {
        "yes"
    } else {
        ""
    }));
    row
}

/// All iterations of all submissions, for programs; `tasks` holds the tasks of all of them.
#[must_use]
pub fn scored_value(scored: &[ScoredStrategy], tasks: &[StrategyTask]) -> Value {
    let of = |scored: &ScoredStrategy| {
        let task = tasks.iter().find(|task| task.id == scored.id)?;
        let versions = scored.chain.versions.iter();
        Some(json!({
            "model": scored.model,
            "strategy": scored.id.label(),
            "ranked": scored.chain.ranked().map(|version| version.iteration),
            "versions": versions.map(|version| VersionVerdict::of(version, task)).collect::<Vec<_>>(),
        }))
    };
    json!({"submissions": scored.iter().filter_map(of).collect::<Vec<_>>()})
}
