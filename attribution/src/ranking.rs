//! What several agents selected, seed by seed, and how sure their order is.

use crate::account::{Attribution, WeightBasis};
use ktd_stats::moments::{column_means, mean};
use ktd_stats::{
    BestOfMany, Confidence, DailyTable, Interval, MeanContrasts, MeanTable, PairTest, RankSets, Rotations,
    Sample, StatsError, Undefined, open_runs, pbo_of_distinct,
};

/// Daily selection of one agent on the headline's basis, in shares of the account at each day's begin.
///
/// It is not linked: a linked day weighs by what the account has earned since, so that two agents with the same choices and other
/// gains would have other selections.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionSeries {
    /// One a seed: daily selection.
    pub seeds: Vec<Vec<f64>>,
    /// Mean over seeds of the daily selection.
    pub plain: Vec<f64>,
}

/// Why there is no figure of a whole ranking.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingTestError {
    /// Nobody's selection varies.
    #[error("no agent's selection varies")]
    Constant,
    /// Nobody's selection varies in every half of the days.
    #[error("no agent's selection varies in every half of the days")]
    ConstantInHalf,
    /// The statistic has no value.
    #[error(transparent)]
    Undefined(#[from] Undefined),
    /// The statistic cannot be computed.
    #[error(transparent)]
    Input(#[from] StatsError),
}

/// The order of agents by selection, and which pairs the days separate.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSeparation {
    /// Places of the agents, best first.
    pub order: Vec<usize>,
    /// In that order: how sure it is that the row's selection is above the column's: 1 less half of the p-value of the pair
    /// by itself, a half of twins.
    pub win_share: Vec<Vec<f64>>,
    /// Places in `order` of groups in which no pair is told apart when all pairs are judged at once.
    pub groups: Vec<Vec<usize>>,
    /// In that order: whether the data or the settings leave open who of a pair is above, each pair judged by itself.
    pub open: Vec<Vec<bool>>,
}

/// One trial of a window: an account's daily selection, and what luck alone is expected to make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionTrial {
    /// Daily selection.
    pub daily: Vec<f64>,
    /// Daily mean of random portfolios that trade alike.
    pub luck_mean: f64,
}

/// Tests of the best selection of all trials against what luck alone is expected to make.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingTests {
    /// Probability of backtest overfitting.
    pub overfitting: Result<f64, RankingTestError>,
    /// The p-value of White's reality check.
    pub reality_check_p: Result<f64, RankingTestError>,
    /// Hansen's test for superior ability.
    pub superior_ability: Option<BestOfMany>,
}

impl SelectionSeries {
    /// The series of an agent's seeds on the basis of ranks.
    #[must_use]
    pub fn of(seeds: &[&Attribution]) -> Self {
        Self::on(seeds, WeightBasis::HEADLINE)
    }

    /// The series of an agent's seeds on a basis.
    #[must_use]
    pub fn on(seeds: &[&Attribution], basis: WeightBasis) -> Self {
        let daily: Vec<Vec<f64>> = seeds
            .iter()
            .map(|attribution| attribution.selection(basis))
            .collect();
        Self::of_seeds(daily)
    }

    /// The series of daily selections, one a seed.
    #[must_use]
    pub fn of_seeds(daily: Vec<Vec<f64>>) -> Self {
        Self {
            plain: column_means(&daily),
            seeds: daily,
        }
    }

    /// The same less what sectors explain of it: the choice of names within sectors.
    #[must_use]
    pub fn within_sectors(seeds: &[&Attribution], basis: WeightBasis) -> Self {
        let whole = Self::on(seeds, basis);
        let within = |(daily, attribution): (&Vec<f64>, &&Attribution)| -> Vec<f64> {
            let sectors = attribution.sector_selection(basis).iter();
            daily
                .iter()
                .zip(sectors)
                .map(|(own, sector)| own - sector)
                .collect()
        };
        Self::of_seeds(whole.seeds.iter().zip(seeds).map(within).collect())
    }

    /// Selection a day: the mean over days and seeds, by which agents are ranked; 0 without days.
    #[must_use]
    pub fn a_day(&self) -> f64 {
        mean(&self.plain).unwrap_or(0.0)
    }

    /// The series of some of its days; `counts` says which.
    #[must_use]
    pub fn of_days(&self, counts: &[bool]) -> Self {
        let own = |days: &Vec<f64>| -> Vec<f64> {
            let days = days.iter().zip(counts).filter(|(_, counts)| **counts);
            days.map(|(value, _)| *value).collect()
        };
        Self {
            seeds: self.seeds.iter().map(own).collect(),
            plain: own(&self.plain),
        }
    }

    /// Whether the daily selection is not one value.
    #[must_use]
    pub fn varies(&self) -> bool {
        let first = self.plain.first().copied().unwrap_or(0.0);
        self.plain
            .iter()
            .any(|value| (value - first).abs() > f64::EPSILON * first.abs())
    }
}

/// Means of the agents' selection a day, over days and seeds. `None` below two days.
#[must_use]
pub fn selection_means(series: &[SelectionSeries]) -> Option<MeanTable> {
    let mean = |series: &SelectionSeries| {
        let columns: Vec<&[f64]> = series.seeds.iter().map(Vec::as_slice).collect();
        MeanContrasts::of_days(&DailyTable::new("daily selection", &columns).ok()?).ok()
    };
    MeanTable::new(series.iter().map(mean).collect::<Option<_>>()?).ok()
}

