//! The private ledger: exact accounts and fills with real codes. Folding it gives the state to continue from.

use crate::event::StepOutcome;
use ktd_env::exchange::{
    Account, CorporateEvent, EventKind, Execution, Fill, Holding, LimitOpen, Lot, NavIdentity, Position,
    RejectCode, Side, StepReport,
};
use ktd_env::{AmountTooLarge, Decimal, Fen, Market, NameId, Price, Shares, Ticker, TradeDate};
use ktd_experiment::label;
use ktd_record::RecordError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// One step, exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// 1-based step.
    pub step: usize,
    /// The trading day's real date.
    pub date: String,
    /// How the step ended.
    pub outcome: StepOutcome,
    /// One entry an order.
    pub fills: Vec<FillRecord>,
    /// Corporate actions and delistings.
    pub events: Vec<EventRecord>,
    /// Holdings at the close.
    pub positions: Vec<PositionRecord>,
    /// The same by day of purchase, oldest first; absent where dividends are not taxed, and from records of earlier programs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lots: Vec<LotRecord>,
    /// Cash at the close, fen.
    pub cash_fen: i64,
    /// Net asset value at the close, fen.
    pub nav_fen: i64,
    /// What the change of the net asset value since the last close is made of.
    pub identity_fen: IdentityRecord,
}

/// Parts of a day's change of the net asset value, fen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityRecord {
    /// What prices gained or lost.
    pub price_pnl: i64,
    /// Rounding of corporate actions.
    pub corporate_rounding: i64,
    /// Fees paid.
    pub fees: i64,
    /// What delisted holdings lost.
    pub delisting_loss: i64,
    /// Tax on dividends; absent where there was none, and from records of earlier programs.
    #[serde(skip_serializing_if = "is_none", default)]
    pub dividend_tax: i64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_none(fen: &i64) -> bool {
    *fen == 0
}

/// An order at the open, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillRecord {
    /// Real code; `null` for a symbol that is none.
    pub symbol: Option<String>,
    /// `BUY` or `SELL`.
    #[serde(with = "label")]
    pub side: Side,
    /// Shares asked for.
    pub requested: i64,
    /// Whether it traded.
    pub execution: ExecutionRecord,
    /// The open at the limit of its side that it met; absent where there was none, and from records of earlier programs.
    #[serde(with = "label::optional", skip_serializing_if = "Option::is_none", default)]
    pub limit_open: Option<LimitOpen>,
}

/// Execution of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionRecord {
    /// It traded.
    Filled {
        /// Shares traded.
        shares: i64,
        /// Price, fen a share.
        price_fen: i64,
        /// Value, fen.
        value_fen: i64,
        /// Fee, fen.
        fee_fen: i64,
        /// Whether cash or a corporate action cut it down.
        is_clipped: bool,
    },
    /// It did not trade.
    Rejected {
        /// Why.
        #[serde(with = "label")]
        code: RejectCode,
    },
}

/// A corporate action or delisting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRecord {
    /// Real code.
    pub symbol: String,
    /// What happened.
    #[serde(with = "label")]
    pub kind: EventKind,
    /// Shares before it.
    pub shares_before: i64,
    /// Shares after it.
    pub shares_after: i64,
    /// Adjustment factor before it, an exact decimal.
    pub factor_before: String,
    /// Adjustment factor after it, an exact decimal.
    pub factor_after: String,
    /// Reference price or last mark, fen.
    pub price_fen: i64,
    /// Cash paid, fen.
    pub cash_fen: i64,
}

/// A holding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRecord {
    /// Real code.
    pub symbol: String,
    /// Shares.
    pub shares: i64,
    /// Cost, fees included, fen.
    pub cost_fen: i64,
    /// Mark, fen a share.
    pub mark_fen: i64,
    /// Trading days since the last bar.
    pub stale_days: u32,
}

/// Shares of one name that were bought on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LotRecord {
    /// Real code.
    pub symbol: String,
    /// The real day on which they were bought.
    pub acquired: String,
    /// Shares.
    pub shares: i64,
    /// Dividends that were not taxed yet, fen before tax, by schedule of the tax from the oldest on.
    pub dividends_fen: [i64; 3],
}

