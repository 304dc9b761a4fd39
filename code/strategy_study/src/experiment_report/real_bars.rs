//! T9: what ranked versions and all iterations earn on real bars, at every cost and both fills, and what the best of them is
//! worth.

use super::material::StrategyReport;
use crate::cells::{as_number, missing, of_submissions};
use crate::run::SubmissionFound;
use ktd_stats::{Sample, median};
use ktd_strategy_code::{COSTS_BPS, EarnedRow, FillRow, RealRow, StrategyTrials, TriedVersions};
use ktd_view::draw::{Align, TableCell, TableData, visible};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::{BTreeMap, BTreeSet};

/// Why there is no figure of real bars.
pub(super) const NO_REAL_BARS: &str = "no series of real bars has this figure";
const NONE_COUNTS: (fn(f64) -> TableCell, &str) = (TableCell::Change, "no series has this figure");

/// The tables; a note stands for them where the experiment has no real bars.
pub(super) fn tables(report: &StrategyReport) -> Vec<ReportTable> {
    if report.submissions.iter().all(|own| own.real.is_none()) {
        let none = TableData::new(
            "T9. Real bars: returns after costs, at both fills",
            Vec::<(&str, Align)>::new(),
        );
        let none = none.with_note("n/a (the experiment names no real bars)");
        return vec![ReportTable::new("T9_real_bars", none)];
    }
    vec![
        ranked_table(report),
        iteration_table(report),
        selection_table(report),
    ]
}

/// Rows of a submission's iteration on a split.
fn rows_of<'r>(
    own: &'r SubmissionFound,
    iteration: Option<usize>,
    split: &'r str,
) -> impl Iterator<Item = &'r RealRow> + Clone {
    let versions = own.real.iter().flatten();
    versions
        .filter(move |version| Some(version.iteration) == iteration)
        .flat_map(|version| &version.rows)
        .filter(move |row| row.split == split)
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    median(&Sample::new("series", &values).ok()?).ok()
}

/// A ranked version or its reference at one fill.
struct FillOf<'r> {
    own: &'r SubmissionFound,
    who: &'static str,
    fill: &'static str,
    ended: String,
    rows: Vec<&'r FillRow>,
}

impl FillOf<'_> {
    fn middle(&self, of: impl Fn(&FillRow) -> Option<f64>) -> Option<f64> {
        middle(self.rows.iter().filter_map(|row| of(row)))
    }
}

fn fills(own: &SubmissionFound) -> Vec<FillOf<'_>> {
    let rows = || rows_of(own, own.rows.ranked, "test");
    let program: Vec<&EarnedRow> = rows().filter_map(|row| row.program.as_ref()).collect();
    let reference: Vec<&EarnedRow> = rows().filter_map(|row| row.reference.as_ref()).collect();
    let all = rows().count();
    let mut found = Vec::new();
    for (who, rows) in [("program", program), ("reference", reference)] {
        let fill = |fill, rows: Vec<_>| FillOf {
            own,
            who,
            fill,
            ended: format!("{}/{all}", rows.len()),
            rows,
        };
        found.push(fill("own_close", rows.iter().map(|row| &row.own_close).collect()));
        found.push(fill("next_open", rows.iter().map(|row| &row.next_open).collect()));
    }
    found
}

fn ranked_table(report: &StrategyReport) -> ReportTable {
    let rows: Vec<FillOf<'_>> = report.counted().flat_map(fills).collect();
    let table = RowTable::new(
        "T9. Total return of ranked versions on test bars after costs, median over series",
        &rows,
    );
    let table = of_submissions(table, |row| &row.own.rows)
        .text("who", |row| row.who)
        .text("fill", |row| row.fill)
        .text("runs that end", |row| &row.ended);
    let table = COSTS_BPS.iter().enumerate().fold(table, |table, (place, bps)| {
        table.figure(
            &format!("{bps} bps"),
            |row| row.middle(|row| row.returns.get(place).copied()),
            NONE_COUNTS,
        )
    });
    let trades = |row: &FillRow| Some(as_number(row.trades));
    let ratio: (fn(f64) -> TableCell, _) = (TableCell::Ratio, NONE_COUNTS.1);
    let mut data = table
        .figure("Sharpe", |row| row.middle(|row| row.sharpe), ratio)
        .figure(
            "drawdown",
            |row| row.middle(|row| Some(row.max_drawdown)),
            (TableCell::Percent, NONE_COUNTS.1),
        )
        .figure("trades", |row| row.middle(trades), ratio)
        .table()
        .with_note(
            "reference: the strategy of the document with the parameters of the card, on the same bars; a run counts where its \
             equity is that of its logged trades at the closes of the bars; look-ahead is not tested on these bars",
        );
    data.notes.extend(beside_figures(report));
    ReportTable::new("T9_real_bars", data)
}

