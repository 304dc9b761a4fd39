//! Holds the names with the strongest twelve-month momentum.

use crate::order::rebalance;
use crate::seen::Seen;
use crate::{ChatModel, answer};

/// Rebalances each step into the ten names with the highest `MOM_12_1`, shown as a value, a percentile or a band; without
/// that factor it holds.
#[derive(Debug, Clone, Copy)]
pub struct Momentum;

const FACTOR: &str = "MOM_12_1";
const NAME_COUNT: usize = 10;

impl ChatModel for Momentum {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if !seen.must_submit() {
            return answer::screen_once(&seen, "high", 10);
        }
        let wanted = strongest(&seen);
        match seen.allowed() {
            Some(allowed) if !wanted.is_empty() => {
                let orders = rebalance(&seen, allowed, &wanted, "Rank by twelve-month momentum.");
                answer::submit(&seen, orders, "Holding the names with the strongest momentum.")
            }
            Some(_) | None => answer::hold(&seen, "Without momentum values there is no view."),
        }
    }
}

/// The names with the highest momentum, equal ones in the order of their names.
fn strongest(seen: &Seen) -> Vec<String> {
    let mut ranked = seen.candidates().values(FACTOR);
    ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    ranked.truncate(NAME_COUNT);
    ranked.into_iter().map(|(id, _)| id).collect()
}
