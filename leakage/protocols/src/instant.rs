//! When something is known, counted in opens and closes.

use crate::error::LeakageError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An open or a close, counted from the open of the signal day: that is 0, its close 1, the next open 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionInstant(i64);

/// The most sessions that a declared instant lies from the signal day.
const MOST_SESSIONS: i64 = 10_000;

impl SessionInstant {
    /// The open so many sessions after the signal day.
    #[must_use]
    pub const fn open(sessions: i64) -> Self {
        Self(2 * sessions)
    }

    /// The close so many sessions after the signal day.
    #[must_use]
    pub const fn close(sessions: i64) -> Self {
        Self(2 * sessions + 1)
    }

    /// So many opens and closes after the open of the signal day.
    #[must_use]
    pub const fn of_count(count: i64) -> Self {
        Self(count)
    }

    /// The same place so many sessions later.
    #[must_use]
    pub const fn later(self, sessions: i64) -> Self {
        Self(self.0 + 2 * sessions)
    }

    /// Opens and closes since the open of the signal day.
    #[must_use]
    pub const fn count(self) -> i64 {
        self.0
    }

    const fn place(self) -> &'static str {
        if self.0.rem_euclid(2) == 0 {
            "open"
        } else {
            "close"
        }
    }

    /// How manifests write it: `open`, `close`, `next_open`, `next_close`, or sessions before and after as `close+3` and `open-1`.
    #[must_use]
    pub fn code(self) -> String {
        let place = self.place();
        match self.0.div_euclid(2) {
            0 => place.to_owned(),
            1 => format!("next_{place}"),
            sessions => format!("{place}{sessions:+}"),
        }
    }
}

impl FromStr for SessionInstant {
    type Err = LeakageError;

    fn from_str(text: &str) -> Result<Self, LeakageError> {
        let unknown = || LeakageError::Instant {
            text: text.to_owned(),
        };
        let (rest, next) = text.strip_prefix("next_").map_or((text, 0), |rest| (rest, 1));
        let (at, sessions): (fn(i64) -> Self, &str) = match rest.strip_prefix("open") {
            Some(sessions) => (Self::open, sessions),
            None => (Self::close, rest.strip_prefix("close").ok_or_else(unknown)?),
        };
        if sessions.is_empty() {
            return Ok(at(next));
        }
        let is_signed = next == 0 && sessions.starts_with(['+', '-']);
        let sessions = sessions.parse().ok().filter(|_| is_signed);
        let sessions = sessions.filter(|sessions| (-MOST_SESSIONS..=MOST_SESSIONS).contains(sessions));
        sessions.map(at).ok_or_else(unknown)
    }
}

impl TryFrom<String> for SessionInstant {
    type Error = LeakageError;

    fn try_from(text: String) -> Result<Self, LeakageError> {
        text.parse()
    }
}

impl From<SessionInstant> for String {
    fn from(instant: SessionInstant) -> Self {
        instant.code()
    }
}

impl fmt::Display for SessionInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        match self.0.div_euclid(2) {
            0 => write!(f, "the signal day's {place}"),
            1 => write!(f, "the {place} of the session after"),
            -1 => write!(f, "the {place} of the session before"),
            sessions @ 2.. => write!(f, "the {place} {sessions} sessions after"),
            sessions => write!(f, "the {place} {} sessions before", -sessions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_they_are_written() {
        for sessions in [-3, -1, 0, 1, 2, 3, 20] {
            for instant in [SessionInstant::open(sessions), SessionInstant::close(sessions)] {
                assert_eq!(instant.code().parse(), Ok(instant), "{instant}");
            }
        }
        assert_eq!("close+1".parse::<SessionInstant>(), "next_close".parse());
        for text in [
            "",
            "noon",
            "close plus three",
            "close+",
            "close+-3",
            "close++3",
            "open 1",
            "Close",
            "close+99999",
            "close3",
            "next_open+1",
        ] {
            assert!(text.parse::<SessionInstant>().is_err(), "{text}");
        }
    }

    #[test]
    fn instants_are_ordered_and_have_words() {
        let ascending = [
            SessionInstant::close(-1),
            SessionInstant::open(0),
            SessionInstant::close(0),
            SessionInstant::open(1),
            SessionInstant::open(0).later(3),
        ];
        assert!(ascending.windows(2).all(|pair| pair[0] < pair[1]));
        let words: Vec<String> = ascending.iter().map(ToString::to_string).collect();
        assert_eq!(words[0], "the close of the session before");
        assert_eq!(words[2], "the signal day's close");
        assert_eq!(words[4], "the open 3 sessions after");
        assert_eq!(
            SessionInstant::close(-4).to_string(),
            "the close 4 sessions before"
        );
        assert_eq!(SessionInstant::open(1).count(), 2);
    }
}