/// Why a strategy has no series, and where a reference of one's own has no figure: each once.
fn beside_figures(report: &StrategyReport) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    for own in &report.submissions {
        let strategy = &own.rows.strategy;
        for version in own.real.iter().flatten() {
            let absent = version.absent.iter();
            notes.extend(absent.map(|reason| format!("{strategy}: n/a ({reason})")));
            let faults = version
                .rows
                .iter()
                .filter_map(|row| Some((row, row.reference_fault.as_deref()?)));
            notes.extend(faults.map(|(row, fault)| {
                let symbols = row.symbols.join(" and ");
                format!(
                    "the reference of {strategy} on {symbols}, {}: n/a ({})",
                    row.split,
                    visible(fault)
                )
            }));
        }
    }
    notes
}

fn free(row: &FillRow) -> Option<f64> {
    row.returns.first().copied()
}

/// What programs of an iteration return on test bars at the next open without costs: the median over submissions and series.
pub(super) fn test_return(report: &StrategyReport, iteration: usize) -> Option<f64> {
    let rows = report
        .counted()
        .flat_map(|own| rows_of(own, Some(iteration), "test"));
    middle(rows.filter_map(|row| free(&row.program.as_ref()?.next_open)))
}

/// Rows of an iteration of a submission on a split.
fn of<'r>(
    (own, iteration, split): (&'r SubmissionFound, usize, &'static str),
) -> impl Iterator<Item = &'r RealRow> + Clone {
    rows_of(own, Some(iteration), split)
}

/// What each iteration earns, without costs.
fn iteration_table(report: &StrategyReport) -> ReportTable {
    let rows = report.counted().flat_map(|own| {
        let versions = own.real.iter().flatten();
        versions.flat_map(move |version| ["train", "test"].map(|split| (own, version.iteration, split)))
    });
    let table = RowTable::new(
        "T9. Total return on real bars by iteration, median over series",
        rows,
    );
    let data = of_submissions(table, |(own, ..)| &own.rows)
        .count("iteration", |(_, iteration, _)| iteration)
        .text("split", |(.., split)| split)
        .text("runs that end", |row| {
            let ended = of(row).filter(|row| row.program.is_some());
            format!("{}/{}", ended.count(), of(row).count())
        })
        .figure(
            "own close",
            |row| middle(of(row).filter_map(|row| free(&row.program.as_ref()?.own_close))),
            NONE_COUNTS,
        )
        .figure(
            "next open",
            |row| middle(of(row).filter_map(|row| free(&row.program.as_ref()?.next_open))),
            NONE_COUNTS,
        )
        .figure(
            "reference",
            |row| middle(of(row).filter_map(|row| free(&row.reference.as_ref()?.own_close))),
            NONE_COUNTS,
        )
        .table();
    ReportTable::new("T9_real_iterations", data)
}

fn tried(own: &SubmissionFound) -> Option<TriedVersions<'_>> {
    Some(TriedVersions {
        versions: own.real.as_deref()?,
        ranked: own.rows.ranked,
        is_valid: own.lost.is_none() && own.rows.valid().is_some(),
    })
}

