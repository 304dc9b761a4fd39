//! The published rule at other thresholds, from stored figures alone.

use super::cells::{ReportedCell, cohorts};
use super::comparison::defect;
use super::layers::{missing, share};
use ktd_factor_code::{SweepSetting, TaskRate};
use ktd_stats::spearman;
use ktd_study::StudyError;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// Fewer cells have no order worth a correlation.
const LEAST_RANKED: usize = 3;

/// Table 6.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> Result<TableData, StudyError> {
    let mut rows = Vec::new();
    for cohort in cohorts(cells) {
        let default = ranked(&cohort, &SweepSetting::DEFAULT);
        for setting in SweepSetting::all() {
            let here = ranked(&cohort, &setting);
            let ranks = correlation(default.as_deref(), here.as_deref())?;
            let size = here.as_ref().map_or(0, Vec::len);
            rows.extend(cohort.iter().map(|cell| (*cell, setting, size, ranks.clone())));
        }
    }
    Ok(RowTable::new(
        "T6. The published rule at other thresholds, of first answers",
        &rows,
    )
    .column(("least correlation", Right), |(_, setting, ..)| {
        TableCell::Worded(setting.correlation, setting.correlation.to_string())
    })
    .column(("largest error", Right), |(_, setting, ..)| {
        TableCell::Worded(setting.error, setting.error.to_string())
    })
    .count("cuts", |(_, setting, ..)| setting.cuts)
    .text("bundle", |(cell, ..)| cell.name())
    .column(("VAcc, published", Right), |(cell, setting, ..)| {
        rate(cell, setting).map_or_else(|| missing(UNTESTED), |rate| share(rate.share()))
    })
    .count("ranked", |(_, _, size, _)| *size)
    .column(("Spearman of ranks to the default", Right), |(.., ranks)| {
        ranks.clone()
    })
    .table()
    .with_note(
        "cuts: prefixes of the published test of look-ahead, evenly apart from the middle of a panel on",
    )
    .with_note("ranked: bundles of one style and seed whose coverage is whole"))
}

/// Why a denser test of an old bundle is missing.
const UNTESTED: &str = "recorded without as many cuts";

fn rate(reported: &ReportedCell<'_>, setting: &SweepSetting) -> Option<TaskRate> {
    setting.verified(&reported.first(), &reported.rules)
}

/// The shares of those that have ranks, in the order of the cells; none where one was not tested so.
fn ranked(cohort: &[&ReportedCell<'_>], setting: &SweepSetting) -> Option<Vec<f64>> {
    let whole = cohort.iter().filter(|reported| reported.no_rank().is_none());
    whole.map(|reported| rate(reported, setting)?.share()).collect()
}

fn correlation(default: Option<&[f64]>, here: Option<&[f64]>) -> Result<TableCell, StudyError> {
    let (Some(default), Some(here)) = (default, here) else {
        return Ok(missing(UNTESTED));
    };
    if here.len() < LEAST_RANKED {
        return Ok(missing("fewer than three ranked cells"));
    }
    let found = spearman(default, here).map_err(defect)?;
    Ok(found.map_or_else(|| missing("all are tied"), TableCell::Fine))
}
