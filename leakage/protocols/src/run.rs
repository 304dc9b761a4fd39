//! One run of the benchmark: a year of daily portfolios.

use crate::auc::auc;
use crate::bench::LeakageBench;
use crate::error::LeakageError;
use crate::key::RunKey;
use crate::panel::cell;
use crate::scores::year_scores;
use crate::switch::Switch;
use ktd_stats::moments::count;
use ktd_stats::spearman;
use serde::{Deserialize, Serialize};

/// What a protocol's strategy held and earned on a test day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayTrade {
    /// The signal day.
    pub session: usize,
    /// The names held with equal weights, ascending.
    pub picks: Vec<usize>,
    /// What they earned before costs.
    pub gross: f64,
    /// Names held that had no return; they earn 0.
    pub without_return: usize,
    /// Spearman's correlation of scores and labels; `None` of fewer names than needed and of scores that do not vary.
    pub rank_ic: Option<f64>,
    /// Area under the receiver's curve of labels above 0; `None` as for the correlation, and where a class is empty.
    pub auc: Option<f64>,
}

/// The outcome of a run: the test days of a year.
#[derive(Debug, Clone, PartialEq)]
pub struct YearRun {
    /// Test days, ascending.
    pub days: Vec<DayTrade>,
    /// Rows of the fit.
    pub fit_rows: usize,
    /// The loss on the last fit sessions, of a network; nothing is chosen by it.
    pub validation_loss: Option<f64>,
}

impl RunKey {
    /// Fits, scores and trades one year. The same key gives the same bits on every machine and beside any other run.
    ///
    /// # Errors
    /// [`LeakageError`] as [`LeakageBench::split`], and where a family could not be fitted.
    pub fn run(&self, bench: &LeakageBench) -> Result<YearRun, LeakageError> {
        let split = bench.split(self.switch, self.horizon, self.year)?;
        let scored = year_scores(bench, self, &split)?;
        let labels = bench.labels(self.switch, self.horizon)?;
        let first = bench.rows().of_sessions(&split.year_sessions).start;
        let trade = |session: &usize| {
            let rows = bench.rows().of_sessions(&(*session..session + 1));
            let scored = rows.map(|row| (row, cell(&scored.scores, row - first)));
            trade_day(bench, *session, scored, self.switch, labels)
        };
        Ok(YearRun {
            days: split.test_sessions.iter().filter_map(trade).collect(),
            fit_rows: split.fit_rows.len(),
            validation_loss: scored.validation_loss,
        })
    }
}

/// The scores of a session: names with their scores, ascending by name; what has no finite score is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionScores {
    /// The signal day.
    pub session: usize,
    /// Names with their scores.
    pub scores: Vec<(usize, f64)>,
}

impl SessionScores {
    /// The names that a protocol holds: the best tenth, at least one, ties by code; ascending.
    #[must_use]
    pub fn best_tenth(&self) -> Vec<usize> {
        best_tenth(self.scores.clone())
    }
}

impl RunKey {
    /// Fits one year and scores its test days, for whoever trades them elsewhere.
    ///
    /// # Errors
    /// [`LeakageError`] as [`RunKey::run`].
    pub fn scores(&self, bench: &LeakageBench) -> Result<Vec<SessionScores>, LeakageError> {
        let split = bench.split(self.switch, self.horizon, self.year)?;
        let scored = year_scores(bench, self, &split)?;
        let first = bench.rows().of_sessions(&split.year_sessions).start;
        let of_session = |session: &usize| {
            let rows = bench.rows().of_sessions(&(*session..*session + 1));
            let scores = rows.map(|row| (bench.rows().place(row).1, cell(&scored.scores, row - first)));
            SessionScores {
                session: *session,
                scores: scores.filter(|(_, score)| score.is_finite()).collect(),
            }
        };
        Ok(split.test_sessions.iter().map(of_session).collect())
    }
}

