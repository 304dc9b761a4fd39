//! One step of a synthetic episode with a past: holdings, fills, rejections.

use ktd_env::exchange::{
    Account, DividendTaxRule, FeeRule, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step,
};
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{AsOf, DayIndex, DaysBack, Decimal, FactorTable, Market, NameId, Shares};
use ktd_masking::{EpisodeFrame, FactorScale, Level, Mask, MaskKey, MaskSettings, Numeric, Payload};
use ktd_tools::banded::{BandedState, BookOrder};
use ktd_tools::{LastStep, LastStepKind, StepView, ToolContext, ToolLimits, Toolbox};
use serde_json::Value;
use std::collections::BTreeMap;

/// First trading day of the window; the factors need most of a year before it.
const FIRST_DAY: usize = 270;
pub(crate) const STEPS: usize = 20;
/// The step shown.
pub(crate) const STEP: usize = 4;

/// All of one step but the mask.
pub(crate) struct Fixture {
    pub(crate) market: Market,
    pub(crate) factors: FactorTable,
    pub(crate) account: Account,
    pub(crate) rules: Rules,
    pub(crate) limits: ToolLimits,
    pub(crate) last_step: LastStep,
    pub(crate) window: Vec<DayIndex>,
}

fn weight(text: &str) -> Quantity {
    Quantity::TargetWeight(TargetWeight::new(Decimal::parse(text).unwrap()).unwrap())
}

fn order(name: Option<NameId>, side: Side, quantity: Quantity) -> Order {
    Order { name, side, quantity }
}

