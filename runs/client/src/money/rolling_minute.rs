//! What a key was asked in the last minute, as a file that processes share can hold it.

use ktd_experiment::rate_limits::RateLimits;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::time::Duration;

/// Length of a piece of time whose requests are counted together, milliseconds.
const PIECE_MS: u64 = 500;
/// Pieces before the present one that count: 60 seconds, and half a second for what is late on its way.
const MINUTE_PIECES: u64 = 121;
/// The same for a burst.
const SECOND_PIECES: u64 = 3;
/// The longest pause: an hour's wish, and a quarter that spreads it.
const PAUSE_MS_MAX: u64 = 75 * 60 * 1_000;
/// Without a setting a burst is what an even pace allows in a twelfth of a minute.
const BURST_SHARE: u32 = 12;

/// Requests and tokens of the last minute in pieces of half a second, and until when nobody may ask. Times are milliseconds
/// since any moment that all who share it agree on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RollingMinute {
    pieces: VecDeque<Piece>,
    paused_until_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Whose number it is since that moment.
    at: u64,
    requests: u64,
    tokens: u64,
}

impl RollingMinute {
    /// Most bytes of its text.
    pub(super) const BYTES_MAX: u64 = 16_384;

    /// Reads what [`RollingMinute::text`] wrote; a line that is none is left out.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let mut minute = Self {
            paused_until_ms: lines.next().and_then(|line| line.parse().ok()).unwrap_or(0),
            pieces: VecDeque::new(),
        };
        for line in lines {
            let mut numbers = line.split(' ').map(str::parse);
            let read = (numbers.next(), numbers.next(), numbers.next());
            if let (Some(Ok(at)), Some(Ok(requests)), Some(Ok(tokens))) = read
                && minute.pieces.back().is_none_or(|last| last.at < at)
            {
                minute.pieces.push_back(Piece { at, requests, tokens });
            }
        }
        minute
    }

    /// A line with the end of the pause, then a line each piece: its number, requests, tokens.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", self.paused_until_ms);
        for piece in &self.pieces {
            // Writing to a string cannot fail.
            writeln!(text, "{} {} {}", piece.at, piece.requests, piece.tokens).ok();
        }
        text
    }

    /// Counts a request of so many tokens where the limits and a pause allow it now; else how long to wait before asking
    /// again. A request with more tokens than a minute has waits for a minute without any.
    pub(super) fn take(&mut self, now_ms: u64, limits: &RateLimits, tokens: u64) -> Option<Duration> {
        let now = now_ms / PIECE_MS;
        self.forget(now);
        let paused = self.paused(now_ms);
        let until = |piece: Option<u64>| piece.map_or(0, |piece| (piece * PIECE_MS).saturating_sub(now_ms));
        let wait = paused
            .max(until(self.free_of_requests(now, limits)))
            .max(until(self.free_of_tokens(limits, tokens)));
        if 0 < wait {
            return Some(Duration::from_millis(wait));
        }
        self.add(now, 1, tokens);
        None
    }

    /// Gives back the tokens that were held for a request when it was let through, and counts those that it used now.
    pub(super) fn settle(&mut self, taken_at_ms: u64, held: u64, now_ms: u64, used: u64) {
        let taken_at = taken_at_ms / PIECE_MS;
        // It may have been counted in the piece of a process that was ahead.
        if let Some(piece) = self.pieces.iter_mut().find(|piece| taken_at <= piece.at) {
            piece.tokens = piece.tokens.saturating_sub(held);
        }
        self.add(now_ms / PIECE_MS, 0, used);
    }

    /// Nobody may ask for so long.
    pub(super) fn pause(&mut self, now_ms: u64, wait_ms: u64) {
        self.paused_until_ms = now_ms.saturating_add(self.paused(now_ms).max(wait_ms));
    }

    /// What is left of a pause, milliseconds. One beyond what a provider may wish is of a clock that went wrong.
    pub(super) fn paused(&self, now_ms: u64) -> u64 {
        let left = self.paused_until_ms.saturating_sub(now_ms);
        if PAUSE_MS_MAX < left { 0 } else { left }
    }

    /// Somebody was answered: whoever waits may ask.
    pub(super) const fn end_pause(&mut self) {
        self.paused_until_ms = 0;
    }

    fn forget(&mut self, now: u64) {
        // Another process may be a little ahead; what is far ahead is of a clock that was set back.
        self.pieces.retain(|piece| {
            piece.at <= now.saturating_add(MINUTE_PIECES) && now <= piece.at.saturating_add(MINUTE_PIECES)
        });
    }

    fn add(&mut self, at: u64, requests: u64, tokens: u64) {
        match self.pieces.back_mut() {
            Some(last) if at <= last.at => {
                last.requests = last.requests.saturating_add(requests);
                last.tokens = last.tokens.saturating_add(tokens);
            }
            _ => self.pieces.push_back(Piece { at, requests, tokens }),
        }
    }

    /// The piece in which one request more is within the limits, where it is not in the present one.
    fn free_of_requests(&self, now: u64, limits: &RateLimits) -> Option<u64> {
        let requests = |piece: &Piece| piece.requests;
        let minute = limits.requests_per_minute?;
        let of_minute = self.free(requests, (1, minute), MINUTE_PIECES);
        let even = NonZeroU32::new(minute.get().div_ceil(BURST_SHARE)).unwrap_or(minute);
        let burst = limits.burst.unwrap_or(even);
        let of_second = self
            .free(requests, (1, burst), SECOND_PIECES)
            .filter(|piece| now < *piece);
        of_minute.max(of_second)
    }

    fn free_of_tokens(&self, limits: &RateLimits, tokens: u64) -> Option<u64> {
        let minute = limits.tokens_per_minute?;
        let tokens = tokens.min(minute.get().into());
        self.free(|piece| piece.tokens, (tokens, minute), MINUTE_PIECES)
    }

    /// The first piece from which on so much more keeps the count of so many pieces within its limit; `None` when it is so
    /// whatever the piece.
    fn free(&self, of: impl Fn(&Piece) -> u64, (more, limit): (u64, NonZeroU32), pieces: u64) -> Option<u64> {
        let mut count = more;
        for piece in self.pieces.iter().rev() {
            count = count.saturating_add(of(piece));
            if u64::from(limit.get()) < count {
                return Some(piece.at + pieces + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(requests: u32, tokens: u32, burst: u32) -> RateLimits {
        RateLimits {
            requests_per_minute: NonZeroU32::new(requests),
            tokens_per_minute: NonZeroU32::new(tokens),
            burst: NonZeroU32::new(burst),
            in_flight: None,
        }
    }

    /// When requests of so many tokens leave whose senders ask again as soon as they are told to, milliseconds.
    fn departures(limits: &RateLimits, tokens: u64, count: usize) -> Vec<u64> {
        let (mut minute, mut now, mut found) = (RollingMinute::default(), 1_000_250, Vec::new());
        while found.len() < count {
            match minute.take(now, limits, tokens) {
                None => found.push(now),
                Some(wait) => now += u64::try_from(wait.as_millis()).unwrap(),
            }
            minute = RollingMinute::read(minute.text().as_bytes());
        }
        found
    }

    /// The most that leave in any span of so many milliseconds.
    fn most_in(departures: &[u64], span: u64) -> usize {
        let from = |first: &u64| {
            departures
                .iter()
                .filter(|at| (*first..first + span).contains(*at))
                .count()
        };
        departures.iter().map(from).max().unwrap_or(0)
    }

    #[test]
    fn no_span_of_a_minute_or_a_second_has_more_than_its_limit() {
        for (requests, burst, in_minute, in_second) in [
            (200, 0, 200, 17),
            (200, 200, 200, 200),
            (7, 3, 7, 3),
            (1, 0, 1, 1),
            // Bursts leave two seconds apart, so that a small one is slower than the minute allows.
            (600, 5, 155, 5),
        ] {
            let found = departures(&limits(requests, 0, burst), 0, 4 * in_minute);
            assert_eq!(most_in(&found, 60_000), in_minute, "{requests}");
            assert_eq!(most_in(&found, 1_000), in_second, "{requests}");
            let lasted = found.last().unwrap() - found[0];
            assert!(lasted < 4 * 61_500, "{requests}: {lasted}");
        }
    }

    #[test]
    fn tokens_are_those_that_were_used() {
        let limits = limits(0, 600, 0);
        let found = departures(&limits, 200, 7);
        assert_eq!(most_in(&found, 60_000), 3);
        let mut minute = RollingMinute::default();
        assert_eq!(minute.take(0, &limits, 500), None);
        assert!(minute.take(0, &limits, 200).is_some());
        minute.settle(0, 500, 9_000, 300);
        assert_eq!(minute.take(9_000, &limits, 200), None, "300 were not used");
        // More than a minute has waits for an empty one.
        assert_eq!(minute.take(9_000, &limits, 6_000), Some(Duration::from_secs(61)));
    }

    #[test]
    fn a_pause_is_for_all_and_damage_is_nothing() {
        let mut minute = RollingMinute::default();
        let mut wrong = RollingMinute::read(u64::MAX.to_string().as_bytes());
        assert_eq!(wrong.take(5_000, &RateLimits::default(), 0), None);
        wrong.pause(5_000, 15_000);
        let wait = wrong.take(5_000, &RateLimits::default(), 0);
        assert_eq!(
            wait,
            Some(Duration::from_secs(15)),
            "a pause of now holds all the same"
        );
        minute.pause(0, 20_000);
        let wait = minute.take(5_000, &RateLimits::default(), 0);
        assert_eq!(wait, Some(Duration::from_secs(15)));
        minute.end_pause();
        assert_eq!(minute.take(5_000, &RateLimits::default(), 0), None);
        assert_eq!(RollingMinute::read(b"\xff 1 2\n3 4\n"), RollingMinute::default());
    }
}
