//! T5: scores, patches and drift by iteration.

use super::material::StrategyReport;
use super::real_bars::{NO_REAL_BARS, test_return};
use crate::cells::{as_number, mean};
use ktd_strategy_code::VersionRow;
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::BTreeMap;

/// T5, over all models.
pub(super) fn by_iteration(report: &StrategyReport) -> ReportTable {
    let versions = report.counted().map(|own| &own.rows.versions);
    let last = versions.clone().map(Vec::len).max().unwrap_or(0);
    let rows: Vec<(usize, Vec<&VersionRow>)> = (0..last)
        .map(|iteration| {
            (
                iteration,
                versions.clone().filter_map(|own| own.get(iteration)).collect(),
            )
        })
        .collect();
    let measured = |own: &[&VersionRow], place: usize| mean_of(own, |own| own.measured?.get(place).copied());
    let published =
        |own: &[&VersionRow], place: usize| mean_of(own, |own| own.published_scores?.get(place).copied());
    let is_repair = |own: &&&VersionRow| {
        (own.drift.as_deref(), own.published_drift.as_deref()) == (Some("towards"), Some("suspicious"))
    };
    let data = RowTable::new("T5. Scores by iteration", &rows)
        .count("iteration", |(iteration, _)| *iteration)
        .count("versions", |(_, own)| own.len())
        .count("valid", |(_, own)| own.iter().filter(|version| version.valid).count())
        .fine("D1", |(_, own)| measured(own, 0))
        .fine("D2", |(_, own)| measured(own, 1))
        .fine("D3", |(_, own)| measured(own, 2))
        .fine("published D3", |(_, own)| published(own, 0))
        .fine("published D4", |(_, own)| published(own, 1))
        .fine("changed lines", |(_, own)| mean_of(own, |own| own.changed.map(as_number)))
        .text("drift", |(_, own)| counted(own.iter().filter_map(|own| own.drift.as_deref())))
        .text("published drift", |(_, own)| counted(own.iter().filter_map(|own| own.published_drift.as_deref())))
        .count("suspicious repairs", |(_, own)| own.iter().filter(is_repair).count())
        .figure(
            "test return",
            |(iteration, _)| test_return(report, *iteration),
            (TableCell::Change, NO_REAL_BARS),
        )
        .table()
        .with_note(
            "means over versions that were judged; suspicious repairs: patches towards the reference that the published \
             thresholds call suspicious; test return: at the next open without costs, median over submissions and series",
        );
    ReportTable::new("T5_iterations", data)
}

fn mean_of(versions: &[&VersionRow], score: impl Fn(&VersionRow) -> Option<f64>) -> Option<f64> {
    let scores: Vec<f64> = versions.iter().filter_map(|version| score(version)).collect();
    mean(&scores)
}

/// Words with how often each is there, in the order of their letters.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(word, count)| format!("{word} {count}"))
        .collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;

    #[test]
    fn repairs_that_the_published_thresholds_suspect_are_counted() {
        let versions = vec![version(0, 2, None), version(1, 6, Some("towards"))];
        let other = vec![version(0, 4, None)];
        let all = vec![
            submission(("a", "S01"), versions, Vec::new()),
            submission(("b", "S01"), other, Vec::new()),
        ];
        let found = records(&by_iteration(&report(all, None)));
        assert_eq!(found[1][..5], ["0", "2", "0", "0.5", "1"]);
        assert_eq!(
            found[2][6..],
            ["8", "9", "3", "towards 1", "suspicious 1", "1", ""]
        );
    }
}
