//! The combination of a pool: one alpha out of many.

use crate::day_table::{DayTable, MemberTable};
use crate::gram::GramMatrix;
use ktd_stats::Undefined;

/// The sum of z-scored alphas times their weights, on members' cells; others are missing.
#[must_use]
pub fn weighted_combination(pool: &[&DayTable], weights: &[f64], members: &MemberTable) -> DayTable {
    let (days, names) = pool.first().map_or((0, 0), |table| (table.days(), table.names()));
    let mut cells = Vec::with_capacity(days * names);
    for day in 0..days {
        for (name, is_member) in members.day(day).iter().enumerate() {
            let parts = pool
                .iter()
                .zip(weights)
                .map(|(table, weight)| weight * table.at(day, name));
            cells.push(if *is_member { parts.sum() } else { f64::NAN });
        }
    }
    DayTable::from_days(names, cells)
}

/// The same weight for each alpha of a pool: together 1.
#[must_use]
pub fn equal_weights(alphas: usize) -> Vec<f64> {
    vec![1.0 / ktd_stats::moments::count(alphas); alphas]
}

/// Weights by ridge regression of a z-scored label on z-scored alphas, from the products of all pairs of alphas and of each with
/// the label.
///
/// # Errors
/// [`Undefined::ZeroVariance`] where the penalty cannot hold the alphas apart.
pub fn ridge_of_products(
    gram: GramMatrix,
    with_label: Vec<f64>,
    penalty: f64,
) -> Result<Vec<f64>, Undefined> {
    let mut rows = gram.into_rows();
    for row in &mut rows {
        row.last_mut()
            .into_iter()
            .for_each(|diagonal| *diagonal += penalty);
    }
    solved(rows, with_label).ok_or(Undefined::ZeroVariance)
}

/// A pivot that is at most this share of its diagonal cell is rounding: the alpha is a sum of others.
const ROUNDING: f64 = 1e-12;

/// The solution of equations whose matrix is symmetric and positive, from its lower triangle, by Cholesky's roots.
fn solved(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    for place in 0..rows.len() {
        let (above, from) = rows.split_at_mut(place);
        let row = from.first_mut()?;
        for column in 0..place {
            let other = above.get(column)?;
            let sum = product(row.get(..column)?, other.get(..column)?);
            let cell = row.get_mut(column)?;
            *cell = (*cell - sum) / other.get(column)?;
        }
        let diagonal = *row.get(place)?;
        let pivot = diagonal - product(row.get(..place)?, row.get(..place)?);
        if !(ROUNDING * diagonal < pivot && pivot.is_finite()) {
            return None;
        }
        *row.get_mut(place)? = pivot.sqrt();
        let sum = product(row.get(..place)?, right.get(..place)?);
        let cell = right.get_mut(place)?;
        *cell = (*cell - sum) / row.get(place)?;
    }
    for (place, row) in rows.iter().enumerate().rev() {
        let solution = right.get(place)? / row.get(place)?;
        *right.get_mut(place)? = solution;
        for (cell, weight) in right.iter_mut().zip(row).take(place) {
            *cell -= solution * weight;
        }
    }
    Some(right)
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::{product, ridge_of_products, weighted_combination};
    use crate::day_table::usable;
    use crate::gram::{GramMatrix, products_of_rows};
    use crate::{DayTable, MemberTable, daily_z_scores};
    use ktd_env::KeyedStream;
    use ktd_stats::Undefined;

    fn ridge_weights(
        pool: &[&DayTable],
        z_labels: &DayTable,
        members: &MemberTable,
        days: &[usize],
        penalty: f64,
    ) -> Result<Vec<f64>, Undefined> {
        let (mut columns, mut label) = (vec![Vec::new(); pool.len()], Vec::new());
        for day in days {
            let (places, [labels]) = usable(members.day(*day), [z_labels.day(*day)]);
            for (column, table) in columns.iter_mut().zip(pool) {
                column.extend(places.iter().map(|name| table.at(*day, *name)));
            }
            label.extend(labels);
        }
        let mut gram = GramMatrix::new(columns.len());
        for rows in gram.blocks() {
            gram.add(&rows, &products_of_rows(&columns, &rows));
        }
        let with_label = columns.iter().map(|column| product(column, &label)).collect();
        ridge_of_products(gram, with_label, penalty)
    }

    #[test]
    fn planted_weights_are_found() {
        let mut stream = KeyedStream::for_purpose(3, "planted weights");
        let (days, names) = (60, 40);
        let all = MemberTable::from_days(names, vec![true; days * names]);
        let mut table = || DayTable::from_days(names, (0..days * names).map(|_| stream.normal()).collect());
        let pool: Vec<DayTable> = (0..3).map(|_| daily_z_scores(&table(), &all)).collect();
        let pool: Vec<&DayTable> = pool.iter().collect();
        let label = weighted_combination(&pool, &[0.6, -0.3, 0.0], &all);
        let training: Vec<usize> = (0..days).collect();
        let weights = ridge_weights(&pool, &label, &all, &training, 1.0).unwrap();
        let expected = [0.6, -0.3, 0.0];
        assert!(
            weights
                .iter()
                .zip(expected)
                .all(|(ours, planted)| (ours - planted).abs() < 1e-3),
            "{weights:?}"
        );
        let constant = DayTable::from_days(names, vec![0.0; days * names]);
        assert!(ridge_weights(&[&constant], &label, &all, &training, 0.0).is_err());
        // Two copies cannot be held apart without a penalty; with one they share the weight.
        let sum = weighted_combination(&pool, &[1.0, 1.0, 0.0], &all);
        let copies = [pool[0], pool[1], &sum];
        assert!(ridge_weights(&copies, &label, &all, &training, 0.0).is_err());
        assert!(ridge_weights(&copies, &label, &all, &training, 1.0).is_ok());
    }
}
