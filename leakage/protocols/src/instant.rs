//! When something is known, counted in opens and closes.

use std::fmt;

/// An open or a close, counted from the open of the signal day: that is 0, its close 1, the next open 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionInstant(i64);

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
}

impl fmt::Display for SessionInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.0.rem_euclid(2) == 0 {
            "open"
        } else {
            "close"
        };
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
