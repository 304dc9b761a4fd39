//! The checks at decision: what an order is worth knowing only what is known as of the day before.

use super::account::Account;
use super::grid::{cut_to_grid, is_on_grid};
use super::order::{Order, Quantity, Side, TargetWeight};
use super::report::RejectCode;
use super::rules::{ExDayOrders, Rules};
use crate::as_of::AsOf;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Price, Shares, divide_down};

/// What the checks at decision made of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It goes to the open.
    Accepted {
        /// The name.
        name: NameId,
        /// Shares to trade.
        requested: Shares,
        /// It sells all that is held at the open, whatever a corporate action makes of it: a `target_weight` sell down to
        /// 0, and a sell of all shares held unless counts stand as decided.
        sells_all: bool,
    },
    /// It ends here.
    Rejected {
        /// Why.
        code: RejectCode,
        /// Shares asked for, or computed; 0 where the check came before sizing.
        requested: Shares,
    },
}

impl Decision {
    /// The rule that refused the order; `None` for an accepted one.
    #[must_use]
    pub const fn rejection(&self) -> Option<RejectCode> {
        match self {
            Self::Accepted { .. } => None,
            Self::Rejected { code, .. } => Some(*code),
        }
    }
}

/// Checks a batch in submitted order; the first rule that fails rejects that order alone.
///
/// A whole sell makes room under `max_positions` wherever in the batch it stands. Whether a sell is accepted never
/// depends on that rule, so a first pass without it counts the whole sells. Where the room holds all that the first
/// pass would buy, the rule binds nowhere and the first pass is the answer.
#[must_use]
pub fn decide(rules: &Rules, account: &Account, orders: &[Order], as_of: &AsOf<'_>) -> Vec<Decision> {
    let mut first_pass = Batch::new(rules, account, as_of, usize::MAX);
    let decisions: Vec<Decision> = orders.iter().map(|order| first_pass.decide(order)).collect();
    let room = usize::try_from(rules.max_positions)
        .unwrap_or(usize::MAX)
        .saturating_add(first_pass.whole_sells)
        .saturating_sub(account.holdings.len());
    if first_pass.new_names <= room {
        return decisions;
    }
    let mut batch = Batch::new(rules, account, as_of, room);
    orders.iter().map(|order| batch.decide(order)).collect()
}

struct Batch<'a> {
    rules: &'a Rules,
    account: &'a Account,
    as_of: &'a AsOf<'a>,
    /// How many new names may be bought.
    room: usize,
    /// Names with an accepted order, ascending.
    accepted: Vec<NameId>,
    new_names: usize,
    whole_sells: usize,
}

/// A failed check with the share count known at that point.
struct Failed(RejectCode, Shares);

impl<'a> Batch<'a> {
    const fn new(rules: &'a Rules, account: &'a Account, as_of: &'a AsOf<'a>, room: usize) -> Self {
        Self {
            rules,
            account,
            as_of,
            room,
            accepted: Vec::new(),
            new_names: 0,
            whole_sells: 0,
        }
    }

    fn decide(&mut self, order: &Order) -> Decision {
        match self.check(order) {
            Ok(accepted) => accepted,
            Err(Failed(code, requested)) => Decision::Rejected { code, requested },
        }
    }

    fn check(&mut self, order: &Order) -> Result<Decision, Failed> {
        let asked = match order.quantity {
            Quantity::Shares(shares) => shares,
            Quantity::TargetWeight(_) => Shares::ZERO,
        };
        let fail = |code| Failed(code, asked);
        let (name, close) = order
            .name
            .and_then(|name| self.as_of.last_bar(name).map(|(_, bar)| (name, bar.close)))
            .ok_or_else(|| fail(RejectCode::UnknownSymbol))?;
        let Err(place) = self.accepted.binary_search(&name) else {
            return Err(fail(RejectCode::Duplicate));
        };
        if order.side == Side::Buy && !self.as_of.is_member(name) {
            return Err(fail(RejectCode::NotInUniverse));
        }
        let held = self.account.shares(name);
        if order.side == Side::Sell && held.0 <= 0 {
            return Err(fail(RejectCode::NotHeld));
        }
        let (requested, sells_all) = self.size(order, name, held, close)?;
        self.check_quantity(order.side, name, held, requested, close)?;
        self.accepted.insert(place, name);
        match order.side {
            Side::Buy if held.0 == 0 => self.new_names += 1,
            Side::Sell if requested == held => self.whole_sells += 1,
            Side::Buy | Side::Sell => {}
        }
        Ok(Decision::Accepted {
            name,
            requested,
            // A count that is all of a holding stays all of it over an ex-day.
            sells_all: sells_all
                || (self.rules.ex_day_orders == ExDayOrders::Scaled
                    && order.side == Side::Sell
                    && requested == held),
        })
    }

    /// The share count, and whether it is a target-weight sell down to nothing.
    fn size(
        &self,
        order: &Order,
        name: NameId,
        held: Shares,
        close: Price,
    ) -> Result<(Shares, bool), Failed> {
        let weight = match order.quantity {
            Quantity::Shares(shares) => return Ok((shares, false)),
            Quantity::TargetWeight(weight) => weight,
        };
        let board = self.as_of.board(name);
        let too_many = |_| Failed(RejectCode::MaxSingleWeight, Shares::ZERO);
        let desired = cut_to_grid(board, self.desired_shares(weight, close).map_err(too_many)?);
        let quantity = match order.side {
            Side::Buy => {
                let more = desired - held.0;
                // A purchase on a lot board is itself a number of lots, whatever odd part is held.
                let (least, step) = super::grid::buy_grid(board);
                if step == least && more > 0 {
                    more - more % step
                } else {
                    more
                }
            }
            Side::Sell => held.0 - desired,
        };
        if quantity <= 0 {
            return Err(Failed(RejectCode::SideMismatch, Shares::ZERO));
        }
        Ok((Shares(quantity), order.side == Side::Sell && desired == 0))
    }

    /// floor(weight x NAV / close), in integers.
    fn desired_shares(&self, weight: TargetWeight, close: Price) -> Result<i64, AmountTooLarge> {
        const MILLION: i128 = 1_000_000;
        let money = i128::from(weight.millionths()) * i128::from(self.account.nav.0.max(0));
        divide_down(money, MILLION * i128::from(close.0.max(1)))
    }

    fn check_quantity(
        &self,
        side: Side,
        name: NameId,
        held: Shares,
        requested: Shares,
        close: Price,
    ) -> Result<(), Failed> {
        let fail = |code| Err(Failed(code, requested));
        if side == Side::Sell && requested > held {
            return fail(RejectCode::Oversell);
        }
        if !is_on_grid(self.as_of.board(name), side, requested.0, held.0) {
            return fail(RejectCode::Lot);
        }
        if side == Side::Buy
            && held
                .plus(requested)
                .map_or(true, |all| self.is_too_heavy(all, close))
        {
            return fail(RejectCode::MaxSingleWeight);
        }
        if side == Side::Buy && held.0 == 0 && self.new_names >= self.room {
            return fail(RejectCode::MaxPositions);
        }
        Ok(())
    }

    /// shares x close above the largest weight of NAV, compared in integers.
    fn is_too_heavy(&self, shares: Shares, close: Price) -> bool {
        const BILLION: i128 = 1_000_000_000;
        let Ok(value) = close.times(shares) else {
            return true;
        };
        let most = i128::from(self.rules.max_single_weight_billionths) * i128::from(self.account.nav.0);
        i128::from(value.0) * BILLION > most
    }
}
