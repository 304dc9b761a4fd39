//! Agreement of a judge with people: discounted gain of its order.

use ktd_stats::Undefined;
use ktd_stats::moments::{count, mean};

fn discount(place: usize) -> f64 {
    1.0 / libm::log2(count(place) + 2.0)
}

/// The normalised discounted cumulative gain of the first `first` places: relevances in the order of scores, over those
/// in their own order. Tied scores share their mean relevance.
///
/// # Errors
/// [`Undefined::TooFew`] of no item; [`Undefined::ZeroVariance`] where no item is relevant.
pub fn ndcg(items: &[(f64, f64)], first: usize) -> Result<f64, Undefined> {
    let none = Undefined::TooFew {
        items: "judged formulas",
        count: items.len(),
        need: 1,
    };
    if items.is_empty() {
        return Err(none);
    }
    let mut order: Vec<(f64, f64)> = items.to_vec();
    order.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    let (mut place, mut gain) = (0, 0.0);
    for ties in order.chunk_by(|(_, left), (_, right)| left <= right) {
        let relevances: Vec<f64> = ties.iter().map(|(relevance, _)| *relevance).collect();
        let discounts: f64 = (place..place + ties.len())
            .filter(|place| *place < first)
            .map(discount)
            .sum();
        gain += mean(&relevances).unwrap_or(0.0) * discounts;
        place += ties.len();
    }
    let mut best: Vec<f64> = items.iter().map(|(relevance, _)| *relevance).collect();
    best.sort_by(|left, right| right.total_cmp(left));
    let ideal: f64 = best
        .iter()
        .take(first)
        .enumerate()
        .map(|(place, relevance)| relevance * discount(place))
        .sum();
    if ideal <= 0.0 {
        Err(Undefined::ZeroVariance)
    } else {
        Ok(gain / ideal)
    }
}
