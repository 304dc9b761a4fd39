//! How long to wait before the same request is sent again.

use chrono::DateTime;
use ktd_agents::{WireReply, wait_seconds};
use ktd_experiment::config::RetryConfig;
use std::time::Duration;

/// A provider that wants to be left alone for longer is asked again after this.
const WISH_SECONDS_MAX: u64 = 3_600;

/// What a provider wishes: the headers' or the body's seconds, a date, or the time at which a limit that is used up
/// is reset. `now` is in seconds since 1970.
#[must_use]
pub fn wish(reply: &WireReply, body_seconds: Option<u64>, now: i64) -> Option<Duration> {
    let header = |name: &str| reply.headers.get(name).map(|text| text.trim());
    let until = |moment: i64| u64::try_from(moment.saturating_sub(now)).unwrap_or(0);
    let date = || {
        let date = DateTime::parse_from_rfc2822(header("retry-after")?).ok()?;
        Some(until(date.timestamp()))
    };
    let reset = |name: &str| {
        let text = header(name)?;
        wait_seconds(text).or_else(|| {
            let moment = DateTime::parse_from_rfc3339(text).ok()?;
            Some(until(moment.timestamp()))
        })
    };
    let resets = || {
        let used_up = reply.headers.iter().filter(|(_, left)| left.trim() == "0");
        used_up.filter_map(|(name, _)| reset(&reset_of(name)?)).max()
    };
    let seconds = reply
        .retry_after_seconds()
        .or_else(date)
        .or(body_seconds)
        .or_else(resets)?;
    Some(Duration::from_secs(seconds.min(WISH_SECONDS_MAX)))
}

/// `x-ratelimit-remaining-tokens` and `anthropic-ratelimit-tokens-remaining` have a header of the same limit's reset.
fn reset_of(name: &str) -> Option<String> {
    let is_limit = name.starts_with("x-ratelimit-remaining")
        || (name.starts_with("anthropic-ratelimit-") && name.ends_with("-remaining"));
    is_limit.then(|| name.replace("remaining", "reset"))
}

/// The wait after a failed attempt: it doubles up to the longest wait, a provider's wish is honoured beyond that, and
/// up to a quarter is added by the request's own key, so that many cells do not come back at once.
#[must_use]
pub fn backoff(retries: &RetryConfig, attempt: u32, wish: Option<Duration>, request_key: &str) -> Duration {
    let doubled = retries.first_wait_ms.saturating_mul(1 << attempt.min(16));
    let doubled = Duration::from_millis(doubled.min(retries.longest_wait_ms));
    let wait = doubled.max(wish.unwrap_or_default());
    let spread = request_key.bytes().fold(attempt, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    wait.saturating_add(wait * (spread % 256) / 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2015-10-21 07:28:00 UTC.
    const NOW: i64 = 1_445_412_480;

    fn wished(headers: &[(&str, &str)], body_seconds: Option<u64>) -> Option<u64> {
        let mut reply = WireReply::new(429, Vec::new());
        let pairs = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        reply.headers.extend(pairs);
        wish(&reply, body_seconds, NOW).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_provider_may_wish_in_many_ways() {
        for (headers, body, seconds) in [
            (&[("retry-after", "7")][..], Some(9), Some(7)),
            (&[("retry-after-ms", "1500")], None, Some(2)),
            (
                &[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")],
                None,
                Some(30),
            ),
            (&[("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT")], None, Some(0)),
            (&[("retry-after", "99999")], None, Some(3_600)),
            (&[], Some(9), Some(9)),
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "6m0s"),
                    ("x-ratelimit-remaining-tokens", "10"),
                    ("x-ratelimit-reset-tokens", "9h"),
                ],
                None,
                Some(360),
            ),
            (
                &[
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-input-tokens-reset", "2015-10-21T07:28:12Z"),
                ],
                None,
                Some(12),
            ),
            (
                &[("retry-after", "soon"), ("x-ratelimit-remaining-tokens", "0")],
                None,
                None,
            ),
            (&[], None, None),
        ] {
            assert_eq!(wished(headers, body), seconds, "{headers:?}");
        }
    }

    #[test]
    fn waits_double_and_a_wish_goes_beyond_the_longest() {
        let retries = RetryConfig {
            attempts: 6,
            first_wait_ms: 1_000,
            longest_wait_ms: 4_000,
            unanswered_hours: 24,
        };
        let seconds = |attempt, wish: Option<u64>| {
            let wait = backoff(&retries, attempt, wish.map(Duration::from_secs), "k");
            let least = wait.as_millis() * 4 / 5;
            (least / 1_000 <= wait.as_millis() / 1_000).then_some(wait.as_millis())
        };
        for (attempt, wish, least) in [
            (0, None, 1_000),
            (1, None, 2_000),
            (9, None, 4_000),
            (0, Some(20), 20_000),
            (9, Some(1), 4_000),
        ] {
            let wait = seconds(attempt, wish).unwrap();
            assert!((least..=least * 5 / 4).contains(&wait), "{attempt}: {wait}");
        }
        // The same request waits as long in every run; others wait otherwise.
        let of = |key| backoff(&retries, 0, None, key);
        assert_eq!(of("a"), of("a"));
        assert!(["a", "b", "c", "d"].iter().any(|key| of(key) != of("a")));
    }
}
