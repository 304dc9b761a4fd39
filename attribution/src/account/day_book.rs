//! What an account held and paid on one day.

use super::error::AccountError;

/// A name that was held before or after the day's trades.
///
/// Values are shares times the mark of the day before, told in the day's own shares: where a corporate action moved
/// the adjustment factor, that is its reference price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldName {
    /// Place of the name in the panel.
    pub row: usize,
    /// Value of the shares held before the day's trades, CNY; 0 or more.
    pub before_cny: f64,
    /// Value of the shares held after them, CNY; 0 or more. 0 for a name without a mark of the day before.
    pub after_cny: f64,
}

/// One trading day of an account, from one close to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct DayBook {
    /// Place of the day in the panel's calendar.
    pub day: usize,
    /// Net asset value at the close before, CNY.
    pub nav_before_cny: f64,
    /// Net asset value at the close, CNY.
    pub nav_after_cny: f64,
    /// What was held before or after the day's trades, in the order of rows.
    pub held: Vec<HeldName>,
    /// Fees and taxes paid, CNY.
    pub fees_cny: f64,
    /// Paid beyond the open: signed shares x (price - open), summed, CNY.
    pub slippage_cny: f64,
    /// Gained by the rounding of corporate actions to whole shares and cash, CNY.
    pub corporate_cny: f64,
    /// P&L of names without a mark of the day before, and the loss at delistings, CNY: nothing that a factor or a
    /// residual could explain.
    pub unmarked_cny: f64,
}

impl DayBook {
    /// The day's simple return.
    #[must_use]
    pub fn daily_return(&self) -> f64 {
        self.nav_after_cny / self.nav_before_cny - 1.0
    }

    /// Refuses what cannot be split.
    pub(super) fn check(&self) -> Result<(), AccountError> {
        let day = self.day;
        for nav_cny in [self.nav_before_cny, self.nav_after_cny] {
            if !(nav_cny.is_finite() && 0.0 < nav_cny) {
                return Err(AccountError::Nav { day, nav_cny });
            }
        }
        let money = [
            self.fees_cny,
            self.slippage_cny,
            self.corporate_cny,
            self.unmarked_cny,
        ];
        let values = self
            .held
            .iter()
            .flat_map(|held| [held.before_cny, held.after_cny]);
        let wrong = money.into_iter().chain(values).find(|value| !value.is_finite());
        wrong.map_or(Ok(()), |value| Err(AccountError::NotFinite { day, value }))
    }
}
