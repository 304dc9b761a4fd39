//! One step of an episode on a panel: the days before it were traded by a script.

use crate::doors::{Doors, MarketDay};
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight};
use ktd_env::{AsOf, DayIndex, FactorTable, Market, NameId};
use ktd_tools::{LastStep, LastStepKind};

/// Steps after the as-of day in the window of a scene, as far as the panel reaches.
const STEPS_AFTER: usize = 4;

/// A step with its account and what became of the step before.
#[derive(Debug)]
pub(crate) struct Scene<'m> {
    /// The panel and the as-of day.
    pub(crate) at: MarketDay<'m>,
    /// Factor values of the as-of days of all steps up to this one.
    pub(crate) table: &'m FactorTable,
    /// The window's trading days.
    pub(crate) window: Vec<DayIndex>,
    /// Steps that were traded before.
    pub(crate) traded: usize,
    pub(crate) account: Account,
    pub(crate) last_step: Option<LastStep>,
}

impl<'m> Scene<'m> {
    /// Plays the script over the `traded` steps whose last trading day is the as-of day; `None` where the panel begins too
    /// late or ends with the as-of day.
    pub(crate) fn played(
        doors: &dyn Doors,
        rules: &Rules,
        at: MarketDay<'m>,
        (table, traded): (&'m FactorTable, usize),
    ) -> Option<Self> {
        let first = (at.day.index() + 1).checked_sub(traded)?;
        let window: Vec<DayIndex> = (first..=at.day.index() + STEPS_AFTER)
            .filter_map(|place| at.market.day_at(place))
            .collect();
        window.get(traded)?;
        window.first()?.before()?;
        let mut account = Account::with_cash(rules.initial_cash);
        let mut last_step = None;
        for (place, day) in window.iter().take(traded).enumerate() {
            let orders = script(at.market, *day, place, &account)?;
            let nav_before = account.nav;
            let trading_day = MarketDay {
                market: at.market,
                day: *day,
            };
            let (after, report) = doors.trade(rules, account, &orders, trading_day)?;
            account = after;
            last_step = Some(LastStep {
                step: place + 1,
                kind: LastStepKind::Orders,
                nav_before,
                report,
            });
        }
        Some(Self {
            at,
            table,
            window,
            traded,
            account,
            last_step,
        })
    }

    /// The true as-of view of the step so many steps before this one.
    pub(crate) fn earlier(&self, steps: usize) -> Option<AsOf<'m>> {
        let day = self.at.market.day_at(self.at.day.index().checked_sub(steps)?)?;
        Some(self.at.market.as_of(day).with_factors(self.table))
    }
}

/// Buys at first; then sells the first holding, halves the second and buys again.
fn script(market: &Market, day: DayIndex, place: usize, account: &Account) -> Option<Vec<Order>> {
    const FIRST_BUYS: usize = 8;
    let weight = |millionths| TargetWeight::from_millionths(millionths).map(Quantity::TargetWeight);
    let members: Vec<NameId> = market.as_of(day.before()?).members().collect();
    let order = |name: NameId, side, quantity| Order {
        name: Some(name),
        side,
        quantity,
    };
    let mut orders = Vec::new();
    for (held, target) in account.holdings.iter().zip([0, 40_000]) {
        orders.push(order(held.name, Side::Sell, weight(target)?));
    }
    let buys = if place == 0 { FIRST_BUYS } else { 2 };
    for buy in 0..buys {
        if let Some(name) = members.get((buy * members.len() / buys + place) % members.len().max(1)) {
            orders.push(order(*name, Side::Buy, weight(80_000)?));
        }
    }
    Some(orders)
}
