//! What may be concluded of alphas: deflated ratios, overfitting, the best against nothing, ranks with intervals.

use crate::day_series::DaySeries;
use crate::figure_row::{Figure, FigureRow, coded};
use ktd_stats::moments::{Moments, count};
use ktd_stats::{
    BestOfMany, Confidence, DailyTable, Interval, MeanContrasts, MeanTable, Pbo, RankSets, Rotations, Sample,
    StatsError, Trials, Undefined, deflated_sharpe, open_runs, pbo_of_distinct, series_representatives,
};

/// Random turns.
const REPLICATES: u32 = 1_000;

/// Expressions tried for a pool where nobody says how many: from as few to as many.
pub const UNKNOWN_TRIALS: [usize; 2] = [10, 10_000];

/// Why there is no one deflated ratio where nobody says how many expressions were tried.
const UNKNOWN: &str = "unknown_trials";

/// Expressions behind a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolTrials {
    /// All that were tried for it, counted or declared; none where nobody says.
    pub tried: Option<usize>,
    /// Whether the sign of each is learned: an expression and the same times -1 are two trials.
    pub is_sign_learned: bool,
}

impl PoolTrials {
    /// The fewest and the most trials, given how many alphas of the pool are not alike: these have been tried, whatever is said.
    #[must_use]
    pub fn range(self, distinct: usize) -> [usize; 2] {
        let signs = if self.is_sign_learned { 2 } else { 1 };
        let own = distinct.saturating_mul(signs).max(1);
        let tried = self.tried.map(|tried| tried.saturating_mul(signs));
        tried
            .map_or(UNKNOWN_TRIALS, |tried| [tried, tried])
            .map(|tried| tried.max(own))
    }
}

/// The probability that the true Sharpe ratio behind daily returns exceeds what the best of so many trials shows without skill. Ratios of
/// trials without skill vary by the number of days alone: how far those of a pool lie apart says what skill it has.
fn deflated(returns: &[f64], trials: usize) -> Figure {
    let sample = Sample::new("daily returns", returns).map_err(|_| "out_of_range".to_owned())?;
    let trials = Trials::without_skill(trials, returns.len());
    coded(deflated_sharpe(&sample, &trials)).map(|found| found.against_best.probability)
}

/// What may be concluded of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolInference {
    /// By alpha: `dsr`, the probability that its true Sharpe ratio exceeds what the best of all trials shows without skill; where nobody
    /// says how many were tried `dsr_low` and `dsr_high`, of the most and of the fewest.
    pub deflated: Vec<FigureRow>,
    /// The place of the alpha with the highest ratio; none where none has one.
    pub best: Option<usize>,
    /// Trials, overfitting, and the best against nothing.
    pub row: FigureRow,
}

/// What may be concluded of a pool from the daily returns of its alphas over some days, from the first to the last of which a
/// day without a portfolio earns 0. Of alphas whose returns are alike one counts, of those that earn the same every day, or are not
/// traded, none.
///
/// # Errors
/// [`StatsError`] for days of which no draws are made.
pub fn pool_inference(
    trials: PoolTrials,
    series: &[&DaySeries],
    days: &[usize],
    seed: u64,
) -> Result<PoolInference, StatsError> {
    let whole = whole_days(series, days);
    let counted = distinct_columns(&whole);
    let [fewest, most] = trials.range(counted.len());
    let deflate = |series: &&DaySeries| {
        let returns: Vec<f64> = series.iter().map(|(_, earned)| *earned).collect();
        let mut row = FigureRow::default();
        if trials.tried.is_some() {
            row.put("dsr", deflated(&returns, most));
        } else {
            row.put("dsr", Err(UNKNOWN.to_owned()));
            row.put("dsr_low", deflated(&returns, most));
            row.put("dsr_high", deflated(&returns, fewest));
        }
        row
    };
    let ratio = |series: &&DaySeries| {
        let returns: Vec<f64> = series.iter().map(|(_, earned)| *earned).collect();
        let ratio = Moments::of(&returns)?.daily_ratio(Undefined::ZeroVariance);
        ratio.ok().filter(|ratio| ratio.is_finite())
    };
    let ratios = series.iter().map(ratio).zip(0..);
    let best = ratios.filter_map(|(ratio, place)| Some((ratio?, place)));
    let best = best.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
    let best = best.map(|(_, place)| place);
    let mut row = FigureRow::default();
    row.put_all(
        &interval_of_best(&whole, best, seed)?,
        &[
            ("best_sr_net_low", |interval| Ok(interval.lower)),
            ("best_sr_net_high", |interval| Ok(interval.upper)),
        ],
    );
    row.put("distinct", Ok(count(counted.len())));
    row.put("trials_low", Ok(count(fewest)));
    row.put("trials_high", Ok(count(most)));
    let overfitted = overfitting(&counted);
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
        deflated: series.iter().map(deflate).collect(),
        best,
        row,
    })
}

