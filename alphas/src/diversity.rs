//! Diversity of a pool: how many directions its alphas span.

use crate::day_table::{DayTable, MemberTable, usable};
use crate::eigen::eigenvalues;
use ktd_stats::Undefined;
use ktd_stats::moments::{count, mean};

/// Below it, a share of the variance counts as none.
const LEAST_SHARE: f64 = 1e-12;

/// The scores of each day less their mean, over their deviation (divisor n); 0 where a score is missing or a day has no
/// spread.
#[must_use]
pub fn daily_z_scores(scores: &DayTable, members: &MemberTable) -> DayTable {
    let mut cells = Vec::with_capacity(scores.days() * scores.names());
    for day in 0..scores.days() {
        let (places, [values]) = usable(members.day(day), [scores.day(day)]);
        let middle = mean(&values).unwrap_or(0.0);
        let squares: f64 = values
            .iter()
            .map(|value| (value - middle) * (value - middle))
            .sum();
        let spread = (squares / count(values.len())).sqrt();
        let has_spread = 1e-12 * middle.abs().max(1.0) < spread;
        let mut row = vec![0.0; scores.names()];
        for (place, value) in places.into_iter().zip(values) {
            if let Some(slot) = row.get_mut(place).filter(|_| has_spread) {
                *slot = (value - middle) / spread;
            }
        }
        cells.extend(row);
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
    if pool.len() < 2 {
        return Err(Undefined::TooFew {
            items: "alphas",
            count: pool.len(),
            need: 2,
        });
    }
    let cells = members.cells(days);
    if cells < 2 {
        return Err(Undefined::TooFew {
            items: "cells",
            count: cells,
            need: 2,
        });
    }
    let eigenvalues: Vec<f64> = eigenvalues(covariance(pool, members, days))
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
        score: (entropy / libm::log(count(pool.len()))).clamp(0.0, 1.0),
        eigenvalues,
    })
}

/// The covariance matrix (divisor n - 1), row by row.
fn covariance(pool: &[&DayTable], members: &MemberTable, days: &[usize]) -> Vec<Vec<f64>> {
    let column = |table: &&DayTable| -> Vec<f64> {
        let on_day = |day: &usize| {
            let cells = table.day(*day).iter().zip(members.day(*day));
            cells
                .filter(|(_, is_member)| **is_member)
                .map(|(cell, _)| *cell)
                .collect::<Vec<f64>>()
        };
        let cells: Vec<f64> = days.iter().flat_map(on_day).collect();
        let middle = mean(&cells).unwrap_or(0.0);
        cells.into_iter().map(|cell| cell - middle).collect()
    };
    let columns: Vec<Vec<f64>> = pool.iter().map(column).collect();
    let product = |left: &[f64], right: &[f64]| -> f64 {
        let sum: f64 = left.iter().zip(right).map(|(left, right)| left * right).sum();
        sum / (count(left.len()) - 1.0)
    };
    let mut matrix = vec![vec![0.0; columns.len()]; columns.len()];
    for (row, left) in columns.iter().enumerate() {
        for (column, right) in columns.iter().enumerate().take(row + 1) {
            let value = product(left, right);
            for (row, column) in [(row, column), (column, row)] {
                if let Some(cell) = matrix.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                    *cell = value;
                }
            }
        }
    }
    matrix
}
