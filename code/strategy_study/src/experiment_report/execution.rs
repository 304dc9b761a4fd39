//! T4: how many versions run, and why the others do not.

use super::gates::passes;
use super::material::StrategyReport;
use crate::cells::{figure, text};
use crate::number::as_number;
use crate::run::SubmissionFound;
use ktd_strategy_code::{Gate, NOT_REACHED};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

/// Why a version does not run: the name of its fault, without the message; none where it runs, or was not started.
fn fault(submission: &SubmissionFound, iteration: usize) -> Option<&str> {
    let reason = submission.report(iteration)?.reason(Gate::Exec)?;
    let name = reason.split(':').next().unwrap_or(reason);
    (reason != NOT_REACHED).then_some(name)
}

/// Versions that were started, and whether they ran.
fn started(submission: &SubmissionFound) -> impl Iterator<Item = (usize, bool)> {
    let versions = submission.rows.versions.iter();
    versions.filter_map(|version| {
        let runs = passes(version, Gate::Exec);
        let is_started = runs || fault(submission, version.iteration).is_some();
        is_started.then_some((version.iteration, runs))
    })
}

/// T4: the share of started versions that run, and of runs on distorted bars that end.
pub(super) fn success(report: &StrategyReport) -> ReportTable {
    let rows = report.models().into_iter().map(|model| {
        let all = || report.of_model(model).flat_map(started);
        let (begun, ran) = (all().count(), all().filter(|(_, runs)| *runs).count());
        let stress: Vec<bool> = report.of_model(model).flat_map(stress_ends).collect();
        let ended = stress.iter().filter(|ended| **ended).count();
        let share = |part: usize, whole: usize| {
            let share = (whole > 0).then(|| as_number(part) / as_number(whole));
            figure(share, TableCell::Percent, "nothing was started")
        };
        vec![
            text(model),
            TableCell::Count(begun),
            TableCell::Count(ran),
            share(ran, begun),
            TableCell::Count(stress.len()),
            TableCell::Count(ended),
            share(ended, stress.len()),
        ]
    });
    let heads = [
        ("model", Left),
        ("versions started", Right),
        ("run", Right),
        ("success", Right),
        ("stress runs", Right),
        ("end", Right),
        ("stress success", Right),
    ];
    let data = TableData::new("T4. Execution success", heads)
        .with_rows(rows)
        .with_note("over all versions whose card is as the document has it; stress: the long run on eight kinds of distorted bars");
    ReportTable::new("T4_execution", data)
}

fn stress_ends(submission: &SubmissionFound) -> Vec<bool> {
    let reports = (0..submission.events.len()).filter_map(|iteration| submission.report(iteration));
    let runs = reports.filter_map(|report| report.run.as_ref());
    runs.flat_map(|run| run.stress.iter().map(|stress| stress.ended))
        .collect()
}

/// T4: why versions do not run, by model.
pub(super) fn reasons(report: &StrategyReport) -> ReportTable {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for submission in &report.submissions {
        for (iteration, _) in started(submission).filter(|(_, runs)| !runs) {
            if let Some(name) = fault(submission, iteration) {
                *counts.entry((&submission.rows.model, name)).or_insert(0) += 1;
            }
        }
    }
    let rows = counts
        .into_iter()
        .map(|((model, name), count)| vec![text(model), text(name), TableCell::Count(count)]);
    let heads = [("model", Left), ("fault", Left), ("versions", Right)];
    let data = TableData::new("T4. Why versions do not run", heads).with_rows(rows);
    ReportTable::new("T4_reasons", data)
}
