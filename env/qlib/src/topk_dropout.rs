//! Qlib's `TopkDropoutStrategy` with its default methods, `top` and `bottom` (rule S1).

use super::account::QlibAccount;
use super::config::TopkDropout;
use super::exchange::{DealTerms, OrderRequest, QlibSide, ZeroDivision};
use super::market::MarketDay;
use super::python;
use std::collections::BTreeSet;

/// The place of a score among others, and the instrument that has it.
type Rank = (u64, usize);

/// An order of a strategy or script, ready to be dealt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Order {
    /// Place of the symbol.
    pub(super) instrument: usize,
    pub(super) side: QlibSide,
    /// Adjusted amount asked for.
    pub(super) amount: f64,
}

/// What the strategy sees when it decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlook<'a> {
    /// The trade day: Qlib's strategy knows its limits and prices beforehand.
    pub(super) day: MarketDay<'a>,
    /// Scores by place of the symbol.
    pub(super) scores: &'a [Option<f64>],
    pub(super) account: &'a QlibAccount,
    pub(super) terms: &'a DealTerms,
    /// Share of the cash that buys may spend.
    pub(super) risk_degree: f64,
}

/// What a day's ranking replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Instruments held that are to be sold, by place.
    pub sell: Vec<usize>,
    /// Instruments to be bought, best first.
    pub buy: Vec<usize>,
}

impl TopkDropout {
    /// What the scores replace where nothing is known of the trade day: every instrument counts as tradable.
    ///
    /// `scores` are by place of the instrument; those without one rank last and are not bought.
    #[must_use]
    pub fn replacement(&self, held: &BTreeSet<usize>, scores: &[Option<f64>]) -> Replacement {
        let held: Vec<usize> = held.iter().copied().collect();
        Ranking {
            scores,
            held: &held,
            day: None,
        }
        .replacement(self)
    }
}

/// The day's orders: sells by symbol, then buys by score.
///
/// Where Qlib leaves the order to a set or an unstable sort, this is by symbol: sells, and equal or missing scores.
pub(super) fn decide(strategy: &TopkDropout, outlook: &Outlook<'_>) -> Result<Vec<Order>, ZeroDivision> {
    let held: Vec<usize> = outlook.account.holdings().keys().copied().collect();
    let ranking = Ranking {
        scores: outlook.scores,
        held: &held,
        day: Some(outlook.day),
    };
    let chosen = ranking.replacement(strategy);
    let (mut orders, cash) = outlook.sells(strategy, &chosen.sell)?;
    orders.extend(outlook.buys(strategy, &chosen.buy, cash));
    Ok(orders)
}

/// The sum of `counts` less the number of `held`, which may be negative.
fn signed_sum(counts: &[u32], held: &[usize]) -> i64 {
    let sum: i64 = counts.iter().copied().map(i64::from).sum();
    sum.saturating_sub(i64::try_from(held.len()).unwrap_or(i64::MAX))
}

/// Scores and holdings of a day, from which the strategy chooses.
#[derive(Debug, Clone, Copy)]
struct Ranking<'a> {
    /// Scores by place of the symbol.
    scores: &'a [Option<f64>],
    /// Instruments held, by symbol.
    held: &'a [usize],
    /// The trade day, where the strategy knows it.
    day: Option<MarketDay<'a>>,
}

