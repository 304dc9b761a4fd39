//! The gate before an API key: requests and tokens a minute, calls at once, and a pause for all when the provider is
//! busy.

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_experiment::rate_limits::RateLimits;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

/// Time as the runtime counts it, so that tests can stop it.
#[derive(Debug, Clone, Copy)]
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Duration>>;

/// A bucket that fills evenly and holds a minute's worth.
#[derive(Debug)]
struct Bucket {
    limiter: Limiter,
    clock: RuntimeClock,
    size: NonZeroU32,
}

impl Bucket {
    fn a_minute(size: NonZeroU32) -> Self {
        let clock = RuntimeClock(Instant::now());
        Self {
            limiter: RateLimiter::direct_with_clock(Quota::per_minute(size), clock),
            clock,
            size,
        }
    }

    /// Takes so much, as soon as it is there. What is more than the bucket holds takes the whole bucket.
    async fn take(&self, count: u64) {
        let Some(count) = u32::try_from(count)
            .map_or(Some(self.size), NonZeroU32::new)
            .map(|count| count.min(self.size))
        else {
            return;
        };
        while let Ok(Err(not_until)) = self.limiter.check_n(count) {
            sleep(not_until.wait_time_from(self.clock.now())).await;
        }
    }
}

/// The gate of one key.
#[derive(Debug)]
pub struct RateGate {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    /// Whoever waits, one after the other.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Notified whenever a call ends.
    ended: Notify,
}

#[derive(Debug)]
struct State {
    in_flight: u32,
    /// Calls at once for now; halved when the provider is busy, one more after as many calls that went well.
    limit: u32,
    most: u32,
    went_well: u32,
    paused_until: Option<Instant>,
    /// How often the limit was halved: calls that began before do not halve it again.
    halvings: u64,
    /// Tokens that ended calls had beyond what was taken for them.
    owed_tokens: u64,
}

/// What a call under way may do next.
enum Entry {
    Entered { halvings: u64 },
    Paused { until: Instant },
    Full,
}

/// How a call ended, as far as the gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It was answered, with so many tokens in all.
    Well {
        /// Tokens of request and reply, where they are known.
        tokens: Option<u64>,
    },
    /// The provider is busy and wants to be left alone for so long.
    Busy {
        /// How long.
        wait: Duration,
    },
    /// Neither: nothing is learnt from it.
    Otherwise,
}

impl RateGate {
    /// A gate with these limits, whose buckets are full.
    #[must_use]
    pub fn new(limits: RateLimits) -> Self {
        let most = limits.in_flight.map_or(u32::MAX, NonZeroU32::get);
        Self {
            requests: limits.requests_per_minute.map(Bucket::a_minute),
            tokens: limits.tokens_per_minute.map(Bucket::a_minute),
            turn: tokio::sync::Mutex::new(()),
            state: Mutex::new(State {
                in_flight: 0,
                limit: most,
                most,
                went_well: 0,
                paused_until: None,
                halvings: 0,
                owed_tokens: 0,
            }),
            ended: Notify::new(),
        }
    }

    /// Whether it counts tokens.
    #[must_use]
    pub const fn counts_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// How many calls may be made at once for now.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.state().limit
    }

    /// Waits until a call may be made whose request has about so many tokens.
    pub async fn enter(self: &Arc<Self>, request_tokens: u64) -> Slot {
        // First come, first served; and a call that ends wakes one that waits, not all.
        let _turn = self.turn.lock().await;
        if let Some(requests) = &self.requests {
            requests.take(1).await;
        }
        if let Some(tokens) = &self.tokens {
            let owed = std::mem::take(&mut self.state().owed_tokens);
            tokens.take(owed.saturating_add(request_tokens)).await;
        }
        let halvings = loop {
            // Told before it looks, so that nothing that ends in between is missed.
            let ended = self.ended.notified();
            match self.try_enter() {
                Entry::Entered { halvings } => break halvings,
                Entry::Paused { until } => sleep_until(until).await,
                Entry::Full => ended.await,
            }
        };
        Slot {
            gate: Arc::clone(self),
            halvings,
            request_tokens,
            ended: CallEnd::Otherwise,
        }
    }

    fn try_enter(&self) -> Entry {
        let mut state = self.state();
        if let Some(until) = state.paused_until.filter(|until| Instant::now() < *until) {
            return Entry::Paused { until };
        }
        if state.limit <= state.in_flight {
            return Entry::Full;
        }
        state.in_flight += 1;
        Entry::Entered {
            halvings: state.halvings,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has left a whole state: it is changed in one go.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&mut self, slot: &Slot) {
        let at_once = self.in_flight;
        self.in_flight = self.in_flight.saturating_sub(1);
        match slot.ended {
            CallEnd::Well { tokens } => {
                let beyond = tokens.unwrap_or(0).saturating_sub(slot.request_tokens);
                self.owed_tokens = self.owed_tokens.saturating_add(beyond);
                self.went_well = self.went_well.saturating_add(1);
                if self.limit <= self.went_well {
                    self.limit = self.limit.saturating_add(1).min(self.most);
                    self.went_well = 0;
                }
            }
            CallEnd::Busy { wait } => {
                self.paused_until = self.paused_until.max(Instant::now().checked_add(wait));
                if slot.halvings == self.halvings {
                    self.limit = (self.limit.min(at_once) / 2).max(1);
                    self.went_well = 0;
                    self.halvings += 1;
                }
            }
            CallEnd::Otherwise => {}
        }
    }
}

/// A call under way. Dropped, it makes room for the next.
#[derive(Debug)]
pub struct Slot {
    gate: Arc<RateGate>,
    halvings: u64,
    request_tokens: u64,
    ended: CallEnd,
}

impl Slot {
    /// The call has ended.
    pub fn end(mut self, ended: CallEnd) {
        self.ended = ended;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.gate.state().end(self);
        self.gate.ended.notify_waiters();
    }
}

/// Whose limits they are: the key's environment variable or file, and the address it is used at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName {
    /// The environment variable's name or the file's path; empty where no key is sent.
    pub key: String,
    /// The base URL.
    pub base_url: String,
}

impl KeyName {
    /// Whose limits hold for an agent's calls. A built-in agent has no key: it shares its name with none.
    #[must_use]
    pub fn of(agent: &AgentConfig, provider: &Provider) -> Self {
        let api_key = agent.model().and_then(|model| model.api_key.as_ref());
        Self {
            key: api_key.map(ToString::to_string).unwrap_or_default(),
            base_url: if agent.is_ours() {
                agent.model_name().to_owned()
            } else {
                provider.base_url.clone()
            },
        }
    }
}

/// The gates of an experiment, one a key.
#[derive(Debug, Default)]
pub struct Gates {
    limits: BTreeMap<KeyName, RateLimits>,
    gates: Mutex<BTreeMap<KeyName, Arc<RateGate>>>,
}

impl Gates {
    /// Gates with these limits; a key without any has a gate that only heeds a busy provider.
    #[must_use]
    pub const fn new(limits: BTreeMap<KeyName, RateLimits>) -> Self {
        Self {
            limits,
            gates: Mutex::new(BTreeMap::new()),
        }
    }

    /// The gate of a key: the same one for all who use it.
    pub fn of(&self, name: &KeyName) -> Arc<RateGate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = self.limits.get(name).copied().unwrap_or_default();
        let gate = gates
            .entry(name.clone())
            .or_insert_with(|| Arc::new(RateGate::new(limits)));
        Arc::clone(gate)
    }
}

#[cfg(test)]
mod tests;
