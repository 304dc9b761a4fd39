//! The logs of a run as they grow.

use crate::bars::BarTime;
use crate::book::{Book, Closes};
use crate::logs::{AuditRow, BarSignal, PositionState, StrategyLogs};

/// Audit rows of a run so far.
pub(super) struct Recorder {
    rows: Vec<AuditRow>,
    max_leverage: f64,
}

/// What a strategy says of a bar.
pub(super) struct BarNote<'a> {
    pub(super) time: &'a BarTime,
    pub(super) close: f64,
    pub(super) signal: BarSignal,
    pub(super) state: PositionState,
    pub(super) indicators: Vec<Option<f64>>,
}

impl Recorder {
    pub(super) const fn new(max_leverage: f64) -> Self {
        Self {
            rows: Vec::new(),
            max_leverage,
        }
    }

    pub(super) fn note(&mut self, book: &Book, closes: &Closes<'_>, note: BarNote<'_>) {
        self.rows.push(AuditRow {
            time: note.time.clone(),
            close: note.close,
            signal: note.signal,
            state: note.state,
            exposure: book.exposure(closes),
            equity: book.equity(closes),
            is_within_leverage: note.signal == BarSignal::None || book.is_within(closes, self.max_leverage),
            indicators: note.indicators,
            holding: None,
        });
    }

    /// The same with the name of the one asset held.
    pub(super) fn note_holding(
        &mut self,
        book: &Book,
        closes: &Closes<'_>,
        note: BarNote<'_>,
        holding: &str,
    ) {
        self.note(book, closes, note);
        if let Some(row) = self.rows.last_mut() {
            row.holding = Some(holding.to_owned());
        }
    }

    pub(super) fn finish(self, book: Book) -> StrategyLogs {
        StrategyLogs {
            trades: book.into_trades(),
            bars: self.rows,
        }
    }
}
