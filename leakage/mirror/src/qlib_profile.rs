//! M6: the profile of Qlib reads the day's close at the open, as Qlib does. The check must find it.

use crate::auditor::Auditor;
use crate::counterfactual::{missing_opens, other_close};
use crate::report::{Answer, CheckReport, Compared, count};
use chrono::NaiveDate;
use ktd_env::{Bar, DayIndex, Market, NameId};
use ktd_qlib::{
    DEFAULT_LIMIT_THRESHOLD, DealPrice, FeatureFile, Instructions, Limit, OrderSize, QlibConfig, QlibFill,
    QlibPanel, QlibSide, ScriptedOrder, Settle, Strategy, TradeType, simulate,
};

/// The symbol of the run's benchmark, which trades nothing.
const BENCHMARK: &str = "BENCH";
/// Real shares of a buy.
const SHARES: f64 = 200.0;

/// M6: the fills of the profile with its usual settings: deals at the open, limits by the day's change.
pub(crate) fn qlib_profile(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M6",
        "is it found that the profile of Qlib reads the day's close at the open?",
    );
    let each = auditor.each(&auditor.trading_days(), |day| of_day(auditor, *day));
    let (mut blocked, mut at_close) = (0, 0);
    for day in each {
        match day {
            Some((compared, by_limit, by_price)) => {
                report.add(compared);
                blocked += by_limit;
                at_close += by_price;
            }
            None => report.add(Compared::skipped()),
        }
    }
    report.figure("orders that the day's close blocks or frees", count(blocked));
    report.figure(
        "orders without an open that are filled at the close",
        count(at_close),
    );
    report.notes.push(
        "documented: the float limit reads the day's change, and a missing open is filled at the close"
            .to_owned(),
    );
    report.judged_found()
}

/// The comparison of a day, how many orders another close blocks or frees, and how many it fills at another price.
fn of_day(auditor: &Auditor<'_>, day: DayIndex) -> Option<(Compared, usize, usize)> {
    let market = missing_opens(auditor.market, day);
    let (own, other) = (fills(&market, day)?, fills(&other_close(&market, day, 0), day)?);
    let is_dealt = |fill: &QlibFill| 0.0 < fill.dealt;
    let pairs = || own.iter().zip(&other);
    let blocked = pairs()
        .filter(|(one, two)| is_dealt(one) != is_dealt(two))
        .count();
    let at_close = pairs()
        .filter(|(one, two)| is_dealt(one) && is_dealt(two))
        .filter(|(one, two)| one.price.map(f64::to_bits) != two.price.map(f64::to_bits))
        .count();
    let texts = |fills: &[QlibFill]| fills.iter().map(answer).collect::<Vec<_>>();
    let (own, other) = (texts(&own), texts(&other));
    let change = "the day's high, low, close, amount and index replaced";
    Some((
        Compared::of(&own, &other, (&auditor.date(day), change)),
        blocked,
        at_close,
    ))
}

fn answer(fill: &QlibFill) -> Answer {
    let price = fill
        .price
        .map_or_else(|| "none".to_owned(), |price| price.to_string());
    Answer {
        door: "qlib profile",
        call: format!("{:?} {}", fill.side, fill.symbol),
        text: format!("dealt {}, price {price}", fill.dealt),
    }
}

