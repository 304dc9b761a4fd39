//! The last minute of a key, and the clock that counts it.

use super::rolling_minute::RollingMinute;
use super::shared::SharedMinute;
use ktd_experiment::rate_limits::RateLimits;
use ktd_io::FileError;
use ktd_io::shared_file::SharedFile;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// After so long a server that did not answer is asked again.
const SERVER_AGAIN: Duration = Duration::from_secs(1);

/// Time since 1970 as the runtime counts it on, so that tests can stop it.
#[derive(Debug, Clone, Copy)]
struct GateClock {
    began: Instant,
    began_since_1970: Duration,
}

impl GateClock {
    fn start() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            began: Instant::now(),
            began_since_1970: since_1970.unwrap_or_default(),
        }
    }

    /// The machine's clock, which also counts while it sleeps, or the runtime's, which is never set back.
    fn now_ms(&self) -> u64 {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let counted = self.began_since_1970.saturating_add(self.began.elapsed());
        milliseconds(since_1970.max(counted))
    }
}

/// Whole milliseconds, rounded up: no wait ends before its time.
fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The last minute of a key: of this process alone, of all that use the key on this machine, or of all on all machines.
#[derive(Debug)]
pub(super) struct Minute {
    clock: GateClock,
    own: Mutex<RollingMinute>,
    shared: Mutex<Option<SharedFile>>,
    server: Option<Arc<dyn SharedMinute>>,
}

/// What the end of a call changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinuteEnd {
    /// Where it is counted: when it was let through, the tokens held, and those that it used.
    pub(super) counted: Option<(u64, u64, u64)>,
    /// Whether whoever pauses may ask.
    pub(super) is_back: bool,
    /// How long nobody may ask.
    pub(super) pause: Option<Duration>,
}

impl MinuteEnd {
    fn apply(self, minute: &mut RollingMinute, now_ms: u64) {
        if let Some((taken_at_ms, held, used)) = self.counted {
            minute.settle(taken_at_ms, held, now_ms, used);
        }
        if self.is_back {
            minute.end_pause();
        }
        if let Some(pause) = self.pause {
            minute.pause(now_ms, milliseconds(pause));
        }
    }
}

impl Minute {
    pub(super) fn new(shared: Option<(&Path, &str)>, server: Option<Arc<dyn SharedMinute>>) -> Self {
        let open = |(folder, name)| SharedFile::new(folder, name, RollingMinute::BYTES_MAX);
        let warned = |error: &FileError| tracing::warn!(%error, "rates of a key hold for this process alone");
        Self {
            clock: GateClock::start(),
            own: Mutex::default(),
            shared: Mutex::new(shared.and_then(|shared| open(shared).inspect_err(warned).ok())),
            server,
        }
    }

    /// Counts a request of so many tokens where limits and a pause allow it, and says when it was; else how long to wait.
    pub(super) async fn take(&self, limits: &RateLimits, tokens: u64) -> Result<u64, Duration> {
        let Some(server) = &self.server else {
            let now = self.clock.now_ms();
            let wait = self.change(|minute| minute.take(now, limits, tokens));
            return wait.map_or(Ok(now), Err);
        };
        let mut taken = Err(SERVER_AGAIN);
        let mut paused = 0;
        let changed = server.change(Box::new(|now, found| {
            let mut minute = RollingMinute::read(found);
            let wait = minute.take(now, limits, tokens);
            (taken, paused) = (wait.map_or(Ok(now), Err), minute.paused(now));
            minute.text().into_bytes()
        }));
        if let Err(error) = changed.await {
            tracing::warn!(error, "the server that counts the rates of a key does not answer");
            return Err(SERVER_AGAIN);
        }
        let mut own = self.own();
        own.end_pause();
        if 0 < paused {
            own.pause(self.clock.now_ms(), paused);
        }
        taken
    }

    /// Counts how a call ended.
    pub(super) fn end(&self, ended: MinuteEnd) {
        let now = self.clock.now_ms();
        let Some(server) = &self.server else {
            self.change(|minute| ended.apply(minute, now));
            return;
        };
        if let Some(pause) = ended.pause {
            self.own().pause(now, milliseconds(pause));
        }
        server.change_later(Box::new(move |now, found| {
            let mut minute = RollingMinute::read(found);
            ended.apply(&mut minute, now);
            minute.text().into_bytes()
        }));
    }

    /// What is left of a pause, as this process knows it, milliseconds.
    pub(super) fn paused_ms(&self) -> u64 {
        self.own().paused(self.clock.now_ms())
    }

    fn own(&self) -> MutexGuard<'_, RollingMinute> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the file of all processes cannot be used, this process counts on alone, and the log says so.
    fn change<T>(&self, change: impl Fn(&mut RollingMinute) -> T) -> T {
        let mut own = self.own();
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let of_all = shared.as_ref().map(|file| {
            file.change(|found| {
                let mut minute = RollingMinute::read(found);
                let value = change(&mut minute);
                (minute.text().into_bytes(), (minute, value))
            })
        });
        match of_all {
            Some(Ok((minute, value))) => {
                *own = minute;
                return value;
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "rates of a key hold for this process alone");
                *shared = None;
            }
            None => {}
        }
        change(&mut own)
    }
}
