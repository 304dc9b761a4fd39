//! What an alpha is compared with: returns of later days.

use crate::day_table::DayTable;
use serde::{Deserialize, Serialize};

/// When a return begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// At the open of the day after the signal's: a fill that can be had.
    #[default]
    NextOpen,
    /// At the signal's own close: published studies' label, and a fill nobody gets.
    Close,
}

impl LabelKind {
    /// Its word in files and heads.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NextOpen => "next_open",
            Self::Close => "close",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::NextOpen => Self::Close,
            Self::Close => Self::NextOpen,
        }
    }
}

/// Returns over `horizon` days by signal day, from adjusted prices (opens or closes by the kind); missing unless both
/// bars traded.
#[must_use]
pub fn label_returns(kind: LabelKind, prices: &DayTable, volumes: &DayTable, horizon: usize) -> DayTable {
    let (days, names) = (prices.days(), prices.names());
    let delay = usize::from(kind == LabelKind::NextOpen);
    let price = |day: usize, name: usize| {
        let traded = 0.0 < volumes.at(day, name);
        if traded { prices.at(day, name) } else { f64::NAN }
    };
    let cells = (0..days).flat_map(|day| (0..names).map(move |name| (day, name)));
    let returns = cells.map(|(day, name)| {
        let (from, to) = (
            day.saturating_add(delay),
            day.saturating_add(delay).saturating_add(horizon),
        );
        price(to, name) / price(from, name) - 1.0
    });
    DayTable::from_days(names, returns.collect())
}
