//! Asking a model: recorded replies first, the live endpoint after, every attempt kept.

mod attempt;
mod patience;
mod reading;
mod sent_at;

use crate::ClientError;
use crate::money::Meter;
use crate::money::meter::{Admitted, Trouble};
use crate::money::rate_gate::Waits;
use crate::money::shared::wait_to_ask;
use crate::money::wait::{backoff, wish};
use crate::progress::{EndpointTurn, FailedAttempt, Progress};
pub use attempt::OneReply;
use attempt::{Attempt, Sent, not_admitted};
use ktd_agents::{DecodedReply, Expected, ModelTurn, Transport, UsageBound, WireReply, WireRequest};
use ktd_experiment::config::RetryConfig;
use ktd_experiment::provider::Provider;
use ktd_guard::RequestScan;
use ktd_io::crash_points::{self, CrashPoint};
use ktd_record::exchanges::{Cassette, ExchangeOutcome, ExchangeStore, Intent, RequestPlace, key_of_read};
use ktd_record::send_log::UNDER_WAY;
use ktd_record::spending::LostSends;
use ktd_record::tariff::{Charge, Decoded};
use patience::{Failure, Patience};
use reading::{Reading, is_refused, read};
use sent_at::SentAt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A client of one model: a request is looked for in the record, scanned, paid for, written down, sent, and what comes back
/// is written down before it is used. Without a transport it replays.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub struct RecordedClient<'a> {
    /// Replies recorded earlier.
    pub cassette: Arc<Cassette>,
    /// Where new ones are kept; `None` in a replay.
    pub store: Option<ExchangeStore>,
    /// The live endpoint; `None` in a replay.
    pub transport: Option<&'a dyn Transport>,
    /// 1-based first step that the live endpoint is asked in; a branch hears the steps before it from the record.
    pub first_live_step: usize,
    /// The last look before a request leaves.
    pub scan: &'a dyn RequestScan,
    /// What is done about infrastructure faults.
    pub retries: RetryConfig,
    /// How the endpoint that answers now is spoken to; in a branch another one may have answered before.
    pub provider: &'a Provider,
    /// The model that is asked for.
    pub model: &'a str,
    /// What stands before the endpoint: the key's gate and the budget.
    pub meter: Meter,
    /// Who is to know of attempts that failed, and whose they are; `None` in a replay.
    pub observer: Option<Observer<'a>>,
}

/// An observer of one agent's attempts.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "an observer need not be printable")]
pub struct Observer<'a> {
    /// Who is called.
    pub progress: &'a dyn Progress,
    /// The agent.
    pub agent: &'a str,
}

/// One answered request.
#[derive(Debug)]
pub struct Answer {
    /// The request's key.
    pub request: String,
    /// SHA-256 of the reply's body.
    pub reply: String,
    /// The model's turn.
    pub turn: ModelTurn,
}

/// What became of a request.
#[derive(Debug)]
pub struct Asked {
    /// The faults met on the way, in order.
    pub faults: Vec<&'static str>,
    /// The answer; `None` when the attempts were used up.
    pub answer: Option<Answer>,
    /// Whether sending the same request again could not bring another answer.
    pub is_final: bool,
}

impl Asked {
    const fn answered(faults: Vec<&'static str>, request: String, reply: String, turn: ModelTurn) -> Self {
        Self {
            faults,
            answer: Some(Answer { request, reply, turn }),
            is_final: true,
        }
    }
}

/// After so many replies with nothing in them, the model is taken not to have answered.
const BLANK_REPLIES_MAX: u32 = 2;