impl LotRecord {
    fn of(lot: &Lot, symbol: String) -> Self {
        Self {
            symbol,
            acquired: lot.acquired.reveal(),
            shares: lot.shares.0,
            dividends_fen: lot.dividends.map(|dividend| dividend.0),
        }
    }
}

impl PositionRecord {
    /// The position again, of the name that the code says.
    fn position(&self, name: NameId) -> Result<Position, AmountTooLarge> {
        let (shares, mark) = (Shares(self.shares), Price(self.mark_fen));
        Ok(Position {
            name,
            shares,
            mark,
            value: mark.times(shares)?,
            stale_days: self.stale_days,
        })
    }
}

impl LedgerLine {
    /// The record of a step.
    #[must_use]
    pub fn of(
        market: &Market,
        step: usize,
        date: String,
        outcome: StepOutcome,
        account: &Account,
        report: &StepReport,
    ) -> Self {
        let code = |name: NameId| symbol(market, name);
        let identity = report.identity;
        Self {
            step,
            date,
            outcome,
            fills: report.fills.iter().map(|fill| fill_record(fill, &code)).collect(),
            events: report
                .events
                .iter()
                .map(|event| event_record(event, &code))
                .collect(),
            positions: report
                .positions
                .iter()
                .map(|position| PositionRecord {
                    symbol: code(position.name),
                    shares: position.shares.0,
                    cost_fen: account.holding(position.name).map_or(0, |holding| holding.cost.0),
                    mark_fen: position.mark.0,
                    stale_days: position.stale_days,
                })
                .collect(),
            lots: account
                .lots
                .iter()
                .map(|lot| LotRecord::of(lot, code(lot.name)))
                .collect(),
            cash_fen: report.cash.0,
            nav_fen: report.nav.0,
            identity_fen: IdentityRecord {
                price_pnl: identity.price_pnl.0,
                corporate_rounding: identity.corporate_rounding.0,
                fees: identity.fees.0,
                delisting_loss: identity.delisting_loss.0,
                dividend_tax: identity.dividend_tax.0,
            },
        }
    }

    /// The account and report of the step again.
    ///
    /// # Errors
    /// [`RecordError::File`] for a code or word that this panel and program do not know.
    pub fn restore(&self, market: &Market, path: &Path) -> Result<(Account, StepReport), RecordError> {
        let unknown = |what: &str| RecordError::damaged(path, format!("step {}: unknown {what}", self.step));
        let uncounted =
            |error: AmountTooLarge| RecordError::damaged(path, format!("step {}: {error}", self.step));
        let find = |code: &str| {
            Ticker::parse(code)
                .ok()
                .and_then(|ticker| market.find(ticker))
                .ok_or_else(|| unknown("symbol"))
        };
        let (mut holdings, mut positions) = (Vec::new(), Vec::new());
        for record in &self.positions {
            let name = find(&record.symbol)?;
            let position = record.position(name).map_err(uncounted)?;
            holdings.push(Holding {
                name,
                shares: position.shares,
                cost: Fen(record.cost_fen),
            });
            positions.push(position);
        }
        let fills = self.fills.iter().enumerate();
        let fills: Result<Vec<_>, _> = fills
            .map(|(position, record)| restore_fill(position, record, &find))
            .collect();
        let events: Result<Vec<_>, _> = self
            .events
            .iter()
            .map(|record| restore_event(record, &find, &unknown))
            .collect();
        let identity = self.identity_fen;
        let holdings_value =
            Fen::total(positions.iter().map(|position| position.value)).map_err(uncounted)?;
        if Fen(self.cash_fen).plus(holdings_value) != Ok(Fen(self.nav_fen)) {
            let what = format!(
                "step {}: cash and holdings are not the net asset value",
                self.step
            );
            return Err(RecordError::damaged(path, what));
        }
        let report = StepReport {
            fills: fills?,
            events: events?,
            positions,
            cash: Fen(self.cash_fen),
            holdings_value,
            nav: Fen(self.nav_fen),
            identity: NavIdentity {
                price_pnl: Fen(identity.price_pnl),
                corporate_rounding: Fen(identity.corporate_rounding),
                fees: Fen(identity.fees),
                delisting_loss: Fen(identity.delisting_loss),
                dividend_tax: Fen(identity.dividend_tax),
            },
        };
        let lots = self.restore_lots(&find, &unknown)?;
        Ok((
            Account {
                cash: report.cash,
                holdings,
                lots,
                nav: report.nav,
            },
            report,
        ))
    }

