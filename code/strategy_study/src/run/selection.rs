//! What the best of many versions is worth: deflated Sharpe ratios, and the probability that choosing among models overfits.

use super::real_tables::RealSubmission;
use crate::number::as_number;
use ktd_stats::moments::Moments;
use ktd_stats::{Sample, Trials, Undefined, deflated_sharpe, pbo_of_distinct};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use std::collections::BTreeMap;

/// Sessions a year.
const SESSIONS_A_YEAR: f64 = 252.0;
/// Valid submissions below which there is no choice to speak of.
const VALID_MIN: usize = 5;
const HEADS: [(&str, Align); 10] = [
    ("strategy", Left),
    ("model", Left),
    ("seed", Right),
    ("sessions", Right),
    ("Sharpe", Right),
    ("trials", Right),
    ("luckiest", Right),
    ("DSR", Right),
    ("valid", Right),
    ("PBO", Right),
];

/// What was tried of one strategy.
struct StrategyTrials<'r> {
    own: Vec<&'r RealSubmission>,
}

/// A ranked version against all that was tried.
struct Deflated {
    /// Sharpe ratio a year.
    sharpe: f64,
    /// The ratio a year that the best of as many shows without skill.
    luckiest: f64,
    probability: f64,
}

impl<'r> StrategyTrials<'r> {
    /// Submissions by strategy.
    fn by_strategy(submissions: &'r [RealSubmission]) -> BTreeMap<&'r str, Self> {
        let mut by_strategy: BTreeMap<&str, Self> = BTreeMap::new();
        for submission in submissions {
            let own = by_strategy.entry(submission.strategy.as_str());
            own.or_insert_with(|| Self { own: Vec::new() })
                .own
                .push(submission);
        }
        by_strategy
    }

    /// Versions that ran on real bars: all versions of all models.
    fn count(&self) -> usize {
        let versions = self.own.iter().flat_map(|own| &own.versions);
        versions.filter(|version| !version.rows.is_empty()).count()
    }

    /// What deflates ratios of so many sessions. Of a version that cannot be counted no ratio is known: then ratios spread at
    /// least as far as those of so many sessions do without skill.
    fn trials(&self, sessions: usize) -> Result<Trials, String> {
        let versions = self.own.iter().flat_map(|own| &own.versions);
        let ratios: Vec<f64> = versions
            .filter_map(|version| daily_ratio(version.test_returns.as_deref()?).ok())
            .collect();
        let tried = self.count();
        if 1 < tried && ratios.len() < 2 {
            return Err("below two versions have a Sharpe ratio".to_owned());
        }
        let sample = Sample::new("Sharpe ratios", &ratios).map_err(|error| error.to_string())?;
        let known = Trials::of_sharpes(&sample).map_err(|error| error.to_string())?;
        let least = if ratios.len() < tried {
            1.0 / as_number(sessions.max(1))
        } else {
            0.0
        };
        let tried = u64::try_from(tried).unwrap_or(u64::MAX);
        Trials::new(tried, known.sharpe_variance().max(least)).map_err(|error| error.to_string())
    }

    fn deflated(&self, returns: &[f64]) -> Result<Deflated, String> {
        let sample = Sample::new("daily returns", returns).map_err(|error| error.to_string())?;
        let trials = self.trials(returns.len())?;
        let found = deflated_sharpe(&sample, &trials).map_err(|error| error.to_string())?;
        Ok(Deflated {
            sharpe: SESSIONS_A_YEAR.sqrt() * found.against_best.sharpe,
            luckiest: SESSIONS_A_YEAR.sqrt() * trials.expected_best_sharpe(),
            probability: found.against_best.probability,
        })
    }

    /// Returns of ranked versions that pass all gates.
    fn valid(&self) -> Vec<&'r [f64]> {
        let valid = self.own.iter().filter(|own| own.is_valid && !own.is_lost);
        valid.filter_map(|own| ranked_returns(own)).collect()
    }

