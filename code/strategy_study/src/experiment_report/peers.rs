//! T8: what models say of each other, and how that goes with what was measured.

use super::material::StrategyReport;
use super::scores::peers;
use crate::arena::arena_tables;
use ktd_strategy_code::rank_correlation;
use ktd_view::draw::Align::Left;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;

/// The names of the tables of an arena, in their order.
const IDS: [&str; 6] = [
    "T8_arena",
    "T8_matrix",
    "T8_reviewers",
    "T8_makers",
    "T8_alpha",
    "T8_agreement",
];

/// T8: the tables of the arena, and the correlation of marks and measured scores.
pub(super) fn tables(report: &StrategyReport) -> Vec<ReportTable> {
    let Some(record) = &report.arena else {
        let data = TableData::new("T8. Reviews by peers", [("reviews", Left)]).with_rows([vec![
            TableCell::Missing(report.no_arena.clone().unwrap_or_else(|| {
                "no arena was held: the key `arena` has models review each other's programs".to_owned()
            })),
        ]]);
        return vec![ReportTable::new("T8_arena", data)];
    };
    let of_arena = IDS.into_iter().zip(arena_tables(record)).map(|(id, data)| {
        let title = format!("T8. {}", data.title);
        ReportTable::new(id, TableData { title, ..data })
    });
    of_arena.chain([measured(report)]).collect()
}

/// Marks of peers against measured scores, over submissions that have both.
fn measured(report: &StrategyReport) -> ReportTable {
    let rows = [("D1", 0_usize), ("D2", 1)].map(|(name, place)| {
        let pairs = report.counted().filter_map(|submission| {
            let mark = *peers(report, submission)?.get(place)?;
            Some((mark, submission.rows.ranked()?.score(place)?))
        });
        let (marks, scores): (Vec<f64>, Vec<f64>) = pairs.unzip();
        (name, marks.len(), rank_correlation(&marks, &scores))
    });
    let reason = "below two submissions with both, or one of the two does not vary";
    let data = RowTable::new("T8. Marks of peers against measured scores", rows)
        .text("score", |(name, ..)| name)
        .count("submissions", |(_, count, _)| count)
        .figure("Spearman", |(.., found)| found, (TableCell::Fine, reason))
        .table()
        .with_note("over ranked versions, valid or not; one's own marks are not among them, nor those of reviewers that are not sound");
    ReportTable::new("T8_measured", data)
}
