//! Reference strategies: the twelve documents as their authors mean them, to measure other programs against.

mod bollinger_reversion;
mod calendar_spread;
mod channel_breakout;
mod double_average;
mod histogram_strength;
mod index_tilt;
mod pair;
mod pair_residual;
mod pivot_breaker;
mod range_thrust;
mod ratio_spread;
mod recorder;
mod session;
mod strongest_asset;
mod target_volatility;

use crate::bars::{AssetBars, StrategyBars};
use crate::logs::StrategyLogs;
use crate::parameters::Parameters;
use std::fmt;

/// One of the twelve strategy documents.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::VariantNames,
)]
pub enum DocumentId {
    /// Bollinger mean reversion.
    S01,
    /// Double moving average.
    S02,
    /// Channel breakout with units.
    S03,
    /// Range thrust.
    S04,
    /// Pivot breakout and reversal.
    S05,
    /// Ratio of two assets.
    S06,
    /// Near and far contract.
    S07,
    /// Index with tilts.
    S08,
    /// Strongest asset or cash.
    S09,
    /// Target volatility.
    S10,
    /// Pair by rolling regression.
    S11,
    /// Histogram confirmed by strength.
    S12,
}

impl DocumentId {
    /// All documents, in order.
    pub const ALL: [Self; 12] = [
        Self::S01,
        Self::S02,
        Self::S03,
        Self::S04,
        Self::S05,
        Self::S06,
        Self::S07,
        Self::S08,
        Self::S09,
        Self::S10,
        Self::S11,
        Self::S12,
    ];

    /// Its identifier, such as `S01`.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// The document of that identifier.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.label() == text)
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.label())
    }
}

/// What keeps a reference strategy from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceError {
    /// A parameter is missing or of another type.
    Parameter(&'static str),
    /// A parameter is not as the document of the strategy wants it.
    Refused(String),
    /// There are fewer assets than the document trades, or the named one is missing.
    Asset(&'static str),
    /// An asset lacks a column that the document reads.
    Column {
        /// The asset.
        symbol: String,
        /// The column.
        column: &'static str,
    },
    /// The columns of an asset differ in length from the times of the first.
    Length {
        /// The asset.
        symbol: String,
    },
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name) => write!(formatter, "parameter {name:?} is missing or invalid"),
            Self::Refused(name) => {
                write!(
                    formatter,
                    "parameter {name:?} is missing, or not as the document wants it"
                )
            }
            Self::Asset(which) => write!(formatter, "asset missing: {which}"),
            Self::Column { symbol, column } => write!(formatter, "asset {symbol:?} has no column {column:?}"),
            Self::Length { symbol } => {
                write!(
                    formatter,
                    "asset {symbol:?} has columns of another length than the first one's times"
                )
            }
        }
    }
}

impl std::error::Error for ReferenceError {}

impl From<&'static str> for ReferenceError {
    fn from(parameter: &'static str) -> Self {
        Self::Parameter(parameter)
    }
}

/// The logs of a document's reference strategy on these bars, begun with this capital in units of account.
///
/// # Errors
/// [`ReferenceError`] for a missing parameter, asset or column, and for columns of different lengths.
pub fn run_reference(
    document: DocumentId,
    parameters: &Parameters,
    market: &StrategyBars,
    capital: f64,
) -> Result<StrategyLogs, ReferenceError> {
    check_lengths(market)?;
    let run = match document {
        DocumentId::S01 => bollinger_reversion::run,
        DocumentId::S02 => double_average::run,
        DocumentId::S03 => channel_breakout::run,
        DocumentId::S04 => range_thrust::run,
        DocumentId::S05 => pivot_breaker::run,
        DocumentId::S06 => ratio_spread::run,
        DocumentId::S07 => calendar_spread::run,
        DocumentId::S08 => index_tilt::run,
        DocumentId::S09 => strongest_asset::run,
        DocumentId::S10 => target_volatility::run,
        DocumentId::S11 => pair_residual::run,
        DocumentId::S12 => histogram_strength::run,
    };
    run(parameters, market, capital)
}

fn check_lengths(market: &StrategyBars) -> Result<(), ReferenceError> {
    let bars = market.times().len();
    for (symbol, own) in &market.assets {
        let columns = [&own.open, &own.high, &own.low, &own.close, &own.volume];
        let lengths = columns.into_iter().chain(own.further.values()).map(Vec::len);
        if own.times.len() != bars || lengths.into_iter().any(|length| length != bars) {
            return Err(ReferenceError::Length {
                symbol: symbol.clone(),
            });
        }
    }
    Ok(())
}

/// The one asset of a document, with its symbol.
fn one_asset(market: &StrategyBars) -> Result<(&str, &AssetBars), ReferenceError> {
    let (symbol, bars) = market
        .assets
        .first()
        .ok_or(ReferenceError::Asset("the strategy trades one"))?;
    Ok((symbol, bars))
}

/// Column of an asset by name.
fn further<'a>(symbol: &str, bars: &'a AssetBars, column: &'static str) -> Result<&'a [f64], ReferenceError> {
    bars.further
        .get(column)
        .map(Vec::as_slice)
        .ok_or_else(|| ReferenceError::Column {
            symbol: symbol.to_owned(),
            column,
        })
}
