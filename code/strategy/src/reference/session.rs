//! Trading sessions of intraday bars: a session is a calendar day, known by its bars' own stamps.

use crate::bars::BarTime;

/// High, low and last close of bars of one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SessionBar {
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) close: f64,
}

/// Sessions before the current one, oldest first, and what the current one has shown.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) past: Vec<SessionBar>,
    current: Option<(String, SessionBar)>,
}

impl Sessions {
    /// Takes a bar; whether it opens a session.
    pub(super) fn take(&mut self, time: &BarTime, bar: SessionBar) -> bool {
        match &mut self.current {
            Some((day, session)) if day == time.day() => {
                session.high = session.high.max(bar.high);
                session.low = session.low.min(bar.low);
                session.close = bar.close;
                false
            }
            current => {
                let ended = current.replace((time.day().to_owned(), bar));
                self.past.extend(ended.map(|(_, session)| session));
                true
            }
        }
    }

    /// The current session so far, its latest bar included.
    pub(super) fn so_far(&self) -> Option<SessionBar> {
        self.current.as_ref().map(|(_, session)| *session)
    }

    /// The last `sessions` before the current one; `None` where there are fewer.
    pub(super) fn last(&self, sessions: usize) -> Option<&[SessionBar]> {
        self.past.get(self.past.len().checked_sub(sessions)?..)
    }
}
