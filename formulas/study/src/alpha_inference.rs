//! What may be concluded of alphas and pools: deflated ratios, overfitting, the best against nothing, ranks with intervals.

use crate::FormulaStudyError;
use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, FigureRow, InferenceRow, RankRow, coded};
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use crate::study_pool::StudyPool;
use ktd_alphas::DaySeries;
use ktd_stats::moments::{Moments, count};
use ktd_stats::{
    Confidence, DEFAULT_MEAN_BLOCK_DAYS, DailyTable, ReplicateSums, Sample, StationaryBootstrap, Trials,
    Undefined, deflated_sharpe, pbo, rank_intervals, separable_groups, superior_ability,
};

/// Blocks of days whose halves are held against each other for the probability of overfitting.
const BLOCKS: usize = 16;

/// Replicates of the bootstrap.
const REPLICATES: u32 = 1_000;

/// The best alphas that are ranked with intervals.
const RANKED: usize = 20;

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
    fn of((tried, own): (usize, usize), sharpes: &[f64]) -> Result<Self, String> {
        if 1 < tried && sharpes.len() < 2 {
            return Err("too_few".to_owned());
        }
        let sample = Sample::new("Sharpe ratios", sharpes).map_err(|_| "out_of_range".to_owned())?;
        let found = Trials::of_sharpes(&sample).map_err(|_| "too_few".to_owned())?;
        Ok(Self {
            tried,
            spread: found.sharpe_variance(),
            is_whole: tried <= own,
        })
    }

    /// The probability that the true ratio behind some returns exceeds what the best of all trials shows without skill. Of
    /// trials that nobody kept no ratio is known: they spread at least as far as ratios of so many days do without skill,
    /// however close to each other the kept ones are.
    fn probability(&self, returns: &[f64]) -> Result<f64, String> {
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

/// Expressions that were tried for a pool, those of its search or its own; and its own.
fn trials(pool: &StudyPool) -> (usize, usize) {
    let own = pool.set.checked.len() + pool.set.refused.len();
    (pool.tried.unwrap_or(0).max(own), own)
}

/// Adds to each alpha of a pool the probability that its true Sharpe ratio exceeds what the best of all trials shows without
/// skill; and what may be concluded of the pool.
pub(crate) fn pool_inference(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    pool: &StudyPool,
    (rows, found): (&mut [AlphaRow], &[&DaySeries]),
) -> Result<InferenceRow, FormulaStudyError> {
    let returns: Vec<Vec<f64>> = found
        .iter()
        .map(|series| series.iter().map(|(_, earned)| *earned).collect())
        .collect();
    let sharpes: Vec<Option<f64>> = returns
        .iter()
        .map(|returns| Moments::of(returns)?.daily_ratio(Undefined::ZeroVariance).ok())
        .collect();
    let present: Vec<f64> = sharpes.iter().copied().flatten().collect();
    let trials = trials(pool);
    let deflation = Deflation::of(trials, &present);
    for (row, returns) in rows.iter_mut().zip(&returns) {
        let probability = |found: &Deflation| found.probability(returns);
        row.row.put(
            "dsr",
            deflation.as_ref().map_err(Clone::clone).and_then(probability),
        );
    }
    let best = sharpes
        .iter()
        .enumerate()
        .filter_map(|(place, sharpe)| Some(((*sharpe)?, place)));
    let best = best.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
    let best = best.and_then(|(_, place)| rows.get(place));
    let mut row = FigureRow::default();
    row.put("trials", Ok(count(trials.0)));
    for figure in ["sr", "sr_low", "sr_high", "dsr"] {
        let value = best.and_then(|best| best.row.get(figure));
        row.put(
            &format!("best_{figure}"),
            value.ok_or_else(|| "no_alpha_has_it".to_owned()),
        );
    }
    let whole: Vec<Vec<f64>> = found.iter().map(|series| on_all_days(series, split)).collect();
    let columns: Vec<&[f64]> = whole.iter().map(Vec::as_slice).collect();
    let table = DailyTable::new("daily returns", &columns).map_err(FormulaStudyError::invalid)?;
    let overfitted = pbo(&table, BLOCKS).map_or_else(|_| Err("too_few".to_owned()), coded);
    row.put("pbo", overfitted.clone().map(|found| found.probability));
    row.put("pbo_logit", overfitted.map(|found| found.median_logit));
    let tested = superior_ability(&table, &draws(open, split)?).map_err(FormulaStudyError::invalid)?;
    let tested = coded(tested);
    row.put("spa_p", tested.clone().map(|found| found.p_consistent));
    row.put("spa_statistic", tested.map(|found| found.statistic));
    Ok(InferenceRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        best: best.map(|best| best.id.clone()),
        row,
    })
}

