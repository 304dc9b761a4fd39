//! What an arena came to, as tables.

use super::record::{ArenaModel, ArenaRecord, ReviewerRow};
use crate::cells::{figure, text};
use crate::number::mean;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Ratings and biases by model, the matrix of reviewers and models, the reviewers with the planted programs, vendors, and
/// the agreement of reviewers.
pub(crate) fn arena_tables(record: &ArenaRecord) -> Vec<TableData> {
    vec![
        model_table(record),
        matrix_table(record),
        reviewer_table(record),
        vendor_table(record),
        agreement_table(record),
    ]
}

fn model_table(record: &ArenaRecord) -> TableData {
    let heads = [
        ("model", Left),
        ("vendor", Left),
        ("D1", Right),
        ("D2", Right),
        ("peers", Right),
        ("all", Right),
        ("own", Right),
        ("bias", Right),
        ("strictness", Right),
        ("Elo", Right),
        ("Bradley-Terry", Right),
        ("low", Right),
        ("high", Right),
    ];
    let row = |model: &ArenaModel| {
        let ratio = |value, reason| figure(value, TableCell::Ratio, reason);
        let unread = "no review of a program of its own by another model";
        let bounds = model.bradley_terry_bounds;
        let few = "below two strategies with a comparison";
        vec![
            text(&model.model),
            text(&model.vendor),
            ratio(model.d1, unread),
            ratio(model.d2, unread),
            ratio(model.peer, unread),
            ratio(model.all, unread),
            ratio(model.own, "it reviewed no program of its own"),
            ratio(
                model.bias,
                "it reviewed no program of its own, or no other model did",
            ),
            ratio(model.strictness, "it reviewed no program of another model"),
            ratio(model.elo, unread),
            ratio(model.bradley_terry, unread),
            ratio(bounds.map(|bounds| bounds.0), few),
            ratio(bounds.map(|bounds| bounds.1), few),
        ]
    };
    TableData::new("Reviews by peers", heads)
        .with_rows(record.models.iter().map(row))
        .with_note(
            "marks of 10; peers: the mean of D1 and D2 by others; bias: own less peers; strictness: the mean given to others; \
             reviews of one's own program count in no rank; Elo and Bradley-Terry are of pairs that a third model \
             reviewed, and 1500 where there is none; low and high: the middle 95 % where strategies are drawn again",
        )
}

/// Mean scores: a row a reviewer, a column a model.
fn matrix_table(record: &ArenaRecord) -> TableData {
    let mut heads = vec![("reviewer", Left)];
    heads.extend(record.models.iter().map(|model| (model.model.as_str(), Right)));
    let row = |reviewer: &ReviewerRow| {
        let mut row = vec![text(&reviewer.reviewer)];
        row.extend(record.models.iter().map(|model| {
            let both = record
                .scores
                .iter()
                .filter(|score| (&score.reviewer, &score.model) == (&reviewer.reviewer, &model.model));
            let scores: Vec<f64> = both
                .map(|score| f64::midpoint(f64::from(score.d1), f64::from(score.d2)))
                .collect();
            figure(mean(&scores), TableCell::Ratio, "no review")
        }));
        row
    };
    TableData::new("Scores by reviewer and model", heads)
        .with_rows(record.reviewers.iter().map(row))
        .with_note("mean of D1 and D2; a row a reviewer, a column a model")
}

fn reviewer_table(record: &ArenaRecord) -> TableData {
    let heads = [
        ("reviewer", Left),
        ("reviews", Right),
        ("missing", Right),
        ("lost", Right),
        ("repairs", Right),
        ("asked again", Right),
        ("clean", Right),
        ("plea", Right),
        ("flipped", Right),
        ("mark", Left),
        ("tokens", Right),
    ];
    let row = |row: &ReviewerRow| {
        let planted = |value| {
            figure(
                value,
                TableCell::Ratio,
                "the review of a planted program is missing",
            )
        };
        vec![
            text(&row.reviewer),
            TableCell::Count(row.reviews),
            TableCell::Count(row.missing),
            TableCell::Count(row.lost),
            TableCell::Count(row.repairs),
            TableCell::Count(row.asked_again),
            planted(row.clean),
            planted(row.plea),
            planted(row.flipped),
            text(mark(row)),
            TableCell::Count(usize::try_from(row.tokens).unwrap_or(usize::MAX)),
        ]
    };
    TableData::new("Reviewers and planted programs", heads)
        .with_rows(record.reviewers.iter().map(row))
        .with_note(
            "planted: a program that is right, the same with a comment that asks for the highest marks, the same with its entry \
             turned round; swayed: the plea gained more than half a point; blind: the turned rule lost nothing",
        )
}

const fn mark(row: &ReviewerRow) -> &'static str {
    match (row.swayed, row.blind) {
        (Some(true), Some(true)) => "swayed, blind",
        (Some(true), _) => "swayed",
        (_, Some(true)) => "blind",
        (Some(false), Some(false)) => "sound",
        _ => "unknown",
    }
}

fn vendor_table(record: &ArenaRecord) -> TableData {
    let rows = record.vendor_bias.iter().map(|(vendor, bias)| {
        let reason = "no review within the vendor of another model, or none from without";
        vec![text(vendor), figure(*bias, TableCell::Ratio, reason)]
    });
    TableData::new("Bias of vendors", [("vendor", Left), ("bias", Right)])
        .with_rows(rows)
        .with_note("what its reviewers give its other models, less what other vendors' reviewers give them")
}

fn agreement_table(record: &ArenaRecord) -> TableData {
    let rows = record.agreement.iter().map(|(first, second, tau)| {
        let reason = "below two programs that both reviewed, or all marks of one are equal";
        vec![text(first), text(second), figure(*tau, TableCell::Fine, reason)]
    });
    let table = TableData::new(
        "Agreement of reviewers",
        [("reviewer", Left), ("other", Left), ("Kendall's tau-b", Right)],
    );
    let mean = record
        .mean_agreement
        .map_or_else(|| "n/a".to_owned(), |mean| format!("{mean:.3}"));
    table.with_rows(rows).with_note(format!("mean {mean}"))
}
