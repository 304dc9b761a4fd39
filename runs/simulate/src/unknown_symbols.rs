//! Symbols of orders that the panel does not have: their orders are rejected, and a slip is told.

use super::orders::Batches;
use ktd_env::{Market, Ticker};
use ktd_experiment::nearest::nearest;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Symbol that the panel does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissedStock {
    /// As the orders have it.
    pub symbol: String,
    /// Its orders, all rejected.
    pub orders: usize,
    /// The stock of the panel that it may have meant; none where none is like it.
    pub nearest: Option<String>,
}

impl MissedStock {
    /// The symbol, and what was meant.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { symbol, nearest, .. } = self;
        match nearest {
            Some(nearest) => format!("{symbol} (did you mean {nearest}?)"),
            None => symbol.clone(),
        }
    }
}

/// The symbols of the orders of a run that the panel does not have.
pub(super) fn unknown_symbols(market: &Market, batches: &Batches) -> Vec<MissedStock> {
    let is_known = |symbol: &str| {
        let ticker = Ticker::parse(symbol).ok();
        ticker.and_then(|ticker| market.find(ticker)).is_some()
    };
    let mut orders: BTreeMap<&str, usize> = BTreeMap::new();
    for order in batches
        .values()
        .flatten()
        .filter(|order| !is_known(&order.symbol))
    {
        *orders.entry(&order.symbol).or_default() += 1;
    }
    if orders.is_empty() {
        return Vec::new();
    }
    let stocks = market.names().map(|(_, info)| info.ticker.reveal().to_owned());
    let stocks: Vec<String> = stocks.collect();
    let unknown = |(symbol, orders): (&str, usize)| MissedStock {
        symbol: symbol.to_owned(),
        orders,
        nearest: nearest(symbol, stocks.iter().map(String::as_str)).map(str::to_owned),
    };
    orders.into_iter().map(unknown).collect()
}
