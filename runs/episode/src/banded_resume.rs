//! Roster and book of an episode that is continued, where factors are told in bands.

use super::EpisodeInput;
use crate::at_step::rules_at;
use ktd_bundle::event::OrderRecord;
use ktd_env::exchange::{Rules, Side, TargetWeight, TradingDay};
use ktd_masking::Mask;
use ktd_tools::banded::{BandedState, BookOrder};

/// Roster and book after some complete steps; `None` before the first, and where factors are not told in bands.
pub(super) fn banded_after(
    input: &EpisodeInput<'_>,
    mask: &Mask,
    rules: &Rules,
    steps: &[Vec<BookOrder>],
) -> Option<BandedState> {
    let mut state = None;
    for (place, (day, orders)) in input.cell.window.days.iter().zip(steps).enumerate() {
        let trading_day = TradingDay::new(&input.shared.market, *day)?;
        let as_of = trading_day.as_of().with_factors(input.shared.factors.get().ok()?);
        let mut now = BandedState::at(state, mask, &as_of)?;
        let changed = rules_at(input, place + 1).ok();
        let rules = changed.as_ref().unwrap_or(rules);
        now.book.take(&now.roster, rules, orders.clone());
        state = Some(now);
    }
    state
}

/// An accepted order of a decision, as the book takes it.
pub(super) fn book_order(record: &OrderRecord) -> Option<BookOrder> {
    Some(BookOrder {
        id: record.stock_id.clone(),
        side: [Side::Buy, Side::Sell]
            .into_iter()
            .find(|side| side.label() == record.side)?,
        target: TargetWeight::from_millionths(record.target_weight_millionths?)?,
    })
}
