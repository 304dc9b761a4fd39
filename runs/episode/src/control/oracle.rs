//! Perfect foresight of the next opens.

use super::shown_names::ShownNames;
use ktd_baselines::Plan;
use ktd_env::exchange::{PriceLimits, Rules, Side, fee_rate, reference_price};
use ktd_env::{Bar, DayIndex, Market, NameId};
use std::sync::Arc;

/// Knows every open of the panel, and the mask.
///
/// On each day it wants the names that gain most from that day's open, at which orders trade, to the next open, at which
/// they can first be sold (T+1), and keeps a held name unless another gains more than the fees of the exchange. It is
/// greedy: it looks one trade ahead.
#[derive(Debug)]
pub(super) struct Oracle {
    market: Arc<Market>,
    shown: ShownNames,
    rules: Rules,
    days: Vec<DayIndex>,
}

impl Oracle {
    pub(super) fn new(market: Arc<Market>, shown: ShownNames, rules: Rules, days: &[DayIndex]) -> Self {
        Self {
            market,
            shown,
            rules,
            days: days.to_vec(),
        }
    }

    /// So many names as fill the account at the largest weight that one may have.
    fn names_wanted(&self) -> usize {
        const WHOLE_BILLIONTHS: u64 = 1_000_000_000;
        let names = WHOLE_BILLIONTHS.div_ceil(self.rules.max_single_weight_billionths.max(1));
        let most = usize::try_from(self.rules.max_positions).unwrap_or(usize::MAX);
        usize::try_from(names).unwrap_or(usize::MAX).min(most)
    }

    /// From the open of `day` to the next; to the close of the day where the panel or the window ends.
    fn gain(&self, name: NameId, day: DayIndex) -> Option<f64> {
        let bar = self.market.bar(name, day)?;
        let open = bar.adjusted(bar.open.filter(|_| bar.trades_at_open())?);
        let is_last = self.days.last() == Some(&day);
        let next = self.market.day_at(day.index() + 1).filter(|_| !is_last);
        let next = next
            .and_then(|next| self.market.bar(name, next))
            .filter(Bar::trades_at_open);
        let exit = next.and_then(|next| Some(next.adjusted(next.open?)));
        Some(exit.unwrap_or_else(|| bar.adjusted_close()) / open - 1.0)
    }

    /// Whether a buy of the name trades at the open of `day`.
    fn can_buy(&self, name: NameId, day: DayIndex) -> bool {
        let is_member = day
            .before()
            .and_then(|before| self.market.date(before))
            .is_some_and(|date| self.market.is_member(name, date));
        let before = day
            .before()
            .and_then(|before| self.market.last_bar_day(name, before));
        let quotes = before
            .and_then(|before| self.market.bar(name, before))
            .zip(self.market.bar(name, day));
        let Some((before, bar)) = quotes.filter(|_| is_member) else {
            return false;
        };
        let reference = reference_price(before.close, before.factor, bar.factor);
        let limits = PriceLimits::of(&self.rules, &self.market, name, day, reference);
        let met = limits.and_then(|limits| limits.met(Side::Buy, &bar));
        bar.open.is_some() && met.is_none_or(|met| met.fills(self.rules.limit_open))
    }
}

impl Plan for Oracle {
    fn has_foresight(&self) -> bool {
        true
    }

    fn wanted(&self, step: usize, held: &[String]) -> Vec<String> {
        let Some(day) = step
            .checked_sub(1)
            .and_then(|place| self.days.get(place))
            .copied()
        else {
            return held.to_vec();
        };
        let held: Vec<(NameId, &String)> = held
            .iter()
            .filter_map(|id| Some((self.shown.resolve(step, id)?, id)))
            .collect();
        let held_as = |name: NameId| held.iter().find(|(held, _)| *held == name).map(|(_, id)| *id);
        let round_trip = self.market.date(day).map_or(0.0, |date| {
            fee_rate(&self.rules, Side::Buy, date) + fee_rate(&self.rules, Side::Sell, date)
        });
        let mut scored: Vec<(NameId, f64)> = self
            .market
            .names()
            .filter_map(|(name, _)| {
                let gain = self.gain(name, day)?;
                let is_held = held_as(name).is_some();
                let score = if is_held { gain } else { gain - round_trip };
                (0.0 < score && (is_held || self.can_buy(name, day))).then_some((name, score))
            })
            .collect();
        scored.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        scored.truncate(self.names_wanted());
        scored
            .into_iter()
            .filter_map(|(name, _)| held_as(name).cloned().or_else(|| self.shown.alias(step, name)))
            .collect()
    }
}
