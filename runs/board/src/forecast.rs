//! Stated confidences and outcomes.

use super::day_prices::return_to_first_exit;
use ktd_env::exchange::{Execution, Fill, Side};
use ktd_env::{DayIndex, Market};

/// An order that traded, its stated confidence, and what its name did from the fill to the first legal exit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderForecast {
    /// 1-based step.
    pub step: usize,
    /// Whether it was a buy.
    pub is_buy: bool,
    /// Stated, in `[0, 1]`.
    pub confidence: f64,
    /// Return from the open of the fill to the first later open at which the name trades. Paired with the order that was
    /// filled there: neither the return before it nor that of another step.
    pub exit_return: f64,
}

impl OrderForecast {
    /// The forecast that a fill of a day tests; none of an order that did not trade, or whose name never trades again in the
    /// panel.
    pub(super) fn of(
        step: usize,
        fill: &Fill,
        confidences: &[f64],
        (market, day): (&Market, DayIndex),
    ) -> Option<Self> {
        let Execution::Filled { .. } = fill.execution else {
            return None;
        };
        Some(Self {
            step,
            is_buy: fill.side == Side::Buy,
            confidence: *confidences.get(fill.position)?,
            exit_return: return_to_first_exit(market, fill.name?, day)?,
        })
    }

    /// Whether the order was right: a buy by a rise, a sell by a fall. No move is not right.
    #[must_use]
    pub fn came_true(&self) -> bool {
        if self.is_buy {
            0.0 < self.exit_return
        } else {
            self.exit_return < 0.0
        }
    }
}
