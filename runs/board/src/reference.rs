//! References: the benchmark of total return, price indices, and the members bought once in equal weights. They are computed from the panel, without lots, and
//! have no rank.

use super::benchmark::{BenchmarkSeries, Benchmarks};
use super::metric::BoardMetric;
use super::record::{Cohort, Curves, Faults, LeaderboardRow};
use super::replayed_account::{AccountOrders, FeeRates, ReplayedAccount};
use super::row::{contributions, curves, daily_exposures, drawdown, exposures, seed_stat};
use super::score::{AGAINST_PRICE_INDEX, AGAINST_TOTAL_RETURN, portfolio_metrics, relative};
use super::series::rounded;
use ktd_attribution::account::{DayBook, attribute};
use ktd_attribution::metric::NavPath;
use ktd_attribution::model::FactorModel;
use ktd_bundle::summary::Metric;
use ktd_env::{DayIndex, Market, NameId};
use std::collections::BTreeMap;

/// Cash of a reference, CNY: any amount does, for it has no lots.
const CASH_CNY: f64 = 1e6;

/// The name of the reference that holds the index's members.
pub const MEMBERS: &str = "buy-and-hold";

/// The references of a window: benchmark and price indices where they have all levels, and the members bought at the first
/// open.
pub(super) fn references(
    market: &Market,
    days: &[DayIndex],
    (model, benchmarks): (&FactorModel, &Benchmarks),
    fees: FeeRates,
) -> Vec<LeaderboardRow> {
    let total_return = (&benchmarks.total_return, AGAINST_TOTAL_RETURN.as_slice());
    let price_indices = benchmarks.price_indices.iter().enumerate().map(|(place, index)| {
        let own = if place == 0 { &AGAINST_PRICE_INDEX[..] } else { &[] };
        (index, own)
    });
    std::iter::once(total_return)
        .chain(price_indices)
        .filter_map(|(series, own)| index(days, series, own, benchmarks))
        .chain(members(market, days, (model, benchmarks), fees))
        .collect()
}

/// The row of a series; the metrics of `own` are against itself.
fn index(
    days: &[DayIndex],
    series: &BenchmarkSeries,
    own: &[BoardMetric],
    benchmarks: &Benchmarks,
) -> Option<LeaderboardRow> {
    let returns = series.over(days).ok()?;
    let mut nav = Vec::with_capacity(returns.len());
    let mut value = CASH_CNY;
    for daily in &returns {
        value *= 1.0 + daily;
        nav.push(value);
    }
    let path = NavPath::new(CASH_CNY, &nav).ok()?;
    let mut metrics = portfolio_metrics(&path, benchmarks, days);
    for name in own {
        metrics.insert(*name, Metric::missing(format!("it is the {}", series.name())));
    }
    let nav = relative(&path);
    let curves = Curves {
        drawdown: rounded(drawdown(&nav)),
        nav: rounded(nav.iter().copied()),
        common: Vec::new(),
        style: Vec::new(),
        selection: Vec::new(),
        other: Vec::new(),
    };
    Some(LeaderboardRow {
        unattributed_reason: Some("a benchmark has no holdings to attribute".to_owned()),
        curves: Some(curves),
        ..blank(series.name(), &metrics)
    })
}

/// Members of the day before the first that trade at its open, in equal weights, kept to the end.
fn members(
    market: &Market,
    days: &[DayIndex],
    (model, benchmarks): (&FactorModel, &Benchmarks),
    fees: FeeRates,
) -> Option<LeaderboardRow> {
    let first = *days.first()?;
    let date = market.date(first.before()?)?;
    let trades = |name: NameId| market.bar(name, first).is_some_and(|bar| bar.trades_at_open());
    let names: Vec<NameId> = market
        .names()
        .map(|(name, _)| name)
        .filter(|name| market.is_member(*name, date) && trades(*name))
        .collect();
    let count = f64::from(u32::try_from(names.len()).ok().filter(|count| 0 < *count)?);
    let mut orders = AccountOrders::Weights(names.into_iter().map(|name| (name, 1.0 / count)).collect());
    let mut account = ReplayedAccount::new(CASH_CNY, fees);
    let mut books: Vec<DayBook> = Vec::with_capacity(days.len());
    for day in days {
        books.push(account.step(market, *day, &orders).ok()?);
        orders = AccountOrders::Hold;
    }
    let attribution = attribute(&books, model.config().styles.len(), |day| model.day(day)).ok()?;
    let closes: Vec<f64> = books.iter().map(|book| book.nav_after_cny).collect();
    let path = NavPath::new(CASH_CNY, &closes).ok()?;
    let metrics = portfolio_metrics(&path, benchmarks, days);
    let nav = relative(&path);
    Some(LeaderboardRow {
        attribution: contributions(&[&attribution]),
        exposures: exposures(&[&attribution]),
        daily_exposures: daily_exposures(&[&attribution]),
        curves: curves(std::iter::once((nav.as_slice(), &attribution))),
        ..blank(MEMBERS, &metrics)
    })
}

fn blank(name: &str, metrics: &BTreeMap<BoardMetric, Metric>) -> LeaderboardRow {
    LeaderboardRow {
        agent: name.to_owned(),
        cohort: Cohort::Reference,
        force: None,
        seeds: Vec::new(),
        served_models: Vec::new(),
        faults: Faults::default(),
        orders: None,
        comparability: None,
        cutoff: None,
        metrics: metrics
            .iter()
            .map(|(name, metric)| (*name, seed_stat(std::iter::once(metric))))
            .collect(),
        return_rank: None,
        alpha_rank: None,
        delta_rank: None,
        rank_interval: None,
        rank_interval_default: None,
        unranked_reason: None,
        first_share: None,
        attribution: None,
        unattributed_reason: None,
        selection: None,
        size_cost: None,
        exposures: Vec::new(),
        daily_exposures: Vec::new(),
        curves: None,
        reliability: None,
        memory_gap: None,
        mask: None,
        boxed: None,
        signer: None,
    }
}
