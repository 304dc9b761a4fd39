//! Rules of a back-test's protocol of which one at a time lets tomorrow in.

use crate::panel::{BarField, BarGrid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol: the clean reference, or the reference with one rule switched (docs/spec/leakage.md#protocols).
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Switch {
    /// The reference.
    Clean,
    /// Rolling statistics are those of some sessions later, as of a centred window.
    TempCenter,
    /// The full bar of a session trades at that session's own open.
    ExecOpen,
    /// Features are standardised by all rows of the panel.
    NormGlobal,
    /// Peers are found in a window around the month.
    StructGraph,
    /// The full bar of a session trades at that session's own close.
    ExecClose,
    /// Fit rows whose labels end in the test year stay in.
    LabelOverlap,
}

/// At which price an order of a signal day is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FillRule {
    /// The open of the session after the signal day.
    NextOpen,
    /// The signal day's own open.
    #[serde(rename = "open")]
    SameOpen,
    /// The signal day's own close.
    #[serde(rename = "close")]
    SameClose,
    /// The close of the session after the signal day.
    NextClose,
    /// The open two sessions after the signal day.
    OpenAfter,
}

impl Switch {
    /// All protocols, the reference first.
    pub const ALL: [Self; 7] = [
        Self::Clean,
        Self::TempCenter,
        Self::ExecOpen,
        Self::NormGlobal,
        Self::StructGraph,
        Self::ExecClose,
        Self::LabelOverlap,
    ];
    /// The reference and the two dominant protocols, of which more is shown.
    pub const PROVED: [Self; 3] = [Self::Clean, Self::TempCenter, Self::ExecOpen];

    /// Its name in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is one of the two that are dominant on a market without alpha.
    #[must_use]
    pub const fn is_dominant(self) -> bool {
        matches!(self, Self::TempCenter | Self::ExecOpen)
    }

    /// Where its orders are filled; labels begin there.
    #[must_use]
    pub const fn fill(self) -> FillRule {
        match self {
            Self::ExecOpen => FillRule::SameOpen,
            Self::ExecClose => FillRule::SameClose,
            Self::Clean | Self::TempCenter | Self::NormGlobal | Self::StructGraph | Self::LabelOverlap => {
                FillRule::NextOpen
            }
        }
    }

    /// Sessions before the test year whose labels end in it: they are left out of the fit, but under
    /// [`Switch::LabelOverlap`].
    #[must_use]
    pub const fn purged_sessions(self, horizon: usize) -> usize {
        match self {
            Self::LabelOverlap => 0,
            Self::Clean
            | Self::TempCenter
            | Self::ExecOpen
            | Self::NormGlobal
            | Self::StructGraph
            | Self::ExecClose => horizon + 1,
        }
    }
}

impl FillRule {
    /// Those of the protocols: a row counts where it has labels and returns under all of them.
    pub const OF_SWITCHES: [Self; 3] = [Self::NextOpen, Self::SameOpen, Self::SameClose];
    /// From the earliest to the latest.
    pub const LADDER: [Self; 5] = [
        Self::SameOpen,
        Self::SameClose,
        Self::NextOpen,
        Self::NextClose,
        Self::OpenAfter,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NextOpen => "next open",
            Self::SameOpen => "same open",
            Self::SameClose => "same close",
            Self::NextClose => "next close",
            Self::OpenAfter => "open after next",
        }
    }

    /// The price, and the sessions after the signal day.
    #[must_use]
    pub const fn price(self) -> (BarField, usize) {
        match self {
            Self::NextOpen => (BarField::Open, 1),
            Self::SameOpen => (BarField::Open, 0),
            Self::SameClose => (BarField::Close, 0),
            Self::NextClose => (BarField::Close, 1),
            Self::OpenAfter => (BarField::Open, 2),
        }
    }

    /// The ratio of the price some sessions after the fill to that of the fill; NaN where one is missing.
    #[must_use]
    pub(crate) fn growth(self, bars: &BarGrid, session: usize, name: usize, sessions: usize) -> f64 {
        let (field, offset) = self.price();
        let from = bars.value(field, session + offset, name);
        bars.value(field, session + offset + sessions, name) / from
    }

    /// What a name earns from the fill to the same price one session later; NaN where one is missing.
    #[must_use]
    pub fn trade_return(self, bars: &BarGrid, session: usize, name: usize) -> f64 {
        self.growth(bars, session, name, 1) - 1.0
    }

    /// The logarithm of what a name grows by over a horizon from the fill; NaN where a price is missing.
    #[must_use]
    pub fn label(self, bars: &BarGrid, session: usize, name: usize, horizon: usize) -> f64 {
        libm::log(self.growth(bars, session, name, horizon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::SessionMonth;

    #[test]
    fn labels_and_returns_by_hand() {
        let month = SessionMonth { year: 2020, month: 1 };
        let (open, close) = ([10.0, 11.0, 12.0, 15.0], [10.0, 20.0, 40.0, 10.0]);
        let columns = [open, close, open, close, [1.0; 4]].map(|cells| cells.to_vec());
        let bars = BarGrid::new(vec![month; 4], 1, columns).unwrap();
        let near = |found: f64, by_hand: f64| assert!((found - by_hand).abs() < 1e-15, "{found}");
        near(FillRule::NextOpen.label(&bars, 0, 0, 2), libm::log(15.0 / 11.0));
        near(FillRule::SameOpen.label(&bars, 0, 0, 2), libm::log(1.2));
        near(FillRule::SameClose.trade_return(&bars, 1, 0), 1.0);
        near(FillRule::NextClose.trade_return(&bars, 0, 0), 1.0);
        near(FillRule::OpenAfter.trade_return(&bars, 0, 0), 0.25);
        assert!(FillRule::NextOpen.trade_return(&bars, 2, 0).is_nan());
    }

    #[test]
    fn labels_that_end_in_the_test_year_are_purged_but_under_the_overlap() {
        assert_eq!(
            (
                Switch::Clean.purged_sessions(5),
                Switch::LabelOverlap.purged_sessions(5)
            ),
            (6, 0)
        );
    }
}
