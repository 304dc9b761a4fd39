//! Steps a second of the exchange alone: no model, no log, full rules, 300 names, 548 days, 20 names held.
//!
//! The orders of each variant are decided beforehand by playing the window once, so that only `step` is measured.

use criterion::{Criterion, Throughput};
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Decimal, Fen, Market, NameId};
use std::hint::black_box;
use std::time::Duration;

/// Trading days of the window: the longest of the benchmark.
const WINDOW_DAYS: usize = 548;
/// Names held at once: the most that the rules allow.
const HELD: usize = 20;

/// How many holdings are exchanged for others on each day.
#[derive(Clone, Copy)]
struct Variant {
    label: &'static str,
    swapped_a_day: usize,
}

const VARIANTS: [Variant; 3] = [
    Variant {
        label: "hold",
        swapped_a_day: 0,
    },
    Variant {
        label: "4 orders a day",
        swapped_a_day: 2,
    },
    Variant {
        label: "20 orders a day",
        swapped_a_day: 10,
    },
];

/// One day and the orders at its open.
struct Day<'m> {
    quotes: TradingDay<'m>,
    orders: Vec<Order>,
}

fn weight(text: &str) -> Option<Quantity> {
    let decimal = Decimal::parse(text).ok()?;
    TargetWeight::new(decimal).map(Quantity::TargetWeight)
}

/// Sells some holdings whole and buys members until so many names are held, each time other ones.
fn orders_of(account: &Account, quotes: &TradingDay<'_>, swapped: usize, turn: &mut usize) -> Vec<Order> {
    let order = |name: NameId, side: Side, target: &str| {
        weight(target).map(|quantity| Order {
            name: Some(name),
            side,
            quantity,
        })
    };
    let held: Vec<NameId> = account.holdings.iter().map(|holding| holding.name).collect();
    let sold: Vec<NameId> = held
        .iter()
        .copied()
        .cycle()
        .skip(*turn)
        .take(swapped.min(held.len()))
        .collect();
    let members: Vec<NameId> = quotes
        .as_of()
        .members()
        .filter(|name| !held.contains(name))
        .collect();
    let room = HELD.saturating_sub(held.len() - sold.len());
    let is_refill = swapped > 0 || held.is_empty();
    let bought = members
        .iter()
        .copied()
        .cycle()
        .skip(*turn * 7)
        .take(if is_refill { room } else { 0 });
    *turn += swapped;
    let sells = sold.iter().filter_map(|name| order(*name, Side::Sell, "0"));
    sells
        .chain(bought.filter_map(|name| order(name, Side::Buy, "0.048")))
        .collect()
}

fn play(rules: &Rules, days: &[Day<'_>]) -> Account {
    let mut account = Account::with_cash(rules.initial_cash);
    for day in days {
        let Ok((after, report)) = step(rules, account, &day.orders, &day.quotes) else {
            return Account::with_cash(rules.initial_cash);
        };
        black_box(report);
        account = after;
    }
    account
}

fn script<'m>(rules: &Rules, market: &'m Market, swapped: usize) -> Vec<Day<'m>> {
    let (mut account, mut turn) = (Account::with_cash(rules.initial_cash), 0);
    let first = market.calendar().len().saturating_sub(WINDOW_DAYS);
    let mut days = Vec::with_capacity(WINDOW_DAYS);
    for place in first..market.calendar().len() {
        let Some(quotes) = market.day_at(place).and_then(|day| TradingDay::new(market, day)) else {
            continue;
        };
        let orders = orders_of(&account, &quotes, swapped, &mut turn);
        let Ok((after, _)) = step(rules, account, &orders, &quotes) else {
            break;
        };
        account = after;
        days.push(Day { quotes, orders });
    }
    days
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .sample_size(30)
        .configure_from_args();
    // One lot of the dearest name must be affordable at a twentieth of the account, or the account stays half empty.
    let rules = Rules {
        initial_cash: Fen(1_000_000_000),
        ..Rules::default()
    };
    let Ok(market) = generate(&SynthConfig::default()) else {
        return;
    };
    let mut group = criterion.benchmark_group("engine");
    for variant in VARIANTS {
        let days = script(&rules, &market, variant.swapped_a_day);
        group.throughput(Throughput::Elements(
            u64::try_from(days.len()).unwrap_or_default(),
        ));
        group.bench_function(variant.label, |bencher| {
            bencher.iter(|| play(&rules, black_box(&days)));
        });
    }
    group.finish();
    criterion.final_summary();
}
