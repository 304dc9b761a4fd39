//! What a strategy writes: one row a closed holding, one row a bar.

use crate::bars::BarTime;

/// What a strategy did on a bar.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::VariantNames,
)]
#[strum(serialize_all = "UPPERCASE")]
pub enum BarSignal {
    /// Nothing.
    None,
    /// It went long.
    Long,
    /// It went short.
    Short,
    /// It added to a position.
    Add,
    /// It changed holdings.
    Rebalance,
    /// It closed its position.
    Exit,
}

impl BarSignal {
    /// All signals, in the order of the documents.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Long,
        Self::Short,
        Self::Add,
        Self::Rebalance,
        Self::Exit,
    ];

    /// The word in the log.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// What a strategy holds after a bar; of the first leg in a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PositionState {
    /// A positive quantity.
    Long,
    /// A negative quantity.
    Short,
    /// Nothing.
    Flat,
}

impl PositionState {
    /// The word in the log.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Long => "LONG",
            Self::Short => "SHORT",
            Self::Flat => "FLAT",
        }
    }
}

/// Side of a holding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TradeSide {
    /// Bought first.
    Long,
    /// Sold first.
    Short,
}

impl TradeSide {
    /// The word in the log.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Long => "LONG",
            Self::Short => "SHORT",
        }
    }
}

/// One closed holding. Prices are closes; profit in units of account.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeRow {
    /// The asset.
    pub symbol: String,
    /// Long or short.
    pub side: TradeSide,
    /// The bar of the entry.
    pub entry_time: BarTime,
    /// The bar of the exit.
    pub exit_time: BarTime,
    /// Close of the entry's bar; the average by quantity where units were added.
    pub entry_price: f64,
    /// Close of the exit's bar.
    pub exit_price: f64,
    /// Quantity, positive.
    pub quantity: f64,
    /// Quantity x (exit - entry), negated for a short.
    pub pnl: f64,
    /// Name of the rule that entered.
    pub entry_rule: String,
    /// Name of the rule that closed.
    pub exit_rule: String,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    /// When the bar ends.
    pub time: BarTime,
    /// Close of the asset, of the first leg, of the index, or of the first asset.
    pub close: f64,
    /// What was done.
    pub signal: BarSignal,
    /// What is held afterwards.
    pub state: PositionState,
    /// Sum of |quantity| x close over equity, after the bar.
    pub exposure: f64,
    /// Equity after the bar.
    pub equity: f64,
    /// Whether the exposure lies within the document's leverage, on a bar with an action.
    pub is_within_leverage: bool,
    /// The document's own columns, in its order; `None` before their windows are full.
    pub indicators: Vec<Option<f64>>,
    /// Name of the one asset held, in documents that log it.
    pub holding: Option<String>,
}

/// Both logs of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrategyLogs {
    /// Closed holdings, in the order of their exits.
    pub trades: Vec<TradeRow>,
    /// Bars, oldest first.
    pub bars: Vec<AuditRow>,
}
