//! T3: scores by model, measured ones and published ones.

use super::material::StrategyReport;
use crate::arena::ReviewScore;
use crate::cells::{NO_REVIEW, NONE_VALID, figure, missing, text};
use crate::number::mean;
use crate::run::SubmissionFound;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;

const HEADS: [(&str, Align); 13] = [
    ("model", Left),
    ("submissions", Right),
    ("valid", Right),
    ("D1", Right),
    ("D2", Right),
    ("D3", Right),
    ("D4", Right),
    ("overall", Right),
    ("peers' D1", Right),
    ("peers' D2", Right),
    ("published D3", Right),
    ("published D4", Right),
    ("published overall", Right),
];

/// Means of the measured scores of one submission; none where no ranked version is valid.
pub(super) fn overall(submission: &SubmissionFound) -> Option<f64> {
    mean(&submission.valid()?.measured?)
}

/// The mean marks that others give a submission: D1 and D2.
pub(super) fn peers(report: &StrategyReport, submission: &SubmissionFound) -> Option<[f64; 2]> {
    let rows = &submission.rows;
    let is_of = |score: &&ReviewScore| {
        (&score.model, &score.strategy, score.seed) == (&rows.model, &rows.strategy, rows.seed)
            && score.reviewer != score.model
    };
    let marks: Vec<&ReviewScore> = report.arena.as_ref()?.scores.iter().filter(is_of).collect();
    let of = |mark: fn(&ReviewScore) -> u8| {
        let marks: Vec<f64> = marks.iter().map(|score| f64::from(mark(score))).collect();
        mean(&marks)
    };
    Some([of(|score| score.d1)?, of(|score| score.d2)?])
}

/// The published scores of a valid submission: D1 to D4, of 10; D1 and D2 are the opinion of others.
pub(super) fn published(report: &StrategyReport, submission: &SubmissionFound) -> Option<[f64; 4]> {
    let [third, fourth] = submission.valid()?.published_scores?;
    let [first, second] = peers(report, submission)?;
    Some([first, second, third, fourth])
}

/// T3, over valid submissions.
pub(super) fn by_model(report: &StrategyReport) -> ReportTable {
    let rows = report.models().into_iter().map(|model| {
        let own: Vec<&SubmissionFound> = report.of_model(model).collect();
        row(report, model, &own)
    });
    let data = TableData::new("T3. Scores", HEADS).with_rows(rows).with_note(
        "means over submissions whose ranked version passes all gates: others have no scores; D1 to D3 and overall as \
         measured, of 1; peers' marks and published scores of 10; published overall: the mean of four, peers' D1 and D2 among \
         them",
    );
    ReportTable::new("T3_scores", data)
}

fn row(report: &StrategyReport, model: &str, own: &[&SubmissionFound]) -> Vec<TableCell> {
    let valid: Vec<&SubmissionFound> = own
        .iter()
        .copied()
        .filter(|submission| submission.valid().is_some())
        .collect();
    let mean_of = |score: &dyn Fn(&SubmissionFound) -> Option<f64>| {
        let scores: Vec<f64> = valid.iter().filter_map(|submission| score(submission)).collect();
        mean(&scores)
    };
    let measured = |place: usize| {
        let score = mean_of(&|own| own.valid()?.measured?.get(place).copied());
        figure(score, TableCell::Fine, NONE_VALID)
    };
    let reviewed = |place: usize| {
        let score = mean_of(&|own| peers(report, own)?.get(place).copied());
        figure(score, TableCell::Ratio, NO_REVIEW)
    };
    let static_score = |place: usize| {
        let score = mean_of(&|own| own.valid()?.published_scores?.get(place).copied());
        figure(score, TableCell::Ratio, NONE_VALID)
    };
    vec![
        text(model),
        TableCell::Count(own.len()),
        TableCell::Count(valid.len()),
        measured(0),
        measured(1),
        measured(2),
        missing("no score: T9 has its figures"),
        figure(mean_of(&overall), TableCell::Fine, NONE_VALID),
        reviewed(0),
        reviewed(1),
        static_score(0),
        static_score(1),
        figure(
            mean_of(&|own| mean(&published(report, own)?)),
            TableCell::Ratio,
            NO_REVIEW,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;
    use crate::arena::ArenaRecord;

    fn arena(marks: &[(&str, &str, u8)]) -> ArenaRecord {
        let scores = marks.iter().map(|(reviewer, model, mark)| ReviewScore {
            strategy: "S01".to_owned(),
            seed: 1,
            reviewer: (*reviewer).to_owned(),
            model: (*model).to_owned(),
            d1: *mark,
            d2: *mark,
        });
        ArenaRecord {
            models: Vec::new(),
            vendor_bias: Vec::new(),
            agreement: Vec::new(),
            mean_agreement: None,
            reviewers: Vec::new(),
            scores: scores.collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn invalid_submissions_have_no_scores_and_own_marks_count_nowhere() {
        let all = vec![
            submission(("a", "S01"), vec![version(0, 6, None)], Vec::new()),
            submission(("a", "S02"), vec![version(0, 3, None)], Vec::new()),
            submission(("b", "S01"), vec![version(0, 3, None)], Vec::new()),
        ];
        let arena = arena(&[("a", "a", 10), ("b", "a", 6), ("c", "a", 8)]);
        let found = records(&by_model(&report(all, Some(arena))));
        let overall = (1.75_f64 / 3.0).to_string();
        // D4 is empty: it was not run. Published overall: the mean of 7, 7, 8 and 9.
        let wanted = [
            "a", "2", "1", "0.5", "1", "0.25", "", &overall, "7", "7", "8", "9", "7.75",
        ];
        assert_eq!(found[1], wanted);
        assert_eq!(found[2], ["b", "1", "0", "", "", "", "", "", "", "", "", "", ""]);
    }
}
