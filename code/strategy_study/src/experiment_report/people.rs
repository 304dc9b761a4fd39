//! T8: marks of people: how far they agree with each other, with models, and with what was measured.

use super::material::StrategyReport;
use super::scores::peers;
use crate::cells::mean;
use crate::error::StrategyError;
use crate::human_marks::{HumanMark, HumanMarks};
use crate::run::SubmissionFound;
use ktd_strategy_code::{SubmissionRows, ordinal_alpha, rank_correlation};
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Marks of one score, by submission: model, strategy and seed.
struct ScoreMarks<'m> {
    name: &'static str,
    place: usize,
    raters: BTreeSet<&'m str>,
    marks: BTreeMap<(&'m str, &'m str, u64), Vec<u8>>,
}

/// The table of marks that people gave the ranked versions of a report, from a file.
///
/// # Errors
/// [`StrategyError`] naming the row of the file that is no mark of a submission.
pub fn people_table(report: &StrategyReport, path: &Path) -> Result<ReportTable, StrategyError> {
    let rows: Vec<&SubmissionRows> = report.counted().map(|own| &own.rows).collect();
    Ok(table(report, &HumanMarks::read(path, &rows)?))
}

fn table(report: &StrategyReport, human: &HumanMarks) -> ReportTable {
    let rows = [("D1", 0), ("D2", 1)].map(|(name, place)| ScoreMarks::of(human, (name, place)));
    let agree = "no program has marks of two people, or all marks of such programs are equal";
    let vary: (fn(f64) -> TableCell, _) = (
        TableCell::Fine,
        "below two programs with both, or one of the two does not vary",
    );
    let of = |own: &ScoreMarks<'_>| own.marks.values().cloned().collect::<Vec<_>>();
    let data = RowTable::new("T8. Marks of people", &rows)
        .text("score", |own| own.name)
        .count("raters", |own| own.raters.len())
        .count("programs", |own| own.marks.len())
        .count("marks", |own| own.marks.values().map(Vec::len).sum::<usize>())
        .figure("alpha", |own| ordinal_alpha(&of(own)), (TableCell::Fine, agree))
        .figure(
            "with models",
            |own| own.correlated(report, |other| peers(report, other)?.get(own.place).copied()),
            vary,
        )
        .figure(
            "with measured",
            |own| own.correlated(report, |other| other.rows.ranked()?.score(own.place)),
            vary,
        )
        .table()
        .with_note(
            "of ranked versions; alpha: Krippendorff's, ordinal, over programs that two or more people marked: 1 where they \
             agree, 0 where they agree as by chance; with models, with measured: Spearman's correlation of the mean mark of \
             people with that of other models, and with the measured score",
        );
    ReportTable::new("T8_people", data)
}

impl<'m> ScoreMarks<'m> {
    fn of(human: &'m HumanMarks, (name, place): (&'static str, usize)) -> Self {
        let (mut raters, mut marks) = (BTreeSet::new(), BTreeMap::new());
        let given = |own: &HumanMark| own.marks.get(place).copied().flatten();
        for (own, mark) in human.0.iter().filter_map(|own| Some((own, given(own)?))) {
            raters.insert(own.rater.as_str());
            let key = (own.model.as_str(), own.strategy.as_str(), own.seed);
            marks.entry(key).or_insert_with(Vec::new).push(mark);
        }
        Self {
            name,
            place,
            raters,
            marks,
        }
    }

    /// The correlation of mean marks with another figure of the same submissions.
    fn correlated(
        &self,
        report: &StrategyReport,
        other: impl Fn(&SubmissionFound) -> Option<f64>,
    ) -> Option<f64> {
        let pairs = report.counted().filter_map(|submission| {
            let rows = &submission.rows;
            let own = self
                .marks
                .get(&(rows.model.as_str(), rows.strategy.as_str(), rows.seed))?;
            let own: Vec<f64> = own.iter().copied().map(f64::from).collect();
            Some((mean(&own)?, other(submission)?))
        });
        let (people, others): (Vec<f64>, Vec<f64>) = pairs.unzip();
        rank_correlation(&people, &others)
    }
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
        good.measured = Some([Some(0.9), Some(1.0), Some(1.0)]);
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
