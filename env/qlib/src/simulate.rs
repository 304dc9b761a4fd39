//! The day loop: decide, deal, mark, report.

use super::bins::QlibPanel;
use super::config::{QlibConfig, Strategy, TopkDropout, TradeType};
use super::error::SimulationError;
use super::exchange::QlibSide;
use super::executor::Executor;
use super::instructions::{Instructions, OrderSize, Scores, ScriptedOrder};
use super::market::{Market, MarketDay};
use super::report::{DayReport, QlibRun};
use super::topk_dropout::{self, Order, Outlook};
use super::window::{self, Step};
use chrono::NaiveDate;
use std::collections::BTreeMap;

/// Runs `instructions` through Qlib's rules.
///
/// # Errors
/// [`SimulationError`] when the run cannot be made, or at the point where Qlib would raise.
pub fn simulate(
    panel: &QlibPanel,
    config: &QlibConfig,
    instructions: &Instructions,
) -> Result<QlibRun, SimulationError> {
    config.validate()?;
    let steps = window::steps(panel, config.start, config.end)?;
    let bench = benchmark(panel, &config.benchmark, &steps)?;
    let market = Market::new(panel, config, &steps, instructions.symbols());
    let mut source = Source::new(config, instructions, &market)?;
    let mut executor = Executor::new(config, &market);
    let mut daily = Vec::with_capacity(steps.len());
    for (index, (step, bench)) in steps.iter().zip(bench).enumerate() {
        let day = market.day(index);
        let mut orders = source.orders(step, day, &market, &executor)?;
        if config.trade_type == TradeType::Parallel {
            orders.sort_by_key(|order| order.side == QlibSide::Sell);
        }
        for order in orders {
            executor.execute(step, day, order)?;
        }
        daily.push(executor.close_day(step, day, bench));
    }
    let net_asset_value = daily
        .last()
        .map_or(config.account, |day: &DayReport| day.metrics.account);
    let final_positions = executor.positions(net_asset_value);
    Ok(QlibRun {
        fills: executor.into_fills(),
        daily,
        final_positions,
        trade_with_adjusted_price: market.adjusted_only,
        n_orders_outside: source.n_outside(&steps),
    })
}

/// Where a day's orders come from.
enum Source<'a> {
    Script(BTreeMap<NaiveDate, Vec<&'a ScriptedOrder>>),
    TopkDropout {
        strategy: &'a TopkDropout,
        scores: Scores<'a>,
        risk_degree: f64,
    },
}

impl<'a> Source<'a> {
    fn new(
        config: &'a QlibConfig,
        instructions: &'a Instructions,
        market: &Market,
    ) -> Result<Self, SimulationError> {
        match (&config.strategy, instructions) {
            (Strategy::Scripted, Instructions::Orders(orders)) => {
                let mut by_date: BTreeMap<NaiveDate, Vec<&ScriptedOrder>> = BTreeMap::new();
                for order in orders {
                    by_date.entry(order.date).or_default().push(order);
                }
                Ok(Self::Script(by_date))
            }
            (Strategy::TopkDropout(strategy), Instructions::Signal(signal)) => Ok(Self::TopkDropout {
                strategy,
                scores: signal.scores(market),
                risk_degree: config.risk_degree,
            }),
            (Strategy::Scripted, Instructions::Signal(_)) => Err(SimulationError::Instructions {
                strategy: "scripted",
                needs: "orders",
            }),
            (Strategy::TopkDropout(_), Instructions::Orders(_)) => Err(SimulationError::Instructions {
                strategy: "topk_dropout",
                needs: "a signal",
            }),
        }
    }

    /// The orders of a day, in the order in which they were given.
    fn orders(
        &mut self,
        step: &Step,
        day: MarketDay<'_>,
        market: &Market,
        executor: &Executor<'_>,
    ) -> Result<Vec<Order>, SimulationError> {
        match self {
            Self::Script(by_date) => {
                let orders = by_date.get(&step.date).map(Vec::as_slice).unwrap_or_default();
                Ok(orders
                    .iter()
                    .filter_map(|order| resolve(order, day, market, executor))
                    .collect())
            }
            Self::TopkDropout {
                strategy,
                scores,
                risk_degree,
            } => {
                let Some(scores) = scores.on(step) else {
                    return Ok(Vec::new());
                };
                let (account, terms, risk_degree) = (executor.account(), executor.terms(), *risk_degree);
                let outlook = Outlook {
                    day,
                    scores,
                    account,
                    terms,
                    risk_degree,
                };
                topk_dropout::decide(strategy, &outlook)
                    .map_err(|_| SimulationError::ZeroDivision { date: step.date })
            }
        }
    }

    /// Orders of the script on days that are not traded.
    fn n_outside(&self, steps: &[Step]) -> usize {
        match self {
            Self::Script(by_date) => {
                let traded = |date: &NaiveDate| steps.binary_search_by_key(date, |step| step.date).is_ok();
                by_date
                    .iter()
                    .filter(|(date, _)| !traded(date))
                    .map(|(_, orders)| orders.len())
                    .sum()
            }
            Self::TopkDropout { .. } => 0,
        }
    }
}

/// An order of the script in adjusted amounts, as the account stands when the day begins.
fn resolve(
    order: &ScriptedOrder,
    day: MarketDay<'_>,
    market: &Market,
    executor: &Executor<'_>,
) -> Option<Order> {
    let instrument = market.instrument(&order.symbol)?;
    let amount = match order.shares {
        OrderSize::All => executor.account().amount(instrument),
        OrderSize::Real(shares) => {
            let factor = day.quote(instrument).factor;
            // Without a factor the instrument is suspended, or nothing is adjusted.
            if factor.is_nan() { shares } else { shares / factor }
        }
    };
    Some(Order {
        instrument,
        side: order.side,
        amount,
    })
}

/// The benchmark's change on each day, in `f32` as Qlib's expression engine computes it; zero where it is missing.
fn benchmark(panel: &QlibPanel, symbol: &str, steps: &[Step]) -> Result<Vec<f64>, SimulationError> {
    let missing = || SimulationError::Benchmark {
        symbol: symbol.to_owned(),
    };
    let close = panel.series(symbol, "close").ok_or_else(missing)?;
    let change = |step: &Step| {
        let before = step.day.checked_sub(1).map_or(f32::NAN, |day| close.at(day));
        let change = close.at(step.day) / before - 1.0;
        // Qlib compounds the days of a step and takes one off again, which rounds once more.
        if change.is_nan() {
            0.0
        } else {
            f64::from((change + 1.0) - 1.0)
        }
    };
    Ok(steps.iter().map(change).collect())
}
