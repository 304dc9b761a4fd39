//! The bars of a real stock for panel Q.

use super::config::RealStock;
use crate::error::CodeError;
use ktd_data::market_source::MarketSource;
use ktd_env::{Price, Ticker};
use ktd_factor_code::{FactorBar, FactorBars, PanelDay};
use std::path::Path;

/// The adjusted bars of a stock, on weekdays one after the other: no date of it goes further.
pub(super) fn real_bars(real: &RealStock, base: &Path) -> Result<FactorBars, CodeError> {
    let source = MarketSource::from_file(&base.join(&real.panel))?;
    let market = &source.market;
    let name = Ticker::parse(&real.symbol)
        .ok()
        .and_then(|ticker| market.find(ticker));
    let name = name.ok_or_else(|| {
        CodeError::input(
            format!("{} has no symbol {:?}", real.panel.display(), real.symbol),
            "name a symbol of the panel, such as SH600519",
        )
    })?;
    let first = PanelDay::of(1990, 1, 1)
        .into_iter()
        .flat_map(PanelDay::weekdays_from);
    #[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
    let adjusted = market.bars_of(name).filter_map(|(_, bar)| {
        let factor = bar.factor_value;
        Some(FactorBar {
            open: bar.open.map(Price::to_yuan)? * factor,
            high: bar.high.to_yuan() * factor,
            low: bar.low.to_yuan() * factor,
            close: bar.close.to_yuan() * factor,
            volume: bar.volume as f64 / factor,
        })
    });
    Ok(FactorBars::new(first.zip(adjusted))?)
}