fn draws(open: &OpenStudy, split: &SplitTables<'_>) -> Result<StationaryBootstrap, FormulaStudyError> {
    let days = split.split.label_days.len();
    StationaryBootstrap::new(days, DEFAULT_MEAN_BLOCK_DAYS, REPLICATES, open.study.seed)
        .map_err(FormulaStudyError::invalid)
}

/// Returns on all days with a label; a day without a portfolio earns 0.
fn on_all_days(series: &DaySeries, split: &SplitTables<'_>) -> Vec<f64> {
    let first = split.split.label_days.first().copied().unwrap_or(0);
    let mut returns = vec![0.0; split.split.label_days.len()];
    for (day, earned) in series {
        let place = day.checked_sub(first);
        place
            .and_then(|place| returns.get_mut(place))
            .into_iter()
            .for_each(|slot| *slot = *earned);
    }
    returns
}

/// What is ranked: its pool and name, and its daily returns.
pub(crate) type Ranked<'f> = (String, String, &'f DaySeries);

/// Ranks by mean daily return, with intervals from draws of days that all share.
pub(crate) fn rank_rows(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    of: &str,
    ranked: &[Ranked<'_>],
) -> Result<Vec<RankRow>, FormulaStudyError> {
    if ranked.len() < 2 {
        return Ok(Vec::new());
    }
    let whole: Vec<Vec<f64>> = ranked
        .iter()
        .map(|(_, _, series)| on_all_days(series, split))
        .collect();
    let columns: Vec<&[f64]> = whole.iter().map(Vec::as_slice).collect();
    let table = DailyTable::new("daily returns", &columns).map_err(FormulaStudyError::invalid)?;
    let sums = ReplicateSums::of(&table, &draws(open, split)?).map_err(FormulaStudyError::invalid)?;
    let ranks = rank_intervals(&sums, Confidence::P95);
    let groups = separable_groups(&ranks, Confidence::P95);
    let letters = |column: usize| -> String {
        let runs = groups.runs.iter().zip('a'..='z');
        runs.filter(|(run, _)| run.contains(&column))
            .map(|(_, letter)| letter)
            .collect()
    };
    let mut rows: Vec<RankRow> = ranks
        .agents()
        .iter()
        .zip(ranked)
        .enumerate()
        .map(|(column, (rank, (pool, id, _)))| RankRow {
            split: split.name.to_owned(),
            of: of.to_owned(),
            pool: pool.clone(),
            id: id.clone(),
            rank: rank.rank,
            rank_low: rank.lower,
            rank_high: rank.upper,
            probability_best: rank.probability_best,
            groups: letters(column),
        })
        .collect();
    rows.sort_by_key(|row| row.rank);
    Ok(rows)
}

/// The best distinct alphas of a split by PPS, to be ranked.
pub(crate) fn best_alphas<'f>(rows: &[AlphaRow], found: &'f [AlphaFound], place: usize) -> Vec<Ranked<'f>> {
    let mut best: Vec<(f64, usize)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.duplicate_of.is_none())
        .filter_map(|(alpha, row)| Some((row.row.get("pps")?, alpha)))
        .collect();
    best.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let of_alpha = |(_, alpha): (f64, usize)| {
        let row = rows.get(alpha)?;
        let series = &found.get(alpha)?.splits.get(place)?.returns;
        Some((row.pool.clone(), row.id.clone(), series))
    };
    best.into_iter().take(RANKED).filter_map(of_alpha).collect()
}

#[cfg(test)]
mod tests {
    use super::Deflation;
    use ktd_stats::{Sample, SplitMix64, probabilistic_sharpe};

    /// Daily returns of a modest skill.
    fn returns() -> Vec<f64> {
        let mut stream = SplitMix64::new(11);
        (0..500).map(|_| 0.01 * (stream.uniform() - 0.47)).collect()
    }

    fn probability(trials: (usize, usize), sharpes: &[f64]) -> Result<f64, String> {
        Deflation::of(trials, sharpes)?.probability(&returns())
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
