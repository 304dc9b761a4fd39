//! A user's signal: one score for each name and session at most.

use crate::error::LeakageError;
use crate::panel::BarGrid;

/// When a signal of a session's stamp is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KnownAt {
    /// At the open of the session.
    Open,
    /// At its close.
    Close,
}

impl KnownAt {
    /// The first piece of return after it: the session of the stamp itself, or the night after.
    #[must_use]
    pub const fn first_future_piece(self) -> i64 {
        match self {
            Self::Open => 0,
            Self::Close => 1,
        }
    }
}

/// Scores of a panel's names and sessions, NaN where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalGrid {
    names: usize,
    scores: Vec<f64>,
}

impl SignalGrid {
    /// Scores with a cell for each name of the first session of the panel, then of the second. What is not finite is missing.
    ///
    /// # Errors
    /// [`LeakageError::Shape`] for cells of another number.
    pub fn new(bars: &BarGrid, scores: &[f64]) -> Result<Self, LeakageError> {
        let (sessions, names, cells) = (bars.sessions(), bars.names(), scores.len());
        if sessions * names != cells {
            let series = "signal";
            return Err(LeakageError::Shape {
                series,
                cells,
                sessions,
                names,
            });
        }
        let kept = |score: &f64| if score.is_finite() { *score } else { f64::NAN };
        Ok(Self {
            names,
            scores: scores.iter().map(kept).collect(),
        })
    }

    /// The scores of a session; empty outside the panel.
    #[must_use]
    pub fn row(&self, session: usize) -> &[f64] {
        let from = session.saturating_mul(self.names);
        self.scores
            .get(from..from.saturating_add(self.names))
            .unwrap_or(&[])
    }

    /// Sessions with at least so many scores.
    #[must_use]
    pub fn days_with(&self, names: usize) -> usize {
        let scores = |session: &usize| {
            let row = self.row(*session).iter();
            row.filter(|score| score.is_finite()).count()
        };
        let is_enough = |session: &usize| names <= scores(session);
        (0..self.sessions()).filter(is_enough).count()
    }

    /// Sessions of the panel.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.scores.len() / self.names.max(1)
    }

    /// The same scores, each on the session after.
    #[must_use]
    pub fn delayed(&self) -> Self {
        let kept = self.scores.len().saturating_sub(self.names);
        let before = self.scores.get(..kept).unwrap_or(&[]);
        let mut scores = vec![f64::NAN; self.scores.len() - kept];
        scores.extend_from_slice(before);
        let names = self.names;
        Self { names, scores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn a_delay_moves_scores_by_a_session() {
        let bars = market(3, 2, 1);
        let signal = SignalGrid::new(&bars, &[1.0, f64::INFINITY, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!(signal.row(0)[1].is_nan() && signal.row(9).is_empty() && signal.sessions() == 3);
        let delayed = signal.delayed();
        assert!(delayed.row(0).iter().all(|score| score.is_nan()));
        assert_eq!(delayed.row(2), signal.row(1));
        assert!(SignalGrid::new(&bars, &[1.0]).is_err());
    }
}