/// The best tenth by score, ties by code, with what it earned; `None` where too few names have a score.
pub(crate) fn trade_day(
    bench: &LeakageBench,
    session: usize,
    scored: impl Iterator<Item = (usize, f64)>,
    switch: Switch,
    labels: &[f64],
) -> Option<DayTrade> {
    let need = bench.settings().min_names;
    let scored: Vec<(usize, f64)> = scored.filter(|(_, score)| score.is_finite()).collect();
    if scored.len() < need {
        return None;
    }
    let names = scored
        .iter()
        .map(|(row, score)| (bench.rows().place(*row).1, *score));
    let picks = best_tenth(names.collect());
    let returns = picks
        .iter()
        .map(|name| switch.fill().trade_return(bench.bars(), session, *name));
    let (gross, without_return) = equal_weights(returns, picks.len());
    let labelled = scored.iter().map(|(row, score)| (*score, cell(labels, *row)));
    let (scores, labels): (Vec<f64>, Vec<f64>) = labelled.filter(|(_, label)| label.is_finite()).unzip();
    let is_enough = need <= scores.len();
    // Without an error: the values are finite and as many.
    let rank_ic = spearman(&scores, &labels).ok().flatten().filter(|_| is_enough);
    Some(DayTrade {
        session,
        picks,
        gross,
        without_return,
        rank_ic,
        auc: is_enough.then(|| auc(&scores, &labels)).flatten(),
    })
}

/// The names of the highest tenth of the scores, at least one, ties by code; ascending.
pub(crate) fn best_tenth(mut scored: Vec<(usize, f64)>) -> Vec<usize> {
    let picked = (scored.len() / 10).max(1);
    // By value, so that 0 and -0 are alike.
    let by_value = |left: f64, right: f64| right.partial_cmp(&left).unwrap_or(std::cmp::Ordering::Equal);
    scored.sort_by(|left, right| by_value(left.1, right.1).then(left.0.cmp(&right.0)));
    let mut picks: Vec<usize> = scored.iter().take(picked).map(|(name, _)| *name).collect();
    picks.sort_unstable();
    picks
}

/// The return of equal weights and how many had none.
pub(crate) fn equal_weights(returns: impl Iterator<Item = f64>, picks: usize) -> (f64, usize) {
    let (mut gross, mut without) = (0.0, 0);
    for earned in returns {
        if earned.is_finite() {
            gross += earned / count(picks);
        } else {
            without += 1;
        }
    }
    (gross, without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_floored_and_ties_go_by_code() {
        let scored = |scores: &[f64]| scores.iter().copied().enumerate().collect::<Vec<_>>();
        assert_eq!(best_tenth(scored(&[1.0, 3.0, 3.0])), [1]);
        let mut scores = vec![0.0; 29];
        scores[28] = 1.0;
        assert_eq!(best_tenth(scored(&scores)), [0, 28]);
        assert_eq!(best_tenth(scored(&[-0.0, 0.0])), [0]);
    }

    #[test]
    fn scores_of_a_year_hold_what_its_run_holds() {
        let bars = crate::panel::tests::market(252 * 3, 30, 5);
        let bench = LeakageBench::new(bars, crate::LeakageSettings::BENCHMARK, &[5], None).unwrap();
        for family in [crate::ModelFamily::Momentum, crate::ModelFamily::Ridge] {
            let key = RunKey {
                family,
                switch: Switch::ExecOpen,
                horizon: 5,
                year: 2020,
                seed: 1,
            };
            let (run, scores) = (key.run(&bench).unwrap(), key.scores(&bench).unwrap());
            assert_eq!(run.days.len(), scores.len());
            for (day, scored) in run.days.iter().zip(&scores) {
                assert_eq!((day.session, &day.picks), (scored.session, &scored.best_tenth()));
            }
        }
    }

    #[test]
    fn a_name_without_a_return_earns_nothing() {
        let (gross, without) = equal_weights([0.1, f64::NAN].into_iter(), 2);
        assert!((gross - 0.05).abs() < 1e-15 && without == 1);
    }
}
