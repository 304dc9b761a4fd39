//! T8: marks of people: how far they agree with each other, with models, and with what was measured.

use super::material::StrategyReport;
use super::scores::peers;
use crate::cells::{figure, text};
use crate::human_marks::{HumanMark, HumanMarks};
use crate::number::mean;
use crate::run::SubmissionFound;
use ktd_strategy_code::{ordinal_alpha, rank_correlation};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::{BTreeMap, BTreeSet};

const HEADS: [(&str, Align); 7] = [
    ("score", Left),
    ("raters", Right),
    ("programs", Right),
    ("marks", Right),
    ("alpha", Right),
    ("with models", Right),
    ("with measured", Right),
];

/// Marks by submission: model, strategy and seed.
type MarksBySubmission<'m> = BTreeMap<(&'m str, &'m str, u64), Vec<u8>>;

/// The table of marks of people.
pub(super) fn table(report: &StrategyReport, human: &HumanMarks) -> ReportTable {
    let rows = ["D1", "D2"]
        .into_iter()
        .enumerate()
        .map(|(place, name)| row(report, human, (place, name)));
    let data = TableData::new("T8. Marks of people", HEADS)
        .with_rows(rows)
        .with_note(
            "of ranked versions; alpha: Krippendorff's, ordinal, over programs that two or more people marked: 1 where they \
             agree, 0 where they agree as by chance; with models, with measured: Spearman's correlation of the mean mark of \
             people with that of other models, and with the measured score",
        );
    ReportTable::new("T8_people", data)
}

fn row(report: &StrategyReport, human: &HumanMarks, (place, name): (usize, &str)) -> Vec<TableCell> {
    let given = |own: &HumanMark| own.marks.get(place).copied().flatten();
    let raters: BTreeSet<&str> = human
        .0
        .iter()
        .filter(|own| given(own).is_some())
        .map(|own| own.rater.as_str())
        .collect();
    let mut marks = MarksBySubmission::new();
    for own in &human.0 {
        if let Some(mark) = given(own) {
            let key = (own.model.as_str(), own.strategy.as_str(), own.seed);
            marks.entry(key).or_default().push(mark);
        }
    }
    let units: Vec<Vec<u8>> = marks.values().cloned().collect();
    let correlated = |other: &dyn Fn(&SubmissionFound) -> Option<f64>| {
        let pairs = report.submissions.iter().filter_map(|submission| {
            let rows = &submission.rows;
            let own = marks.get(&(rows.model.as_str(), rows.strategy.as_str(), rows.seed))?;
            let own: Vec<f64> = own.iter().copied().map(f64::from).collect();
            Some((mean(&own)?, other(submission)?))
        });
        let (people, others): (Vec<f64>, Vec<f64>) = pairs.unzip();
        figure(
            rank_correlation(&people, &others),
            TableCell::Fine,
            "below two programs with both, or one of the two does not vary",
        )
    };
    vec![
        text(name),
        TableCell::Count(raters.len()),
        TableCell::Count(units.len()),
        TableCell::Count(units.iter().map(Vec::len).sum()),
        figure(
            ordinal_alpha(&units),
            TableCell::Fine,
            "no program has marks of two people, or all marks of such programs are equal",
        ),
        correlated(&|submission| peers(report, submission)?.get(place).copied()),
        correlated(&|submission| submission.ranked()?.measured?.get(place).copied()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;

    fn mark(rater: &str, model: &str, marks: [Option<u8>; 2]) -> HumanMark {
        HumanMark {
            rater: rater.to_owned(),
            model: model.to_owned(),
            strategy: "S01".to_owned(),
            seed: 1,
            marks,
        }
    }

    #[test]
    fn people_who_agree_have_an_alpha_of_one_and_go_with_what_was_measured() {
        let mut good = version(0, 6, None);
        good.measured = Some([0.9, 1.0, 1.0]);
        let all = vec![
            submission(("a", "S01"), vec![good], Vec::new()),
            submission(("b", "S01"), vec![version(0, 3, None)], Vec::new()),
        ];
        let found = report(all, None);
        let human = HumanMarks(vec![
            mark("ann", "a", [Some(9), Some(4)]),
            mark("bob", "a", [Some(9), None]),
            mark("ann", "b", [Some(2), Some(5)]),
            mark("bob", "b", [Some(2), None]),
        ]);
        let rows = records(&table(&found, &human));
        assert_eq!(rows[1], ["D1", "2", "2", "4", "1", "", "1"]);
        // Nobody else marked D2, and both measured scores of it are equal.
        assert_eq!(rows[2], ["D2", "1", "2", "2", "", "", ""]);
    }
}
