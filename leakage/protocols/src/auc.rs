//! How well scores tell two classes apart.

use ktd_stats::moments::count;

/// The area under the receiver's curve: the chance that a label above 0 has the higher score than one that is not, ties
/// count half. `None` where a class is empty.
#[must_use]
pub(crate) fn auc(scores: &[f64], labels: &[f64]) -> Option<f64> {
    let mut ordered: Vec<(f64, bool)> = scores
        .iter()
        .zip(labels)
        .map(|(score, label)| (*score, 0.0 < *label))
        .collect();
    ordered.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let (mut lower, mut above, mut pairs) = (0, 0, 0.0);
    for tied in ordered.chunk_by(|left, right| right.0 <= left.0) {
        let positive = tied.iter().filter(|(_, is_above)| *is_above).count();
        let negative = tied.len() - positive;
        pairs += count(positive) * (count(lower) + 0.5 * count(negative));
        lower += negative;
        above += positive;
    }
    (0 < lower && 0 < above).then(|| pairs / (count(lower) * count(above)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let near = |found: Option<f64>, by_hand: f64| assert!((found.unwrap() - by_hand).abs() < 1e-15);
        near(auc(&[1.0, 2.0, 3.0, 4.0], &[-1.0, 1.0, -1.0, 1.0]), 0.75);
        near(auc(&[1.0, 1.0, 2.0], &[0.0, 1.0, 1.0]), 0.75);
        near(auc(&[5.0, 5.0], &[-1.0, 1.0]), 0.5);
        assert_eq!(auc(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(auc(&[], &[]), None);
    }
}
