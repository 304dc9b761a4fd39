//! The published rule at other thresholds, from stored figures alone.

use super::cells::{ReportedCell, cohorts};
use super::rates::{invalid, missing, share, text};
use ktd_factor_code::{SweepSetting, TaskRate};
use ktd_stats::spearman;
use ktd_study::StudyError;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Fewer cells have no order worth a correlation.
const LEAST_RANKED: usize = 3;

/// Table 6.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> Result<TableData, StudyError> {
    let heads = [
        ("least correlation", Right),
        ("largest error", Right),
        ("cuts", Right),
        ("bundle", Left),
        ("VAcc, published", Right),
        ("ranked", Right),
        ("Spearman of ranks to the default", Right),
    ];
    let mut rows = Vec::new();
    for cohort in cohorts(cells) {
        let default = ranked(&cohort, &SweepSetting::DEFAULT);
        for setting in SweepSetting::all() {
            let here = ranked(&cohort, &setting);
            let ranks = correlation(default.as_deref(), here.as_deref())?;
            for reported in &cohort {
                rows.push(vec![
                    TableCell::Text(setting.correlation.to_string()),
                    TableCell::Text(setting.error.to_string()),
                    TableCell::Count(usize::from(setting.cuts)),
                    text(reported.name()),
                    rate(reported, &setting).map_or_else(|| missing(UNTESTED), share),
                    TableCell::Count(here.as_ref().map_or(0, Vec::len)),
                    ranks.clone(),
                ]);
            }
        }
    }
    Ok(TableData::new("T6. The published rule at other thresholds", heads)
        .with_rows(rows)
        .with_note(
            "cuts: prefixes of the published test of look-ahead, evenly apart from the middle of a panel on",
        )
        .with_note("ranked: bundles of one style and seed whose coverage is whole"))
}

/// Why a denser test of an old bundle is missing.
const UNTESTED: &str = "recorded without as many cuts";

fn rate(reported: &ReportedCell<'_>, setting: &SweepSetting) -> Option<TaskRate> {
    setting.verified(&reported.last(), &reported.rules)
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
    let found = spearman(default, here).map_err(invalid)?;
    Ok(found.map_or_else(|| missing("all are tied"), TableCell::Fine))
}