impl<'a> RecordedClient<'a> {
    /// The live endpoint, in the steps that may ask it.
    fn live(&self, step: usize) -> Option<&'a dyn Transport> {
        self.transport.filter(|_| self.first_live_step <= step)
    }

    /// Asks until there is a turn or the attempts are used up.
    ///
    /// # Errors
    /// [`ClientError::Leak`] when the scan stops the request, [`ClientError::Configuration`] when the endpoint does not
    /// take it, and errors of replay and of writing.
    pub async fn ask(
        &self,
        step: usize,
        ordinal: u32,
        request: &WireRequest,
        expected: &Expected<'_>,
    ) -> Result<Asked, ClientError> {
        let key = self.scanned(step, request)?;
        let mut faults = Vec::new();
        let mut blanks = 0;
        let mut patience = Patience::new(self.retries);
        let killed = self.cassette.lost_sends(step, ordinal);
        let mut lost = LostSends::of(killed, self.meter.most(request.body().len()));
        for attempt in 0.. {
            let at = RequestPlace {
                step,
                ordinal,
                attempt,
            };
            if !self.may_try(at, &patience) {
                break;
            }
            let Some((reading, attempt)) = self.reading(at, &key, request, expected).await? else {
                break;
            };
            self.count_lost(&mut lost, &attempt);
            match reading {
                Reading::Turn(turn, reply) => return Ok(Asked::answered(faults, key, reply, *turn)),
                Reading::Stop(error) => return Err(error),
                Reading::GiveUp { code } => {
                    faults.push(code);
                    return Ok(Asked {
                        faults,
                        answer: None,
                        is_final: true,
                    });
                }
                Reading::Again {
                    code,
                    blank,
                    is_answered,
                    ..
                } => {
                    blanks += u32::from(blank.is_some());
                    // Taken as an answer it is the model's, and no fault of the infrastructure any more.
                    if let Some((turn, reply)) = blank.filter(|_| BLANK_REPLIES_MAX < blanks) {
                        return Ok(Asked::answered(faults, key, reply, *turn));
                    }
                    faults.push(code);
                    patience.failed(Failure {
                        is_answered,
                        is_live: attempt.is_live,
                        is_heard: self.meter.is_heard(),
                        silent_for: self.meter.silent_for(),
                    });
                    if let Some(wait) = attempt.pause {
                        self.pause((at, code), wait, &patience).await;
                    }
                }
            }
        }
        if patience.is_over() {
            return Err(ClientError::Unanswered {
                step,
                code: faults.last().copied().unwrap_or_default(),
                hours: (!patience.was_never_heard()).then_some(self.retries.unanswered_hours),
            });
        }
        Ok(Asked {
            faults,
            answer: None,
            is_final: false,
        })
    }

    /// Asks once, whatever comes back: for measurements of an endpoint, where a refusal is a finding and no fault.
    ///
    /// # Errors
    /// [`ClientError::Leak`], [`ClientError::Budget`], and errors of replay and of writing.
    pub async fn ask_once(&self, at: RequestPlace, request: &WireRequest) -> Result<OneReply, ClientError> {
        let key = self.scanned(at.step, request)?;
        let Some(sent) = self.sent(at, &key, request).await? else {
            return Err(self.not_recorded(at, request));
        };
        let Sent {
            outcome,
            reply,
            decoded,
            admitted,
        } = sent;
        if let Some(admitted) = admitted {
            let usage = decoded.as_ref().map(Decoded::of);
            let is_refused = is_refused(&outcome, decoded.as_ref());
            self.keep(at, (&outcome, is_refused), (admitted, usage), None)?;
        }
        Ok(OneReply {
            outcome,
            status: reply.map(|reply| reply.status),
            decoded,
        })
    }

    /// The key of a request that holds nothing hidden. The body is read once, for the scan and for the key.
    fn scanned(&self, step: usize, request: &WireRequest) -> Result<String, ClientError> {
        let value = serde_json::from_slice::<serde_json::Value>(request.body()).ok();
        self.scan
            .scan(request.body(), value.as_ref())
            .map_err(|finding| ClientError::Leak {
                step,
                kind: finding.kind,
                pointer: finding.pointer,
            })?;
        Ok(key_of_read(request.path(), request.body(), value.as_ref()))
    }

    /// What the recorded outcome of a place means, or a live one, recorded before anything hangs on it; with what it cost
    /// and the wait after a live one. A reply is decoded once, for the session, the charge and the pause.
    ///
    /// A replay that runs out of recorded attempts gets `None`: the episode had given up there.
    async fn reading(
        &self,
        at: RequestPlace,
        key: &str,
        request: &WireRequest,
        expected: &Expected<'_>,
    ) -> Result<Option<(Reading, Attempt)>, ClientError> {
        let Some(sent) = self.sent(at, key, request).await? else {
            return Ok(None);
        };
        let Sent {
            outcome,
            reply,
            decoded,
            admitted,
        } = sent;
        let usage = decoded.as_ref().map(Decoded::of);
        let reading = read(at.step, &outcome, (reply.as_ref(), decoded), expected);
        let Some(admitted) = admitted else {
            let charge = self.meter.charge_of_lost(request.body().len(), &outcome);
            return Ok(Some((reading, Attempt::recorded(charge))));
        };
        let pause = self.pause_after(&reading, reply.as_ref(), at, key);
        let is_refused = matches!(reading, Reading::Stop(_));
        let trouble = pause.and_then(|wait| self.trouble(&reading, wait));
        let charge = self.keep(at, (&outcome, is_refused), (admitted, usage), trouble)?;
        let is_live = true;
        Ok(Some((
            reading,
            Attempt {
                charge,
                pause,
                is_live,
            },
        )))
    }

    /// What keeps the endpoint from answering, after an attempt that should be made again after a wait.
    fn trouble(&self, reading: &Reading, wait: Duration) -> Option<Trouble> {
        let waits = Waits {
            first: Duration::from_millis(self.retries.first_wait_ms),
            longest: Duration::from_millis(self.retries.longest_wait_ms),
        };
        if reading.is_busy() {
            tracing::info!(
                spender = self.meter.spender(),
                ?wait,
                "the provider is busy: its key pauses"
            );
            let overloaded = reading.is_overloaded().then_some(waits);
            return Some(Trouble::Busy { wait, overloaded });
        }
        // Whom nobody waits for keeps nobody else from asking.
        let is_waited_for = 0 < self.retries.unanswered_hours;
        let is_unanswered = matches!(reading, Reading::Again { is_answered, .. } if !is_answered);
        (is_waited_for && is_unanswered).then_some(Trouble::Unanswered(waits))
    }

    /// The recorded outcome of a place, or a live one whose intent was written before it was sent. `None` where a replay
    /// has no further attempt.
    async fn sent(
        &self,
        at: RequestPlace,
        key: &str,
        request: &WireRequest,
    ) -> Result<Option<Sent<'_>>, ClientError> {
        let bound = request.usage_bound();
        if let Some(outcome) = self.cassette.find(at, key, request)? {
            return Ok(Some(self.decoded(outcome, bound, None)));
        }
        let Some(transport) = self.live(at.step) else {
            // What was to be sent and has no outcome is missing; an attempt that was never meant is not.
            return if at.attempt == 0 || self.cassette.has_send(at) {
                Err(self.not_recorded(at, request))
            } else {
                Ok(None)
            };
        };
        let admitted = self.meter.admit(request.body().len()).await;
        let admitted = admitted.map_err(|refused| not_admitted(at.step, refused))?;
        if let Some(store) = &self.store {
            store.intend(Intent::of(at, key, request))?;
        }
        crash_points::passes(CrashPoint::IntentWritten);
        admitted
            .leave()
            .map_err(|refused| not_admitted(at.step, refused))?;
        let sent_at = SentAt::now();
        let most = self.meter.most(request.body().len());
        // Whoever kills the program between this line and the next finds what the request may have cost.
        sent_at.log(at, self.asked(), UNDER_WAY.to_owned(), &Charge::Unknown { most })?;
        let outcome = ExchangeOutcome::of(&transport.send(request).await);
        crash_points::passes(CrashPoint::Sent);
        Ok(Some(self.decoded(outcome, bound, Some((admitted, sent_at)))))
    }

    /// Writes what came back, before anything hangs on it, and settles what it cost.
    fn keep(
        &self,
        at: RequestPlace,
        (outcome, is_refused): (&ExchangeOutcome, bool),
        ((admitted, sent_at), usage): ((Admitted<'_>, SentAt), Option<Decoded>),
        trouble: Option<Trouble>,
    ) -> Result<Charge, ClientError> {
        // A refused key or model name is kept as such: once fixed, the same request must be sent again.
        let refused = is_refused.then(|| outcome.refused());
        let kept = refused.as_ref().unwrap_or(outcome);
        if let Some(store) = &self.store {
            store.settle(at, kept.clone())?;
        }
        crash_points::passes(CrashPoint::OutcomeWritten);
        let settled = admitted.settle(kept, usage, trouble);
        sent_at.log(at, self.asked(), kept.code(), &settled.charge)?;
        if let Some(observer) = &self.observer {
            let endpoint = &self.provider.base_url;
            let turn = settled
                .endpoint
                .map(|news| EndpointTurn { endpoint, news }.to_string());
            let budget = settled.budget.iter().map(ToString::to_string);
            turn.into_iter()
                .chain(budget)
                .for_each(|news| observer.progress.news(&news));
        }
        Ok(settled.charge)
    }

    /// Where a send is logged, through what it went, and the model.
    const fn asked(&self) -> (Option<&ExchangeStore>, &Meter, &str) {
        (self.store.as_ref(), &self.meter, self.model)
    }

    /// An outcome with what its reply holds.
    fn decoded<'s>(
        &self,
        outcome: ExchangeOutcome,
        bound: UsageBound,
        admitted: Option<(Admitted<'s>, SentAt)>,
    ) -> Sent<'s> {
        let provider = self.provider;
        let reply = outcome.reply();
        let decoded = reply
            .as_ref()
            .map(|reply| DecodedReply::read(provider.wire, &provider.dialect, reply, bound));
        Sent {
            outcome,
            reply,
            decoded,
            admitted,
        }
    }

    /// How long to wait after an attempt that should be made again: as the provider wishes, or longer each time.
    fn pause_after(
        &self,
        reading: &Reading,
        reply: Option<&WireReply>,
        at: RequestPlace,
        key: &str,
    ) -> Option<Duration> {
        let Reading::Again { wait_seconds, .. } = reading else {
            return None;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        let wished = reply.and_then(|reply| wish(reply, *wait_seconds, now));
        Some(backoff(&self.retries, at.attempt, wished, key))
    }

    fn not_recorded(&self, at: RequestPlace, request: &WireRequest) -> ClientError {
        let nearest = self.cassette.nearest(at, request);
        nearest.map_or_else(ClientError::from, |nearest| {
            ClientError::not_recorded(at.step, at.ordinal, nearest)
        })
    }

    /// Counts lost sends as what the answer to their request cost, once it comes; a recorded answer was counted with the record.
    fn count_lost(&self, lost: &mut LostSends, attempt: &Attempt) {
        let above = lost.add(&attempt.charge);
        if attempt.is_live {
            self.meter.take_back(above);
        }
    }

    /// Whether a request may be tried (again). What is recorded is always heard; a replay goes as far as the record.
    fn may_try(&self, at: RequestPlace, patience: &Patience) -> bool {
        self.live(at.step).is_none() || patience.has_more() || self.cassette.has_attempt(at)
    }

    /// Waits before the next attempt, when there is one.
    async fn pause(&self, (at, code): (RequestPlace, &str), wait: Duration, patience: &Patience) {
        if !patience.has_more() {
            return;
        }
        tracing::warn!(
            at.step,
            at.ordinal,
            at.attempt,
            spender = self.meter.spender(),
            code,
            ?wait,
            "sending the same request again"
        );
        if let Some(observer) = &self.observer {
            observer.progress.attempt_failed(&FailedAttempt {
                agent: observer.agent,
                endpoint: &self.provider.base_url,
                code,
                attempt: at.attempt + 1,
                attempts: (!patience.waits()).then_some(self.retries.attempts),
                wait,
            });
        }
        wait_to_ask(wait).await;
    }
}
