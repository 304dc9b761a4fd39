//! What the prices and volumes of a source are.

/// What the prices of a source are (docs/spec/exchange.md#prices).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceBasis {
    /// Real prices, taken as they are and rounded half-up to a fen.
    Raw,
    /// Real price x factor; the real price is recovered by dividing.
    Adjusted,
}

/// What the volumes of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeBasis {
    /// Shares as traded.
    Real,
    /// Shares / factor, as in Qlib's bins.
    Adjusted,
}