    fn overfitting(&self) -> Result<f64, String> {
        let valid = self.valid();
        if valid.len() < VALID_MIN {
            return Err(format!(
                "{} valid submissions with returns, at least {VALID_MIN} are needed",
                valid.len()
            ));
        }
        match pbo_of_distinct(&valid) {
            Ok(Ok(found)) => Ok(found.probability),
            Ok(Err(Undefined::TooFew { count, need, .. })) => Err(format!(
                "{count} valid submissions trade in every half of the days and differ from each other, at least {need} are needed"
            )),
            Ok(Err(reason)) => Err(reason.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn daily_ratio(returns: &[f64]) -> Result<f64, Undefined> {
    let too_few = Undefined::TooFewDays {
        days: returns.len(),
        need_days: 2,
    };
    Moments::of(returns)
        .ok_or(too_few)?
        .daily_ratio(Undefined::ZeroVariance)
}

/// Returns of the ranked version on the test split.
fn ranked_returns(submission: &RealSubmission) -> Option<&[f64]> {
    let mut versions = submission.versions.iter();
    let ranked = versions.find(|version| Some(version.iteration) == submission.ranked)?;
    ranked.test_returns.as_deref()
}

/// A row a submission: its ranked version against the luckiest of all versions that were tried of its strategy, and how often
/// the best of half of the days is below the middle of the other half.
pub(super) fn selection_table(submissions: &[RealSubmission]) -> TableData {
    let by_strategy = StrategyTrials::by_strategy(submissions);
    let rows = by_strategy.iter().flat_map(|(strategy, trials)| {
        let overfitting = trials.overfitting();
        let valid = trials.valid().len();
        trials.own.iter().filter(|own| !own.is_lost).map(move |own| {
            let mut row = vec![
                TableCell::Text((*strategy).to_owned()),
                TableCell::Text(own.model.clone()),
                TableCell::Text(own.seed.to_string()),
            ];
            row.extend(deflated_cells(trials, ranked_returns(own)));
            row.push(TableCell::Count(valid));
            row.push(match &overfitting {
                Ok(probability) => TableCell::Percent(*probability),
                Err(reason) => TableCell::Missing(reason.clone()),
            });
            row
        })
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    let continued = if submissions.iter().any(|own| own.is_continued) {
        "; a submission that continues another experiment: the versions of that one were tried too and are not counted, so \
         that the true luckiest is higher and the true DSR lower"
    } else {
        ""
    };
    TableData::new("Sharpe ratios on test bars against the luckiest of all trials", HEADS)
        .with_rows(rows)
        .with_note(format!(
            "ranked versions, returns by session as the mean over series, at the next open without costs; trials: all versions \
             of all models for the strategy that ran, also those of lost submissions; luckiest: the ratio to expect of the best \
             of them without skill; DSR: probability that the true ratio is above it; PBO: how often the best of the valid \
             submissions (models and seeds) in one half of the days is in the lower half of them in the other{continued}",
        ))
}

/// Sessions, ratio, trials, luckiest and DSR.
fn deflated_cells(trials: &StrategyTrials<'_>, returns: Option<&[f64]>) -> [TableCell; 5] {
    let missing = |reason: &str| TableCell::Missing(reason.to_owned());
    let tried = TableCell::Count(trials.count());
    let Some(returns) = returns else {
        let reason = "no ranked version whose runs on test bars can all be counted";
        return [
            missing(reason),
            missing(reason),
            tried,
            missing(reason),
            missing(reason),
        ];
    };
    let sessions = TableCell::Count(returns.len());
    match trials.deflated(returns) {
        Ok(found) => [
            sessions,
            TableCell::Ratio(found.sharpe),
            tried,
            TableCell::Ratio(found.luckiest),
            TableCell::Percent(found.probability),
        ],
        Err(reason) => [
            sessions,
            missing(&reason),
            tried,
            missing(&reason),
            missing(&reason),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::{EarnedRow, FillRow, RealRow, RealVersion};
    use ktd_stats::SplitMix64;

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
            reference: earned,
        }
    }

    fn noise(seed: u64, mean: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..160)
            .map(|_| mean + 0.02 * (generator.uniform() - 0.5))
            .collect()
    }

    /// A submission whose last version is ranked and valid.
    fn submission(model: &str, versions: Vec<Option<Vec<f64>>>) -> RealSubmission {
        let versions: Vec<RealVersion> = versions
            .into_iter()
            .enumerate()
            .map(|(iteration, test_returns)| RealVersion {
                iteration,
                rows: vec![row()],
                test_returns,
            })
            .collect();
        RealSubmission {
            model: model.to_owned(),
            strategy: "S01".to_owned(),
            seed: 1,
            ranked: versions.len().checked_sub(1),
            is_valid: true,
            is_lost: false,
            is_continued: false,
            versions,
        }
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
        let table = selection_table(std::slice::from_ref(&alone));
        assert_eq!(cells(&table, "trials"), ["1"]);
        assert_eq!(cells(&table, "luckiest"), ["0"]);
        let sole: f64 = cells(&table, "DSR")[0].parse().unwrap();

        let mut all = vec![alone];
        all.extend((2..5).map(|seed| {
            let tried = vec![Some(noise(10 * seed, 0.0)), Some(noise(seed, 0.0))];
            submission(&format!("m{seed}"), tried)
        }));
        let table = selection_table(&all);
        assert_eq!(cells(&table, "trials"), ["7"; 4]);
        let deflated: f64 = cells(&table, "DSR")[0].parse().unwrap();
        assert!(deflated < sole, "{deflated} {sole}");
        // The same by the formulas of the ratio's own crate.
        let ratios: Vec<f64> = all
            .iter()
            .flat_map(|own| &own.versions)
            .map(|version| daily_ratio(version.test_returns.as_deref().unwrap()).unwrap())
            .collect();
        let trials = Trials::of_sharpes(&Sample::new("ratios", &ratios).unwrap()).unwrap();
        let sample = Sample::new("returns", &returns).unwrap();
        let wanted = deflated_sharpe(&sample, &trials)
            .unwrap()
            .against_best
            .probability;
        assert!((deflated - wanted).abs() < 1e-12);
        assert_eq!(cells(&table, "PBO"), [""; 4]);
        assert!(format!("{table:?}").contains("4 valid submissions with returns, at least 5 are needed"));
    }

    #[test]
    fn a_trial_that_cannot_be_counted_is_a_trial() {
        let all = [
            submission("a", vec![None, Some(noise(1, 0.001))]),
            submission("b", vec![Some(noise(2, 0.001))]),
        ];
        let table = selection_table(&all);
        assert_eq!(cells(&table, "trials"), ["3"; 2]);
        let luckiest: f64 = cells(&table, "luckiest")[0].parse().unwrap();
        let least = SESSIONS_A_YEAR.sqrt() * Trials::new(3, 1.0 / 160.0).unwrap().expected_best_sharpe();
        assert!(luckiest >= least - 1e-9, "{luckiest} {least}");
        let lone = [submission("a", vec![None, Some(noise(1, 0.001))])];
        let table = selection_table(&lone);
        assert_eq!(cells(&table, "DSR"), [""]);
        assert!(format!("{table:?}").contains("below two versions have a Sharpe ratio"));
    }

    #[test]
    fn a_lost_submission_is_tried_and_has_no_row() {
        let mut lost = submission("b", vec![Some(noise(2, 0.0)), Some(noise(3, 0.0))]);
        lost.is_lost = true;
        let all = [submission("a", vec![Some(noise(1, 0.001))]), lost];
        let table = selection_table(&all);
        assert_eq!(cells(&table, "model"), ["a"]);
        assert_eq!(cells(&table, "trials"), ["3"]);
        assert_eq!(cells(&table, "valid"), ["1"]);
    }

    #[test]
    fn a_continued_experiment_is_noted() {
        let mut own = submission("a", vec![Some(noise(1, 0.001))]);
        let word = "the versions of that one were tried too";
        assert!(!format!("{:?}", selection_table(std::slice::from_ref(&own))).contains(word));
        own.is_continued = true;
        assert!(format!("{:?}", selection_table(&[own])).contains(word));
    }

    #[test]
    fn overfitting_is_of_submissions_that_differ() {
        let twins: Vec<RealSubmission> = (0..6)
            .map(|place| submission(&format!("m{place}"), vec![Some(noise(1, 0.0))]))
            .collect();
        let table = selection_table(&twins);
        assert_eq!(cells(&table, "valid"), ["6"; 6]);
        assert_eq!(cells(&table, "PBO"), [""; 6]);
        assert!(
            format!("{table:?}").contains("1 valid submissions trade in every half of the days and differ")
        );

        let mut all: Vec<RealSubmission> = (1..6)
            .map(|seed| submission(&format!("m{seed}"), vec![Some(noise(seed, 0.0))]))
            .collect();
        all.push(submission("skilled", vec![Some(noise(9, 0.02))]));
        let table = selection_table(&all);
        // One that is better on every day is the best of both halves.
        assert_eq!(cells(&table, "PBO"), ["0"; 6]);
        all[0].is_valid = false;
        all[1].is_valid = false;
        assert_eq!(cells(&selection_table(&all), "PBO"), [""; 6]);
    }
}
