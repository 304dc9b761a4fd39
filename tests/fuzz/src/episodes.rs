//! What a model writes inside of a step: arguments of tools, and submissions up to their fills.

use super::split_choice;
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step};
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{AsOf, DayIndex, Decimal, FactorTable, Market, NameId};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric, Payload};
use ktd_tools::{Tool, ToolContext, ToolLimits, Toolbox};
use serde_json::Value;
use std::sync::OnceLock;

/// First trading day of the window; the factors need most of a year before it.
const FIRST_DAY: usize = 270;
const STEPS: usize = 20;
/// Longest answer of a tool, bytes: far less than a context.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// One step of a small synthetic episode, under every mask.
struct Scene {
    market: Market,
    factors: FactorTable,
    account: Account,
    rules: Rules,
    limits: ToolLimits,
    window: Vec<DayIndex>,
    masks: Vec<Mask>,
    toolbox: Toolbox,
}

impl Scene {
    fn of_this_process() -> &'static Self {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let (seed, names, days) = (19, 30, 300);
        let market = generate(&SynthConfig { seed, names, days }).expect("the synthetic market is made");
        let window: Vec<DayIndex> = (FIRST_DAY..FIRST_DAY + STEPS)
            .filter_map(|day| market.day_at(day))
            .collect();
        let rules = Rules::default();
        let origin = window[0]
            .before()
            .expect("the window does not start with the panel");
        let weight = Decimal::parse("0.12").ok().and_then(TargetWeight::new);
        let quantity = Quantity::TargetWeight(weight.expect("a weight"));
        let buy = |name: NameId| Order {
            name: Some(name),
            side: Side::Buy,
            quantity,
        };
        let orders: Vec<Order> = market.as_of(origin).members().take(6).map(buy).collect();
        let day = TradingDay::new(&market, window[0]).expect("a day with a day before it");
        let (account, _) =
            step(&rules, Account::with_cash(rules.initial_cash), &orders, &day).expect("a counted account");
        let frame = EpisodeFrame {
            market: &market,
            window: &window,
            initial_cash: rules.initial_cash,
        };
        let key = MaskKey::from_bytes([3; 32]).derive("fuzz");
        let settings = Level::ALL
            .into_iter()
            .flat_map(|level| Numeric::ALL.map(move |numeric| MaskSettings { level, numeric }));
        let masks = settings
            .filter_map(|settings| Mask::new(settings, &key, &frame))
            .collect();
        Self {
            factors: FactorTable::new(&market, &FactorConfig::KTD, origin, window[0])
                .expect("enough history"),
            account,
            rules,
            limits: ToolLimits::default(),
            masks,
            toolbox: Toolbox::new().expect("schemas compile"),
            window,
            market,
        }
    }

    fn as_of(&self) -> AsOf<'_> {
        self.market.as_of(self.window[0]).with_factors(&self.factors)
    }

    fn context<'a>(&'a self, as_of: &'a AsOf<'a>, choice: usize) -> ToolContext<'a> {
        ToolContext {
            as_of,
            account: &self.account,
            mask: &self.masks[choice % self.masks.len()],
            rules: &self.rules,
            limits: &self.limits,
            last_step: None,
            step: 2,
        }
    }
}

/// An answer is JSON of bounded length.
fn check_answer(payload: &Payload) {
    let json = payload.to_json();
    assert!(
        json.len() <= ANSWER_BYTES_MAX,
        "an answer of {} bytes",
        json.len()
    );
    let value: Result<Value, _> = serde_json::from_str(&json);
    assert!(value.is_ok(), "an answer is no JSON: {json}");
}

/// The first byte chooses the mask, the second the tool; the rest are its arguments.
pub(crate) fn tool_call(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let (tool, arguments) = split_choice(input);
    let (scene, arguments) = (Scene::of_this_process(), String::from_utf8_lossy(arguments));
    let as_of = scene.as_of();
    let context = scene.context(&as_of, choice);
    let name = Tool::ALL
        .get(tool % (Tool::ALL.len() + 1))
        .map_or("no_tool", |tool| tool.name());
    let answer = scene.toolbox.call(&context, name, &arguments);
    assert_eq!(answer.ok, answer.code.is_none());
    check_answer(&answer.payload);
    assert_eq!(
        answer,
        scene.toolbox.call(&context, name, &arguments),
        "the same call"
    );
}

/// The first byte chooses the mask; the rest is what the model submits.
pub(crate) fn submission(input: &[u8]) {
    let (choice, arguments) = split_choice(input);
    let (scene, arguments) = (Scene::of_this_process(), String::from_utf8_lossy(arguments));
    let as_of = scene.as_of();
    let context = scene.context(&as_of, choice);
    let action = match scene.toolbox.parse_submission(&context, &arguments) {
        Ok(action) => action,
        Err(error) => {
            assert!(!error.faults().is_empty() && !error.code().is_empty());
            return check_answer(&error.payload());
        }
    };
    assert!(u32::try_from(action.orders.len()).is_ok_and(|count| count <= scene.limits.max_orders));
    let is_probability = |confidence: f64| (0.0..=1.0).contains(&confidence);
    assert!(action.orders.iter().all(|order| is_probability(order.confidence)));
    let orders: Vec<Order> = action.orders.iter().map(|order| order.order).collect();
    let day = TradingDay::new(&scene.market, scene.window[1]).expect("a day with a day before it");
    let (account, report) =
        step(&scene.rules, scene.account.clone(), &orders, &day).expect("a counted account");
    assert_eq!(report.fills.len(), orders.len(), "every order has a result");
    assert!(0 <= account.cash.0, "cash below zero: {account:?}");
    assert!(account.holdings.iter().all(|holding| 0 < holding.shares.0));
    assert_eq!(report.nav.0, report.cash.0 + report.holdings_value.0);
}
