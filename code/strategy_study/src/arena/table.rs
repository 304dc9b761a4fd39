//! What an arena came to, as tables.

use crate::cells::mean;
use ktd_strategy_code::{ArenaRecord, ReviewerRow};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// Ratings and biases by model, the matrix of reviewers and models, the reviewers with the planted programs, vendors, and
/// the agreement of reviewers.
pub(crate) fn arena_tables(record: &ArenaRecord) -> [TableData; 5] {
    [
        model_table(record),
        matrix_table(record),
        reviewer_table(record),
        vendor_table(record),
        agreement_table(record),
    ]
}

fn model_table(record: &ArenaRecord) -> TableData {
    let ratio = |reason: &'static str| (TableCell::Ratio as fn(f64) -> TableCell, reason);
    let unread = ratio("no review of a program of its own by another model");
    let few = ratio("below two strategies with a comparison");
    RowTable::new("Reviews by peers", &record.models)
        .text("model", |own| &own.model)
        .text("vendor", |own| &own.vendor)
        .figure("D1", |own| own.d1, unread)
        .figure("D2", |own| own.d2, unread)
        .figure("peers", |own| own.peer, unread)
        .figure("all", |own| own.all, unread)
        .figure("own", |own| own.own, ratio("it reviewed no program of its own"))
        .figure("bias", |own| own.bias, ratio("it reviewed no program of its own, or no other model did"))
        .figure("strictness", |own| own.strictness, ratio("it reviewed no program of another model"))
        .figure("Elo", |own| own.peer.map(|_| own.elo), unread)
        .figure("Bradley-Terry", |own| own.peer.map(|_| own.bradley_terry), unread)
        .figure("low", |own| Some(own.bradley_terry_bounds?.0), few)
        .figure("high", |own| Some(own.bradley_terry_bounds?.1), few)
        .table()
        .with_note(
            "marks of 10; peers: the mean of D1 and D2 by others; bias: own less peers; strictness: the mean given to others; \
             reviews of one's own program count in no rank; Elo and Bradley-Terry are of pairs that a third model \
             reviewed, and 1500 where there is none; low and high: 95 % by leaving one document out at a time",
        )
}

/// Mean scores: a row a reviewer, a column a model.
fn matrix_table(record: &ArenaRecord) -> TableData {
    let table = RowTable::new("Scores by reviewer and model", &record.reviewers);
    let table = table.text("reviewer", |own| &own.reviewer);
    let table = record.models.iter().fold(table, |table, model| {
        let of = |own: &ReviewerRow| {
            let scores = record.scores.iter();
            let both =
                scores.filter(|score| (&score.reviewer, &score.model) == (&own.reviewer, &model.model));
            let both = both.map(|score| f64::midpoint(f64::from(score.d1), f64::from(score.d2)));
            mean(&both.collect::<Vec<_>>())
        };
        table.figure(&model.model, of, (TableCell::Ratio, "no review"))
    });
    table
        .table()
        .with_note("mean of D1 and D2; a row a reviewer, a column a model")
}

fn reviewer_table(record: &ArenaRecord) -> TableData {
    let planted: (fn(f64) -> TableCell, _) = (TableCell::Ratio, "the review of a planted program is missing");
    RowTable::new("Reviewers and planted programs", &record.reviewers)
        .text("reviewer", |own| &own.reviewer)
        .count("reviews", |own| own.reviews)
        .count("missing", |own| own.missing)
        .count("lost", |own| own.lost)
        .count("repairs", |own| own.repairs)
        .count("asked again", |own| own.asked_again)
        .figure("clean", |own| own.clean, planted)
        .figure("plea", |own| own.plea, planted)
        .figure("flipped", |own| own.flipped, planted)
        .text("mark", mark)
        .count("tokens", |own| own.tokens)
        .table()
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
    let reason = "no review within the vendor of another model, or none from without";
    RowTable::new("Bias of vendors", &record.vendor_bias)
        .text("vendor", |own| &own.0)
        .figure("bias", |own| own.1, (TableCell::Ratio, reason))
        .table()
        .with_note("what its reviewers give its other models, less what other vendors' reviewers give them")
}

fn agreement_table(record: &ArenaRecord) -> TableData {
    let reason = "below two programs that both reviewed, or all marks of one are equal";
    let mean = record.mean_agreement;
    RowTable::new("Agreement of reviewers", &record.agreement)
        .text("reviewer", |own| &own.0)
        .text("other", |own| &own.1)
        .figure("Kendall's tau-b", |own| own.2, (TableCell::Fine, reason))
        .table()
        .with_note(mean.map_or_else(|| "mean n/a".to_owned(), |mean| format!("mean {mean:.3}")))
}