/// The series that vary and are not alike.
fn distinct_columns(series: &[Vec<f64>]) -> Vec<&[f64]> {
    let columns: Vec<&[f64]> = series.iter().map(Vec::as_slice).collect();
    let standing = series_representatives(&columns)
        .into_iter()
        .zip(&columns)
        .enumerate();
    let counted = standing.filter(|(place, (of, _))| *of == Some(*place));
    counted.map(|(_, (_, column))| *column).collect()
}

/// How often the best of one half of the days is below the middle in the other.
fn overfitting(counted: &[&[f64]]) -> Result<Pbo, String> {
    pbo_of_distinct(counted).map_or_else(|_| Err("too_few".to_owned()), coded)
}

/// The 95 % interval of the highest annual ratio, one of those that hold the true ratios of all alphas at once: whichever is chosen.
fn interval_of_best(
    returns: &[Vec<f64>],
    best: Option<usize>,
    seed: u64,
) -> Result<Result<Interval, Undefined>, StatsError> {
    let ratio = |returns: &Vec<f64>| {
        let sample = Sample::new("daily returns", returns).ok()?;
        let mean = MeanContrasts::of_sharpe(&[sample]).ok()?;
        mean.estimate().is_ok().then_some(mean)
    };
    let ratios: Vec<Option<MeanContrasts>> = returns.iter().map(ratio).collect();
    let of_best = best.and_then(|best| ratios.get(best).cloned().flatten());
    let Some(estimate) = of_best.and_then(|mean| mean.estimate().ok()) else {
        return Ok(Err(Undefined::ZeroVariance));
    };
    let table = MeanTable::new(ratios.into_iter().flatten().collect())?;
    let rotations = Rotations::new(table.contrasts(), REPLICATES, seed);
    let widest = table.widest_t(Confidence::P95, &rotations);
    let half = widest.unwrap_or(f64::INFINITY) * estimate.standard_error;
    Ok(Ok(Interval {
        lower: estimate.mean - half,
        upper: estimate.mean + half,
    }))
}

/// The best of all alphas whose returns vary against earning nothing.
fn best_of_pool(returns: &[Vec<f64>], seed: u64) -> Result<Result<BestOfMany, Undefined>, StatsError> {
    let varying = means(returns).into_iter().filter_map(Result::ok);
    let varying = varying.filter(|mean| mean.estimate().is_ok()).collect();
    let Ok(table) = MeanTable::new(varying) else {
        return Ok(Err(Undefined::ZeroVariance));
    };
    let rotations = Rotations::new(table.contrasts(), REPLICATES, seed);
    table.best_of_many(&vec![0.0; table.columns().len()], &rotations)
}

/// The mean of each series; none of one with a value that is no number.
fn means(returns: &[Vec<f64>]) -> Vec<Result<MeanContrasts, Undefined>> {
    let mean = |returns: &Vec<f64>| {
        let table = DailyTable::new("daily returns", &[returns]).map_err(|_| Undefined::OutOfRange)?;
        MeanContrasts::of_days(&table)
    };
    returns.iter().map(mean).collect()
}