/// What the first steps order: a purchase of the first members, then a mixed batch with every kind of ending.
fn scripted(market: &Market, day: DayIndex, account: &Account, step: usize) -> Vec<Order> {
    let members: Vec<NameId> = market.as_of(day.before().unwrap()).members().collect();
    let held: Vec<NameId> = account.holdings.iter().map(|holding| holding.name).collect();
    match step {
        1 => members
            .iter()
            .take(6)
            .map(|name| order(Some(*name), Side::Buy, weight("0.12")))
            .collect(),
        3 => vec![
            order(Some(held[0]), Side::Sell, weight("0")),
            order(Some(held[1]), Side::Sell, weight("0.05")),
            order(Some(held[1]), Side::Buy, weight("0.19")),
            order(None, Side::Buy, weight("0.1")),
            order(Some(members[7]), Side::Sell, weight("0")),
            order(Some(members[8]), Side::Buy, weight("0.5")),
            order(Some(members[9]), Side::Buy, Quantity::Shares(Shares(150))),
            order(Some(members[10]), Side::Buy, weight("0.2")),
            order(Some(members[11]), Side::Buy, weight("0.19")),
        ],
        _ => Vec::new(),
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let market = generate(&SynthConfig {
            seed: 19,
            names: 30,
            days: 300,
        })
        .unwrap();
        let window: Vec<DayIndex> = (FIRST_DAY..FIRST_DAY + STEPS)
            .filter_map(|day| market.day_at(day))
            .collect();
        // Flat fees, so that what masks show is pinned whatever is charged on a day.
        let rules = Rules {
            fees: FeeRule::Paper,
            dividend_tax: DividendTaxRule::None,
            ..Rules::default()
        };
        let mut account = Account::with_cash(rules.initial_cash);
        let mut last_step = None;
        for number in 1..STEP {
            let day = window[number - 1];
            let orders = scripted(&market, day, &account, number);
            let nav_before = account.nav;
            let trading_day = TradingDay::new(&market, day).unwrap();
            let (after, report) = step(&rules, account, &orders, &trading_day).unwrap();
            account = after;
            last_step = Some(LastStep {
                step: number,
                kind: LastStepKind::Orders,
                nav_before,
                report,
            });
        }
        let (origin, as_of) = (window[0].before().unwrap(), window[STEP - 2]);
        Self {
            factors: FactorTable::new(&market, &FactorConfig::KTD, origin, as_of).unwrap(),
            market,
            account,
            rules,
            limits: ToolLimits {
                fixed_candidates_per_factor: 1,
                ..ToolLimits::default()
            },
            last_step: last_step.unwrap(),
            window,
        }
    }

    pub(crate) fn as_of_day(&self) -> DayIndex {
        self.window[STEP - 2]
    }

    pub(crate) fn as_of(&self) -> AsOf<'_> {
        self.market.as_of(self.as_of_day()).with_factors(&self.factors)
    }

    pub(crate) fn mask(&self, level: Level, numeric: Numeric) -> Mask {
        let frame = EpisodeFrame {
            market: &self.market,
            window: &self.window,
            initial_cash: self.rules.initial_cash,
        };
        let key = MaskKey::from_bytes([3; 32]).derive("snapshots");
        Mask::new(MaskSettings { level, numeric }, &key, &frame).unwrap()
    }

    pub(crate) fn context<'a>(&'a self, as_of: &'a AsOf<'a>, mask: &'a Mask) -> ToolContext<'a> {
        ToolContext {
            as_of,
            account: &self.account,
            mask,
            rules: &self.rules,
            limits: &self.limits,
            last_step: Some(&self.last_step),
            step: STEP,
        }
    }

    /// Roster and book where factors are told in bands, after an order of each kind of ending.
    fn banded(&self, as_of: &AsOf<'_>, mask: &Mask) -> Option<BandedState> {
        let mut state = BandedState::at(None, mask, as_of)?;
        let order = |place: usize, side, weight: &str| BookOrder {
            id: state.roster.stocks()[place].id().to_owned(),
            side,
            target: TargetWeight::new(Decimal::parse(weight).unwrap()).unwrap(),
        };
        let first = vec![
            order(0, Side::Buy, "0.12"),
            order(1, Side::Buy, "0.05"),
            order(2, Side::Buy, "0.1"),
        ];
        let then = vec![
            order(2, Side::Sell, "0"),
            order(1, Side::Buy, "0.04"),
            order(3, Side::Sell, "0"),
            order(4, Side::Buy, "0.5"),
            order(4, Side::Buy, "0.19"),
        ];
        for orders in [first, then] {
            state.book.take(&state.roster.clone(), &self.rules, orders);
        }
        Some(state)
    }

    /// Looks at the step as its mask shows it.
    pub(crate) fn view<T>(&self, as_of: &AsOf<'_>, mask: &Mask, look: impl FnOnce(StepView<'_>) -> T) -> T {
        if let Some(state) = self.banded(as_of, mask) {
            let day = as_of
                .past_day(DaysBack(0))
                .map_or_else(Payload::null, |past| mask.day(past));
            let shared = (mask, &self.rules, &self.limits);
            let context = state.context(STEP, shared, (&day, Some(self.last_step.kind)));
            return look(StepView::Roster(&context));
        }
        look(StepView::Market(&self.context(as_of, mask)))
    }

    /// The panel as if it had ended on the as-of day.
    pub(crate) fn cut(&self) -> Self {
        let market = self.market.cut_after(self.as_of_day());
        let origin = self.window[0].before().unwrap();
        Self {
            factors: FactorTable::new(&market, &FactorConfig::KTD, origin, self.as_of_day()).unwrap(),
            market,
            account: self.account.clone(),
            rules: self.rules.clone(),
            limits: self.limits,
            last_step: self.last_step.clone(),
            window: self.window.clone(),
        }
    }

    /// The mask of another episode.
    pub(crate) fn mask_of(&self, episode: &str, numeric: Numeric) -> Mask {
        let frame = EpisodeFrame {
            market: &self.market,
            window: &self.window,
            initial_cash: self.rules.initial_cash,
        };
        let (level, key) = (Level::Blinded, MaskKey::from_bytes([3; 32]).derive(episode));
        Mask::new(MaskSettings { level, numeric }, &key, &frame).unwrap()
    }

    /// Names as they are shown: two that are held, two that are not.
    pub(crate) fn ids(&self, mask: &Mask) -> [String; 4] {
        let as_of = self.as_of();
        if let Some(state) = self.banded(&as_of, mask) {
            return [0, 1, 2, 3].map(|place| state.roster.stocks()[place].id().to_owned());
        }
        let held: Vec<NameId> = self.account.holdings.iter().map(|holding| holding.name).collect();
        let free: Vec<NameId> = as_of.members().filter(|name| !held.contains(name)).collect();
        [held[0], held[1], free[0], free[1]].map(|name| mask.asset(name).to_inline())
    }
}

/// Every numeric setting but bands.
pub(crate) fn without_bands() -> impl Iterator<Item = Numeric> {
    Numeric::ALL
        .into_iter()
        .filter(|numeric| numeric.scale() != FactorScale::Bands)
}

/// Every level with every numeric setting.
pub(crate) fn every_setting() -> Vec<(Level, Numeric)> {
    settings(&Numeric::ALL)
}

/// Every level with these numeric settings.
pub(crate) fn settings(numerics: &[Numeric]) -> Vec<(Level, Numeric)> {
    let of_level = |level| numerics.iter().map(move |numeric| (level, *numeric));
    Level::ALL.into_iter().flat_map(of_level).collect()
}

/// The answer to a good call, read back.
pub(crate) fn answer<'a>(view: impl Into<StepView<'a>>, tool: &str, arguments: &str) -> Value {
    let answer = Toolbox::new().unwrap().call(view, tool, arguments);
    assert!(answer.ok, "{}", answer.payload.to_json());
    serde_json::from_str(&answer.payload.to_json()).unwrap()
}

/// The rows of a table as maps from column to cell.
pub(crate) fn rows(table: &Value) -> Vec<BTreeMap<String, Value>> {
    let columns: Vec<String> = table["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let of_row = |row: &Value| {
        columns
            .iter()
            .cloned()
            .zip(row.as_array().unwrap().iter().cloned())
            .collect()
    };
    table["rows"].as_array().unwrap().iter().map(of_row).collect()
}