/// The 95 % interval of a selection a day. `None` below two days, and of one that does not vary.
#[must_use]
pub fn selection_interval(series: &SelectionSeries) -> Option<Interval> {
    let means = selection_means(std::slice::from_ref(series))?;
    let estimate = means.columns().first()?.estimate().ok()?;
    estimate.interval(Confidence::P95).ok()
}

/// The agents' selection a day averaged over windows, those of one window in one list, the same agents in each: judged by what
/// windows differ by. `None` below two windows, and where one has no day.
#[must_use]
pub fn pooled_selection(windows: &[Vec<SelectionSeries>]) -> Option<MeanTable> {
    let agents = windows.first()?.len();
    let a_day = |series: &SelectionSeries| (!series.plain.is_empty()).then(|| series.a_day());
    let mean = |agent: usize| {
        let each = windows.iter().map(|window| a_day(window.get(agent)?));
        let each: Vec<f64> = each.collect::<Option<_>>()?;
        MeanContrasts::of_windows(&Sample::new("selection a day", &each).ok()?).ok()
    };
    MeanTable::new((0..agents).map(mean).collect::<Option<_>>()?).ok()
}

impl RankSeparation {
    /// The separation that ranked means give; `is_turned` says of two agents whether their order hangs on a setting.
    #[must_use]
    pub fn of(ranks: &RankSets, is_turned: &dyn Fn(usize, usize) -> bool) -> Self {
        let order = ranks.order();
        let rows = |cell: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<bool>> {
            let row = |own: &usize| order.iter().map(|other| cell(*own, *other)).collect();
            order.iter().map(row).collect()
        };
        let alone = |own: usize, other: usize| {
            let p = ranks.pair(own, other).map(|pair| pair.p);
            p.is_some_and(|p| 2.0 * Confidence::P90.lower() < p || is_turned(own, other))
        };
        let together = rows(&|own, other| {
            let pair = ranks.pair(own, other);
            pair.is_none_or(|pair| !pair.is_separated) || is_turned(own, other)
        });
        let win = |own: usize, other: usize| ranks.pair(own, other).map_or(0.5, win_share);
        Self {
            win_share: order
                .iter()
                .map(|own| order.iter().map(|other| win(*own, *other)).collect())
                .collect(),
            groups: open_runs(&together),
            open: rows(&alone),
            order,
        }
    }
}

fn win_share(pair: PairTest) -> f64 {
    if pair.difference < 0.0 {
        pair.p / 2.0
    } else {
        1.0 - pair.p / 2.0
    }
}

impl RankingTests {
    /// The tests over all trials whose selection varies, `(replicates, seed)`; the probability of overfitting is of the agents
    /// that are ranked.
    #[must_use]
    pub fn of(series: &[SelectionSeries], trials: &[SelectionTrial], chance: (u32, u64)) -> Self {
        let varying: Vec<&SelectionSeries> = series.iter().filter(|series| series.varies()).collect();
        let best = best_of(trials, chance);
        Self {
            overfitting: overfitting(&varying),
            reality_check_p: best.map(|best| best.p_of_largest_mean),
            superior_ability: best.ok(),
        }
    }
}

/// The best of all trials that vary against what luck makes of each.
fn best_of(
    trials: &[SelectionTrial],
    (replicates, seed): (u32, u64),
) -> Result<BestOfMany, RankingTestError> {
    let (mut means, mut nulls) = (Vec::new(), Vec::new());
    for trial in trials {
        let days = DailyTable::new("daily selection", &[trial.daily.as_slice()])?;
        let mean = MeanContrasts::of_days(&days)?;
        if mean.estimate().is_ok() {
            means.push(mean);
            nulls.push(trial.luck_mean);
        }
    }
    if means.is_empty() {
        return Err(RankingTestError::Constant);
    }
    let table = MeanTable::new(means)?;
    let rotations = Rotations::new(table.contrasts(), replicates, seed);
    Ok(table.best_of_many(&nulls, &rotations)??)
}

/// The probability that the best half by Sharpe ratio of selection is below the median elsewhere: over the distinct seeds
/// of all agents. Seeds that traded alike are one strategy, and one whose selection does not vary in some half of the
/// days, as that of an agent in cash for so long, has no ratio to compare.
fn overfitting(series: &[&SelectionSeries]) -> Result<f64, RankingTestError> {
    let columns: Vec<&[f64]> = series
        .iter()
        .flat_map(|series| &series.seeds)
        .map(Vec::as_slice)
        .collect();
    let found = pbo_of_distinct(&columns).map_err(|_| RankingTestError::ConstantInHalf)?;
    Ok(found.map(|found| found.probability)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(daily: &[f64]) -> SelectionSeries {
        SelectionSeries {
            seeds: vec![daily.to_vec()],
            plain: daily.to_vec(),
        }
    }

    #[test]
    fn a_window_of_one_day_is_pooled_with_the_others() {
        let long: Vec<f64> = (0..20_u32).map(|day| f64::from(day % 3) * 1e-3).collect();
        let windows = [
            vec![series(&long), series(&[0.0; 20])],
            vec![series(&[0.03]), series(&[0.01])],
        ];
        let pooled = pooled_selection(&windows).unwrap();
        assert!((pooled.columns()[1].mean() - 0.005).abs() < 1e-15);
        assert_eq!(pooled.contrasts(), 1);
        assert_eq!(pooled_selection(&[vec![series(&[])], vec![series(&[0.1])]]), None);
    }
}
