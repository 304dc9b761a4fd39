//! The gate before an API key: requests and tokens a minute, calls at once, and a pause for all when the provider is
//! busy.

use super::minute::{Minute, MinuteEnd};
use super::shared::SharedMinute;
use ktd_experiment::rate_limits::RateLimits;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The gate of one key.
#[derive(Debug)]
pub struct RateGate {
    limits: RateLimits,
    minute: Minute,
    /// Whoever waits, one after the other.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Notified whenever a call ends.
    ended: Notify,
    /// Calls that wait.
    waiting: AtomicU32,
}

#[derive(Debug)]
struct State {
    in_flight: u32,
    /// Calls at once for now; halved when the provider is busy, one more after as many calls that went well.
    limit: u32,
    most: u32,
    went_well: u32,
    /// How often the limit was lowered: calls that began before do not lower it again.
    lowerings: u64,
    /// Calls in a row, of whoever made them, that nobody answered.
    unanswered: u32,
    is_heard: bool,
    silence: Option<Silence>,
    /// The most tokens that a reply had; `None` before the first.
    largest_reply: Option<u64>,
}

/// An endpoint that answers nobody.
#[derive(Debug)]
struct Silence {
    since: Instant,
    /// Waits so far, each twice as long as the one before.
    waits: u32,
    /// Calls at once before.
    limit_before: u32,
}

/// So many calls in a row without an answer are the endpoint's silence and no accident of one call.
const SILENT_AFTER: u32 = 3;

/// How a call ended, as far as the gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It was answered.
    Well {
        /// Tokens of request and reply, where they are known.
        tokens: Option<u64>,
        /// Tokens of the reply alone.
        reply_tokens: Option<u64>,
    },
    /// The provider is busy and wants to be left alone for so long.
    Busy {
        /// How long.
        wait: Duration,
        /// The waits of one that has no time for anybody, which is no answer; none of one that counts requests.
        overloaded: Option<Waits>,
    },
    /// Nobody answered.
    Unanswered(Waits),
    /// Another answer: nothing is learnt from it but that there is somebody.
    Otherwise,
    /// It was not made, or its end was not waited for.
    NotMade,
}

/// Waits for an endpoint that answers nobody: each twice as long as the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// The first.
    pub first: Duration,
    /// The longest.
    pub longest: Duration,
}

/// Turn of an endpoint that those who wait should know at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointNews {
    /// It answers nobody: its key pauses and asks again after growing waits.
    Silent,
    /// It answers again, after so long.
    Back {
        /// Since it was first told to be silent.
        after: Duration,
    },
}

impl RateGate {
    /// A gate with these limits. With a folder, all processes of this machine that use a file of this name in it count
    /// together.
    #[must_use]
    pub fn new(limits: RateLimits, shared: Option<(&Path, &str)>) -> Self {
        Self::over(limits, Minute::new(shared, None))
    }

    /// A gate whose requests, tokens and pauses a server counts for all machines. Calls at once are this process's: those of all
    /// machines are counted where their money is held.
    #[must_use]
    pub fn on_server(limits: RateLimits, minute: Arc<dyn SharedMinute>) -> Self {
        Self::over(limits, Minute::new(None, Some(minute)))
    }

    fn over(limits: RateLimits, minute: Minute) -> Self {
        let most = limits.in_flight.map_or(u32::MAX, NonZeroU32::get);
        Self {
            limits,
            minute,
            turn: tokio::sync::Mutex::new(()),
            state: Mutex::new(State {
                in_flight: 0,
                limit: most,
                most,
                went_well: 0,
                lowerings: 0,
                unanswered: 0,
                is_heard: false,
                silence: None,
                largest_reply: None,
            }),
            ended: Notify::new(),
            waiting: AtomicU32::new(0),
        }
    }

    /// Its limits.
    #[must_use]
    pub const fn limits(&self) -> &RateLimits {
        &self.limits
    }

