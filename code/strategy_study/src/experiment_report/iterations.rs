//! T5: scores, patches and drift by iteration.

use super::material::StrategyReport;
use super::real_bars::NO_REAL_BARS;
use crate::cells::{missing, text};
use crate::number::{as_number, mean};
use crate::rows::VersionRow;
use crate::run::test_return;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

const HEADS: [(&str, Align); 13] = [
    ("iteration", Right),
    ("versions", Right),
    ("valid", Right),
    ("D1", Right),
    ("D2", Right),
    ("D3", Right),
    ("published D3", Right),
    ("published D4", Right),
    ("changed lines", Right),
    ("drift", Left),
    ("published drift", Left),
    ("suspicious repairs", Right),
    ("test return", Right),
];

/// T5, over all models.
pub(super) fn by_iteration(report: &StrategyReport) -> ReportTable {
    let versions = report.submissions.iter().map(|own| &own.rows.versions);
    let last = versions.clone().map(Vec::len).max().unwrap_or(0);
    let rows = (0..last).map(|iteration| {
        let own: Vec<&VersionRow> = versions.clone().filter_map(|own| own.get(iteration)).collect();
        let earned = if report.real.is_empty() {
            missing(NO_REAL_BARS)
        } else {
            test_return(&report.real, iteration)
        };
        row(iteration, &own, earned)
    });
    let data = TableData::new("T5. Scores by iteration", HEADS)
        .with_rows(rows)
        .with_note(
            "means over versions that were judged; suspicious repairs: patches towards the reference that the published \
             thresholds call suspicious; test return: at the next open without costs, median over submissions and series",
        );
    ReportTable::new("T5_iterations", data)
}

fn row(iteration: usize, versions: &[&VersionRow], test_return: TableCell) -> Vec<TableCell> {
    let mean_of = |score: &dyn Fn(&VersionRow) -> Option<f64>| {
        let scores: Vec<f64> = versions.iter().filter_map(|version| score(version)).collect();
        TableCell::optional(mean(&scores), TableCell::Fine)
    };
    let measured = |place: usize| mean_of(&|version| version.measured?.get(place).copied());
    let published = |place: usize| mean_of(&|version| version.published_scores?.get(place).copied());
    let repairs = versions.iter().filter(|version| {
        version.drift.as_deref() == Some("towards")
            && version.published_drift.as_deref() == Some("suspicious")
    });
    let valid = versions.iter().filter(|version| version.valid).count();
    vec![
        TableCell::Count(iteration),
        TableCell::Count(versions.len()),
        TableCell::Count(valid),
        measured(0),
        measured(1),
        measured(2),
        published(0),
        published(1),
        mean_of(&|version| version.changed.map(as_number)),
        text(&counted(versions.iter().filter_map(|own| own.drift.as_deref()))),
        text(&counted(
            versions.iter().filter_map(|own| own.published_drift.as_deref()),
        )),
        TableCell::Count(repairs.count()),
        test_return,
    ]
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
