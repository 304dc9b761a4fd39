//! What may be concluded of a study's pools, and the ranks of its best alphas.

use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, InferenceRow, RankRow};
use crate::alpha_rows::NO_ALPHA;
use crate::alpha_study::StudyOrientation;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use crate::study_pool::StudyPool;
use ktd_alphas::{DaySeries, PoolTrials, SeriesRank, alpha_representatives, series_ranks};
use ktd_study::StudyError;

/// The best alphas that are ranked with intervals.
const RANKED: usize = 20;

/// Adds to each alpha of a pool its deflated ratio; and what may be concluded of the pool.
pub(crate) fn pool_inference(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    pool: &StudyPool,
    (rows, returns): (&mut [AlphaRow], &[&DaySeries]),
) -> Result<InferenceRow, StudyError> {
    let days = &split.split.label_days;
    let trials = PoolTrials {
        tried: pool.tried,
        is_sign_learned: open.study.orientation == StudyOrientation::Train,
    };
    let found =
        ktd_alphas::pool_inference(trials, returns, days, open.study.seed).map_err(StudyError::invalid)?;
    for (row, deflated) in rows.iter_mut().zip(found.deflated) {
        row.row.add(deflated);
    }
    let best = found.best.and_then(|place| rows.get(place));
    let mut row = found.row;
    let mut of_best = vec!["sr", "sr_net", "dsr"];
    if pool.tried.is_none() {
        of_best.extend(["dsr_low", "dsr_high"]);
    }
    for figure in of_best {
        let of = best.map(|best| &best.row);
        let reason = of.and_then(|row| row.undefined.get(figure).cloned());
        let reason = reason.unwrap_or_else(|| NO_ALPHA.to_owned());
        let value = of.and_then(|row| row.get(figure));
        row.put(&format!("best_{figure}"), value.ok_or(reason));
    }
    Ok(InferenceRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        trials_from: pool.trials_from,
        best: best.map(|best| best.id.clone()),
        row,
    })
}

/// Marks alphas of a split whose returns are like those of one that counts for them.
pub(crate) fn mark_alike(split: &SplitTables<'_>, rows: &mut [AlphaRow], returns: &[&DaySeries]) {
    let standing = alpha_representatives(returns, &split.split.label_days);
    let names: Vec<String> = rows
        .iter()
        .map(|row| format!("{}/{}", row.pool, row.id))
        .collect();
    for (place, (row, of)) in rows.iter_mut().zip(standing).enumerate() {
        row.like = of.filter(|of| *of != place).and_then(|of| names.get(of).cloned());
    }
}

/// What is ranked: its pool and name, and its daily returns after costs.
pub(crate) type Ranked<'f> = (String, String, &'f DaySeries);

/// Ranks by mean daily return, which hold for all at once.
pub(crate) fn rank_rows(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    of: &str,
    ranked: &[Ranked<'_>],
) -> Result<Vec<RankRow>, StudyError> {
    let series: Vec<&DaySeries> = ranked.iter().map(|(_, _, series)| *series).collect();
    let ranks =
        series_ranks(&series, &split.split.label_days, open.study.seed).map_err(StudyError::invalid)?;
    let row = |rank: SeriesRank| {
        let (pool, id, _) = ranked.get(rank.place)?;
        Some(RankRow {
            split: split.name.to_owned(),
            of: of.to_owned(),
            pool: pool.clone(),
            id: id.clone(),
            rank: rank.rank,
            rank_low: rank.lower,
            rank_high: rank.upper,
            probability_best: rank.probability_best,
            groups: rank.groups,
        })
    };
    Ok(ranks.into_iter().filter_map(row).collect())
}

/// The best distinct alphas of a split by PPS, to be ranked.
pub(crate) fn best_alphas<'f>(rows: &[AlphaRow], found: &'f [AlphaFound], place: usize) -> Vec<Ranked<'f>> {
    let pps = |row: &AlphaRow| row.row.get("pps").filter(|_| row.duplicate_of.is_none());
    let best = ktd_alphas::highest(rows.iter().map(pps), RANKED).into_iter();
    let of_alpha = |alpha: usize| {
        let row = rows.get(alpha)?;
        let series = &found.get(alpha)?.splits.get(place)?.returns;
        Some((row.pool.clone(), row.id.clone(), series))
    };
    best.filter_map(of_alpha).collect()
}
