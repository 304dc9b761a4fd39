//! Roster and book of an episode whose factors are told in bands, and the orders that the exchange gets.
//!
//! What the exchange makes of an order is not shown, so an order stands until it has traded: one that the open refused (no
//! trading, a price limit, no room yet) is sent again at the next step, as long as the book still says so.

use super::{Book, BookOrder, RosterContext};
use crate::context::ToolLimits;
use crate::last_step::LastStepKind;
use ktd_env::exchange::{
    Account, Execution, Order, Quantity, RejectCode, Rules, Side, StepReport, TargetWeight,
};
use ktd_env::{AsOf, NameId};
use ktd_masking::{Mask, Payload, Roster};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Roster and book of an episode at one step.
#[derive(Debug, Clone)]
pub struct BandedState {
    /// The stocks of the period.
    pub roster: Arc<Roster>,
    /// What was ordered so far.
    pub book: Book,
}

impl BandedState {
    /// The state at a step, after the state of the step before. `None` where factors are not told in bands.
    #[must_use]
    pub fn at(before: Option<Self>, mask: &Mask, as_of: &AsOf<'_>) -> Option<Self> {
        match before {
            Some(before) if 0 < mask.since_period(as_of).0 => Some(before),
            before => Some(Self {
                roster: Arc::new(mask.roster(as_of)?),
                book: before.map(|state| state.book).unwrap_or_default(),
            }),
        }
    }

    /// The id of a name in this period; `None` where the roster leaves it out.
    #[must_use]
    pub fn id(&self, name: NameId) -> Option<String> {
        let mut stocks = self.roster.stocks().iter();
        stocks
            .find(|stock| stock.name() == name)
            .map(|stock| stock.id().to_owned())
    }

    /// The view of a step.
    #[must_use]
    pub fn context<'a>(
        &'a self,
        step: usize,
        (mask, rules, limits): (&'a Mask, &'a Rules, &'a ToolLimits),
        (as_of_day, last_step): (&'a Payload, Option<LastStepKind>),
    ) -> RosterContext<'a> {
        RosterContext {
            roster: &self.roster,
            book: &self.book,
            mask,
            as_of_day,
            rules,
            limits,
            last_step,
            step,
        }
    }

    /// Takes the orders of a step into the book. What the exchange gets: each changed name, then those whose last order
    /// could not trade.
    pub fn orders(
        &mut self,
        submitted: Vec<BookOrder>,
        (rules, account, as_of): (&Rules, &Account, &AsOf<'_>),
        last: Option<&StepReport>,
    ) -> Vec<Order> {
        let mut names = self.book.take(&self.roster, rules, submitted);
        let refused = last.into_iter().flat_map(|report| &report.fills);
        names.extend(
            refused
                .filter(|fill| stands(&fill.execution))
                .filter_map(|fill| fill.name),
        );
        let targets = self.book.targets(rules);
        let mut seen = Vec::new();
        names.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(*name);
            is_new
        });
        names
            .into_iter()
            .filter_map(|name| order(&targets, name, account, as_of))
            .collect()
    }
}

/// Whether an order that did not trade is sent again: what it met passes by itself.
const fn stands(execution: &Execution) -> bool {
    matches!(
        execution,
        Execution::Rejected(
            RejectCode::Suspended
                | RejectCode::LimitUp
                | RejectCode::LimitDown
                | RejectCode::Volume
                | RejectCode::MaxPositions
        )
    )
}

/// The order that brings a name to its target; `None` when it is there by the last close.
fn order(
    targets: &BTreeMap<NameId, TargetWeight>,
    name: NameId,
    account: &Account,
    as_of: &AsOf<'_>,
) -> Option<Order> {
    const MILLION: i128 = 1_000_000;
    let nothing = TargetWeight::from_millionths(0)?;
    let target = targets.get(&name).copied().unwrap_or(nothing);
    let close = as_of.last_bar(name)?.1.close;
    let wanted = i128::from(target.millionths()) * i128::from(account.nav.0);
    let current = i128::from(close.0) * i128::from(account.shares(name).0) * MILLION;
    let side = match wanted.cmp(&current) {
        std::cmp::Ordering::Less => Side::Sell,
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => Side::Buy,
    };
    Some(Order {
        name: Some(name),
        side,
        quantity: Quantity::TargetWeight(target),
    })
}
