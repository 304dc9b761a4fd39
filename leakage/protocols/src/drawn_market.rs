//! Markets that are drawn for sizes: what a report or an audit concludes of them is known beforehand.

use crate::error::LeakageError;
use crate::panel::{BarGrid, SessionMonth};
use ktd_stats::SplitMix64;

/// A market of names whose nights and sessions are drawn by themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DrawnMarket {
    sessions: usize,
    names: usize,
}

impl DrawnMarket {
    /// Sessions of a year: twelve months of 20.
    pub(crate) const YEAR: usize = 240;

    /// A market on which no earlier bar tells anything of a later one: prices grow by what is 0 in the mean.
    pub(crate) const fn unforeseen(sessions: usize, names: usize) -> Self {
        Self { sessions, names }
    }

    /// The year of a place.
    pub(crate) fn year(place: usize) -> i32 {
        2001 + i32::try_from(place).unwrap_or(0)
    }

    /// The month of each session.
    pub(crate) fn months(sessions: usize) -> Vec<SessionMonth> {
        let month = |session: usize| SessionMonth {
            year: Self::year(session / Self::YEAR),
            month: u8::try_from(session % Self::YEAR / 20 + 1).unwrap_or(1),
        };
        (0..sessions).map(month).collect()
    }

    /// Its bars, drawn.
    pub(crate) fn bars(self, stream: &mut SplitMix64) -> Result<BarGrid, LeakageError> {
        let cells = self.sessions * self.names;
        let mut columns: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::with_capacity(cells));
        let mut closes = vec![15.0; self.names];
        for _ in 0..self.sessions {
            let (night, session) = (0.004 * stream.normal(), 0.009 * stream.normal());
            for close in &mut closes {
                // Bounded, so that no price is lost.
                let mut step =
                    |common: f64, own: f64| 1.0 + (common + own * stream.normal()).clamp(-0.2, 0.2);
                let open = *close * step(night, 0.007);
                *close = open * step(session, 0.016);
                let (above, below) = (step(0.0, 0.005) - 1.0, step(0.0, 0.005) - 1.0);
                let volume = 5e5 * libm::exp(30.0 * (step(0.0, 0.02) - 1.0).abs());
                let high = open.max(*close) * (1.0 + above.abs());
                let low = open.min(*close) * (1.0 - below.abs());
                for (column, value) in columns.iter_mut().zip([open, high, low, *close, volume]) {
                    column.push(value);
                }
            }
        }
        BarGrid::new(Self::months(self.sessions), self.names, columns)
    }
}
