//! T5: scores, patches and drift by iteration, as a table and as a picture.

use super::material::StrategyReport;
use super::real_bars::{NO_REAL_BARS, test_return};
use crate::cells::{as_number, mean, share};
use ktd_strategy_code::{SubmissionRows, VersionRow};
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, TableCell, captioned, decimals, real};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use maud::Markup;
use std::collections::BTreeMap;

/// T5, over all models.
pub(super) fn by_iteration(report: &StrategyReport) -> ReportTable {
    let rows = Iteration::all(report);
    let is_repair = |own: &&&VersionRow| {
        (own.drift.as_deref(), own.published_drift.as_deref()) == (Some("towards"), Some("suspicious"))
    };
    let data = RowTable::new("T5. Scores by iteration", &rows)
        .count("iteration", |own| own.number)
        .count("versions", |own| own.asked.len())
        .count("valid", Iteration::valid)
        .fine("D1", |own| own.measured(0))
        .fine("D2", |own| own.measured(1))
        .fine("D3", |own| own.measured(2))
        .fine("published D3", |own| mean_of(&own.asked, |own| own.published_scores?.first().copied()))
        .fine("published D4", |own| mean_of(&own.asked, |own| own.published_scores?.last().copied()))
        .fine("changed lines", |own| mean_of(&own.asked, |own| own.changed.map(as_number)))
        .text("drift", |own| counted(own.asked.iter().filter_map(|own| own.drift.as_deref())))
        .text("published drift", |own| counted(own.asked.iter().filter_map(|own| own.published_drift.as_deref())))
        .count("suspicious repairs", |own| own.asked.iter().filter(is_repair).count())
        .figure(
            "test return",
            |own| test_return(report, own.number),
            (TableCell::Change, NO_REAL_BARS),
        )
        .table()
        .with_note(
            "valid, D1 to D3: of the version that stands after the iteration, over all submissions at every iteration, with 0 for \
             one that stands nowhere or is invalid; all else: of versions that this iteration asked for; suspicious repairs: patches towards the reference that the published \
             thresholds call suspicious; test return: at the next open without costs, median over submissions and series",
        );
    ReportTable::new("T5_iterations", data)
}

/// One iteration of all submissions.
struct Iteration<'a> {
    number: usize,
    /// The versions that it asked for.
    asked: Vec<&'a VersionRow>,
    /// By submission, the version that stands after it.
    standing: Vec<Option<VersionRow>>,
}

impl<'a> Iteration<'a> {
    /// All of them, in their order.
    fn all(report: &'a StrategyReport) -> Vec<Self> {
        let versions = report.counted().map(|own| &own.rows.versions);
        let last = versions.clone().map(Vec::len).max().unwrap_or(0);
        let standing =
            |own: &SubmissionRows, iteration| own.versions.get(own.standing_after(iteration)?).cloned();
        let rows = (0..last).map(|iteration| Self {
            number: iteration,
            asked: versions.clone().filter_map(|own| own.get(iteration)).collect(),
            standing: report
                .counted()
                .map(|own| standing(&own.rows, iteration))
                .collect(),
        });
        rows.collect()
    }

    /// Submissions whose version is valid.
    fn valid(&self) -> usize {
        let standing = self.standing.iter().flatten();
        standing.filter(|version| version.valid).count()
    }

    /// The mean of a measured score over all submissions, the same ones at each iteration.
    fn measured(&self, place: usize) -> Option<f64> {
        let scores = self.standing.iter().map(|own| {
            let valid = own.as_ref().filter(|own| own.valid);
            valid.and_then(|own| own.score(place)).unwrap_or(0.0)
        });
        mean(&scores.collect::<Vec<_>>())
    }
}

/// The same submissions after each iteration: the share that is valid, and their mean scores. None of one iteration.
pub(super) fn picture(report: &StrategyReport) -> Option<Markup> {
    const NAMES: [&str; 4] = ["valid", "D1", "D2", "D3"];
    let rows = Iteration::all(report);
    let last = rows.last().map(|own| own.number).filter(|last| 0 < *last)?;
    let mut canvas = Canvas::new(680.0, 280.0);
    let plane = Axes {
        edges: Edges::new(10.0, 14.0, 36.0, 40.0),
        rows: None,
        x: Axis::new(0.0..real(last), last + 1, &|number| format!("{number:.0}")),
        y: Axis::new(0.0..1.0, 5, &|score| decimals(score, 1)),
    }
    .draw(&mut canvas);
    canvas.text("tk", Anchor::Middle, (353.0, 277.0), "iteration");
    for (colour, name) in NAMES.into_iter().enumerate() {
        let score = |own: &Iteration<'_>| match colour.checked_sub(1) {
            None => share(own.valid(), own.standing.len()),
            Some(place) => own.measured(place),
        };
        let points = rows.iter().filter_map(|own| Some((own.number, score(own)?)));
        let points: Vec<(usize, f64)> = points.collect();
        let line = points
            .iter()
            .map(|(number, score)| plane.at(real(*number), *score));
        canvas.path(&format!("curve c{colour}"), &line.collect::<Vec<_>>());
        for (number, score) in points {
            let text = format!("{name} after iteration {number}: {}", decimals(score, 3));
            let point = plane.at(real(number), score);
            canvas.explained(&text, |canvas| canvas.dot(&format!("dots f{colour}"), point, 3.0));
        }
    }
    let title = "Scores after each iteration, the same submissions at all of them (T5_iterations.csv)";
    let drawing = canvas.figure("wide", title, "a line a score, a dot an iteration, from 0 to 1");
    Some(captioned(title, NAMES, &drawing))
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
        assert_eq!(found[1][..5], ["0", "2", "0", "0", "0"]);
        // The other one, which nobody was asked to mend, is still one of two.
        assert_eq!(found[2][..5], ["1", "1", "1", "0.25", "0.5"]);
        assert_eq!(
            found[2][6..],
            ["8", "9", "3", "towards 1", "suspicious 1", "1", ""]
        );
    }

    #[test]
    fn the_picture_follows_the_same_submissions_and_needs_two_iterations() {
        let built = || submission(("a", "S01"), vec![version(0, 2, None)], Vec::new());
        assert!(picture(&report(vec![built()], None)).is_none());
        let mended = vec![version(0, 2, None), version(1, 6, Some("towards"))];
        let both = vec![submission(("b", "S01"), mended, Vec::new()), built()];
        let shown = picture(&report(both, None)).unwrap().into_string();
        for title in [
            "valid after iteration 0: 0.000",
            "valid after iteration 1: 0.500",
            "D1 after iteration 1: 0.250",
        ] {
            assert!(
                shown.contains(&format!("<title>{title}</title>")),
                "{title}: {shown}"
            );
        }
        assert_eq!(shown.matches("class=\"curve").count(), 4);
    }
}
