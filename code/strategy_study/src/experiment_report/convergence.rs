//! T6: whether models come to the same program.

use super::material::StrategyReport;
use crate::cells::{mean, share};
use crate::run::SubmissionFound;
use ktd_strategy_code::PatchSize;
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::BTreeSet;

/// Two submissions of different models to the same task.
type Pair<'a> = (&'a SubmissionFound, &'a SubmissionFound);

/// How like each other versions of models are after an iteration.
struct Likeness<'a> {
    strategy: &'a str,
    iteration: usize,
    similar: Vec<f64>,
    /// Of pairs that run, whether they trade alike.
    equal: Vec<bool>,
}

/// T6, by strategy and iteration.
pub(super) fn table(report: &StrategyReport) -> ReportTable {
    let strategies: BTreeSet<&str> = report.counted().map(|own| own.rows.strategy.as_str()).collect();
    let mut rows = Vec::new();
    for strategy in strategies {
        let pairs = pairs(report, strategy);
        let lengths = pairs
            .iter()
            .flat_map(|(one, other)| [one, other])
            .map(|own| own.judged.len());
        let last = lengths.max().unwrap_or(0);
        rows.extend((0..last).map(|iteration| Likeness::of((strategy, iteration), &pairs)));
    }
    let data = RowTable::new("T6. Convergence", &rows)
        .text("strategy", |own| own.strategy)
        .count("iteration", |own| own.iteration)
        .count("pairs", |own| own.similar.len())
        .figure("similarity", |own| mean(&own.similar), (TableCell::Fine, "no pair of standing versions"))
        .count("pairs that run", |own| own.equal.len())
        .figure(
            "equal trades",
            |own| share(own.equal.iter().filter(|equal| **equal).count(), own.equal.len()),
            (TableCell::Percent, "no pair of versions that run"),
        )
        .table()
        .with_note(
            "pairs of models, each with the version that stands after the iteration; similarity: common lines over all lines; \
             equal trades: of pairs that run, those whose long runs have the same trades",
        );
    ReportTable::new("T6_convergence", data)
}

fn pairs<'a>(report: &'a StrategyReport, strategy: &str) -> Vec<Pair<'a>> {
    let own: Vec<&SubmissionFound> = report
        .counted()
        .filter(|own| own.rows.strategy == strategy)
        .collect();
    let with_later = own.iter().enumerate().flat_map(|(place, one)| {
        let later = own.iter().skip(place + 1);
        later.map(|other| (*one, *other))
    });
    with_later
        .filter(|(one, other)| one.rows.model != other.rows.model && one.rows.seed == other.rows.seed)
        .collect()
}

impl<'a> Likeness<'a> {
    fn of((strategy, iteration): (&'a str, usize), pairs: &[Pair<'_>]) -> Self {
        let source =
            |own: &SubmissionFound| own.source(own.rows.standing_after(iteration)?).map(str::to_owned);
        let hash = |own: &SubmissionFound| -> Option<String> {
            let report = own.report(own.rows.standing_after(iteration)?)?;
            Some(report.run.as_ref()?.trade_hash.clone())
        };
        let similar =
            |(one, other): &Pair<'_>| Some(PatchSize::between(&source(one)?, &source(other)?).similarity);
        Self {
            strategy,
            iteration,
            similar: pairs.iter().filter_map(similar).collect(),
            equal: pairs
                .iter()
                .filter_map(|(one, other)| Some(hash(one)? == hash(other)?))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;

    #[test]
    fn models_converge_with_the_versions_that_stand() {
        let both = || vec![version(0, 6, None), version(1, 6, None)];
        let mut drifted = version(1, 6, None);
        drifted.state = ktd_strategy_code::IterationState::Drifted;
        let all = vec![
            submission(("a", "S01"), both(), vec![("h", "x\ny\n"), ("i", "x\nz\n")]),
            // Its second version does not stand.
            submission(
                ("b", "S01"),
                vec![version(0, 6, None), drifted],
                vec![("h", "x\ny\n"), ("j", "q\n")],
            ),
            submission(("b", "S02"), both(), vec![("h", "x\n"), ("h", "x\n")]),
        ];
        let found = records(&table(&report(all, None)));
        assert_eq!(found.len(), 3);
        assert_eq!(found[1], ["S01", "0", "1", "1", "1", "1"]);
        assert_eq!(found[2], ["S01", "1", "1", "0.5", "1", "0"]);
    }
}
