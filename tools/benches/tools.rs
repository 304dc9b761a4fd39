//! What one tool call costs: the mean by criterion, and p50 and p99 over single calls.
//!
//! The market has 346 synthetic names, the account holds 20, lookbacks are 60 days, everything is blinded. Calls walk
//! through 50 as-of days, so that no day's rows stay in the cache. A call's answer is made and turned into text. The mean is
//! that of exact numbers; the quantiles are printed for every setting of the numbers.

use criterion::Criterion;
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step};
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{AsOf, DayIndex, Decimal, FactorTable, Market};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric};
use ktd_tools::{LastStep, LastStepKind, ToolContext, ToolLimits, Toolbox};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

const NAMES: u32 = 346;
const HELD: usize = 20;
const WINDOW_DAYS: usize = 50;
const SINGLE_CALLS: usize = 5_000;
const ROUNDS: usize = 5;

/// One as-of day with its account.
struct Scene<'m> {
    as_of: AsOf<'m>,
    account: Account,
    last_step: LastStep,
    step: usize,
}

/// What all scenes share.
struct Stage {
    mask: Mask,
    rules: Rules,
    limits: ToolLimits,
    toolbox: Toolbox,
}

impl Stage {
    /// Answers a call and gives the length of its text.
    fn call(&self, scene: &Scene<'_>, tool: &str, arguments: &str) -> usize {
        let context = ToolContext {
            as_of: &scene.as_of,
            account: &scene.account,
            mask: &self.mask,
            rules: &self.rules,
            limits: &self.limits,
            last_step: Some(&scene.last_step),
            step: scene.step,
        };
        let answer = self.toolbox.call(&context, tool, arguments);
        assert!(answer.ok, "{tool} {arguments}: {:?}", answer.payload);
        serde_json::to_string(&answer.payload).map_or(0, |text| text.len())
    }

    /// Stock ids as shown, quoted, in the order of the codes.
    fn ids(&self, scene: &Scene<'_>) -> Result<Vec<String>, serde_json::Error> {
        let members = scene.as_of.members();
        members
            .map(|name| serde_json::to_string(&self.mask.asset(name)))
            .collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let market = generate(&SynthConfig {
        names: NAMES,
        ..SynthConfig::default()
    })?;
    let first = market.calendar().len().saturating_sub(WINDOW_DAYS);
    let window: Vec<DayIndex> = (first..market.calendar().len())
        .filter_map(|place| market.day_at(place))
        .collect();
    let (Some(first_day), Some(last_day)) = (window.first(), window.last()) else {
        return Ok(());
    };
    let first_as_of = first_day.before().unwrap_or(*first_day);
    let factors = FactorTable::new(&market, &FactorConfig::KTD, first_as_of, *last_day)?;
    let stage = stage(&market, &window, Numeric::Exact)?;
    let scenes = scenes(&market, &factors, &stage.rules, &window);
    let calls = calls(&stage, &scenes)?;
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    let mut group = criterion.benchmark_group("tools");
    for (tool, arguments) in &calls {
        let mut turn = scenes.iter().cycle();
        group.bench_function(*tool, |bencher| {
            bencher.iter(|| {
                turn.next()
                    .map(|scene| stage.call(black_box(scene), tool, arguments))
            });
        });
    }
    let by_formula = formula_stage(&market, &window)?;
    for (what, formula) in FORMULAS {
        let arguments = format!(r#"{{"expression":"{formula}","side":"high","top_k":30}}"#);
        let mut turn = scenes.iter().cycle();
        group.bench_function(format!("screen_by_expression, {what}"), |bencher| {
            bencher.iter(|| {
                turn.next()
                    .map(|scene| by_formula.call(black_box(scene), "screen_by_expression", &arguments))
            });
        });
    }
    group.finish();
    criterion.final_summary();
    for numeric in Numeric::ALL {
        let stage = self::stage(&market, &window, numeric)?;
        for (tool, arguments) in &calls {
            tell_quantiles(&stage, &scenes, tool, arguments);
        }
    }
    Ok(())
}

/// Formulas by how much they read: of the longest, every field over every row that may be read.
const FORMULAS: [(&str, &str); 3] = [
    ("5 rows of a field", "Mean($close,5)/$close-1"),
    ("60 rows of two fields", "Corr($close,$volume,60)"),
    (
        "240 rows of eight fields",
        "Rank($open,0)+Rank($high,0)-Rank($low,0)+Slope($close,0)/Std($vwap,0)+Corr($volume,$amount,200)+Sum($change,0)",
    ),
];

/// The stage of an experiment that has switched formulas on.
fn formula_stage(market: &Market, window: &[DayIndex]) -> Result<Stage, Box<dyn Error>> {
    let limits = ToolLimits {
        expressions: true,
        ..ToolLimits::default()
    };
    Ok(Stage {
        toolbox: Toolbox::of(&limits)?,
        limits,
        ..stage(market, window, Numeric::Rescaled)?
    })
}

fn stage(market: &Market, window: &[DayIndex], numeric: Numeric) -> Result<Stage, Box<dyn Error>> {
    let rules = Rules::default();
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric,
    };
    let frame = EpisodeFrame {
        market,
        window,
        initial_cash: rules.initial_cash,
    };
    Ok(Stage {
        mask: Mask::new(settings, &MaskKey::from_bytes([7; 32]), &frame).ok_or("the window is empty")?,
        rules,
        limits: ToolLimits::default(),
        toolbox: Toolbox::new()?,
    })
}

/// Buys twenty members on the first day and tops all of them up on each later one.
fn scenes<'m>(
    market: &'m Market,
    factors: &'m FactorTable,
    rules: &Rules,
    window: &[DayIndex],
) -> Vec<Scene<'m>> {
    let target = Decimal::parse("0.049").ok().and_then(TargetWeight::new);
    let mut account = Account::with_cash(rules.initial_cash);
    let mut scenes = Vec::with_capacity(window.len());
    for (place, day) in window.iter().enumerate() {
        let Some(quotes) = TradingDay::new(market, *day) else {
            continue;
        };
        let view = quotes.as_of();
        let cheap = view
            .members()
            .filter(|name| view.last_bar(*name).is_some_and(|(_, bar)| bar.close.0 < 40_00));
        let orders: Vec<Order> = cheap
            .take(HELD)
            .filter_map(|name| {
                Some(Order {
                    name: Some(name),
                    side: Side::Buy,
                    quantity: Quantity::TargetWeight(target?),
                })
            })
            .collect();
        let nav_before = account.nav;
        let Ok((after, report)) = step(rules, account, &orders, &quotes) else {
            break;
        };
        account = after;
        scenes.push(Scene {
            as_of: market.as_of(*day).with_factors(factors),
            account: account.clone(),
            last_step: LastStep {
                step: place + 1,
                kind: LastStepKind::Orders,
                nav_before,
                report,
            },
            step: place + 2,
        });
    }
    scenes
}

