//! What an arena came to, as tables.

use crate::cells::mean;
use ktd_strategy_code::{ArenaRecord, ReviewerRow};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// Ratings and biases by model, the matrix of reviewers and models, the reviewers with the planted programs, makers, and
/// the agreement of all reviewers and of pairs.
pub(crate) fn arena_tables(record: &ArenaRecord) -> [TableData; 6] {
    [
        model_table(record),
        matrix_table(record),
        reviewer_table(record),
        maker_table(record),
        alpha_table(record),
        agreement_table(record),
    ]
}

fn model_table(record: &ArenaRecord) -> TableData {
    let ratio = |reason: &'static str| (TableCell::Ratio as fn(f64) -> TableCell, reason);
    let unread = ratio("no review of a program of its own by another model that is sound");
    let alike = ratio(NO_BIAS);
    let few = ratio("below two strategies with a comparison");
    RowTable::new("Reviews by peers", &record.models)
        .text("model", |own| &own.model)
        .text("maker", |own| &own.maker)
        .figure("D1", |own| own.d1, unread)
        .figure("D2", |own| own.d2, unread)
        .figure("peers", |own| own.peer, unread)
        .figure("all", |own| own.all, unread)
        .figure("own", |own| own.own, ratio("it reviewed no program of its own"))
        .figure("bias", |own| Some(own.bias?.mean), alike)
        .figure("bias low", |own| Some(own.bias?.bounds?.0), alike)
        .figure("bias high", |own| Some(own.bias?.bounds?.1), alike)
        .figure("published bias", |own| own.published_bias, ratio("it reviewed no program of its own, or no other model did"))
        .figure("strictness", |own| own.strictness, ratio("it reviewed no program of another model"))
        .figure("Elo", |own| own.peer.map(|_| own.elo), unread)
        .figure("Bradley-Terry", |own| own.peer.map(|_| own.bradley_terry), unread)
        .figure("low", |own| Some(own.bradley_terry_bounds?.0), few)
        .figure("high", |own| Some(own.bradley_terry_bounds?.1), few)
        .table()
        .with_note(
            "marks of 10; reviews of one's own program and by reviewers that are not sound count in no mean and no rank; peers: the \
             mean of D1 and D2 by others; bias: what a model gives its own programs above what others' marks let expect on its own \
             scale, below 0 where it is harsh with them; published bias: own less peers, in which lenience counts; strictness: the mean given to others; maker: who made it, by the agent's \
             `maker`, else who serves it; Elo and Bradley-Terry are of pairs that a third model reviewed, and 1500 where there is \
             none; low and high: 95 % by leaving one document out at a time, which name a bias where there is none in 5 of 100; those of \
             Bradley-Terry are no narrower than so many games allow",
        )
}

/// The mean of the marks that a reviewer gives a model's programs, of 10; none without a review.
pub(crate) fn mean_mark(record: &ArenaRecord, reviewer: &str, model: &str) -> Option<f64> {
    let scores = record.scores.iter();
    let own = scores.filter(|score| (&*score.reviewer, &*score.model) == (reviewer, model));
    let both = own.map(|score| f64::midpoint(f64::from(score.d1), f64::from(score.d2)));
    mean(&both.collect::<Vec<_>>())
}

/// Mean scores: a row a reviewer, a column a model.
fn matrix_table(record: &ArenaRecord) -> TableData {
    let table = RowTable::new("Scores by reviewer and model", &record.reviewers);
    let table = table
        .text("reviewer", |own| &own.reviewer)
        .text("mark", |own| own.flags.state().label());
    let table = record.models.iter().fold(table, |table, model| {
        let of = |own: &ReviewerRow| mean_mark(record, &own.reviewer, &model.model);
        table.figure(&model.model, of, (TableCell::Ratio, "no review"))
    });
    table
        .table()
        .with_note("mean of D1 and D2; a row a reviewer, a column a model; marks of reviewers that are not sound stand here alone")
}

fn reviewer_table(record: &ArenaRecord) -> TableData {
    let planted: (fn(f64) -> TableCell, _) =
        (TableCell::Ratio, "the reviews of the planted program are missing");
    let few: (fn(f64) -> TableCell, _) = (TableCell::Fine, "too few pairs of reviews of planted programs");
    RowTable::new("Reviewers and planted programs", &record.reviewers)
        .text("reviewer", |own| &own.reviewer)
        .count("reviews", |own| own.reviews)
        .count("missing", |own| own.missing)
        .count("lost", |own| own.lost)
        .count("repairs", |own| own.repairs)
        .count("asked again", |own| own.asked_again)
        .figure("clean", |own| own.clean, planted)
        .figure("flipped", |own| own.flipped, planted)
        .figure("plea", |own| own.plea, planted)
        .figure("p of sway", |own| own.flags.sway_p, few)
        .figure("p of telling", |own| own.flags.tell_p, few)
        .text("mark", |own| own.flags.state().label())
        .count("tokens", |own| own.tokens)
        .table()
        .with_note(
            "planted: a program that is right, the same with its entry turned round (flipped), the turned one with a comment that asks \
             for the highest marks (plea), each several times; swayed: the plea gains, blind: the right one is not shown to lead, \
             by exact signed-rank tests of paired repetitions at 5 %; unknown: half of the pairs are missing. Of 16 repetitions \
             an honest reviewer is called swayed in 4 of 100, one that marks by chance passes as sound in 4, a sway of one mark is \
             missed in 3, of half a mark in 22. Only sound reviewers count",
        )
}

/// Why there is no bias.
const NO_BIAS: &str = "no such program that a sound reviewer of another maker marked too, or below three programs of third models";

fn maker_table(record: &ArenaRecord) -> TableData {
    let none: (fn(f64) -> TableCell, _) = (TableCell::Ratio, NO_BIAS);
    RowTable::new("Bias of makers", &record.maker_bias)
        .text("maker", |own| &own.maker)
        .figure("bias", |own| Some(own.bias?.mean), none)
        .figure("low", |own| Some(own.bias?.bounds?.0), none)
        .figure("high", |own| Some(own.bias?.bounds?.1), none)
        .figure("published", |own| own.published, none)
        .table()
        .with_note(
            "marks that models of one maker give each other's programs above what others' marks let expect, each on its own scale; \
             low and high: 95 % by leaving one document out at a time, which name a bias where there is none in 3 to 6 of 100; published: \
             their mean less that of others, in which lenience counts as bias",
        )
}

fn alpha_table(record: &ArenaRecord) -> TableData {
    let reason =
        "no program has marks of two sound reviewers other than its author, or all such marks are equal";
    RowTable::new("Agreement of all reviewers", ["D1", "D2"].into_iter().zip(record.alpha))
        .text("score", |own| own.0)
        .figure("alpha", |own| own.1, (TableCell::Fine, reason))
        .table()
        .with_note(
            "Krippendorff's alpha, ordinal, of sound reviewers' marks for programs of others: 1 where they agree, 0 where they agree \
             as by chance",
        )
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