/// The fills of a day: every second name was bought the day before and is sold, the others are bought.
fn fills(market: &Market, day: DayIndex) -> Option<Vec<QlibFill>> {
    let (before, after) = (day.before()?, market.day_at(day.index() + 1)?);
    let days = [before, day, after];
    let dates: Vec<String> = days
        .iter()
        .filter_map(|day| market.date(*day))
        .map(ktd_env::TradeDate::reveal)
        .collect();
    let date = |place: usize| dates.get(place).and_then(|text| text.parse::<NaiveDate>().ok());
    let (start, end) = (date(0)?, date(1)?);
    let names: Vec<(NameId, String)> = market
        .names()
        .map(|(name, info)| (name, info.ticker.reveal().to_owned()))
        .collect();
    let span = |symbol: &str| {
        format!(
            "{symbol}\t{}\t{}\n",
            dates.first().map_or("", |text| text),
            dates.last().map_or("", |text| text)
        )
    };
    let instruments: String = names.iter().map(|(_, symbol)| span(symbol)).collect();
    let mut features: Vec<FeatureFile> = names
        .iter()
        .flat_map(|(name, symbol)| columns(market, *name, symbol, days))
        .collect();
    features.push(feature(BENCHMARK, "close", [1.0, 1.0, 1.0]));
    features.push(feature(BENCHMARK, "change", [0.0, 0.0, 0.0]));
    let calendar = dates.join("\n");
    let panel = QlibPanel::parse(&calendar, None, &instruments, features).ok()?;
    let mut orders = Vec::new();
    for (place, (_, symbol)) in names.iter().enumerate() {
        let is_held = place % 2 == 0;
        let order = |date, side, shares| ScriptedOrder {
            date,
            symbol: symbol.clone(),
            side,
            shares,
        };
        if is_held {
            orders.push(order(start, QlibSide::Buy, OrderSize::Real(SHARES)));
            orders.push(order(end, QlibSide::Sell, OrderSize::All));
        } else {
            orders.push(order(end, QlibSide::Buy, OrderSize::Real(SHARES)));
        }
    }
    let run = simulate(&panel, &config(start, end), &Instructions::Orders(orders)).ok()?;
    Some(run.fills.into_iter().filter(|fill| fill.date == end).collect())
}

fn columns(market: &Market, name: NameId, symbol: &str, days: [DayIndex; 3]) -> Vec<FeatureFile> {
    let bars = days.map(|day| market.bar(name, day));
    let column = |field: &str, value: &dyn Fn(&Bar) -> f64| {
        feature(
            symbol,
            field,
            bars.map(|bar| bar.as_ref().map_or(f64::NAN, value)),
        )
    };
    let change = days.map(|day| {
        let before = day.before().and_then(|before| market.last_bar_day(name, before));
        let before = before.and_then(|before| market.bar(name, before));
        let pair = market.bar(name, day).zip(before);
        pair.map_or(f64::NAN, |(bar, before)| {
            bar.adjusted_close() / before.adjusted_close() - 1.0
        })
    });
    #[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
    let volume = |bar: &Bar| bar.volume as f64 / bar.factor_value;
    vec![
        column("open", &|bar| {
            bar.open.map_or(f64::NAN, |open| bar.adjusted(open))
        }),
        column("close", &Bar::adjusted_close),
        column("factor", &|bar| bar.factor_value),
        column("volume", &volume),
        feature(symbol, "change", change),
    ]
}

fn feature(symbol: &str, field: &str, values: [f64; 3]) -> FeatureFile {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a Qlib data directory holds single precision"
    )]
    let words = std::iter::once(0.0).chain(values).map(|value| value as f32);
    FeatureFile {
        symbol: symbol.to_lowercase(),
        field: field.to_owned(),
        bytes: words.flat_map(f32::to_le_bytes).collect(),
    }
}

fn config(start: NaiveDate, end: NaiveDate) -> QlibConfig {
    QlibConfig {
        start,
        end,
        account: 1e10,
        deal_price: DealPrice {
            buy: "open".to_owned(),
            sell: "open".to_owned(),
        },
        limit: Limit::Change(DEFAULT_LIMIT_THRESHOLD),
        open_cost: 0.0005,
        close_cost: 0.0015,
        min_cost: 5.0,
        trade_unit: Some(100.0),
        impact_cost: 0.0,
        volume_threshold: None,
        trade_type: TradeType::Serial,
        settle: Settle::None,
        benchmark: BENCHMARK.to_owned(),
        risk_degree: 0.95,
        strategy: Strategy::Scripted,
    }
}
