//! Ranks and correlations over the names of one day.

/// Ascending ranks from 1 on, ties averaged.
pub(crate) fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for equals in order.chunk_by(|(left, _), (right, _)| left >= right) {
        let rank = ktd_stats::moments::count(below) + 0.5 * (ktd_stats::moments::count(equals.len()) + 1.0);
        for (_, place) in equals {
            if let Some(slot) = ranks.get_mut(*place) {
                *slot = rank;
            }
        }
        below += equals.len();
    }
    ranks
}

/// Whether the values are not all equal.
pub(crate) fn varies(values: &[f64]) -> bool {
    let first = values.first().copied().unwrap_or(f64::NAN);
    values.iter().any(|value| *value < first || first < *value)
}

/// Pearson's correlation of two columns, each of which varies.
pub(crate) fn pearson(left: &[f64], right: &[f64]) -> f64 {
    let centred = |values: &[f64]| -> Vec<f64> {
        let mean = ktd_stats::moments::mean(values).unwrap_or(f64::NAN);
        let largest = values
            .iter()
            .map(|value| (value - mean).abs())
            .fold(0.0, f64::max);
        values.iter().map(|value| (value - mean) / largest).collect()
    };
    let (left, right) = (centred(left), centred(right));
    let product = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    };
    let both = product(&left, &right);
    (both / (product(&left, &left).sqrt() * product(&right, &right).sqrt())).clamp(-1.0, 1.0)
}
