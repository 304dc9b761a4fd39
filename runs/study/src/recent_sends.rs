//! What was sent, in sums and for a while one by one: how fast it goes now.

use crate::spent_money::SpentMoney;
use chrono::DateTime;
use ktd_record::send_log::SendLine;
use std::collections::VecDeque;

/// The span whose pace tells how long it still takes, milliseconds.
const PACE_MS: i64 = 10 * 60 * 1_000;

/// Requests of a record with one key: those that came to an end, and beside them what is held for the others.
#[derive(Debug, Default)]
pub(crate) struct Sends {
    pub(crate) asked: u64,
    /// With success.
    pub(crate) answered: u64,
    /// Those of them that had been sent before.
    pub(crate) retries: u64,
    spent: SpentMoney,
    /// Whether nobody knows what one of them cost.
    is_unpriced: bool,
    held: HeldSends,
    /// When the last answer came, and until when nobody might use the key from then on.
    last: Option<(i64, Option<i64>)>,
    /// Of the last ten minutes: when each was sent, and whether it was answered with success.
    recent: VecDeque<(i64, bool)>,
}

/// Requests that left and have not come to an end.
#[derive(Debug, Clone, Copy, Default)]
struct HeldSends {
    sends: u64,
    spent: SpentMoney,
    is_unpriced: bool,
}

/// The last step of a record in which somebody answered, and that before the last ten minutes.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    last: u64,
    before: u64,
    /// Of the last ten minutes: when each step was first answered in.
    recent: VecDeque<(i64, u64)>,
}

/// Requests of many records.
#[derive(Debug, Default)]
pub(crate) struct SendSum {
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) retries: u64,
    pub(crate) spent: SpentMoney,
    pub(crate) is_unpriced: bool,
    /// Answered with success in the last ten minutes.
    pub(crate) answered_lately: u64,
    last: Option<(i64, Option<i64>)>,
}

/// When a line says that it was sent; none of a line that says no time.
pub(crate) fn milliseconds(at: &str) -> Option<i64> {
    Some(DateTime::parse_from_rfc3339(at).ok()?.timestamp_millis())
}

fn is_success(send: &SendLine) -> bool {
    matches!(send.outcome.parse::<u16>(), Ok(200..=299))
}

/// Whether nobody knows what it cost. Who has no address is a program of a user's own, and nobody's price is missing.
const fn lacks_price(send: &SendLine) -> bool {
    send.cost_picodollars.is_none() && !send.base_url.is_empty()
}

const fn is_recent(at_ms: i64, now_ms: i64) -> bool {
    now_ms - PACE_MS <= at_ms
}

/// The later of two ends, with the pause after it.
fn later(one: Option<(i64, Option<i64>)>, other: Option<(i64, Option<i64>)>) -> Option<(i64, Option<i64>)> {
    if one.map(|(ended, _)| ended) <= other.map(|(ended, _)| ended) {
        other
    } else {
        one
    }
}

impl Sends {
    pub(crate) fn add(&mut self, send: &SendLine, (at_ms, now_ms): (i64, i64)) {
        let is_success = is_success(send);
        self.asked += 1;
        self.answered += u64::from(is_success);
        self.retries += u64::from(0 < send.attempt);
        self.spent.add(send);
        self.is_unpriced |= lacks_price(send);
        if is_recent(at_ms, now_ms) {
            self.recent.push_back((at_ms, is_success));
        }
        let ended_ms = at_ms.saturating_add_unsigned(send.latency_ms);
        let until = send
            .paused_ms
            .map(|paused| ended_ms.saturating_add_unsigned(paused));
        self.last = later(self.last, Some((ended_ms, until)));
    }

    pub(crate) fn drop_held(&mut self) {
        self.held = HeldSends::default();
    }

    /// Holds the most of one that has not come to an end. Where none is known its cost is unknown once nobody waits for it any more.
    pub(crate) fn hold(&mut self, send: &SendLine, is_running: bool) {
        self.held.sends += 1;
        self.held.spent.add(send);
        self.held.is_unpriced |= !is_running && lacks_price(send);
    }

    /// Those that left.
    pub(crate) const fn left(&self) -> u64 {
        self.asked + self.held.sends
    }

    /// What they cost, with the most of those that have not come to an end.
    pub(crate) const fn spent(&self) -> SpentMoney {
        let mut spent = self.spent;
        spent.add_spent(self.held.spent);
        spent
    }

    pub(crate) const fn is_unpriced(&self) -> bool {
        self.is_unpriced || self.held.is_unpriced
    }

    /// When the first of the last ten minutes was sent.
    pub(crate) fn first_lately_ms(&self) -> Option<i64> {
        self.recent.iter().map(|(at_ms, _)| *at_ms).min()
    }

    pub(crate) fn forget(&mut self, now_ms: i64) {
        self.recent.retain(|(at_ms, _)| is_recent(*at_ms, now_ms));
    }
}

impl Steps {
    pub(crate) fn add(&mut self, send: &SendLine, (at_ms, now_ms): (i64, i64)) {
        if !is_success(send) {
            return;
        }
        let step = u64::try_from(send.step).unwrap_or(u64::MAX);
        if !is_recent(at_ms, now_ms) {
            self.before = self.before.max(step);
        } else if self.last < step {
            self.recent.push_back((at_ms, step));
        }
        self.last = self.last.max(step);
    }

    pub(crate) fn forget(&mut self, now_ms: i64) {
        while let Some((at_ms, step)) = self.recent.front()
            && !is_recent(*at_ms, now_ms)
        {
            self.before = self.before.max(*step);
            self.recent.pop_front();
        }
    }

    /// Steps of so many that are over: the last one may still be under way.
    pub(crate) fn over(&self, steps: u64, is_finished: bool) -> u64 {
        if is_finished {
            steps
        } else {
            self.last.saturating_sub(1).min(steps)
        }
    }

    /// Those of them that ended in the last ten minutes.
    pub(crate) fn over_lately(&self, steps: u64, is_finished: bool) -> u64 {
        if self.last == self.before {
            return 0;
        }
        let before = self.before.saturating_sub(1).min(steps);
        self.over(steps, is_finished).saturating_sub(before)
    }
}

impl SendSum {
    pub(crate) fn add(&mut self, sends: &Sends) {
        self.asked += sends.asked;
        self.answered += sends.answered;
        self.retries += sends.retries;
        self.spent.add_spent(sends.spent());
        self.is_unpriced |= sends.is_unpriced();
        let lately = sends.recent.iter().filter(|(_, is_success)| *is_success);
        self.answered_lately += u64::try_from(lately.count()).unwrap_or(u64::MAX);
        self.last = later(self.last, sends.last);
    }

    /// Until when nobody may use the key, milliseconds since 1970; none where it does not pause.
    pub(crate) fn paused_until(&self, now_ms: i64) -> Option<i64> {
        self.last
            .and_then(|(_, until)| until)
            .filter(|until| now_ms < *until)
    }
}
