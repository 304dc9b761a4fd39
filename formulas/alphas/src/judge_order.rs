//! The orders in which a judge is shown formulas.

use ktd_env::KeyedStream;

/// So many orders of the places `0..formulas`, each shuffled by a stream of its own: a further order changes none before.
#[must_use]
pub fn judge_orders(seed: u64, formulas: usize, orders: usize) -> Vec<Vec<usize>> {
    let order = |number: usize| {
        let mut places: Vec<usize> = (0..formulas).collect();
        KeyedStream::for_purpose(seed, &format!("judge order {number}")).shuffle(&mut places);
        places
    };
    (0..orders).map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::judge_orders;

    #[test]
    fn each_order_holds_every_formula_and_a_seed_decides_it() {
        let orders = judge_orders(1, 20, 3);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        }
        assert_ne!(orders[0], orders[1]);
        assert_eq!(judge_orders(1, 20, 5)[..3], orders[..]);
        assert_ne!(judge_orders(2, 20, 3), orders);
    }
}