    /// Whether it counts tokens.
    #[must_use]
    pub const fn counts_tokens(&self) -> bool {
        self.limits.tokens_per_minute.is_some()
    }

    /// How many calls may be made at once for now.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.state().limit
    }

    /// Whether calls wait for it.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        0 < self.waiting.load(Ordering::Relaxed)
    }

    /// Whether a call was ever answered, whatever the answer.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.state().is_heard
    }

    /// How long the endpoint has answered nobody.
    #[must_use]
    pub fn silent_for(&self) -> Option<Duration> {
        let state = self.state();
        state.silence.as_ref().map(|silence| silence.since.elapsed())
    }

    /// What is left of a pause of the key, as this process knows it.
    #[must_use]
    pub fn paused_for(&self) -> Option<Duration> {
        let left = self.minute.paused_ms();
        (0 < left).then_some(Duration::from_millis(left))
    }

    /// Waits until whoever came first has left. One call at a time waits for a place and for the minute: so many that waited for the
    /// minute at once would all leave after a pause, however few may be under way by then.
    pub async fn turn(self: &Arc<Self>) -> Turn<'_> {
        let waits = Waiting::of(&self.waiting);
        Turn {
            gate: self,
            _alone: self.turn.lock().await,
            _waits: waits,
        }
    }

    fn try_enter(self: &Arc<Self>) -> Option<Slot> {
        let mut state = self.state();
        if state.limit <= state.in_flight {
            return None;
        }
        state.in_flight += 1;
        Some(Slot {
            gate: Arc::clone(self),
            lowerings: state.lowerings,
            held_tokens: 0,
            taken_at_ms: 0,
            is_taken: false,
            is_over: false,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has left a whole state: it is changed in one go.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts how a call ended.
    fn end(&self, slot: &Slot, ended: CallEnd) -> Option<EndpointNews> {
        let (pause, news) = {
            let mut state = self.state();
            let at_once = state.in_flight;
            state.in_flight = state.in_flight.saturating_sub(1);
            state.end(ended, slot.lowerings, at_once)
        };
        let used = match ended {
            CallEnd::Well { tokens, .. } => tokens.unwrap_or(slot.held_tokens),
            // Nobody waited for its answer.
            CallEnd::NotMade => slot.held_tokens,
            CallEnd::Busy { .. } | CallEnd::Unanswered(_) | CallEnd::Otherwise => 0,
        };
        let is_counted = slot.is_taken && self.counts_tokens();
        let is_back = matches!(news, Some(EndpointNews::Back { .. }));
        if is_counted || pause.is_some() || is_back {
            self.minute.end(MinuteEnd {
                counted: is_counted.then_some((slot.taken_at_ms, slot.held_tokens, used)),
                is_back,
                pause,
            });
        }
        self.ended.notify_waiters();
        news
    }
}

impl State {
    /// How long nobody may ask, and what is to be told.
    fn end(
        &mut self,
        ended: CallEnd,
        lowerings: u64,
        at_once: u32,
    ) -> (Option<Duration>, Option<EndpointNews>) {
        let is_first = lowerings == self.lowerings;
        let wait = match ended {
            CallEnd::NotMade => return (None, None),
            CallEnd::Unanswered(waits) => return self.unanswered(waits, is_first),
            CallEnd::Busy {
                wait,
                overloaded: Some(waits),
            } => {
                let (longer, news) = self.unanswered(waits, is_first);
                if longer.is_none() && is_first {
                    self.halve(at_once);
                }
                return (longer.max(Some(wait)), news);
            }
            CallEnd::Busy { wait, .. } => Some(wait),
            CallEnd::Well { .. } | CallEnd::Otherwise => None,
        };
        (self.unanswered, self.is_heard) = (0, true);
        let news = self.silence.take().map(|silence| {
            self.limit = silence.limit_before;
            EndpointNews::Back {
                after: silence.since.elapsed(),
            }
        });
        if wait.is_some() && is_first {
            self.halve(at_once);
        }
        if let CallEnd::Well { reply_tokens, .. } = ended {
            self.largest_reply = self.largest_reply.max(reply_tokens);
            self.went_well = self.went_well.saturating_add(1);
            if self.limit <= self.went_well {
                self.limit = self.limit.saturating_add(1).min(self.most);
                self.went_well = 0;
            }
        }
        (wait, news)
    }

    const fn halve(&mut self, at_once: u32) {
        let least = if self.limit < at_once { self.limit } else { at_once };
        self.limit = if least < 2 { 1 } else { least / 2 };
        self.went_well = 0;
        self.lowerings += 1;
    }

    fn unanswered(&mut self, waits: Waits, is_first: bool) -> (Option<Duration>, Option<EndpointNews>) {
        self.unanswered = self.unanswered.saturating_add(1);
        if !is_first || self.unanswered < SILENT_AFTER {
            return (None, None);
        }
        let news = self.silence.is_none().then_some(EndpointNews::Silent);
        let silence = self.silence.get_or_insert(Silence {
            since: Instant::now(),
            waits: 0,
            limit_before: self.limit,
        });
        let doubled = waits.first.saturating_mul(1 << silence.waits.min(16));
        silence.waits = silence.waits.saturating_add(1);
        // One asks for all.
        self.limit = 1;
        self.lowerings += 1;
        (Some(doubled.min(waits.longest)), news)
    }
}

/// Turn of one call to wait, until it is dropped.
#[derive(Debug)]
pub struct Turn<'g> {
    gate: &'g Arc<RateGate>,
    _alone: tokio::sync::MutexGuard<'g, ()>,
    _waits: Waiting<'g>,
}

impl Turn<'_> {
    /// Waits until fewer calls are under way than may be at once.
    pub async fn place(&self) -> Slot {
        loop {
            // Told before it looks, so that nothing that ends in between is missed.
            let ended = self.gate.ended.notified();
            match self.gate.try_enter() {
                Some(slot) => return slot,
                None => ended.await,
            }
        }
    }

    /// Waits until a call may leave whose request has about so many tokens. For its reply as many are held as the largest
    /// one had, before the first the most that it may have. It counts when it leaves: what waits for others first would leave
    /// later than it counts.
    pub async fn count(&self, slot: &mut Slot, (request_tokens, reply_tokens_max): (u64, Option<u64>)) {
        let gate = self.gate;
        loop {
            let ended = gate.ended.notified();
            // The first replies may have told meanwhile how large they are.
            let reply_tokens = gate.state().largest_reply.or(reply_tokens_max).unwrap_or(0);
            slot.held_tokens = request_tokens.saturating_add(reply_tokens);
            let wait = match gate.minute.take(&gate.limits, slot.held_tokens).await {
                Ok(taken_at_ms) => {
                    slot.taken_at_ms = taken_at_ms;
                    slot.is_taken = true;
                    return;
                }
                Err(wait) => wait,
            };
            tokio::select! {
                () = sleep(wait) => {}
                // A pause may have ended.
                () = ended => {}
            }
        }
    }
}

/// A call that waits, until it is dropped.
#[derive(Debug)]
struct Waiting<'g>(&'g AtomicU32);

impl<'g> Waiting<'g> {
    fn of(count: &'g AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call under way. Dropped, it makes room for the next.
#[derive(Debug)]
pub struct Slot {
    gate: Arc<RateGate>,
    lowerings: u64,
    held_tokens: u64,
    taken_at_ms: u64,
    is_taken: bool,
    is_over: bool,
}

impl Slot {
    /// The call has ended; what those who wait should know.
    #[expect(clippy::must_use_candidate, reason = "the call is over, whoever is told")]
    pub fn end(mut self, ended: CallEnd) -> Option<EndpointNews> {
        self.is_over = true;
        self.gate.end(&self, ended)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.is_over {
            self.gate.end(self, CallEnd::NotMade);
        }
    }
}

#[cfg(test)]
mod tests;
