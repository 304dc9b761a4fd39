//! Buys an equal-weight basket once and keeps it.

use crate::order::rebalance;
use crate::seen::Seen;
use crate::{ChatModel, answer};

/// With nothing held, buys the first names it sees in equal weights, up to the position limit; then holds.
#[derive(Debug, Clone, Copy)]
pub struct EqualWeight;

/// How many names it asks to see.
const SEEN_COUNT: u32 = 30;

impl ChatModel for EqualWeight {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        let has_basket = !seen.held().is_empty();
        if !seen.must_submit() {
            return if has_basket {
                answer::say(&seen, "The basket is bought; there is nothing to look up.")
            } else {
                answer::screen_once(&seen, "high", SEEN_COUNT)
            };
        }
        match seen.allowed() {
            Some(allowed) if !has_basket => {
                let orders = rebalance(
                    &seen,
                    allowed,
                    &seen.names(),
                    "One of the names of an equal-weight basket.",
                );
                answer::submit(&seen, orders, "Buying an equal-weight basket.")
            }
            Some(_) | None => answer::hold(&seen, "Keeping the basket as it is."),
        }
    }
}