    /// The lots again, which are no more than what is held.
    fn restore_lots(
        &self,
        find: &impl Fn(&str) -> Result<NameId, RecordError>,
        unknown: &impl Fn(&str) -> RecordError,
    ) -> Result<Vec<Lot>, RecordError> {
        let held = self.positions.iter();
        let mut left: BTreeMap<&str, i64> = held.map(|held| (held.symbol.as_str(), held.shares)).collect();
        let restored = self.lots.iter().map(|record| {
            let left = left.entry(record.symbol.as_str()).or_default();
            *left = left.saturating_sub(record.shares);
            if record.shares <= 0 || *left < 0 || record.dividends_fen.iter().any(|fen| *fen < 0) {
                return Err(unknown("shares of a lot"));
            }
            Ok(Lot {
                name: find(&record.symbol)?,
                acquired: TradeDate::parse(&record.acquired).map_err(|_| unknown("day of a lot"))?,
                shares: Shares(record.shares),
                dividends: record.dividends_fen.map(Fen),
            })
        });
        restored.collect()
    }
}

fn symbol(market: &Market, name: NameId) -> String {
    market
        .name(name)
        .map(|info| info.ticker.reveal().to_owned())
        .unwrap_or_default()
}

fn fill_record(fill: &Fill, code: &impl Fn(NameId) -> String) -> FillRecord {
    FillRecord {
        symbol: fill.name.map(code),
        side: fill.side,
        requested: fill.requested.0,
        execution: match fill.execution {
            Execution::Filled {
                quantity,
                price,
                value,
                fee,
                clipped,
            } => ExecutionRecord::Filled {
                shares: quantity.0,
                price_fen: price.0,
                value_fen: value.0,
                fee_fen: fee.0,
                is_clipped: clipped,
            },
            Execution::Rejected(code) => ExecutionRecord::Rejected { code },
        },
        limit_open: fill.limit_open,
    }
}

fn event_record(event: &CorporateEvent, code: &impl Fn(NameId) -> String) -> EventRecord {
    EventRecord {
        symbol: code(event.name),
        kind: event.kind,
        shares_before: event.shares_before.0,
        shares_after: event.shares_after.0,
        factor_before: event.factor_before.to_string(),
        factor_after: event.factor_after.to_string(),
        price_fen: event.price.0,
        cash_fen: event.cash.0,
    }
}

fn restore_fill(
    position: usize,
    record: &FillRecord,
    find: &impl Fn(&str) -> Result<NameId, RecordError>,
) -> Result<Fill, RecordError> {
    let execution = match record.execution {
        ExecutionRecord::Filled {
            shares,
            price_fen,
            value_fen,
            fee_fen,
            is_clipped,
        } => Execution::Filled {
            quantity: Shares(shares),
            price: Price(price_fen),
            value: Fen(value_fen),
            fee: Fen(fee_fen),
            clipped: is_clipped,
        },
        ExecutionRecord::Rejected { code } => Execution::Rejected(code),
    };
    let name = record.symbol.as_deref().map(find).transpose()?;
    Ok(Fill {
        position,
        name,
        side: record.side,
        requested: Shares(record.requested),
        execution,
        limit_open: record.limit_open,
    })
}

fn restore_event(
    record: &EventRecord,
    find: &impl Fn(&str) -> Result<NameId, RecordError>,
    unknown: &impl Fn(&str) -> RecordError,
) -> Result<CorporateEvent, RecordError> {
    let factor = |text: &str| Decimal::parse(text).map_err(|_| unknown("factor"));
    Ok(CorporateEvent {
        name: find(&record.symbol)?,
        kind: record.kind,
        shares_before: Shares(record.shares_before),
        shares_after: Shares(record.shares_after),
        factor_before: factor(&record.factor_before)?,
        factor_after: factor(&record.factor_after)?,
        price: Price(record.price_fen),
        cash: Fen(record.cash_fen),
    })
}
