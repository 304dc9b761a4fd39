//! How a signal goes with the returns around its stamp, piece by piece.

use crate::panel::{BarField, BarGrid};
use crate::signal::{KnownAt, SignalGrid};
use ktd_stats::moments::mean;
use ktd_stats::{Sample, newey_west, spearman};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// Pieces from the first of the future on that are shown.
const AFTER: i64 = 32;
/// Pieces before the first of the future that are shown.
const BEFORE: i64 = 5;
/// Days above which a mean has a t.
const T_DAYS: usize = 10;

/// A stretch of return around a stamp: piece `2j - 1` is the night into the session `j` after it, piece `2j` that session
/// from open to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct ReturnPiece(pub i64);

impl ReturnPiece {
    /// Whether it is a night.
    #[must_use]
    pub const fn is_night(self) -> bool {
        self.0.rem_euclid(2) == 1
    }

    /// Sessions after the stamp.
    #[must_use]
    pub const fn sessions_after(self) -> i64 {
        (self.0 + 1).div_euclid(2)
    }

    /// What a name returned in it, for a stamp on a session; NaN where a price is missing.
    pub(crate) fn value(self, bars: &BarGrid, session: usize, name: usize) -> f64 {
        let place = |sessions: i64| {
            let moved = i64::try_from(session).ok()?.checked_add(sessions)?;
            usize::try_from(moved).ok()
        };
        let price = |field, sessions| place(sessions).map_or(f64::NAN, |day| bars.value(field, day, name));
        let day = self.sessions_after();
        let open = price(BarField::Open, day);
        if self.is_night() {
            open / price(BarField::Close, day - 1) - 1.0
        } else {
            price(BarField::Close, day) / open - 1.0
        }
    }
}

impl fmt::Display for ReturnPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.is_night() {
            "night into"
        } else {
            "session of"
        };
        write!(f, "{part} day {:+}", self.sessions_after())
    }
}

/// How a signal ranks the returns of one piece.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PieceCorrelation {
    /// The piece.
    pub piece: ReturnPiece,
    /// Days with enough names of which signal and return vary.
    pub days: usize,
    /// Mean daily rank correlation; `None` without a day.
    pub ic: Option<f64>,
    /// Its t by Newey and West; `None` of ten days or fewer, and where it does not vary.
    pub t: Option<f64>,
}

/// The rank correlation with each piece around the stamp, ascending: 5 before the first of the future, and 32
/// from it on.
#[must_use]
pub fn signal_profile(
    bars: &BarGrid,
    signal: &SignalGrid,
    known_at: KnownAt,
    min_names: usize,
) -> Vec<PieceCorrelation> {
    let first = known_at.first_future_piece();
    pieces(first - BEFORE..first + AFTER)
        .map(|piece| correlation(bars, signal, piece, min_names))
        .collect()
}

fn pieces(range: Range<i64>) -> impl Iterator<Item = ReturnPiece> {
    range.map(ReturnPiece)
}

fn correlation(
    bars: &BarGrid,
    signal: &SignalGrid,
    piece: ReturnPiece,
    min_names: usize,
) -> PieceCorrelation {
    let daily: Vec<f64> = (0..signal.sessions())
        .filter_map(|session| daily_correlation(bars, signal.row(session), session, piece, min_names))
        .collect();
    let varies = daily
        .iter()
        .zip(daily.iter().skip(1))
        .any(|(one, other)| one.to_bits() != other.to_bits());
    let sample = Sample::new("daily correlations", &daily).ok();
    let with_t = sample.filter(|_| T_DAYS < daily.len() && varies);
    PieceCorrelation {
        piece,
        days: daily.len(),
        ic: mean(&daily),
        t: with_t
            .and_then(|sample| newey_west(&sample, None).ok())
            .map(|found| found.t),
    }
}

fn daily_correlation(
    bars: &BarGrid,
    scores: &[f64],
    session: usize,
    piece: ReturnPiece,
    min_names: usize,
) -> Option<f64> {
    let scored = scores.iter().enumerate().filter(|(_, score)| !score.is_nan());
    let (scores, returns): (Vec<f64>, Vec<f64>) = scored
        .map(|(name, score)| (*score, piece.value(bars, session, name)))
        .filter(|(_, value)| value.is_finite())
        .unzip();
    if scores.len() < min_names {
        return None;
    }
    spearman(&scores, &returns).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn pieces_alternate_between_nights_and_sessions() {
        let bars = market(10, 1, 2);
        let close = |session| bars.value(BarField::Close, session, 0);
        let open = |session| bars.value(BarField::Open, session, 0);
        let cases = [
            (-2, close(3) / open(3)),
            (-1, open(4) / close(3)),
            (0, close(4) / open(4)),
            (1, open(5) / close(4)),
            (2, close(5) / open(5)),
            (7, open(8) / close(7)),
        ];
        for (piece, growth) in cases {
            let piece = ReturnPiece(piece);
            assert!(
                (piece.value(&bars, 4, 0) - (growth - 1.0)).abs() < 1e-15,
                "{piece:?}"
            );
        }
        assert!(ReturnPiece(-9).value(&bars, 4, 0).is_nan() && ReturnPiece(19).value(&bars, 4, 0).is_nan());
    }

    #[test]
    fn the_days_own_return_is_wholly_in_its_piece() {
        let bars = market(100, 15, 3);
        let scores: Vec<f64> = (0..1500)
            .map(|place| ReturnPiece(0).value(&bars, place / 15, place % 15))
            .collect();
        let signal = SignalGrid::new(&bars, &scores).unwrap();
        let profile = signal_profile(&bars, &signal, KnownAt::Close, 10);
        assert_eq!((profile.len(), profile[0].piece), (37, ReturnPiece(-4)));
        let own = profile.iter().find(|row| row.piece == ReturnPiece(0)).unwrap();
        assert!((own.ic.unwrap() - 1.0).abs() < 1e-12 && own.days == 100);
        // The night before is made good in part: the close does not hang on the open.
        let others = profile.iter().filter(|row| ![-1, 0].contains(&row.piece.0));
        assert!(others.into_iter().all(|row| row.ic.unwrap().abs() < 0.2));
        assert!(
            signal_profile(&bars, &signal, KnownAt::Close, 16)
                .iter()
                .all(|row| row.ic.is_none())
        );
    }
}