/// The place of the alpha that counts for each among all of a split, its own where that is itself: of those whose daily returns
/// correlate by [`ktd_stats::LIKE_CORRELATION`] or more one counts. None where returns do not vary.
#[must_use]
pub fn alpha_representatives(series: &[&DaySeries], days: &[usize]) -> Vec<Option<usize>> {
    let whole = whole_days(series, days);
    series_representatives(&whole.iter().map(Vec::as_slice).collect::<Vec<_>>())
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
    let means: Result<Vec<MeanContrasts>, Undefined> = means(&whole_days(series, days)).into_iter().collect();
    let means = means.unwrap_or_default();
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
    use super::{PoolTrials, pool_inference};
    use crate::{DaySeries, FigureRow};
    use ktd_stats::{Sample, SplitMix64, Trials, deflated_sharpe, probabilistic_sharpe};

    const DAYS: usize = 250;

    const fn stated(tried: usize) -> PoolTrials {
        PoolTrials {
            tried: Some(tried),
            is_sign_learned: false,
        }
    }

    const UNKNOWN: PoolTrials = PoolTrials {
        tried: None,
        is_sign_learned: false,
    };

    /// Daily returns of so many alphas, each with another skill.
    fn pool(alphas: u8) -> Vec<DaySeries> {
        let mut stream = SplitMix64::new(11);
        let mut alpha = |skill: f64| -> DaySeries {
            (0..DAYS)
                .map(|day| (day, 0.01 * (stream.uniform() - 0.5 + skill)))
                .collect()
        };
        (0..alphas).map(|place| alpha(0.01 * f64::from(place))).collect()
    }

    fn concluded(trials: PoolTrials, pool: &[DaySeries]) -> (Vec<FigureRow>, FigureRow) {
        let days: Vec<usize> = (0..DAYS).collect();
        let found = pool_inference(trials, &pool.iter().collect::<Vec<_>>(), &days, 1).unwrap();
        (found.deflated, found.row)
    }

    #[test]
    fn of_one_trial_the_ratio_stands_against_nothing() {
        let one = pool(1);
        let returns: Vec<f64> = one[0].iter().map(|(_, earned)| *earned).collect();
        let psr = probabilistic_sharpe(&Sample::new("returns", &returns).unwrap(), 0.0).unwrap();
        assert_eq!(concluded(stated(1), &one).0[0].get("dsr"), Some(psr.probability));
    }

    /// Where nobody says how many were tried, the ratio lies between those of ten and of ten thousand.
    #[test]
    fn an_unknown_number_of_trials_leaves_a_band() {
        let all = pool(6);
        let returns: Vec<f64> = all[5].iter().map(|(_, earned)| *earned).collect();
        let wanted = [10_000, 10].map(|trials| {
            let sample = Sample::new("returns", &returns).unwrap();
            let found = deflated_sharpe(&sample, &Trials::without_skill(trials, DAYS)).unwrap();
            Some(found.against_best.probability)
        });
        let (deflated, row) = concluded(UNKNOWN, &all);
        assert_eq!([deflated[5].get("dsr_low"), deflated[5].get("dsr_high")], wanted);
        assert!(wanted[0] < wanted[1]);
        assert_eq!(deflated[5].undefined["dsr"], "unknown_trials");
        assert_eq!(
            [row.get("trials_low"), row.get("trials_high")],
            [Some(10.0), Some(10_000.0)]
        );
        // Whoever says how many has one figure, a learned sign doubles the trials, and own alphas are tried whatever is said.
        let trials = |trials: PoolTrials| {
            let (deflated, row) = concluded(trials, &all);
            assert_eq!(
                (deflated[5].get("dsr_low"), row.get("trials_low")),
                (None, row.get("trials_high"))
            );
            (row.get("trials_high").unwrap(), deflated[5].get("dsr").unwrap())
        };
        let learned = PoolTrials {
            is_sign_learned: true,
            ..stated(300)
        };
        let (once, twice, few) = (trials(stated(300)), trials(learned), trials(stated(1)));
        assert_eq!((once.0, twice.0, few.0), (300.0, 600.0, 6.0));
        assert!(twice.1 < once.1 && once.1 < few.1);
    }

    /// Copies of one alpha, an idle one and one with a return that is no number move nobody's ratio, and nothing of the pool's.
    #[test]
    fn copies_and_idle_alphas_change_nothing() {
        let all = pool(8);
        let scaled = |of: &DaySeries, by: f64| of.iter().map(|(day, earned)| (*day, by * earned)).collect();
        let mut more = all.clone();
        more.extend([scaled(&all[2], 1.0), scaled(&all[2], 3.0), scaled(&all[7], 0.5)]);
        more.extend([
            scaled(&all[0], 0.0),
            DaySeries::new(),
            scaled(&all[1], f64::INFINITY),
        ]);
        for trials in [UNKNOWN, stated(1), stated(40)] {
            let (wanted, row) = concluded(trials, &all);
            let (found, with) = concluded(trials, &more);
            assert_eq!(found[..all.len()], wanted);
            assert_eq!(with, row);
            assert_eq!(row.get("distinct"), Some(8.0));
            assert!(row.get("pbo").is_some() && row.get("spa_p").is_some());
            assert!(found[11].undefined.contains_key("dsr"));
        }
    }

    /// The skill of others is not luck: it moves the ratio of nobody.
    #[test]
    fn skilled_neighbours_take_nothing_from_a_skilled_alpha() {
        let all = pool(4);
        let of_last = |pool: &[DaySeries]| concluded(stated(4), pool).0.pop().unwrap().get("dsr");
        let skilled: Vec<DaySeries> = all[..3]
            .iter()
            .map(|series| {
                series
                    .iter()
                    .map(|(day, earned)| (*day, earned + 0.002))
                    .collect()
            })
            .chain([all[3].clone()])
            .collect();
        assert_eq!(of_last(&skilled), of_last(&all));
    }
}
