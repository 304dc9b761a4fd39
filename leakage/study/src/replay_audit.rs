//! The proof by replay: columns computed again on cut and changed panels.

use super::audit_panel::AuditPanel;
use ktd_io::parallel::in_parallel;
use ktd_leakage::{
    CausalityReport, PlannedReplay, ReplayComparison, ReplayKind, ReplayPanel, ReplayRun, SuffixReplacement,
    compare_replay, judge_replays, replay_plan,
};
use std::collections::BTreeMap;

/// Columns by name, each a cell for each name of the first session, then of the second; NaN is missing. A column that could
/// not be computed has the reason.
pub(super) type ComputedColumns = BTreeMap<String, Result<Vec<f64>, String>>;

/// What replays say of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnOutcome {
    /// It was computed on every panel.
    Judged(Box<CausalityReport>),
    /// It was not, and why.
    Failed(String),
}

/// Computes columns on the whole panel, once more, and on every panel of the plan, and compares them up to each cut.
///
/// The bits of a column on a panel are those of `compute`; in how many threads it is called shows in nothing.
///
/// # Errors
/// The failure on the whole panel, where there is no column at all.
pub(super) fn replay_columns(
    panel: &AuditPanel,
    (tolerance, threads): (f64, usize),
    compute: &(dyn Fn(&ReplayPanel) -> Result<ComputedColumns, String> + Sync),
) -> Result<Vec<(String, ColumnOutcome)>, String> {
    let whole = compute(&panel.bars)?;
    let plan: Vec<(usize, PlannedReplay)> = replay_plan(panel.bars.days()).into_iter().enumerate().collect();
    let each = in_parallel(&plan, threads, |(place, run)| {
        let again = compute(&run.panel(&panel.bars));
        compare_all(&whole, &again, (*place, run), panel, tolerance)
    });
    let judged = whole.iter().map(|(name, column)| {
        let outcome = match column {
            Err(failure) => ColumnOutcome::Failed(failure.clone()),
            Ok(column) => {
                let runs: Result<Vec<ReplayComparison>, String> = each
                    .iter()
                    .map(|run| match run.get(name) {
                        Some(comparison) => comparison.clone(),
                        None => Err("the column is missing in a run".to_owned()),
                    })
                    .collect();
                match runs {
                    Ok(runs) => {
                        ColumnOutcome::Judged(Box::new(judge_replays(column, panel.bars.names(), &runs)))
                    }
                    Err(failure) => ColumnOutcome::Failed(failure),
                }
            }
        };
        (name.clone(), outcome)
    });
    Ok(judged.collect())
}

/// Every column of a run against the whole panel's.
fn compare_all(
    whole: &ComputedColumns,
    again: &Result<ComputedColumns, String>,
    (place, run): (usize, &PlannedReplay),
    panel: &AuditPanel,
    tolerance: f64,
) -> BTreeMap<String, Result<ReplayComparison, String>> {
    let compared = whole.iter().filter_map(|(name, column)| {
        let column = column.as_ref().ok()?;
        let own = again.as_ref().map_err(String::as_str).and_then(|columns| {
            let own = columns.get(name).ok_or("the column is missing")?;
            own.as_ref().map_err(String::as_str)
        });
        let found = own
            .map(|values| {
                let replay = ReplayRun {
                    kind: run.kind,
                    cut: run.cut,
                    values,
                };
                compare_replay(column, panel.bars.names(), (place, &replay), tolerance)
            })
            .map_err(|failure| format!("{}: {failure}", run_text(run, panel)));
        Some((name.clone(), found))
    });
    compared.collect()
}

/// What a run did to the panel, in words.
pub(super) fn run_text(run: &PlannedReplay, panel: &AuditPanel) -> String {
    let date = panel.date(run.cut);
    match (run.kind, run.replacement) {
        (ReplayKind::Repeat, _) => "the whole panel once more".to_owned(),
        (ReplayKind::Prefix, _) => format!("the panel ended on {date}"),
        (ReplayKind::Suffix, SuffixReplacement::Paths) => format!("other paths after {date}"),
        (ReplayKind::Suffix, SuffixReplacement::Stretch) => format!("an earlier stretch after {date}"),
        (ReplayKind::OpenView, _) => format!("of {date} the open alone"),
    }
}