/// A row a submission: its ranked version against the luckiest of all versions that were tried of its strategy, and how often
/// the best of half of the days is below the middle of the other half.
fn selection_table(report: &StrategyReport) -> ReportTable {
    let mut trials: BTreeMap<&str, StrategyTrials<'_>> = BTreeMap::new();
    for own in &report.submissions {
        trials
            .entry(&own.rows.strategy)
            .or_default()
            .own
            .extend(tried(own));
    }
    let mut rows = Vec::new();
    for (strategy, trials) in &trials {
        let overfitting = trials.overfitting();
        for own in report.counted().filter(|own| own.rows.strategy == **strategy) {
            let returns = tried(own).and_then(|tried| tried.returns());
            let none = || "no ranked version whose runs on test bars can all be counted".to_owned();
            let deflated = returns
                .ok_or_else(none)
                .and_then(|returns| trials.deflated(returns));
            rows.push((
                own,
                returns.map(<[f64]>::len),
                trials,
                deflated,
                overfitting.clone(),
            ));
        }
    }
    let or_why = |value: &Result<f64, String>, form: fn(f64) -> TableCell| match value {
        Ok(value) => form(*value),
        Err(reason) => missing(reason),
    };
    let right = |head| (head, Align::Right);
    let data = RowTable::new(
        "T9. Sharpe ratios on test bars against the luckiest of all trials",
        &rows,
    )
    .text("strategy", |(own, ..)| &own.rows.strategy)
    .text("model", |(own, ..)| &own.rows.model)
    .column(right("seed"), |(own, ..)| {
        TableCell::Text(own.rows.seed.to_string())
    })
    .column(right("sessions"), |(_, sessions, _, deflated, _)| {
        let why = || missing(deflated.as_ref().err().map_or("", String::as_str));
        sessions.map_or_else(why, TableCell::Count)
    })
    .column(right("Sharpe"), |(.., own, _)| {
        or_why(&own.clone().map(|own| own.sharpe), TableCell::Ratio)
    })
    .count("trials", |(_, _, trials, ..)| trials.count())
    .count("distinct", |(_, _, trials, ..)| trials.distinct())
    .column(right("luckiest"), |(.., own, _)| {
        or_why(&own.clone().map(|own| own.luckiest), TableCell::Ratio)
    })
    .column(right("DSR"), |(.., own, _)| {
        or_why(&own.clone().map(|own| own.probability), TableCell::Percent)
    })
    .count("valid", |(_, _, trials, ..)| trials.valid().len())
    .column(right("PBO"), |(.., overfitting)| {
        or_why(overfitting, TableCell::Percent)
    })
    .table();
    ReportTable::new("T9_selection", data.with_note(selection_note(report)))
}

