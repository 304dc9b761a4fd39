//! One probe: from its question to an answer, or to the reason why there is none.

use super::attacker::LanguageAttacker;
use super::custom_id::custom_id;
use super::guess::{self, Guess, SUBMIT_GUESS};
use super::question::{self, bad_guess, given_away, given_day};
use super::record::LanguageAnswer;
use crate::CertifyError;
use ktd_agents::{
    ChatRequest, Expected, ModelFault, ModelTurn, Outcome, Session, Submission, SubmissionEffect, Tally,
    Transport, WireRequest,
};
use ktd_bundle::BundleError;
use ktd_bundle::exchanges::{Cassette, ExchangeStore, RequestPlace};
use ktd_client::ClientError;
use ktd_client::ask::RecordedClient;
use ktd_client::money::Metering;
use ktd_env::Market;
use ktd_experiment::config::RetryConfig;
use ktd_guard::Guard;
use ktd_masking::MaskSettings;
use ktd_probes::{Probe, ProbeKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What all conversations of one attacker share.
pub(super) struct ProbeConversation<'a> {
    pub(super) attacker: &'a LanguageAttacker,
    pub(super) market: &'a Market,
    pub(super) mask: MaskSettings,
    pub(super) guard: &'a Guard,
    pub(super) metering: &'a Metering,
    pub(super) retries: RetryConfig,
    pub(super) schema_retries: u32,
    pub(super) cassette: Arc<Cassette>,
    /// Where new exchanges are kept and who is asked; `None` where only the record speaks.
    pub(super) live: Option<(ExchangeStore, &'a dyn Transport)>,
    /// Whether one conversation was stopped: then no other sends anything more.
    pub(super) is_stopped: AtomicBool,
}

/// The place of a probe's requests among the exchanges of an attacker: each probe is a step.
pub(super) fn step_of(kind: ProbeKind, number: usize) -> usize {
    let place = ProbeKind::ALL.into_iter().position(|known| known == kind);
    number * ProbeKind::ALL.len() + place.unwrap_or(0) + 1
}

/// Nothing more is to be sent, for another conversation was stopped.
struct Stopped;

/// What became of a request.
enum StepReply {
    Turn(Box<ModelTurn>),
    /// Nobody can answer it, or nobody is asked: why.
    Nothing(String),
}

/// The reason of a probe that was put to nobody yet.
const NOT_ASKED: &str = "not_asked";

impl ProbeConversation<'_> {
    /// The guard of a probe that gives codes or a day away on purpose: they may pass, and nothing else. `None` of any other.
    pub(super) fn own_guard(&self, probe: &Probe) -> Option<Guard> {
        let of_codes = given_away(probe).fold(None, |own: Option<Guard>, code| {
            Some(own.as_ref().unwrap_or(self.guard).but(&code))
        });
        match given_day(probe) {
            Some(day) => Some(of_codes.as_ref().unwrap_or(self.guard).but_day(&day)),
            None => of_codes,
        }
    }

    pub(super) fn open(&self, probe: &Probe) -> Session<Submission> {
        question::open(self.attacker, self.mask, self.schema_retries, probe)
    }

    pub(super) fn encode(&self, request: &ChatRequest) -> WireRequest {
        let provider = &self.attacker.provider;
        provider.wire.encode(request, &provider.dialect)
    }

    /// Puts one probe; `None` when it is left for a later run, because another one was stopped.
    pub(super) async fn put(&self, probe: &Probe) -> Result<Option<LanguageAnswer>, CertifyError> {
        let answer = self.converse(probe).await;
        if answer.is_err() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        answer.map_err(|source| CertifyError::Attack {
            attacker: self.attacker.agent.id.clone(),
            probe: custom_id(probe.kind, probe.number),
            source: Box::new(source),
        })
    }

    async fn converse(&self, probe: &Probe) -> Result<Option<LanguageAnswer>, CertifyError> {
        let own_guard = self.own_guard(probe);
        let guard = own_guard.as_ref().unwrap_or(self.guard);
        let which = (probe.kind, probe.number);
        let step = step_of(probe.kind, probe.number);
        let mut exchanger = self.exchanger(guard, step);
        let mut session = self.open(probe);
        let mut mistakes = Mistakes::default();
        let mut ordinal = 0;
        let mut accepted: Option<Guess> = None;
        let answer = loop {
            let mut detail = None;
            match session.next() {
                SubmissionEffect::Ask(request) => {
                    match self.ask(&mut exchanger, (step, ordinal), &request).await? {
                        Ok(StepReply::Turn(turn)) => session.feed_turn(*turn)?,
                        Ok(StepReply::Nothing(reason)) => {
                            let reason = mistakes.last().map_or(reason, str::to_owned);
                            break LanguageAnswer::unanswered(which, &reason);
                        }
                        Err(Stopped) => return Ok(None),
                    }
                    ordinal += 1;
                }
                SubmissionEffect::Submit { arguments } => match guess::read(probe.kind, &arguments) {
                    Ok(guess) => {
                        accepted = Some(guess);
                        session.accept()?;
                    }
                    Err(problem) => {
                        detail = Some(problem.code());
                        session.reject(&bad_guess(problem, session.attempt()))?;
                    }
                },
                SubmissionEffect::End(Outcome::Submitted { .. } | Outcome::Fallback { .. }) => {
                    break match accepted {
                        Some(guess) => LanguageAnswer::of_guess(self.market, which, guess),
                        None => LanguageAnswer::unanswered(which, mistakes.last().unwrap_or(NOT_ASKED)),
                    };
                }
            }
            mistakes.count(session.tally(), detail);
        };
        Ok(Some(LanguageAnswer {
            mistakes: mistakes.codes,
            ..answer
        }))
    }

    fn exchanger<'e>(&'e self, guard: &'e Guard, step: usize) -> RecordedClient<'e> {
        // A request that nobody answered in an earlier run has all its attempts again.
        let attempts = self
            .retries
            .attempts
            .saturating_add(self.cassette.last_attempts(step));
        RecordedClient {
            cassette: Arc::clone(&self.cassette),
            store: self.live.as_ref().map(|(store, _)| store.clone()),
            transport: self.live.as_ref().map(|(_, transport)| *transport),
            first_live_step: 1,
            scan: guard,
            retries: RetryConfig {
                attempts,
                ..self.retries
            },
            provider: &self.attacker.provider,
            meter: self.metering.meter(&self.attacker.payer),
            observer: None,
        }
    }

    async fn ask(
        &self,
        exchanger: &mut RecordedClient<'_>,
        (step, ordinal): (usize, u32),
        request: &ChatRequest,
    ) -> Result<Result<StepReply, Stopped>, CertifyError> {
        let provider = &self.attacker.provider;
        let first = RequestPlace {
            step,
            ordinal,
            attempt: 0,
        };
        if self.is_stopped.load(Ordering::Relaxed) && !self.cassette.has_attempt(first) {
            return Ok(Err(Stopped));
        }
        let wire = self.encode(request);
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name).collect();
        let expected = Expected {
            tools: &tools,
            forced: Some(provider.force),
            submission: Some(SUBMIT_GUESS),
            self_hosted: provider.dialect.self_hosted,
        };
        let asked = match exchanger.ask(step, ordinal, &wire, &expected).await {
            Err(ClientError::Bundle(BundleError::NotRecorded { .. })) if self.live.is_none() => {
                return Ok(Ok(StepReply::Nothing(NOT_ASKED.to_owned())));
            }
            asked => asked?,
        };
        let last = asked.faults.last().copied().unwrap_or(NOT_ASKED);
        match asked.answer {
            Some(answer) => Ok(Ok(StepReply::Turn(Box::new(answer.turn)))),
            None if asked.is_final || self.live.is_none() => Ok(Ok(StepReply::Nothing(last.to_owned()))),
            None => Err(CertifyError::Client(ClientError::Faults {
                attempts: asked.faults.len(),
                code: last,
            })),
        }
    }
}

/// The model's mistakes, in the order they were made.
#[derive(Default)]
struct Mistakes {
    codes: Vec<String>,
    counted: Tally,
}

impl Mistakes {
    /// Notes what a conversation counted since the last time; `detail` says more of a submission that was refused.
    fn count(&mut self, tally: &Tally, detail: Option<&'static str>) {
        for (fault, count) in &tally.faults {
            let code = match (fault, detail) {
                (ModelFault::Rejected | ModelFault::ArgumentsMalformed, Some(detail)) => detail,
                _ => fault.code(),
            };
            let new = count.saturating_sub(self.counted.count(*fault));
            self.codes.extend((0..new).map(|_| code.to_owned()));
        }
        self.counted = tally.clone();
    }

    fn last(&self) -> Option<&str> {
        self.codes.last().map(String::as_str)
    }
}