impl Ranking<'_> {
    fn replacement(&self, strategy: &TopkDropout) -> Replacement {
        let mut last = self.held.to_vec();
        last.sort_by_key(|held| self.rank(*held));
        let today = self.first_n(
            strategy,
            self.candidates(),
            signed_sum(&[strategy.n_drop, strategy.topk], &last),
        );
        let mut both: Vec<usize> = last.iter().chain(&today).copied().collect();
        both.sort_by_key(|item| self.rank(*item));
        let mut sell = self.last_n(strategy, &both);
        sell.retain(|item| self.held.binary_search(item).is_ok());
        sell.sort_unstable();
        let n_sell = u32::try_from(sell.len()).unwrap_or(u32::MAX);
        // Counts the sells that are planned, not those that will be made: holdings may exceed `topk`.
        let buy = python::prefix(&today, signed_sum(&[n_sell, strategy.topk], &last)).to_vec();
        Replacement { sell, buy }
    }

    fn is_tradable(&self, item: usize) -> bool {
        self.day.is_none_or(|day| day.quote(item).is_tradable(None))
    }

    /// Smallest for the best score; missing scores come last, equal ones by symbol.
    fn rank(&self, instrument: usize) -> Rank {
        const SIGN: u64 = 1 << 63;
        // Adding zero makes both zeros one. The bits of a float, those of a negative one turned over, are in its order.
        let key = self.known_score(instrument).map_or(u64::MAX, |score| {
            let bits = (score + 0.0).to_bits();
            if bits & SIGN == 0 { !(bits | SIGN) } else { bits }
        });
        (key, instrument)
    }

    fn known_score(&self, instrument: usize) -> Option<f64> {
        self.scores
            .get(instrument)
            .copied()
            .flatten()
            .filter(|score| !score.is_nan())
    }

    /// Scored and not held, by symbol.
    fn candidates(&self) -> Vec<Rank> {
        let mut held = self.held.iter().copied().peekable();
        let mut candidates = Vec::with_capacity(self.scores.len());
        for (instrument, score) in self.scores.iter().enumerate() {
            // Both run by symbol, so one pass tells which are held.
            let is_held = held.next_if_eq(&instrument).is_some();
            if score.is_some() && !is_held {
                candidates.push(self.rank(instrument));
            }
        }
        candidates
    }

    /// The best `count` of the candidates; of the tradable ones at least one, because Qlib counts after it takes.
    fn first_n(&self, strategy: &TopkDropout, mut items: Vec<Rank>, count: i64) -> Vec<usize> {
        let count = if strategy.only_tradable {
            items.retain(|(_, item)| self.is_tradable(*item));
            usize::try_from(count).unwrap_or(0).max(1).min(items.len())
        } else {
            python::prefix(&items, count).len()
        };
        // No two rank alike, so choosing before sorting gives what sorting before choosing gives.
        if let Some(last) = count.checked_sub(1) {
            items.select_nth_unstable(last);
        }
        items.truncate(count);
        items.sort_unstable();
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// The last `n_drop` of a list, with the same quirks.
    fn last_n(&self, strategy: &TopkDropout, items: &[usize]) -> Vec<usize> {
        let count = usize::try_from(strategy.n_drop).unwrap_or(usize::MAX);
        if !strategy.only_tradable {
            return python::suffix(items, count).to_vec();
        }
        let tradable = items.iter().rev().copied().filter(|item| self.is_tradable(*item));
        tradable.take(count.max(1)).collect()
    }
}

