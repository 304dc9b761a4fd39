//! What may be concluded of alphas: deflated ratios, overfitting, the best against nothing, ranks with intervals.

use crate::day_series::DaySeries;
use crate::figure_row::{Figure, FigureRow, coded};
use ktd_stats::moments::{Moments, count};
use ktd_stats::{
    BestOfMany, Confidence, DailyTable, MeanContrasts, MeanTable, RankSets, Rotations, Sample, StatsError,
    Trials, Undefined, deflated_sharpe, open_runs, pbo,
};

/// Blocks of days whose halves are held against each other for the probability of overfitting.
const BLOCKS: usize = 16;

/// Random turns.
const REPLICATES: u32 = 1_000;

/// Expressions behind a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolTrials {
    /// All that were tried for it.
    pub tried: usize,
    /// Those that it holds.
    pub own: usize,
}

/// What deflates the Sharpe ratios of a pool's alphas: how many expressions were tried for it, and how far their daily ratios
/// spread without skill.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Deflation {
    tried: usize,
    /// Variance of the ratios of the alphas that there are.
    spread: f64,
    /// Whether these alphas are all that were tried.
    is_whole: bool,
}

impl Deflation {
    /// Of a pool whose alphas have these daily ratios; a code where more was tried than has a ratio, and too few have one to
    /// tell their spread.
    fn of(trials: PoolTrials, sharpes: &[f64]) -> Result<Self, String> {
        if 1 < trials.tried && sharpes.len() < 2 {
            return Err("too_few".to_owned());
        }
        let sample = Sample::new("Sharpe ratios", sharpes).map_err(|_| "out_of_range".to_owned())?;
        let found = Trials::of_sharpes(&sample).map_err(|_| "too_few".to_owned())?;
        Ok(Self {
            tried: trials.tried,
            spread: found.sharpe_variance(),
            is_whole: trials.tried <= trials.own,
        })
    }

    /// The probability that the true ratio behind some returns exceeds what the best of all trials shows without skill. Of
    /// trials that nobody kept no ratio is known: they spread at least as far as ratios of so many days do without skill,
    /// however close to each other the kept ones are.
    fn probability(&self, returns: &[f64]) -> Figure {
        let least = if self.is_whole {
            0.0
        } else {
            1.0 / count(returns.len()).max(1.0)
        };
        let sample = Sample::new("daily returns", returns).map_err(|_| "out_of_range".to_owned())?;
        let tried = u64::try_from(self.tried).unwrap_or(u64::MAX);
        let trials = Trials::new(tried, self.spread.max(least)).map_err(|_| "too_few".to_owned())?;
        coded(deflated_sharpe(&sample, &trials)).map(|found| found.against_best.probability)
    }
}

/// What may be concluded of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolInference {
    /// By alpha: the probability that its true Sharpe ratio exceeds what the best of all trials shows without skill.
    pub deflated: Vec<Figure>,
    /// The place of the alpha with the highest ratio; none where none has one.
    pub best: Option<usize>,
    /// Trials, overfitting, and the best against nothing.
    pub row: FigureRow,
}

/// What may be concluded of a pool from the daily returns of its alphas over some days, from the first to the last of which a
/// day without a portfolio earns 0.
///
/// # Errors
/// [`StatsError`] for days of which no draws are made.
pub fn pool_inference(
    trials: PoolTrials,
    series: &[&DaySeries],
    days: &[usize],
    seed: u64,
) -> Result<PoolInference, StatsError> {
    let earned = |series: &&DaySeries| series.iter().map(|(_, earned)| *earned).collect::<Vec<f64>>();
    let returns: Vec<Vec<f64>> = series.iter().map(earned).collect();
    let ratio = |returns: &Vec<f64>| Moments::of(returns)?.daily_ratio(Undefined::ZeroVariance).ok();
    let ratios: Vec<Option<f64>> = returns.iter().map(ratio).collect();
    let present: Vec<f64> = ratios.iter().copied().flatten().collect();
    let deflation = Deflation::of(trials, &present);
    let deflated = returns
        .iter()
        .map(|returns| deflation.clone().and_then(|found| found.probability(returns)));
    let best = ratios
        .iter()
        .zip(0..)
        .filter_map(|(ratio, place)| Some(((*ratio)?, place)));
    let best = best.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
    let mut row = FigureRow::default();
    row.put("trials", Ok(count(trials.tried)));
    let whole = whole_days(series, days);
    let columns: Vec<&[f64]> = whole.iter().map(Vec::as_slice).collect();
    let table = DailyTable::new("daily returns", &columns)?;
    let overfitted = pbo(&table, BLOCKS).map_or_else(|_| Err("too_few".to_owned()), coded);
    row.put("pbo", overfitted.clone().map(|found| found.probability));
    row.put("pbo_logit", overfitted.map(|found| found.median_logit));
    row.put_all(
        &best_of_pool(&whole, seed)?,
        &[
            ("spa_p", |found| Ok(found.p_consistent)),
            ("spa_statistic", |found| Ok(found.statistic)),
        ],
    );
    Ok(PoolInference {
        deflated: deflated.collect(),
        best: best.map(|(_, place)| place),
        row,
    })
}