/// A heavy call of each tool: every factor, most rows, longest lookback.
fn calls(stage: &Stage, scenes: &[Scene<'_>]) -> Result<[(&'static str, String); 6], Box<dyn Error>> {
    let ids = stage.ids(scenes.first().ok_or("no scene")?)?;
    let id = ids.first().ok_or("no member")?;
    let ten = ids
        .iter()
        .take(10)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(",");
    let targets: Vec<String> = ids
        .iter()
        .take(HELD)
        .map(|id| format!(r#"{{"stock_id":{id},"target_weight":0.04}}"#))
        .collect();
    let tilt = |factor: &str| format!(r#"{{"factor":"{factor}","direction":"high","weight":2}}"#);
    let tilts: Vec<String> = ktd_env::factors::Factor::ALL
        .iter()
        .map(|factor| tilt(factor.name()))
        .collect();
    Ok([
        ("get_market_context", "{}".to_owned()),
        (
            "screen_candidates",
            format!(r#"{{"factors":[{}],"top_k":30}}"#, tilts.join(",")),
        ),
        (
            "get_stock_snapshot",
            format!(r#"{{"stock_id":{id},"lookback":60}}"#),
        ),
        ("compare_candidates", format!(r#"{{"stock_ids":[{ten}]}}"#)),
        ("portfolio_state", "{}".to_owned()),
        ("risk_check", format!(r#"{{"targets":[{}]}}"#, targets.join(","))),
    ])
}

/// Tells p50 and p99 of the quietest of some rounds: another process may take the core away for milliseconds.
#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
fn tell_quantiles(stage: &Stage, scenes: &[Scene<'_>], tool: &str, arguments: &str) {
    let rounds = (0..ROUNDS).map(|_| quantiles_micros(stage, scenes, tool, arguments));
    let (p99, p50) = rounds.min().unwrap_or_default();
    let numeric = stage.mask.numeric().label();
    println!(
        "{numeric} {tool}: p50 {p50} us, p99 {p99} us of {SINGLE_CALLS} calls, quietest of {ROUNDS} rounds"
    );
}

/// p99 and p50 of single calls.
#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
fn quantiles_micros(stage: &Stage, scenes: &[Scene<'_>], tool: &str, arguments: &str) -> (u128, u128) {
    let mut nanos: Vec<u128> = scenes
        .iter()
        .cycle()
        .take(SINGLE_CALLS)
        .map(|scene| {
            let start = Instant::now();
            black_box(stage.call(black_box(scene), tool, arguments));
            start.elapsed().as_nanos()
        })
        .collect();
    nanos.sort_unstable();
    let at = |percent: usize| nanos.get(nanos.len() * percent / 100).copied().unwrap_or(0) / 1_000;
    (at(99), at(50))
}
