//! The book of an agent that is shown bands: its own accepted orders, and nothing of what the exchange made of them.

use crate::parsed_action::ParsedOrder;
use ktd_env::NameId;
use ktd_env::exchange::{Quantity, RejectCode, Rules, Side, TargetWeight};
use ktd_masking::{Roster, ShownStock};
use std::collections::BTreeMap;

const WHOLE_MILLIONTHS: u32 = 1_000_000;

/// Target of one id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookPosition {
    /// The stock, with the id and the group that it had when it was first ordered.
    pub stock: ShownStock,
    /// The weight last ordered, above 0.
    pub target: TargetWeight,
}

/// Order on a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookOrder {
    /// The stock id as the model wrote it.
    pub id: String,
    /// Buy or sell.
    pub side: Side,
    /// The weight asked for.
    pub target: TargetWeight,
}

impl BookOrder {
    /// The orders of a submission; an order in shares is none, and the schema's reading has refused it already.
    #[must_use]
    pub fn of(orders: &[ParsedOrder]) -> Vec<Self> {
        let order = |parsed: &ParsedOrder| match parsed.order.quantity {
            Quantity::TargetWeight(target) => Some(Self {
                id: parsed.stock_id.clone(),
                side: parsed.order.side,
                target,
            }),
            Quantity::Shares(_) => None,
        };
        orders.iter().filter_map(order).collect()
    }
}

/// Book of accepted targets, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Book {
    positions: BTreeMap<String, BookPosition>,
    last: Vec<BookAnswer>,
}

/// What a book said of an order of the last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookAnswer {
    /// The order.
    pub order: BookOrder,
    /// Its stock; `None` where the id was none of the step's.
    pub stock: Option<ShownStock>,
    /// Whether it entered the book, or the rule that it broke.
    pub decision: Result<(), RejectCode>,
}

impl Book {
    /// Its positions in the order of their ids.
    #[must_use]
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &BookPosition> {
        self.positions.values()
    }

    /// The position of an id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&BookPosition> {
        self.positions.get(id)
    }

    /// The weight ordered of an id; 0 without a position.
    #[must_use]
    pub fn weight_millionths(&self, id: &str) -> u32 {
        self.find(id).map_or(0, |position| position.target.millionths())
    }

    /// What is not ordered away.
    #[must_use]
    pub fn cash_millionths(&self) -> u32 {
        let invested: u32 = self
            .positions()
            .map(|position| position.target.millionths())
            .sum();
        WHOLE_MILLIONTHS.saturating_sub(invested)
    }

    /// What the last step submitted.
    #[must_use]
    pub fn last(&self) -> &[BookAnswer] {
        &self.last
    }

    /// The weight that each name shall have. Two ids of one name add up, to what one name may weigh at most: that they are
    /// one name is not shown.
    #[must_use]
    pub fn targets(&self, rules: &Rules) -> BTreeMap<NameId, TargetWeight> {
        let most = u32::try_from(rules.max_single_weight_billionths / 1000).unwrap_or(WHOLE_MILLIONTHS);
        let mut targets: BTreeMap<NameId, u32> = BTreeMap::new();
        for position in self.positions() {
            *targets.entry(position.stock.name()).or_default() += position.target.millionths();
        }
        let capped = targets.into_iter();
        capped
            .filter_map(|(name, weight)| Some((name, TargetWeight::from_millionths(weight.min(most))?)))
            .collect()
    }

    /// What the rules say of a list of orders, from the book alone: each accepted, or the first rule that it breaks. Whole
    /// sells make room for buys wherever they stand in the list, and so does their weight.
    #[must_use]
    pub fn decide(
        &self,
        roster: &Roster,
        rules: &Rules,
        orders: &[BookOrder],
    ) -> Vec<Result<(), RejectCode>> {
        let mut after = self.clone();
        let mut decisions: Vec<Result<(), RejectCode>> = orders
            .iter()
            .enumerate()
            .map(|(place, order)| self.check(roster, rules, orders.get(..place).unwrap_or_default(), order))
            .collect();
        let sells = orders.iter().zip(&decisions);
        for (order, _) in sells.filter(|(order, decision)| decision.is_ok() && order.side == Side::Sell) {
            after.set(roster, order);
        }
        let most = usize::try_from(rules.max_positions).unwrap_or(usize::MAX);
        for (order, decision) in orders.iter().zip(&mut decisions) {
            if decision.is_err() || order.side == Side::Sell {
                continue;
            }
            let own = after.weight_millionths(&order.id);
            if own == 0 && most <= after.positions.len() {
                *decision = Err(RejectCode::MaxPositions);
            } else if after.cash_millionths() + own < order.target.millionths() {
                *decision = Err(RejectCode::Cash);
            } else {
                after.set(roster, order);
            }
        }
        decisions
    }

    /// What one order breaks by itself.
    fn check(
        &self,
        roster: &Roster,
        rules: &Rules,
        earlier: &[BookOrder],
        order: &BookOrder,
    ) -> Result<(), RejectCode> {
        let now = self.weight_millionths(&order.id);
        let asked = order.target.millionths();
        if now == 0 && roster.find(&order.id).is_none() {
            return Err(RejectCode::UnknownSymbol);
        }
        if earlier.iter().any(|other| other.id == order.id) {
            return Err(RejectCode::Duplicate);
        }
        match order.side {
            Side::Sell if now == 0 => Err(RejectCode::NotHeld),
            Side::Sell if now <= asked => Err(RejectCode::SideMismatch),
            Side::Buy if asked <= now => Err(RejectCode::SideMismatch),
            Side::Buy if rules.max_single_weight_billionths < u64::from(asked) * 1000 => {
                Err(RejectCode::MaxSingleWeight)
            }
            Side::Buy | Side::Sell => Ok(()),
        }
    }

    fn set(&mut self, roster: &Roster, order: &BookOrder) {
        let known = self.find(&order.id).map(|position| position.stock.clone());
        let Some(stock) = known.or_else(|| roster.find(&order.id).cloned()) else {
            return;
        };
        if order.target.millionths() == 0 {
            self.positions.remove(&order.id);
        } else {
            let position = BookPosition {
                stock,
                target: order.target,
            };
            self.positions.insert(order.id.clone(), position);
        }
    }

    /// Takes the orders of a step. The names whose targets changed, in the order of the list.
    pub fn take(&mut self, roster: &Roster, rules: &Rules, orders: Vec<BookOrder>) -> Vec<NameId> {
        let decisions = self.decide(roster, rules, &orders);
        let mut answers = Vec::with_capacity(orders.len());
        for (order, decision) in orders.into_iter().zip(decisions) {
            let known = self.find(&order.id).map(|position| &position.stock);
            let stock = known.or_else(|| roster.find(&order.id)).cloned();
            if decision.is_ok() {
                self.set(roster, &order);
            }
            answers.push(BookAnswer {
                order,
                stock,
                decision,
            });
        }
        let accepted = answers.iter().filter(|answer| answer.decision.is_ok());
        let changed = accepted
            .filter_map(|answer| answer.stock.as_ref().map(ShownStock::name))
            .collect();
        self.last = answers;
        changed
    }
}
