//! What a run earned at two fills and several costs: the contract's own close, and the next open, which can be traded.

use crate::bars::{BarTime, StrategyBars};
use crate::candidate::{CandidateLogs, CandidateTable};
use crate::figures::{COSTS_BPS, EquityCurve, RunFigures, curve_after_costs};
use crate::logs::{BarSignal, StrategyLogs, TradeRow, TradeSide};
use crate::next_open::moved_to_next_open;

/// At which price an order is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FillPrice {
    /// The close of the bar that gave the signal: the contract of every document, and nothing that can be traded.
    OwnClose,
    /// The open of the bar after.
    NextOpen,
}

impl FillPrice {
    /// Both, the contract's first.
    pub const ALL: [Self; 2] = [Self::OwnClose, Self::NextOpen];

    /// Its name in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::OwnClose => "own_close",
            Self::NextOpen => "next_open",
        }
    }
}

/// Figures of one run at each fill and cost.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEarnings {
    /// In the order of [`FillPrice::ALL`], then of [`COSTS_BPS`].
    figures: [[RunFigures; COSTS_BPS.len()]; 2],
    /// Profit of closed trades over capital at the own close, less that at the next open.
    pub pretended: f64,
    /// The same profit, in basis points of the value that was traded at the own close; `None` without a trade.
    pub pretended_bps: Option<f64>,
}

impl RunEarnings {
    /// What the logs of a reference strategy earned; `None` without a bar.
    #[must_use]
    pub fn of_reference(logs: &StrategyLogs, market: &StrategyBars, capital: f64) -> Option<Self> {
        let curve = logs.bars.iter().map(|bar| (bar.time.clone(), bar.equity));
        let adds = logs.bars.iter().filter(|bar| bar.signal == BarSignal::Add);
        let adds: Vec<BarTime> = adds.map(|bar| bar.time.clone()).collect();
        Self::of(&logs.trades, &curve.collect(), (market, &adds), capital)
    }

    /// What the logs of a program earned.
    ///
    /// # Errors
    /// A sentence that names the log, the row and the column that cannot be counted: no time, no number, an unknown side.
    pub fn of_candidate(logs: &CandidateLogs, market: &StrategyBars, capital: f64) -> Result<Self, String> {
        let parsed = ParsedLogs::of(logs)?;
        Self::of(&parsed.trades, &parsed.curve, (market, &parsed.adds), capital)
            .ok_or_else(|| "audit_log has no row".to_owned())
    }

    fn of(
        trades: &[TradeRow],
        curve: &EquityCurve,
        (market, adds): (&StrategyBars, &[BarTime]),
        capital: f64,
    ) -> Option<Self> {
        let (moved, moved_curve) = moved_to_next_open(trades, curve, market, adds);
        let profit = |trades: &[TradeRow]| trades.iter().map(|trade| trade.pnl).sum::<f64>();
        let difference = profit(trades) - profit(&moved);
        let own = swept(trades, curve, capital)?;
        let traded = own.first()?.traded_value;
        Some(Self {
            pretended: difference / capital,
            pretended_bps: (traded > 0.0).then(|| difference / traded * 10_000.0),
            figures: [own, swept(&moved, &moved_curve, capital)?],
        })
    }

    /// The figures at a fill, in the order of [`COSTS_BPS`].
    #[must_use]
    pub const fn at(&self, fill: FillPrice) -> &[RunFigures; COSTS_BPS.len()] {
        let [own_close, next_open] = &self.figures;
        match fill {
            FillPrice::OwnClose => own_close,
            FillPrice::NextOpen => next_open,
        }
    }

    /// The figures at a fill without costs.
    #[must_use]
    pub const fn free(&self, fill: FillPrice) -> &RunFigures {
        let [free, ..] = self.at(fill);
        free
    }
}

/// Logs of a program as numbers.
pub(crate) struct ParsedLogs {
    pub(crate) trades: Vec<TradeRow>,
    pub(crate) curve: EquityCurve,
    /// Bars on which units were added.
    pub(crate) adds: Vec<BarTime>,
}

impl ParsedLogs {
    /// The logs as numbers; else a sentence that names the log, the row and the column.
    pub(crate) fn of(logs: &CandidateLogs) -> Result<Self, String> {
        let trades: Vec<TradeRow> = (0..logs.trades.len())
            .map(|row| trade_of(&logs.trades, row))
            .collect::<Result<_, _>>()?;
        let mut curve = EquityCurve::new();
        let mut adds = Vec::new();
        for row in 0..logs.bars.len() {
            let time = time_of(&logs.bars, "audit_log", "datetime", row)?;
            if logs.bars.text("signal", row) == Some(BarSignal::Add.label()) {
                adds.push(time.clone());
            }
            curve.push((time, number_of(&logs.bars, "audit_log", "equity", row)?));
        }
        Ok(Self { trades, curve, adds })
    }
}