/// The best of all alphas whose returns vary against earning nothing.
fn best_of_pool(returns: &[Vec<f64>], seed: u64) -> Result<Result<BestOfMany, Undefined>, StatsError> {
    let means = match means(returns) {
        Ok(means) => means.into_iter().filter(|mean| mean.estimate().is_ok()).collect(),
        Err(undefined) => return Ok(Err(undefined)),
    };
    let Ok(table) = MeanTable::new(means) else {
        return Ok(Err(Undefined::ZeroVariance));
    };
    let rotations = Rotations::new(table.contrasts(), REPLICATES, seed);
    table.best_of_many(&vec![0.0; table.columns().len()], &rotations)
}

fn means(returns: &[Vec<f64>]) -> Result<Vec<MeanContrasts>, Undefined> {
    let mean = |returns: &Vec<f64>| {
        let table = DailyTable::new("daily returns", &[returns]).map_err(|_| Undefined::OutOfRange)?;
        MeanContrasts::of_days(&table)
    };
    returns.iter().map(mean).collect()
}

/// Each series on all of some days.
fn whole_days(series: &[&DaySeries], days: &[usize]) -> Vec<Vec<f64>> {
    let first = days.first().copied().unwrap_or(0);
    let whole = series.iter().map(|series| {
        let mut returns = vec![0.0; days.len()];
        for (day, earned) in *series {
            let place = day.checked_sub(first);
            let slot = place.and_then(|place| returns.get_mut(place));
            if let Some(slot) = slot {
                *slot = *earned;
            }
        }
        returns
    });
    whole.collect()
}

/// The rank of a series by its mean daily return.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesRank {
    /// The series.
    pub place: usize,
    /// Its rank, from 1.
    pub rank: usize,
    /// Best rank of the set that holds the true ranks of all series at once in 95 %.
    pub lower: usize,
    /// Worst one.
    pub upper: usize,
    /// The share of drawn means in which it is the best.
    pub probability_best: f64,
    /// Letters of the groups within which no pair is separated when all are judged at once.
    pub groups: String,
}

/// Ranks of series over some days, which hold for all at once; none of fewer than two.
///
/// # Errors
/// [`StatsError`] for days of which there is no mean.
pub fn series_ranks(series: &[&DaySeries], days: &[usize], seed: u64) -> Result<Vec<SeriesRank>, StatsError> {
    let means = means(&whole_days(series, days)).unwrap_or_default();
    if means.len() < 2 {
        return Ok(Vec::new());
    }
    let table = MeanTable::new(means)?;
    let rotations = Rotations::new(table.contrasts(), REPLICATES, seed);
    let ranks = RankSets::of(&table, Confidence::P95, &rotations)?;
    let order = ranks.order();
    let is_open = |one: &usize, other: &usize| ranks.pair(*one, *other).is_none_or(|pair| !pair.is_separated);
    let open: Vec<Vec<bool>> = order
        .iter()
        .map(|one| order.iter().map(|other| is_open(one, other)).collect())
        .collect();
    let groups = open_runs(&open);
    let letters = |rank: usize| -> String {
        let runs = groups.iter().zip('a'..='z');
        runs.filter(|(run, _)| run.contains(&rank))
            .map(|(_, letter)| letter)
            .collect()
    };
    let ranked = order.iter().enumerate().filter_map(|(at, place)| {
        let rank = ranks.agents().get(*place)?;
        Some(SeriesRank {
            place: *place,
            rank: rank.rank,
            lower: rank.lower,
            upper: rank.upper,
            probability_best: rank.first_share,
            groups: letters(at),
        })
    });
    Ok(ranked.collect())
}

#[cfg(test)]
mod tests {
    use super::{Deflation, PoolTrials};
    use ktd_stats::{Sample, SplitMix64, probabilistic_sharpe};

    /// Daily returns of a modest skill.
    fn returns() -> Vec<f64> {
        let mut stream = SplitMix64::new(11);
        (0..500).map(|_| 0.01 * (stream.uniform() - 0.47)).collect()
    }

    fn probability((tried, own): (usize, usize), sharpes: &[f64]) -> Result<f64, String> {
        Deflation::of(PoolTrials { tried, own }, sharpes)?.probability(&returns())
    }

    #[test]
    fn of_one_trial_the_ratio_stands_against_nothing() {
        let returns = returns();
        let psr = probabilistic_sharpe(&Sample::new("returns", &returns).unwrap(), 0.0).unwrap();
        assert_eq!(probability((1, 1), &[0.2]), Ok(psr.probability));
    }

    #[test]
    fn one_kept_of_many_has_no_deflated_ratio() {
        for sharpes in [&[0.2][..], &[]] {
            assert_eq!(probability((3_000, 1), sharpes), Err("too_few".to_owned()));
            assert_eq!(probability((2, 2), sharpes), Err("too_few".to_owned()));
        }
    }

    /// The kept ones may be chosen to be alike; the thousands behind them were not.
    #[test]
    fn kept_alphas_that_are_alike_do_not_take_the_deflation_away() {
        let alike = [0.2, 0.2, 0.2];
        let whole = probability((3, 3), &alike).unwrap();
        let kept = probability((3_000, 3), &alike).unwrap();
        assert!(0.9 < whole && kept < 0.5, "{whole} {kept}");
        // A spread above that of no skill counts as it is.
        let wide = probability((3_000, 3), &[0.3, 0.2, 0.0]).unwrap();
        assert!(wide < kept, "{wide} {kept}");
    }
}
