//! What several agents selected, seed by seed, and how sure their order is.

use crate::account::{Attribution, Part, WeightBasis, carino_weights};
use ktd_stats::moments::column_means;
use ktd_stats::{
    Confidence, DEFAULT_MEAN_BLOCK_DAYS, DailyTable, PooledMeans, PooledWindow, RankIntervals, ReplicateSums,
    Sample, SeededAgent, StationaryBootstrap, StatsError, SuperiorAbility, Undefined, block_length,
    pbo_of_distinct, pooled_means, reality_check, seeded_sums, separable_groups_beside, superior_ability,
};

/// Daily selection of one agent on the headline's basis: linked within each seed, and plain.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionSeries {
    /// One a seed: daily selection times its Carino weight, which adds up to the linked selection.
    pub linked: Vec<Vec<f64>>,
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

/// The order of agents by selection, and which pairs resampling separates.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSeparation {
    /// Places of the agents, best first.
    pub order: Vec<usize>,
    /// In that order: share of replicates in which the row's selection is above the column's, a tie counting half, so
    /// that twins are as inseparable as can be.
    pub win_share: Vec<Vec<f64>>,
    /// Places in `order` of groups that the data cannot separate.
    pub groups: Vec<Vec<usize>>,
    /// In that order: whether the data or the settings leave open who of a pair is above.
    pub open: Vec<Vec<bool>>,
}

/// Tests of the best selection of a ranking against none.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingTests {
    /// Probability of backtest overfitting.
    pub overfitting: Result<f64, RankingTestError>,
    /// The p-value of White's reality check.
    pub reality_check_p: Result<f64, RankingTestError>,
    /// Hansen's test for superior ability.
    pub superior_ability: Option<SuperiorAbility>,
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
        let linked = seeds.iter().map(|attribution| {
            let weights = carino_weights(attribution.returns());
            let daily = attribution.parts(basis).daily(Part::Selection);
            daily.zip(weights).map(|(value, weight)| value * weight).collect()
        });
        let daily: Vec<Vec<f64>> = seeds
            .iter()
            .map(|attribution| attribution.selection(basis))
            .collect();
        Self {
            linked: linked.collect(),
            plain: column_means(&daily),
            seeds: daily,
        }
    }

    /// Linked selection: the mean over seeds.
    #[must_use]
    pub fn value(&self) -> f64 {
        let wholes: Vec<Vec<f64>> = self.linked.iter().map(|days| vec![days.iter().sum()]).collect();
        column_means(&wholes).first().copied().unwrap_or(0.0)
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

/// One draw of days for all agents, `(replicates, seed)`. Its mean block is the longest that the agents' own series ask
/// for: shorter ones would make intervals too narrow for someone. `None` below two days.
#[must_use]
pub fn selection_bootstrap(
    series: &[SelectionSeries],
    (replicates, seed): (u32, u64),
) -> Option<StationaryBootstrap> {
    let days = series.first()?.plain.len();
    let varying = series.iter().filter(|series| series.varies());
    let blocks = varying.filter_map(|series| {
        let sample = Sample::new("daily selection", &series.plain).ok()?;
        Some(block_length(&sample).days())
    });
    let mean_block = blocks.reduce(f64::max).unwrap_or(DEFAULT_MEAN_BLOCK_DAYS);
    StationaryBootstrap::new(days, mean_block, replicates, seed)
        .ok()
        .filter(|_| 1 < days)
}

/// Replicates of every agent's linked selection: days and, where there are several, seeds are drawn, those of an agent by
/// its stream.
#[must_use]
pub fn selection_sums(
    streams: &[u64],
    series: &[SelectionSeries],
    bootstrap: &StationaryBootstrap,
) -> Option<ReplicateSums> {
    seeded_sums(&seeded_agents(streams, series)?, bootstrap).ok()
}

/// The linked selections of agents, one column a seed.
fn seeded_agents(streams: &[u64], series: &[SelectionSeries]) -> Option<Vec<SeededAgent>> {
    let agents = streams.iter().zip(series).map(|(stream, series)| {
        let columns: Vec<&[f64]> = series.linked.iter().map(Vec::as_slice).collect();
        Some(SeededAgent::new(
            *stream,
            DailyTable::new("daily selection", &columns).ok()?,
        ))
    });
    agents.collect()
}

/// The agents' selection a day pooled over windows, those of one window in one list, the same agents in each; days are
/// drawn window by window, `(replicates, seed)`. The one day of a window that has no other is drawn each time, so that its
/// noise is the window's. `None` where a window has no day.
#[must_use]
pub fn pooled_selection(
    streams: &[u64],
    windows: &[Vec<SelectionSeries>],
    (replicates, seed): (u32, u64),
) -> Option<PooledMeans> {
    let window = |(place, series): (u64, &Vec<SelectionSeries>)| {
        let seed = seed.wrapping_add(place);
        let draws = match series.first()?.plain.len() {
            1 => StationaryBootstrap::new(1, 1.0, replicates, seed).ok(),
            _ => selection_bootstrap(series, (replicates, seed)),
        };
        Some(PooledWindow {
            agents: seeded_agents(streams, series)?,
            draws: draws?,
        })
    };
    let windows: Vec<PooledWindow> = (1..).zip(windows).map(window).collect::<Option<_>>()?;
    pooled_means(&windows, (replicates, seed)).ok()
}

impl RankSeparation {
    /// The separation that resampled ranks give; `is_turned` says of two agents whether their order hangs on a setting.
    #[must_use]
    pub fn of(ranks: &RankIntervals, is_turned: &dyn Fn(usize, usize) -> bool) -> Self {
        let order = by_rank(ranks);
        let win = |own: &usize, other: &usize| {
            let share = |own, other| ranks.win_probability(own, other).unwrap_or(0.0);
            f64::midpoint(share(*own, *other), 1.0 - share(*other, *own))
        };
        let place_of = |agent: usize| order.iter().position(|place| *place == agent).unwrap_or(0);
        let groups = separable_groups_beside(ranks, Confidence::P90, is_turned)
            .runs
            .into_iter();
        let win_share: Vec<Vec<f64>> = order
            .iter()
            .map(|own| order.iter().map(|other| win(own, other)).collect())
            .collect();
        let tails = Confidence::P90;
        let is_open = |(other, share): (&usize, &f64), own: &usize| {
            own != other && (tails.lower() < *share && *share < tails.upper() || is_turned(*own, *other))
        };
        let rows = order.iter().zip(&win_share);
        Self {
            open: rows
                .map(|(own, shares)| order.iter().zip(shares).map(|cell| is_open(cell, own)).collect())
                .collect(),
            win_share,
            groups: groups
                .map(|run| run.into_iter().map(place_of).collect())
                .collect(),
            order,
        }
    }
}

/// Places of the agents, best first.
fn by_rank(ranks: &RankIntervals) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.agents().len()).collect();
    order.sort_by_key(|place| {
        (
            ranks.agents().get(*place).map_or(usize::MAX, |agent| agent.rank),
            *place,
        )
    });
    order
}

