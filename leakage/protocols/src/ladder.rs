//! A signal's best tenth, filled at earlier and later prices.

use crate::panel::BarGrid;
use crate::run::{DayTrade, best_tenth, equal_weights};
use crate::series::{HEADLINE_BPS, TradeSeries};
use crate::signal::SignalGrid;
use crate::switch::FillRule;
use schemars::JsonSchema;
use serde::Serialize;

/// What the best tenth of a signal earned at one fill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LadderRung {
    /// Where orders are filled.
    pub fill: FillRule,
    /// Annual ratio at the headline cost; `None` where it has no value.
    pub sharpe: Option<f64>,
    /// Mean daily turnover without the first day; `None` of one day.
    pub turnover: Option<f64>,
    /// Days traded.
    pub days: usize,
}

/// Trades the best tenth of a signal's names each session that has enough of them with a score and one with a return.
#[must_use]
pub fn fill_ladder(bars: &BarGrid, signal: &SignalGrid, fill: FillRule, min_names: usize) -> LadderRung {
    let trade = |session: usize| {
        let scored = signal.row(session).iter().copied().enumerate();
        let scored: Vec<(usize, f64)> = scored.filter(|(_, score)| !score.is_nan()).collect();
        if scored.len() < min_names.max(1) {
            return None;
        }
        let picks = best_tenth(scored);
        let returns = picks.iter().map(|name| fill.trade_return(bars, session, *name));
        let (gross, without_return) = equal_weights(returns, picks.len());
        // Behind the end of the panel nothing is earned, which is no day.
        (without_return < picks.len()).then_some(DayTrade {
            session,
            picks,
            gross,
            without_return,
            rank_ic: None,
            auc: None,
        })
    };
    let series = TradeSeries::of((0..signal.sessions()).filter_map(trade).collect());
    LadderRung {
        fill,
        sharpe: series.sharpe(HEADLINE_BPS).ok(),
        turnover: series.figures().turnover,
        days: series.days().len(),
    }
}
