//! Trades at random among the names it sees.

use crate::dice::Dice;
use crate::order::Order;
use crate::seen::{Allowed, Seen};
use crate::{ChatModel, answer};

/// Buys up to three names at random weights and sells a quarter of what it holds. The same request and seed give
/// the same orders.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    seed: u64,
}

/// A weight step of one percent, in millionths.
const WEIGHT_STEP_MICRO: u32 = 10_000;

impl Random {
    /// A random agent with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl ChatModel for Random {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        let mut dice = Dice::new(self.seed, request);
        if !seen.must_submit() {
            let direction = if dice.below(2) == 0 { "high" } else { "low" };
            return answer::screen_once(&seen, direction, 30);
        }
        let orders = seen
            .allowed()
            .map_or_else(Vec::new, |allowed| draw(&seen, allowed, &mut dice));
        answer::submit(&seen, orders, "Trading at random, as the dice fell.")
    }
}

fn draw(seen: &Seen, allowed: Allowed, dice: &mut Dice) -> Vec<Order> {
    let held = seen.held();
    let mut orders: Vec<Order> = held
        .iter()
        .filter(|_| dice.below(4) == 0)
        .map(|id| Order::sell(id, "The dice said to sell this name."))
        .collect();
    let room = allowed.max_positions.saturating_sub(held.len());
    let steps = allowed.max_single_weight_micro / WEIGHT_STEP_MICRO;
    let names = seen.names();
    let mut bought: Vec<&String> = Vec::new();
    for _ in 0..dice.below(4) {
        let Some(id) = dice.pick(&names) else { break };
        let weight_micro = WEIGHT_STEP_MICRO * (1 + dice.below(steps));
        if held.contains(id) || bought.contains(&id) || room <= bought.len() {
            continue;
        }
        bought.push(id);
        orders.push(Order::buy(
            id,
            weight_micro.min(allowed.max_single_weight_micro),
            "The dice said to buy this name.",
        ));
    }
    orders
}
