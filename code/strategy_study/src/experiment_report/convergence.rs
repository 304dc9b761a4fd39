//! T6: whether models come to the same program.

use super::material::StrategyReport;
use crate::cells::{figure, text};
use crate::number::{as_number, mean};
use crate::run::SubmissionFound;
use ktd_strategy_code::PatchSize;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeSet;

/// Two submissions of different models to the same task.
type Pair<'a> = (&'a SubmissionFound, &'a SubmissionFound);

/// T6, by strategy and iteration.
pub(super) fn table(report: &StrategyReport) -> ReportTable {
    let strategies: BTreeSet<&str> = report
        .submissions
        .iter()
        .map(|submission| submission.rows.strategy.as_str())
        .collect();
    let mut rows = Vec::new();
    for strategy in strategies {
        let pairs = pairs(report, strategy);
        let lengths = pairs
            .iter()
            .flat_map(|(one, other)| [one.events.len(), other.events.len()]);
        for iteration in 0..lengths.max().unwrap_or(0) {
            rows.push(row(strategy, iteration, &pairs));
        }
    }
    let heads = [
        ("strategy", Left),
        ("iteration", Right),
        ("pairs", Right),
        ("similarity", Right),
        ("pairs that run", Right),
        ("equal trades", Right),
    ];
    let data = TableData::new("T6. Convergence", heads).with_rows(rows).with_note(
        "pairs of models, each with the version that stands after the iteration; similarity: common lines over all lines; \
         equal trades: of pairs that run, those whose long runs have the same trades",
    );
    ReportTable::new("T6_convergence", data)
}

fn pairs<'a>(report: &'a StrategyReport, strategy: &str) -> Vec<Pair<'a>> {
    let own: Vec<&SubmissionFound> = report
        .submissions
        .iter()
        .filter(|submission| submission.rows.strategy == strategy)
        .collect();
    let with_later = own.iter().enumerate().flat_map(|(place, one)| {
        let later = own.iter().skip(place + 1);
        later.map(|other| (*one, *other))
    });
    with_later
        .filter(|(one, other)| one.rows.model != other.rows.model && one.rows.seed == other.rows.seed)
        .collect()
}

fn row(strategy: &str, iteration: usize, pairs: &[Pair<'_>]) -> Vec<TableCell> {
    let source = |own: &SubmissionFound| own.source(own.standing_after(iteration)?).map(str::to_owned);
    let hash = |own: &SubmissionFound| -> Option<String> {
        let report = own.report(own.standing_after(iteration)?)?;
        Some(report.run.as_ref()?.trade_hash.clone())
    };
    let similar: Vec<f64> = pairs
        .iter()
        .filter_map(|(one, other)| Some(PatchSize::between(&source(one)?, &source(other)?).similarity))
        .collect();
    let equal: Vec<bool> = pairs
        .iter()
        .filter_map(|(one, other)| Some(hash(one)? == hash(other)?))
        .collect();
    let share = (!equal.is_empty()).then(|| {
        let same = equal.iter().filter(|equal| **equal).count();
        as_number(same) / as_number(equal.len())
    });
    vec![
        text(strategy),
        TableCell::Count(iteration),
        TableCell::Count(similar.len()),
        figure(mean(&similar), TableCell::Fine, "no pair of standing versions"),
        TableCell::Count(equal.len()),
        figure(share, TableCell::Percent, "no pair of versions that run"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;
    use crate::run::event_fixture::event;

    #[test]
    fn models_converge_with_the_versions_that_stand() {
        let both = || vec![version(0, 6, None), version(1, 6, None)];
        let all = vec![
            submission(
                ("a", "S01"),
                both(),
                vec![(event(0, "h"), "x\ny\n"), (event(1, "i"), "x\nz\n")],
            ),
            // Its second version does not stand.
            submission(
                ("b", "S01"),
                both(),
                vec![(event(0, "h"), "x\ny\n"), (event(0, "j"), "q\n")],
            ),
            submission(
                ("b", "S02"),
                both(),
                vec![(event(0, "h"), "x\n"), (event(1, "h"), "x\n")],
            ),
        ];
        let found = records(&table(&report(all, None)));
        assert_eq!(found.len(), 3);
        assert_eq!(found[1], ["S01", "0", "1", "1", "1", "1"]);
        assert_eq!(found[2], ["S01", "1", "1", "0.5", "1", "0"]);
    }
}