impl Outlook<'_> {
    /// Whether the strategy may touch a side of an instrument.
    fn may_trade(&self, strategy: &TopkDropout, instrument: usize, side: QlibSide) -> bool {
        let asked = if strategy.forbid_all_trade_at_limit {
            None
        } else {
            Some(side)
        };
        self.day.quote(instrument).is_tradable(asked)
    }

    /// Sells of whole positions, and the cash that a rehearsal of them leaves.
    fn sells(&self, strategy: &TopkDropout, dropped: &[usize]) -> Result<(Vec<Order>, f64), ZeroDivision> {
        let mut orders = Vec::new();
        let mut cash = self.account.cash();
        for (&instrument, holding) in self.account.holdings() {
            let planned = dropped.binary_search(&instrument).is_ok() && strategy.hold_thresh <= holding.days;
            if !planned || !self.may_trade(strategy, instrument, QlibSide::Sell) {
                continue;
            }
            let held = holding.amount;
            let request = OrderRequest {
                side: QlibSide::Sell,
                amount: held,
                cash,
                held,
                dealt_today: 0.0,
            };
            if let Some(deal) = self.terms.deal(self.day.quote(instrument), &request)? {
                orders.push(Order {
                    instrument,
                    side: QlibSide::Sell,
                    amount: held,
                });
                cash += deal.value - deal.cost;
            }
        }
        Ok((orders, cash))
    }

    /// Buys for equal parts of the cash. A part whose instrument cannot be bought stays idle.
    fn buys(&self, strategy: &TopkDropout, buy: &[usize], cash: f64) -> Vec<Order> {
        let n_buy = f64::from(u32::try_from(buy.len()).unwrap_or(u32::MAX));
        let value = cash * self.risk_degree / n_buy;
        let tradable = buy
            .iter()
            .copied()
            .filter(|instrument| self.may_trade(strategy, *instrument, QlibSide::Buy));
        let order = |instrument| {
            let quote = self.day.quote(instrument);
            let amount = self
                .terms
                .round_to_lots(value / quote.deal_price(QlibSide::Buy), quote.factor);
            Order {
                instrument,
                side: QlibSide::Buy,
                amount,
            }
        };
        tradable.map(order).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settle, VolumeKind};
    use crate::exchange::{Deal, Numbers, Quote};

    const TERMS: DealTerms = DealTerms {
        open_cost: 0.0005,
        close_cost: 0.0015,
        min_cost: 5.0,
        impact_cost: 0.0,
        trade_unit: Some(100.0),
        volume_kind: VolumeKind::Current,
        numbers: Numbers::Numpy,
    };

    const STRATEGY: TopkDropout = TopkDropout {
        topk: 10,
        n_drop: 2,
        hold_thresh: 1,
        only_tradable: false,
        forbid_all_trade_at_limit: true,
    };

    fn open(n: usize) -> Vec<Quote> {
        let quote = Quote {
            close: 10.0,
            buy_price: 10.0,
            sell_price: 10.0,
            factor: 1.0,
            volume: 1e7,
            volume_cap: None,
            limit_buy: false,
            limit_sell: false,
        };
        vec![quote; n]
    }

    /// An account that has held the first `n` instruments over one day.
    fn holding(n: usize, quotes: &[Quote]) -> QlibAccount {
        let mut account = QlibAccount::new(1e6, Settle::None);
        for instrument in 0..n {
            let deal = Deal {
                amount: 1000.0,
                price: 10.0,
                value: 10_000.0,
                cost: 5.0,
                factor: 1.0,
            };
            account.book(instrument, QlibSide::Buy, &deal).unwrap();
        }
        account.mark(MarketDay::of(quotes));
        account
    }

    /// Instruments sold and bought, when a later instrument scores higher.
    fn sold_and_bought(strategy: &TopkDropout, quotes: &[Quote], n_held: usize) -> (Vec<usize>, Vec<usize>) {
        let scores: Vec<Option<f64>> = (0..quotes.len())
            .map(|n| Some(f64::from(u32::try_from(n).unwrap())))
            .collect();
        let account = holding(n_held, quotes);
        let day = MarketDay::of(quotes);
        let outlook = Outlook {
            day,
            scores: &scores,
            account: &account,
            terms: &TERMS,
            risk_degree: 0.95,
        };
        let orders = decide(strategy, &outlook).unwrap();
        let of = |side| {
            orders
                .iter()
                .filter(|order| order.side == side)
                .map(|order| order.instrument)
                .collect()
        };
        (of(QlibSide::Sell), of(QlibSide::Buy))
    }

    #[test]
    fn the_worst_held_give_way_to_the_best_new() {
        let (sold, bought) = sold_and_bought(&STRATEGY, &open(30), 10);
        assert_eq!(sold, [0, 1]);
        assert_eq!(bought, [29, 28]);
        let (sold, bought) = sold_and_bought(&STRATEGY, &open(30), 0);
        assert!(sold.is_empty());
        assert_eq!(bought.len(), 10);
    }

    #[test]
    fn too_many_holdings_buy_nearly_everything() {
        // 14 held, 10 wanted, 2 dropped: n = 2 + 10 - 14 = -2 drops two from the end of 46 candidates, and
        // 2 + 10 - 14 again leaves all but two of the rest.
        let (sold, bought) = sold_and_bought(&STRATEGY, &open(60), 14);
        assert_eq!(sold, [0, 1]);
        assert_eq!(bought.len(), 42);
    }

    #[test]
    fn dropping_none_drops_all() {
        let none = TopkDropout {
            n_drop: 0,
            ..STRATEGY
        };
        let (sold, bought) = sold_and_bought(&none, &open(30), 10);
        assert_eq!(sold.len(), 10);
        assert!(bought.is_empty());
        // Among tradable ones only, one is always taken.
        let tradable = TopkDropout {
            n_drop: 0,
            only_tradable: true,
            ..STRATEGY
        };
        assert_eq!(sold_and_bought(&tradable, &open(30), 10), (vec![0], vec![29]));
    }

    #[test]
    fn a_blocked_sell_still_makes_room_for_a_buy() {
        let mut quotes = open(30);
        quotes[0].limit_buy = true;
        let (sold, bought) = sold_and_bought(&STRATEGY, &quotes, 10);
        assert_eq!(sold, [1]);
        assert_eq!(bought, [29, 28]);
        // Allowed to trade at the other limit, it sells.
        let lenient = TopkDropout {
            forbid_all_trade_at_limit: false,
            ..STRATEGY
        };
        assert_eq!(sold_and_bought(&lenient, &quotes, 10).0, [0, 1]);
        let patient = TopkDropout {
            hold_thresh: 2,
            ..STRATEGY
        };
        assert!(sold_and_bought(&patient, &quotes, 10).0.is_empty());
    }

    #[test]
    fn missing_scores_rank_last() {
        let quotes = open(4);
        let account = holding(2, &quotes);
        // Held 0 has no score, held 1 has one that is missing.
        let scores = [None, Some(f64::NAN), Some(-1.0), Some(-2.0)];
        let day = MarketDay::of(&quotes);
        let outlook = Outlook {
            day,
            scores: &scores,
            account: &account,
            terms: &TERMS,
            risk_degree: 0.95,
        };
        let strategy = TopkDropout {
            topk: 2,
            n_drop: 1,
            ..STRATEGY
        };
        let orders = decide(&strategy, &outlook).unwrap();
        let seen: Vec<(usize, QlibSide)> = orders
            .iter()
            .map(|order| (order.instrument, order.side))
            .collect();
        assert_eq!(seen, [(1, QlibSide::Sell), (2, QlibSide::Buy)]);
    }
}
