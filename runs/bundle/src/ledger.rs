//! The private ledger: exact accounts and fills with real codes. Folding it gives the state to continue from.

use crate::BundleError;
use crate::event::StepOutcome;
use ktd_env::exchange::{
    Account, CorporateEvent, EventKind, Execution, Fill, Holding, NavIdentity, Position, RejectCode, Side,
    StepReport,
};
use ktd_env::{Decimal, Fen, Market, NameId, Price, Shares, Ticker};
use serde::{Deserialize, Serialize};
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
    /// Cash at the close, fen.
    pub cash_fen: i64,
    /// Net asset value at the close, fen.
    pub nav_fen: i64,
    /// Price P&L, corporate rounding, fees, delisting loss, fen.
    pub identity_fen: [i64; 4],
}

/// A fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillRecord {
    /// Real code; `null` for a symbol that is none.
    pub symbol: Option<String>,
    /// `BUY` or `SELL`.
    pub side: String,
    /// Shares asked for.
    pub requested: i64,
    /// Shares, price, value and fee in fen, and whether it was clipped.
    pub filled: Option<(i64, i64, i64, i64, bool)>,
    /// Why it did not trade.
    pub code: Option<String>,
}

/// A corporate action or delisting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRecord {
    /// Real code.
    pub symbol: String,
    /// What happened.
    pub kind: String,
    /// Shares before and after.
    pub shares: (i64, i64),
    /// Factor before and after, exact decimals.
    pub factors: (String, String),
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
            cash_fen: report.cash.0,
            nav_fen: report.nav.0,
            identity_fen: [
                identity.price_pnl.0,
                identity.corporate_rounding.0,
                identity.fees.0,
                identity.delisting_loss.0,
            ],
        }
    }

    /// The account and report of the step again.
    ///
    /// # Errors
    /// [`BundleError::File`] for a code or word that this panel and program do not know.
    pub fn restore(&self, market: &Market, path: &Path) -> Result<(Account, StepReport), BundleError> {
        let unknown = |what: &str| BundleError::damaged(path, format!("step {}: unknown {what}", self.step));
        let find = |code: &str| {
            Ticker::parse(code)
                .ok()
                .and_then(|ticker| market.find(ticker))
                .ok_or_else(|| unknown("symbol"))
        };
        let mut holdings = Vec::new();
        let mut positions = Vec::new();
        for record in &self.positions {
            let (name, shares, mark) = (
                find(&record.symbol)?,
                Shares(record.shares),
                Price(record.mark_fen),
            );
            holdings.push(Holding {
                name,
                shares,
                cost: Fen(record.cost_fen),
            });
            positions.push(Position {
                name,
                shares,
                mark,
                value: mark * shares,
                stale_days: record.stale_days,
            });
        }
        let fills = self.fills.iter().enumerate();
        let fills: Result<Vec<_>, _> = fills
            .map(|(position, record)| restore_fill(position, record, &find, &unknown))
            .collect();
        let events: Result<Vec<_>, _> = self
            .events
            .iter()
            .map(|record| restore_event(record, &find, &unknown))
            .collect();
        let [price_pnl, corporate_rounding, fees, delisting_loss] = self.identity_fen.map(Fen);
        let holdings_value = positions.iter().map(|position: &Position| position.value).sum();
        let report = StepReport {
            fills: fills?,
            events: events?,
            positions,
            cash: Fen(self.cash_fen),
            holdings_value,
            nav: Fen(self.nav_fen),
            identity: NavIdentity {
                price_pnl,
                corporate_rounding,
                fees,
                delisting_loss,
            },
        };
        Ok((
            Account {
                cash: report.cash,
                holdings,
                nav: report.nav,
            },
            report,
        ))
    }
}

fn symbol(market: &Market, name: NameId) -> String {
    market
        .name(name)
        .map(|info| info.ticker.reveal().to_owned())
        .unwrap_or_default()
}

fn fill_record(fill: &Fill, code: &impl Fn(NameId) -> String) -> FillRecord {
    let (filled, rejection) = match fill.execution {
        Execution::Filled {
            quantity,
            price,
            value,
            fee,
            clipped,
        } => (Some((quantity.0, price.0, value.0, fee.0, clipped)), None),
        Execution::Rejected(reason) => (None, Some(reason.code().to_owned())),
    };
    FillRecord {
        symbol: fill.name.map(code),
        side: fill.side.label().to_owned(),
        requested: fill.requested.0,
        filled,
        code: rejection,
    }
}

fn event_record(event: &CorporateEvent, code: &impl Fn(NameId) -> String) -> EventRecord {
    EventRecord {
        symbol: code(event.name),
        kind: event.kind.label().to_owned(),
        shares: (event.shares_before.0, event.shares_after.0),
        factors: (event.factor_before.to_string(), event.factor_after.to_string()),
        price_fen: event.price.0,
        cash_fen: event.cash.0,
    }
}

fn restore_fill(
    position: usize,
    record: &FillRecord,
    find: &impl Fn(&str) -> Result<NameId, BundleError>,
    unknown: &impl Fn(&str) -> BundleError,
) -> Result<Fill, BundleError> {
    let execution = match (record.filled, &record.code) {
        (Some((quantity, price, value, fee, clipped)), None) => Execution::Filled {
            quantity: Shares(quantity),
            price: Price(price),
            value: Fen(value),
            fee: Fen(fee),
            clipped,
        },
        (None, Some(code)) => RejectCode::ALL
            .into_iter()
            .find(|known| known.code() == code)
            .map(Execution::Rejected)
            .ok_or_else(|| unknown("code"))?,
        _ => return Err(unknown("fill")),
    };
    let side = match record.side.as_str() {
        "BUY" => Side::Buy,
        "SELL" => Side::Sell,
        _ => return Err(unknown("side")),
    };
    let name = record.symbol.as_deref().map(find).transpose()?;
    Ok(Fill {
        position,
        name,
        side,
        requested: Shares(record.requested),
        execution,
    })
}

fn restore_event(
    record: &EventRecord,
    find: &impl Fn(&str) -> Result<NameId, BundleError>,
    unknown: &impl Fn(&str) -> BundleError,
) -> Result<CorporateEvent, BundleError> {
    let kinds = [
        EventKind::CorporateAction,
        EventKind::DelistingLastClose,
        EventKind::DelistingZero,
    ];
    let factor = |text: &str| Decimal::parse(text).map_err(|_| unknown("factor"));
    Ok(CorporateEvent {
        name: find(&record.symbol)?,
        kind: kinds
            .into_iter()
            .find(|kind| kind.label() == record.kind)
            .ok_or_else(|| unknown("kind"))?,
        shares_before: Shares(record.shares.0),
        shares_after: Shares(record.shares.1),
        factor_before: factor(&record.factors.0)?,
        factor_after: factor(&record.factors.1)?,
        price: Price(record.price_fen),
        cash: Fen(record.cash_fen),
    })
}