fn swept(trades: &[TradeRow], curve: &EquityCurve, capital: f64) -> Option<[RunFigures; COSTS_BPS.len()]> {
    let figures =
        COSTS_BPS.map(|bps| RunFigures::of(trades, &curve_after_costs(trades, curve, bps), capital));
    let figures: Vec<RunFigures> = figures.into_iter().collect::<Option<_>>()?;
    figures.try_into().ok()
}

fn trade_of(log: &CandidateTable, row: usize) -> Result<TradeRow, String> {
    let time = |column| time_of(log, "trade_log", column, row);
    let number = |column| number_of(log, "trade_log", column, row);
    let text = |column| log.text(column, row).unwrap_or_default().to_owned();
    let side = match log.text("side", row) {
        Some("LONG") => TradeSide::Long,
        Some("SHORT") => TradeSide::Short,
        _ => {
            return Err(format!(
                "trade_log, row {row}: the side is neither LONG nor SHORT"
            ));
        }
    };
    Ok(TradeRow {
        symbol: text("symbol"),
        side,
        entry_time: time("entry_datetime")?,
        exit_time: time("exit_datetime")?,
        entry_price: number("entry_price")?,
        exit_price: number("exit_price")?,
        quantity: number("quantity")?,
        pnl: number("pnl")?,
        entry_rule: text("reason_entry"),
        exit_rule: text("reason_exit"),
    })
}

fn time_of(log: &CandidateTable, name: &str, column: &str, row: usize) -> Result<BarTime, String> {
    let time = log.text(column, row).and_then(BarTime::parse);
    time.ok_or_else(|| format!("{name}, row {row}: {column} is no time"))
}

fn number_of(log: &CandidateTable, name: &str, column: &str, row: usize) -> Result<f64, String> {
    let number = log.number(column, row).filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{name}, row {row}: {column} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::INITIAL_CAPITAL;
    use crate::figures::profit_at_next_open;
    use crate::reference::DocumentId;
    use crate::test_runs::long_run;

    #[test]
    fn the_moved_trades_earn_what_the_published_sum_says() {
        for id in DocumentId::ALL.into_iter().filter(|id| *id != DocumentId::S03) {
            let (_, market, logs) = long_run(id);
            let earned = RunEarnings::of_reference(&logs, &market, INITIAL_CAPITAL).unwrap();
            let close: f64 = logs.trades.iter().map(|trade| trade.pnl).sum();
            let open = profit_at_next_open(&logs.trades, &market);
            let wanted = (close - open) / INITIAL_CAPITAL;
            assert!((earned.pretended - wanted).abs() < 1e-9, "{id}");
            // The curve moves by the same amount, and only by it.
            let returns = FillPrice::ALL.map(|fill| earned.free(fill).total_return);
            assert!(
                (returns[0] - returns[1] - wanted).abs() < 1e-9,
                "{id}: {returns:?}"
            );
        }
    }

    #[test]
    fn a_program_that_logs_as_the_reference_earns_the_same() {
        for id in [DocumentId::S03, DocumentId::S06, DocumentId::S08] {
            let (document, market, logs) = long_run(id);
            let candidate = CandidateLogs::of_reference(&logs, &document.columns);
            assert_eq!(
                RunEarnings::of_candidate(&candidate, &market, INITIAL_CAPITAL).ok(),
                RunEarnings::of_reference(&logs, &market, INITIAL_CAPITAL),
                "{id}"
            );
        }
    }

    #[test]
    fn a_cost_lowers_every_figure_of_return() {
        let (_, market, logs) = long_run(DocumentId::S10);
        let earned = RunEarnings::of_reference(&logs, &market, INITIAL_CAPITAL).unwrap();
        for fill in FillPrice::ALL {
            let returns = earned.at(fill).each_ref().map(|figures| figures.total_return);
            assert!(
                returns.is_sorted_by(|before, after| before > after),
                "{returns:?}"
            );
        }
        assert_eq!(
            RunEarnings::of_reference(&StrategyLogs::default(), &market, INITIAL_CAPITAL),
            None
        );
    }

    #[test]
    fn a_log_that_cannot_be_counted_is_named() {
        let (document, market, logs) = long_run(DocumentId::S01);
        let mut candidate = CandidateLogs::of_reference(&logs, &document.columns);
        candidate.bars = CandidateTable::default();
        let error = RunEarnings::of_candidate(&candidate, &market, INITIAL_CAPITAL).unwrap_err();
        assert_eq!(error, "audit_log has no row");
        let mut logs = logs;
        logs.bars[2].equity = f64::NAN;
        let candidate = CandidateLogs::of_reference(&logs, &document.columns);
        let error = RunEarnings::of_candidate(&candidate, &market, INITIAL_CAPITAL).unwrap_err();
        assert_eq!(error, "audit_log, row 2: equity is no number");
    }
}