impl RankingTests {
    /// The tests over all agents whose selection varies.
    #[must_use]
    pub fn of(series: &[SelectionSeries], bootstrap: &StationaryBootstrap) -> Self {
        let varying: Vec<&SelectionSeries> = series.iter().filter(|series| series.varies()).collect();
        let plain: Vec<&[f64]> = varying.iter().map(|series| series.plain.as_slice()).collect();
        let table = DailyTable::new("daily selection", &plain).ok();
        let sums = table
            .as_ref()
            .and_then(|table| ReplicateSums::of(table, bootstrap).ok());
        let superior = table
            .as_ref()
            .and_then(|table| superior_ability(table, bootstrap).ok()?.ok());
        Self {
            overfitting: overfitting(&varying),
            reality_check_p: sums.map_or(Err(RankingTestError::Constant), |sums| {
                Ok(reality_check(&sums).map(|check| check.p)?)
            }),
            superior_ability: superior,
        }
    }
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

    #[test]
    fn a_window_of_one_day_is_pooled_with_the_others() {
        let series = |daily: &[f64]| SelectionSeries {
            linked: vec![daily.to_vec()],
            seeds: vec![daily.to_vec()],
            plain: daily.to_vec(),
        };
        let long: Vec<f64> = (0..20_u32).map(|day| f64::from(day % 3) * 1e-3).collect();
        let windows = [
            vec![series(&long), series(&[0.0; 20])],
            vec![series(&[0.03]), series(&[0.01])],
        ];
        let pooled = pooled_selection(&[1, 2], &windows, (100, 1)).unwrap();
        let means = column_means(&pooled.windows);
        assert_eq!(pooled.sums.observed(), means);
        assert!((means[1] - 0.005).abs() < 1e-15, "{means:?}");
        let none = [vec![series(&[])], vec![series(&[0.1])]];
        assert_eq!(pooled_selection(&[1], &none, (100, 1)), None);
    }
}
