//! T4: how many versions run, and why the others do not.

use super::material::StrategyReport;
use crate::cells::share;
use crate::run::SubmissionFound;
use ktd_strategy_code::{Gate, NOT_REACHED};
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::BTreeMap;

/// Why a version does not run: the name of its fault, without the message; none where it runs, or was not started.
fn fault(submission: &SubmissionFound, iteration: usize) -> Option<&str> {
    let reason = submission.report(iteration)?.gates.reason(Gate::Exec)?;
    let name = reason.split(':').next().unwrap_or(reason);
    (reason != NOT_REACHED).then_some(name)
}

/// Versions that were started, and whether they ran.
fn started(submission: &SubmissionFound) -> impl Iterator<Item = (usize, bool)> {
    let versions = submission.rows.versions.iter();
    versions.filter_map(|version| {
        let runs = version.passes(Gate::Exec);
        let is_started = runs || fault(submission, version.iteration).is_some();
        is_started.then_some((version.iteration, runs))
    })
}

/// What was started for a model, and what of it ended well.
#[derive(Clone, Copy)]
struct Started<'a> {
    model: &'a str,
    versions: usize,
    ran: usize,
    stress: usize,
    ended: usize,
}

/// T4: the share of started versions that run, and of runs on distorted bars that end.
pub(super) fn success(report: &StrategyReport) -> ReportTable {
    let rows = report.models().into_iter().map(|model| {
        let all = || report.of_model(model).flat_map(started);
        let runs = report.of_model(model).flat_map(|own| &own.judged);
        let runs = runs.filter_map(|version| version.report.as_ref()?.run.as_ref());
        let stress: Vec<bool> = runs
            .flat_map(|run| run.stress.iter().map(|own| own.has_ended))
            .collect();
        Started {
            model,
            versions: all().count(),
            ran: all().filter(|(_, runs)| *runs).count(),
            stress: stress.len(),
            ended: stress.iter().filter(|ended| **ended).count(),
        }
    });
    let form: (fn(f64) -> TableCell, _) = (TableCell::Percent, "nothing was started");
    let data = RowTable::new("T4. Execution success", rows)
        .text("model", |own| own.model)
        .count("versions started", |own| own.versions)
        .count("run", |own| own.ran)
        .figure("success", |own| share(own.ran, own.versions), form)
        .count("stress runs", |own| own.stress)
        .count("end", |own| own.ended)
        .figure("stress success", |own| share(own.ended, own.stress), form)
        .table()
        .with_note("over all versions whose card is as the document has it; stress: the long run on eight kinds of distorted bars");
    ReportTable::new("T4_execution", data)
}

/// T4: why versions do not run, by model.
pub(super) fn reasons(report: &StrategyReport) -> ReportTable {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for submission in report.counted() {
        for (iteration, _) in started(submission).filter(|(_, runs)| !runs) {
            if let Some(name) = fault(submission, iteration) {
                *counts.entry((&submission.rows.model, name)).or_insert(0) += 1;
            }
        }
    }
    let data = RowTable::new("T4. Why versions do not run", counts)
        .text("model", |((model, _), _)| model)
        .text("fault", |((_, fault), _)| fault)
        .count("versions", |(_, count)| count)
        .table();
    ReportTable::new("T4_reasons", data)
}
