//! What a step did.

use super::limit_open::LimitOpen;
use super::order::Side;
use crate::decimal::Decimal;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Price, Shares};

/// Why an order did not trade. The texts are stable: they stand in files and in feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RejectCode {
    /// No bar on or before the as-of day, or no such name.
    UnknownSymbol,
    /// The batch already has an accepted order on this name.
    Duplicate,
    /// A buy of a name that is no index member on the as-of day.
    NotInUniverse,
    /// A sell of a name without shares.
    NotHeld,
    /// The target implies no trade or one on the other side.
    SideMismatch,
    /// A sell of more than is sellable.
    Oversell,
    /// Off the board's grid.
    Lot,
    /// The holding would weigh too much.
    MaxSingleWeight,
    /// Too many names.
    MaxPositions,
    /// No bar, no volume or no open on the trading day.
    Suspended,
    /// A buy that the upper price limit held back.
    LimitUp,
    /// A sell that the lower price limit held back.
    LimitDown,
    /// The largest share of the day's volume holds no legal count.
    Volume,
    /// Nothing legal is affordable, or the fee cannot be paid.
    Cash,
}

impl RejectCode {
    /// All codes, in the order of the checks.
    pub const ALL: [Self; 14] = [
        Self::UnknownSymbol,
        Self::Duplicate,
        Self::NotInUniverse,
        Self::NotHeld,
        Self::SideMismatch,
        Self::Oversell,
        Self::Lot,
        Self::MaxSingleWeight,
        Self::MaxPositions,
        Self::Suspended,
        Self::LimitUp,
        Self::LimitDown,
        Self::Volume,
        Self::Cash,
    ];

    /// The stable text.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// What became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// It traded.
    Filled {
        /// Shares traded.
        quantity: Shares,
        /// Price: the open.
        price: Price,
        /// Price x quantity.
        value: Fen,
        /// Fee paid.
        fee: Fen,
        /// Whether cash, volume or a corporate action cut it below what was asked.
        clipped: bool,
    },
    /// It did not.
    Rejected(RejectCode),
}

/// One order's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// 0-based place in the submitted batch.
    pub position: usize,
    /// The name, if the symbol resolved to one.
    pub name: Option<NameId>,
    /// Side.
    pub side: Side,
    /// Shares asked for, or computed from the target weight (0 where it was rejected before sizing); of an order that went to
    /// the open on an ex-day, as the corporate action and the grid leave them.
    pub requested: Shares,
    /// What became of it.
    pub execution: Execution,
    /// The open at the limit of its side that it met, if any; counted under every rule.
    pub limit_open: Option<LimitOpen>,
}

/// What happened to a holding beside its trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// The adjustment factor moved.
    CorporateAction,
    /// A sale paid the tax on dividends of the shares sold.
    DividendTax,
    /// Delisted and paid at the last mark.
    DelistingLastClose,
    /// Delisted for nothing.
    DelistingZero,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::CorporateAction,
        Self::DividendTax,
        Self::DelistingLastClose,
        Self::DelistingZero,
    ];

    /// The stable text.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// A corporate action, a tax or a delisting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorporateEvent {
    /// The name.
    pub name: NameId,
    /// What happened.
    pub kind: EventKind,
    /// Shares before.
    pub shares_before: Shares,
    /// Shares after.
    pub shares_after: Shares,
    /// Factor before.
    pub factor_before: Decimal,
    /// Factor after.
    pub factor_after: Decimal,
    /// Reference price, the price of a sale, or the last mark of a delisting.
    pub price: Price,
    /// Cash in lieu of a fraction, or the payment of a delisting; below 0 a tax.
    pub cash: Fen,
}

/// A holding at the close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The name.
    pub name: NameId,
    /// Shares.
    pub shares: Shares,
    /// Close, or the last one.
    pub mark: Price,
    /// Mark x shares.
    pub value: Fen,
    /// Trading days since the name's last bar.
    pub stale_days: u32,
}

/// The change of NAV split to the fen: the sum is price P&L + rounding - fees - delisting loss - dividend tax
/// (docs/spec/exchange.md, rule 22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NavIdentity {
    /// Moves of prices against marks and fills; on an ex-day from the reference price.
    pub price_pnl: Fen,
    /// Whole shares x reference + cash in lieu - shares before x previous close.
    pub corporate_rounding: Fen,
    /// Fees paid.
    pub fees: Fen,
    /// Last value of what was delisted for nothing.
    pub delisting_loss: Fen,
    /// Tax on dividends.
    pub dividend_tax: Fen,
}

impl NavIdentity {
    /// The change of NAV it explains.
    ///
    /// # Errors
    /// [`AmountTooLarge`].
    pub fn total(&self) -> Result<Fen, AmountTooLarge> {
        let gained = self.price_pnl.plus(self.corporate_rounding)?;
        let lost = self.fees.plus(self.delisting_loss)?.plus(self.dividend_tax)?;
        gained.minus(lost)
    }
}

/// All that one trading day did to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// One result an order, in submitted order.
    pub fills: Vec<Fill>,
    /// Corporate actions by name, taxes in the order of the sells, then delistings by name.
    pub events: Vec<CorporateEvent>,
    /// Holdings at the close, by name.
    pub positions: Vec<Position>,
    /// Cash at the close.
    pub cash: Fen,
    /// Value of all holdings at the close.
    pub holdings_value: Fen,
    /// Net asset value at the close.
    pub nav: Fen,
    /// The split of the change of NAV.
    pub identity: NavIdentity,
}

impl StepReport {
    /// Orders that traded, clipped ones included.
    #[must_use]
    pub fn filled_count(&self) -> usize {
        self.fills
            .iter()
            .filter(|fill| matches!(fill.execution, Execution::Filled { .. }))
            .count()
    }

    /// What the tax on dividends of the day's corporate actions could be at most: a fifth, its highest rate, of what they took off
    /// the price of what was held, as if all of that were dividends in cash and sold within a month.
    #[must_use]
    pub fn dividend_tax_at_most(&self) -> Fen {
        let actions = self.events.iter();
        let actions = actions.filter(|event| event.kind == EventKind::CorporateAction);
        let reinvested = actions.filter_map(|event| {
            let gained = event.shares_after.minus(event.shares_before).ok()?;
            event.price.times(gained).ok()?.plus(event.cash).ok()
        });
        let fifths = reinvested
            .map(|fen| fen.0.max(0) / 5)
            .fold(0, i64::saturating_add);
        Fen(fifths)
    }

    /// Orders that met an open at the limit of their side, whatever the rule made of them.
    #[must_use]
    pub fn limit_open_count(&self, kind: LimitOpen) -> usize {
        self.fills
            .iter()
            .filter(|fill| fill.limit_open == Some(kind))
            .count()
    }

    /// Orders that were rejected.
    #[must_use]
    pub fn rejected_count(&self) -> usize {
        self.fills.len() - self.filled_count()
    }
}
