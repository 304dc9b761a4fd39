//! How long an error object asks us to wait.

/// The wait that a text such as `17s`, `1.5s`, `6m0s` or `840ms` means, in seconds, rounded up.
#[must_use]
pub fn wait_of(text: &str) -> Option<u64> {
    let mut milliseconds = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        let unit_milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        milliseconds = milliseconds.saturating_add(part_of(number, unit_milliseconds)?);
        rest = tail;
    }
    (!text.is_empty()).then(|| milliseconds.div_ceil(1_000))
}

/// The wait in a sentence such as `Please try again in 6m0s.` or `Please retry in 36.9s.`, in seconds, rounded up.
pub(super) fn wait_in(message: &str) -> Option<u64> {
    let said = ["again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|mark| Some(message.split_once(mark)?.1))?;
    let (number, rest) = said.split_once(' ').unwrap_or((said, ""));
    let text = number.trim_end_matches(['.', ',', ')', ';']);
    wait_of(text).or_else(|| {
        let is_seconds = rest.starts_with("second");
        part_of(text, 1_000)
            .filter(|_| is_seconds)
            .map(|wait| wait.div_ceil(1_000))
    })
}

/// `number` units, in milliseconds, rounded up.
fn part_of(number: &str, unit_milliseconds: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    // Nine digits after the point are more than any vendor writes.
    let digits: String = fraction.chars().take(9).collect();
    let fraction: u64 = format!("{digits:0<9}").parse().ok()?;
    let part = fraction.saturating_mul(unit_milliseconds).div_ceil(1_000_000_000);
    Some(whole.saturating_mul(unit_milliseconds).saturating_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_rounded_up() {
        for (text, wait) in [
            ("17s", Some(17)),
            ("1.5s", Some(2)),
            ("36.000000001s", Some(37)),
            ("840ms", Some(1)),
            ("6m0s", Some(360)),
            ("1h2m3.5s", Some(3_724)),
            ("0s", Some(0)),
            ("99999999999999999999s", None),
            ("18446744073709551615h", Some(u64::MAX.div_ceil(1_000))),
            ("", None),
            ("17", None),
            ("s", None),
            ("5 s", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(wait_of(text), wait, "{text}");
        }
    }

    #[test]
    fn waits_in_sentences_are_found() {
        for (message, wait) in [
            ("Rate limit reached. Please try again in 6m0s.", Some(360)),
            ("Please retry in 36.9s.", Some(37)),
            ("Please try again in 1.2s. Visit our page", Some(2)),
            ("please try again after 1 second", None),
            ("Please retry after 1 seconds.", Some(1)),
            ("try again in a while", None),
            ("no wait", None),
        ] {
            assert_eq!(wait_in(message), wait, "{message}");
        }
    }
}
