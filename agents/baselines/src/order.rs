//! Orders as a built-in agent writes them.

use crate::seen::{Allowed, Seen, WHOLE_MICRO};
use ktd_tools::SUBMIT_ACTION;
use serde::Serialize;
use serde_json::json;

/// Steps through which who knows the future invests all it may. It doubles every month, and a market without impact takes
/// any order: without a bound two years would bring more money than an account can count.
const WHOLE_STAKE_STEPS: usize = 40;

/// One order of a submission.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Order {
    stock_id: String,
    side: &'static str,
    target_weight: f64,
    confidence: f64,
    reason: &'static str,
}

impl Order {
    /// Buys up to a weight, in millionths.
    pub(crate) fn buy(stock_id: &str, weight_micro: u32, reason: &'static str) -> Self {
        Self {
            stock_id: stock_id.to_owned(),
            side: "BUY",
            // The quotient nearest to a number of six decimals prints as that number.
            target_weight: f64::from(weight_micro) / f64::from(WHOLE_MICRO),
            confidence: 0.5,
            reason,
        }
    }

    /// Sells all of a name.
    pub(crate) fn sell(stock_id: &str, reason: &'static str) -> Self {
        Self {
            stock_id: stock_id.to_owned(),
            side: "SELL",
            target_weight: 0.0,
            confidence: 0.5,
            reason,
        }
    }
}

/// The arguments of a `risk_check` of these orders.
pub(crate) fn targets(orders: &[Order]) -> String {
    let target = |order: &Order| {
        json!({
            "stock_id": order.stock_id,
            "target_weight": order.target_weight,
        })
    };
    let targets: Vec<_> = orders.iter().map(target).collect();
    json!({ "targets": targets }).to_string()
}

/// The weight of one of `count` equal positions, in millionths, on the grid of target weights.
pub(crate) fn equal_weight_micro(count: usize, allowed: Allowed) -> u32 {
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let weight = (allowed.invested_micro / count).min(allowed.max_single_weight_micro);
    weight - weight % allowed.weight_step_micro
}

/// Sells what is held and not wanted, then buys what is wanted and not held, in equal weights.
pub(crate) fn rebalance(
    seen: &Seen,
    allowed: Allowed,
    wanted: &[String],
    reason: &'static str,
) -> Vec<Order> {
    let wanted = wanted.get(..allowed.max_positions).unwrap_or(wanted);
    let held = seen.held();
    let weight_micro = equal_weight_micro(wanted.len(), allowed);
    let sells = held
        .iter()
        .filter(|id| !wanted.contains(id))
        .map(|id| Order::sell(id, reason));
    let buys = wanted.iter().filter(|id| !held.contains(id));
    sells
        .chain(buys.map(|id| Order::buy(id, weight_micro, reason)))
        .collect()
}

/// The orders left after what was refused earlier in this step: rejected names are dropped, and when the feedback
/// names none, or refuses a second time, nothing is left.
pub(crate) fn without_refused(seen: &Seen, orders: Vec<Order>) -> Vec<Order> {
    match seen.answers_of(SUBMIT_ACTION).len() {
        0 => orders,
        1 => {
            let refused = seen.refused();
            let count = orders.len();
            let mut kept = orders;
            kept.retain(|order| !refused.contains(&order.stock_id));
            if kept.len() == count { Vec::new() } else { kept }
        }
        _ => Vec::new(),
    }
}

/// What is allowed, less what who knows the future leaves uninvested: from step 40 on the share that is invested falls as
/// 1 / step, so that the account grows as a power of the steps and not exponentially. The step is shown under every mask; the
/// value of the account is not.
pub(crate) fn stake_of_foresight(step: usize, allowed: Allowed) -> Allowed {
    let whole = u64::from(allowed.invested_micro);
    let steps = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let share = whole * steps(WHOLE_STAKE_STEPS) / steps(step.max(WHOLE_STAKE_STEPS));
    Allowed {
        invested_micro: u32::try_from(share).unwrap_or(allowed.invested_micro),
        ..allowed
    }
}
