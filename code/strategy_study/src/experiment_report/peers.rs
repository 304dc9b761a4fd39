//! T8: what models say of each other, as a picture too, and how that goes with what was measured.

use super::material::StrategyReport;
use super::scores::peers;
use crate::arena::{arena_tables, mean_mark};
use ktd_strategy_code::rank_correlation;
use ktd_view::draw::Align::Left;
use ktd_view::draw::{HeatCell, HeatMap, TableCell, TableData, captioned, decimals};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use maud::Markup;

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

/// What each reviewer gives each model, and how strict it is; none without an arena.
pub(super) fn picture(report: &StrategyReport) -> Option<Markup> {
    let record = report.arena.as_ref()?;
    let rows = record.reviewers.iter().map(|own| {
        let reviewer = own.reviewer.as_str();
        let cell = |head: &str, mark: Option<f64>| {
            let words = |text: &str| format!("{reviewer}, {head}: {text}");
            mark.map_or_else(
                || HeatCell::none(words("no review")),
                |mark| HeatCell::of_share(mark / 10.0, decimals(mark, 1), words(&decimals(mark, 2))),
            )
        };
        let given = record.models.iter().map(|model| HeatCell {
            is_framed: model.model == reviewer,
            ..cell(&model.model, mean_mark(record, reviewer, &model.model))
        });
        let as_model = record.models.iter().find(|model| model.model == reviewer);
        let strictness = as_model.and_then(|model| model.strictness);
        let name = if own.counts {
            reviewer.to_owned()
        } else {
            format!("{reviewer} ({})", own.flags.state().label())
        };
        (name, given.chain([cell(STRICTNESS, strictness)]).collect())
    });
    let models = record.models.iter().map(|model| model.model.clone());
    let map = HeatMap {
        columns: models.chain([STRICTNESS.to_owned()]).collect(),
        rows: rows.collect(),
    };
    let caption = "Mean marks, of 10, a row a reviewer, a column a model; last what it gives others. Framed: its own programs, which count \
                   nowhere; a reviewer whose flag is named counts nowhere else (T8_matrix.csv, T8_arena.csv)";
    Some(captioned(
        caption,
        [],
        &map.figure(caption, "stronger from marks of 2, 4, 6 and 8 on"),
    ))
}

const STRICTNESS: &str = "strictness";

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

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{arena, report};
    use super::*;

    #[test]
    fn the_matrix_has_every_reviewer_its_flag_and_its_strictness() {
        let shown = picture(&report(Vec::new(), Some(arena()))).unwrap().into_string();
        assert!(
            shown.contains("<title>a, a: 9.00</title><rect class=\"cell hp5 framed\""),
            "{shown}"
        );
        assert!(
            shown.contains("<title>a, b: 4.00</title><rect class=\"cell hp3\""),
            "{shown}"
        );
        assert!(shown.contains("<title>a, strictness: 4.00</title>"), "{shown}");
        assert!(shown.contains(">b (unknown)</text>"), "{shown}");
        assert!(picture(&report(Vec::new(), None)).is_none());
    }
}