fn selection_note(report: &StrategyReport) -> String {
    let continued = if report.submissions.iter().any(|own| own.is_continued) {
        "; a submission that continues another experiment: the versions of that one were tried too and are not counted, so \
         that the true luckiest is higher and the true DSR lower"
    } else {
        ""
    };
    format!(
        "ranked versions, returns by session as the mean over series, at the next open without costs; trials: all versions \
         of all models for the strategy that ran, also those of lost submissions; distinct: those of them that are not alike \
         (correlation below 0.5), without those that never trade; luckiest: the ratio to expect of the best of the distinct ones \
         without skill; DSR: probability that the true ratio is above it; PBO: how often the best of the valid \
         submissions (models and seeds) in one half of the days is in the lower half of them in the other{continued}",
    )
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{self, version};
    use super::*;
    use ktd_stats::{SplitMix64, Trials, deflated_sharpe};
    use ktd_strategy_code::RealVersion;

    /// A row of no interest: it says that the version ran.
    fn row() -> RealRow {
        let fill = FillRow {
            returns: [0.0; 6],
            sharpe: None,
            max_drawdown: 0.0,
            trades: 0,
            win_rate: None,
            turnover: 0.0,
            break_even_bps: None,
        };
        let earned = EarnedRow {
            own_close: fill.clone(),
            next_open: fill,
            pretended: 0.0,
        };
        RealRow {
            split: "test".to_owned(),
            symbols: Vec::new(),
            bars: 0,
            program: None,
            fault: None,
            reference: Some(earned),
            reference_fault: None,
        }
    }

    fn noise(seed: u64, mean: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..160)
            .map(|_| mean + 0.02 * (generator.uniform() - 0.5))
            .collect()
    }

    /// A submission whose last version is ranked and valid.
    fn submission(model: &str, versions: Vec<Option<Vec<f64>>>) -> SubmissionFound {
        let rows = (0..versions.len()).map(|iteration| version(iteration, 6, None));
        let mut own = fixture::submission((model, "S01"), rows.collect(), Vec::new());
        let versions = versions.into_iter().enumerate();
        let real = versions.map(|(iteration, test_returns)| RealVersion {
            iteration,
            rows: vec![row()],
            test_returns,
            absent: None,
        });
        own.real = Some(real.collect());
        own
    }

    fn selected(all: &[SubmissionFound]) -> TableData {
        selection_table(&fixture::report(all.to_vec(), None)).data
    }

    fn cells(table: &TableData, head: &str) -> Vec<String> {
        let records: Vec<Vec<String>> = table.records().collect();
        let place = records[0].iter().position(|own| own == head).unwrap();
        records.iter().skip(1).map(|row| row[place].clone()).collect()
    }

    #[test]
    fn every_version_is_a_trial_and_many_trials_deflate() {
        let returns = noise(1, 0.001);
        let alone = submission("a", vec![Some(returns.clone())]);
        let table = selected(std::slice::from_ref(&alone));
        assert_eq!(cells(&table, "trials"), ["1"]);
        assert_eq!(cells(&table, "luckiest"), ["0"]);
        let sole: f64 = cells(&table, "DSR")[0].parse().unwrap();

        let mut all = vec![alone];
        all.extend((2..5).map(|seed| {
            let tried = vec![Some(noise(10 * seed, 0.0)), Some(noise(seed, 0.0))];
            submission(&format!("m{seed}"), tried)
        }));
        let table = selected(&all);
        assert_eq!(cells(&table, "trials"), ["7"; 4]);
        let dsr = cells(&table, "DSR")[0].clone();
        let deflated: f64 = dsr.parse().unwrap();
        assert!(deflated < sole, "{deflated} {sole}");
        // The same by the formulas of the ratio's own crate.
        let trials = Trials::new(7, 1.0 / 159.0).unwrap();
        let sample = Sample::new("returns", &returns).unwrap();
        let wanted = deflated_sharpe(&sample, &trials)
            .unwrap()
            .against_best
            .probability;
        assert!((deflated - wanted).abs() < 1e-12);
        assert_eq!(cells(&table, "PBO"), [""; 4]);
        // Who never trades cuts nobody's, and copies neither cut nor raise it.
        all.push(submission("idle", vec![Some(vec![0.0; 160])]));
        all.extend((0..9).map(|copy| submission(&format!("copy{copy}"), vec![Some(noise(1, 0.001))])));
        let table = selected(&all);
        assert_eq!(cells(&table, "trials")[0], "17");
        assert_eq!(cells(&table, "distinct")[0], "7");
        assert_eq!(cells(&table, "DSR")[0], dsr);
        let table = selected(&all[..4]);
        assert!(format!("{table:?}").contains("4 valid submissions with returns, at least 5 are needed"));
    }

    #[test]
    fn a_trial_that_cannot_be_counted_is_a_trial() {
        let all = [
            submission("a", vec![None, Some(noise(1, 0.001))]),
            submission("b", vec![Some(noise(2, 0.001))]),
        ];
        let table = selected(&all);
        assert_eq!(cells(&table, "trials"), ["3"; 2]);
        let luckiest: f64 = cells(&table, "luckiest")[0].parse().unwrap();
        let wanted = 252.0_f64.sqrt() * Trials::new(3, 1.0 / 159.0).unwrap().expected_best_sharpe();
        assert!((luckiest - wanted).abs() < 1e-9, "{luckiest} {wanted}");
    }

    #[test]
    fn a_lost_submission_is_tried_and_has_no_row() {
        let mut lost = submission("b", vec![Some(noise(2, 0.0)), Some(noise(3, 0.0))]);
        lost.lost = Some("x".to_owned());
        let all = [submission("a", vec![Some(noise(1, 0.001))]), lost];
        let table = selected(&all);
        assert_eq!(cells(&table, "model"), ["a"]);
        assert_eq!(cells(&table, "trials"), ["3"]);
        assert_eq!(cells(&table, "valid"), ["1"]);
    }

    #[test]
    fn a_continued_experiment_is_noted() {
        let mut own = submission("a", vec![Some(noise(1, 0.001))]);
        let word = "the versions of that one were tried too";
        assert!(!format!("{:?}", selected(std::slice::from_ref(&own))).contains(word));
        own.is_continued = true;
        assert!(format!("{:?}", selected(&[own])).contains(word));
    }

    #[test]
    fn overfitting_is_of_submissions_that_differ() {
        let twins: Vec<SubmissionFound> = (0..6)
            .map(|place| submission(&format!("m{place}"), vec![Some(noise(1, 0.0))]))
            .collect();
        let table = selected(&twins);
        assert_eq!(cells(&table, "valid"), ["6"; 6]);
        assert_eq!(cells(&table, "PBO"), [""; 6]);
        assert!(
            format!("{table:?}").contains("1 valid submissions trade in every half of the days and differ")
        );

        let mut all: Vec<SubmissionFound> = (1..6)
            .map(|seed| submission(&format!("m{seed}"), vec![Some(noise(seed, 0.0))]))
            .collect();
        all.push(submission("skilled", vec![Some(noise(9, 0.02))]));
        let table = selected(&all);
        // One that is better on every day is the best of both halves.
        assert_eq!(cells(&table, "PBO"), ["0"; 6]);
        all[0].rows.versions[0].valid = false;
        all[1].rows.versions[0].valid = false;
        assert_eq!(cells(&selected(&all), "PBO"), [""; 6]);
    }
}
