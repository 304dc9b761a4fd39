//! Diversity of a pool: how many directions its alphas span.

use crate::day_table::{DayTable, MemberTable, usable};
use crate::eigen::eigenvalues;
use crate::gram::{GramMatrix, products_of_rows};
use ktd_stats::Undefined;
use ktd_stats::moments::{count, mean};
use serde::{Deserialize, Serialize};

/// Below it, a share of the variance counts as none.
const LEAST_SHARE: f64 = 1e-12;

/// A deviation that is at most this share of the day's largest value is rounding.
const ROUNDING: f64 = 1e-12;

/// Mean and deviation (divisor n) of the scores of one day. Records have their bits: a mean may be infinite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[u64; 2]", into = "[u64; 2]")]
pub struct DaySpread {
    mean: f64,
    /// 0 where the scores are equal but for rounding, or there is none.
    deviation: f64,
}

impl From<[u64; 2]> for DaySpread {
    fn from([mean, deviation]: [u64; 2]) -> Self {
        Self {
            mean: f64::from_bits(mean),
            deviation: f64::from_bits(deviation),
        }
    }
}

impl From<DaySpread> for [u64; 2] {
    fn from(spread: DaySpread) -> Self {
        [spread.mean.to_bits(), spread.deviation.to_bits()]
    }
}

impl DaySpread {
    fn of(values: &[f64]) -> Self {
        let mean = mean(values).unwrap_or(0.0);
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (squares / count(values.len())).sqrt();
        let largest = values
            .iter()
            .fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let deviation = if ROUNDING * largest < deviation {
            deviation
        } else {
            0.0
        };
        Self { mean, deviation }
    }

    /// A score less the mean, over the deviation; 0 where it is missing or nothing varies.
    #[must_use]
    pub fn z_score(&self, score: f64) -> f64 {
        if 0.0 < self.deviation && score.is_finite() {
            (score - self.mean) / self.deviation
        } else {
            0.0
        }
    }
}

/// Mean and deviation of each day over members.
#[must_use]
pub fn day_spreads(scores: &DayTable, members: &MemberTable) -> Vec<DaySpread> {
    let of_day = |day: usize| {
        let (_, [values]) = usable(members.day(day), [scores.day(day)]);
        DaySpread::of(&values)
    };
    (0..scores.days()).map(of_day).collect()
}

/// The scores of each day less their mean, over their deviation (divisor n); 0 where a score is missing or a day has no
/// spread.
#[must_use]
pub fn daily_z_scores(scores: &DayTable, members: &MemberTable) -> DayTable {
    let mut cells = Vec::with_capacity(scores.days() * scores.names());
    for (day, spread) in day_spreads(scores, members).into_iter().enumerate() {
        let row = scores.day(day).iter().zip(members.day(day));
        cells.extend(row.map(|(score, is_member)| if *is_member { spread.z_score(*score) } else { 0.0 }));
    }
    DayTable::from_days(scores.names(), cells)
}

/// The entropy of the variance over the directions of a pool (DE), from 0 for copies to 1 for unrelated alphas, and the
/// eigenvalues, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolDiversity {
    /// The entropy, as a share of its largest value.
    pub score: f64,
    /// Eigenvalues of the covariance, those below 0 by rounding set to 0.
    pub eigenvalues: Vec<f64>,
}

/// The diversity of a pool of z-scored alphas, over the members' cells of some days. A constant alpha counts.
///
/// # Errors
/// [`Undefined::TooFew`] below two alphas or cells; [`Undefined::ZeroVariance`] where all alphas are constant.
pub fn pool_diversity(
    pool: &[&DayTable],
    members: &MemberTable,
    days: &[usize],
) -> Result<PoolDiversity, Undefined> {
    enough("alphas", pool.len())?;
    let cells = members.cells(days);
    let column = |table: &&DayTable| -> Vec<f64> {
        let on_day = |day: &usize| {
            let cells = table.day(*day).iter().zip(members.day(*day));
            cells
                .filter(|(_, is_member)| **is_member)
                .map(|(cell, _)| *cell)
                .collect::<Vec<f64>>()
        };
        days.iter().flat_map(on_day).collect()
    };
    let columns: Vec<Vec<f64>> = pool.iter().map(column).collect();
    let sums: Vec<f64> = columns.iter().map(|cells| cells.iter().sum()).collect();
    let mut gram = GramMatrix::new(columns.len());
    for rows in gram.blocks() {
        gram.add(&rows, &products_of_rows(&columns, &rows));
    }
    diversity_of_products(gram, &sums, cells)
}

/// The same from the products of all pairs of z-scores over so many cells, and the sum of each alpha's.
///
/// # Errors
/// Those of [`pool_diversity`].
pub fn diversity_of_products(
    gram: GramMatrix,
    sums: &[f64],
    cells: usize,
) -> Result<PoolDiversity, Undefined> {
    enough("alphas", sums.len())?;
    enough("cells", cells)?;
    let mut rows = gram.into_rows();
    for (row, left) in rows.iter_mut().zip(sums) {
        for (cell, right) in row.iter_mut().zip(sums) {
            *cell = (*cell - left * right / count(cells)) / (count(cells) - 1.0);
        }
    }
    let eigenvalues: Vec<f64> = eigenvalues(rows)
        .into_iter()
        .map(|value| value.max(0.0))
        .collect();
    let total: f64 = eigenvalues.iter().sum();
    if total <= 0.0 {
        return Err(Undefined::ZeroVariance);
    }
    let shares = eigenvalues
        .iter()
        .map(|value| value / total)
        .filter(|share| LEAST_SHARE < *share);
    let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
    Ok(PoolDiversity {
        score: (entropy / libm::log(count(sums.len()))).clamp(0.0, 1.0),
        eigenvalues,
    })
}

fn enough(items: &'static str, count: usize) -> Result<(), Undefined> {
    let few = Undefined::TooFew {
        items,
        count,
        need: 2,
    };
    if count < 2 { Err(few) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{daily_z_scores, pool_diversity};
    use crate::{DayTable, MemberTable};
    use ktd_env::KeyedStream;

    /// Two unrelated alphas and a turned copy: the sign and the scale of one change nothing, however small it is.
    #[test]
    fn diversity_depends_on_no_sign_and_no_scale() {
        let (days, names) = (30, 20);
        let mut stream = KeyedStream::for_purpose(2, "diversity");
        let all = MemberTable::from_days(names, vec![true; days * names]);
        let mut table = || DayTable::from_days(names, (0..days * names).map(|_| stream.normal()).collect());
        let (one, two) = (table(), table());
        let days: Vec<usize> = (0..days).collect();
        let score = |scale: f64| {
            let pool = [one.times(scale), two.times(-scale), one.times(-1.0)];
            let pool = pool.map(|table| daily_z_scores(&table, &all));
            pool_diversity(&pool.each_ref(), &all, &days).unwrap().score
        };
        let expected = score(1.0);
        assert!((expected - 0.5794).abs() < 0.02, "{expected}");
        for scale in [1e-30, 1e-13, 1e13, 1e30] {
            assert!(
                (score(scale) - expected).abs() < 1e-12,
                "{scale}: {}",
                score(scale)
            );
        }
    }
}
