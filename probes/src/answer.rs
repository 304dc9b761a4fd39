//! What an attacker says.

use ktd_env::{Board, DayIndex, NameId};

/// An attacker's guess. Whatever it leaves empty counts as not recovered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Its five best stocks, best first, each once.
    pub names: Vec<NameId>,
    /// Its best day.
    pub day: Option<DayIndex>,
    /// Its best sector.
    pub sector: Option<u16>,
    /// Its best board.
    pub board: Option<Board>,
    /// Whether two exhibits show the same stock, where that was asked.
    pub is_same: Option<bool>,
    /// How sure it is, 0 to 1, where it says so.
    pub confidence: Option<f64>,
}

impl Answer {
    /// Most stocks that count.
    pub const MOST_NAMES: usize = 5;
}
