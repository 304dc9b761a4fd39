//! Instants of a session as manifests write them.

use ktd_leakage::SessionInstant;

/// The most sessions that an instant lies from the signal day.
const MOST_SESSIONS: i64 = 10_000;

/// `open`, `close`, `next_open`, `next_close`, or sessions before and after as `close+3` and `open-1`.
pub(super) fn parse_instant(text: &str) -> Option<SessionInstant> {
    match text {
        "next_open" => return Some(SessionInstant::open(1)),
        "next_close" => return Some(SessionInstant::close(1)),
        _ => {}
    }
    let of = |rest: &str, at: fn(i64) -> SessionInstant| {
        if rest.is_empty() {
            return Some(at(0));
        }
        let digits = rest.strip_prefix(['+', '-'])?;
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let sessions: i64 = rest.parse().ok().filter(|_| is_number)?;
        (-MOST_SESSIONS..=MOST_SESSIONS)
            .contains(&sessions)
            .then(|| at(sessions))
    };
    match text.strip_prefix("open") {
        Some(rest) => of(rest, SessionInstant::open),
        None => of(text.strip_prefix("close")?, SessionInstant::close),
    }
}

/// The text that [`parse_instant`] reads as this instant.
pub(super) fn instant_text(instant: SessionInstant) -> String {
    let place = if instant.count().rem_euclid(2) == 0 {
        "open"
    } else {
        "close"
    };
    match instant.count().div_euclid(2) {
        0 => place.to_owned(),
        1 => format!("next_{place}"),
        sessions => format!("{place}{sessions:+}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_they_are_written() {
        for sessions in [-3, -1, 0, 1, 2, 3, 20] {
            for instant in [SessionInstant::open(sessions), SessionInstant::close(sessions)] {
                assert_eq!(parse_instant(&instant_text(instant)), Some(instant), "{instant}");
            }
        }
        assert_eq!(parse_instant("close+1"), parse_instant("next_close"));
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
        ] {
            assert_eq!(parse_instant(text), None, "{text}");
        }
    }
}
