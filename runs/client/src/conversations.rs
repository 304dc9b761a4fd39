//! Conversations with one model outside an episode: each request is recorded, paid for, and looked for in the record first.

use crate::ClientError;
use crate::ask::RecordedClient;
use crate::asked_model::AskedModel;
use crate::money::Metering;
use ktd_agents::{ChatRequest, Expected, ModelTurn, Transport, WireRequest, Words};
use ktd_experiment::config::RetryConfig;
use ktd_guard::RequestScan;
use ktd_record::RecordError;
use ktd_record::exchanges::{Cassette, ExchangeStore, RequestPlace};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What all conversations with one model share. When one of them is stopped by an error, no other sends anything new.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub struct Conversations<'a> {
    model: &'a AskedModel,
    metering: &'a Metering,
    retries: RetryConfig,
    cassette: Arc<Cassette>,
    /// Where new exchanges are kept and who is asked; `None` where only the record speaks.
    live: Option<(ExchangeStore, &'a dyn Transport)>,
    is_stopped: AtomicBool,
}

/// What became of a request.
#[derive(Debug)]
pub enum Answered {
    /// The model's turn.
    Turn(Box<ModelTurn>),
    /// Nobody can answer it, or nobody is asked: the fault's code, or [`NOT_ASKED`].
    Nothing(String),
    /// Nothing was sent, for another conversation was stopped.
    Stopped,
}

/// The reason of a question that was put to nobody yet.
pub const NOT_ASKED: &str = "not_asked";

impl<'a> Conversations<'a> {
    /// Conversations over a record, with somebody who answers what it lacks, or nobody.
    #[must_use]
    pub fn new(
        model: &'a AskedModel,
        metering: &'a Metering,
        retries: RetryConfig,
        cassette: Cassette,
        live: Option<(ExchangeStore, &'a dyn Transport)>,
    ) -> Self {
        Self {
            model,
            metering,
            retries,
            cassette: Arc::new(cassette),
            live,
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Who is asked.
    #[must_use]
    pub const fn model(&self) -> &'a AskedModel {
        self.model
    }

    /// A request as its endpoint takes it.
    #[must_use]
    pub fn encode<W: Words>(&self, request: &ChatRequest<W>) -> WireRequest {
        let provider = &self.model.provider;
        provider.wire.encode(request, &provider.dialect)
    }

    /// What was recorded before.
    #[must_use]
    pub fn record(&self) -> &Cassette {
        &self.cassette
    }

    /// Whether the record holds an attempt at this place.
    #[must_use]
    pub fn is_recorded(&self, place: RequestPlace) -> bool {
        self.cassette.has_attempt(place)
    }

    /// Lets no other conversation send anything that is not recorded.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// The client of one conversation, whose requests are recorded under this step. A request that nobody answered in an
    /// earlier run has all its attempts again.
    pub fn client<'c>(&'c self, scan: &'c dyn RequestScan, step: usize) -> RecordedClient<'c> {
        let retries = self.retries.of(&self.model.agent);
        let attempts = retries.attempts.saturating_add(self.cassette.last_attempts(step));
        RecordedClient {
            cassette: Arc::clone(&self.cassette),
            store: self.live.as_ref().map(|(store, _)| store.clone()),
            transport: self.live.as_ref().map(|(_, transport)| *transport),
            first_live_step: 1,
            scan,
            retries: RetryConfig { attempts, ..retries },
            provider: &self.model.provider,
            model: self.model.agent.model_name(),
            meter: self.metering.meter(&self.model.payer),
            observer: None,
        }
    }

    /// Puts the request of a step and ordinal; `submission` is the tool that submits, if there is one.
    ///
    /// # Errors
    /// [`ClientError`] where the infrastructure, the budget or a hidden name in the request stops it; the same call later
    /// continues.
    pub async fn ask<W: Words>(
        &self,
        client: &RecordedClient<'_>,
        (step, ordinal): (usize, u32),
        request: &ChatRequest<W>,
        submission: Option<&str>,
    ) -> Result<Answered, ClientError> {
        let provider = &self.model.provider;
        let first = RequestPlace {
            step,
            ordinal,
            attempt: 0,
        };
        if self.is_stopped.load(Ordering::Relaxed) && !self.is_recorded(first) {
            return Ok(Answered::Stopped);
        }
        let wire = self.encode(request);
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name).collect();
        let expected = Expected {
            tools: &tools,
            forced: submission.map(|_| provider.force),
            submission,
            self_hosted: provider.dialect.self_hosted,
        };
        let asked = match client.ask(step, ordinal, &wire, &expected).await {
            Err(ClientError::Bundle(RecordError::NotRecorded { .. })) if self.live.is_none() => {
                return Ok(Answered::Nothing(NOT_ASKED.to_owned()));
            }
            asked => asked?,
        };
        let last = asked.faults.last().copied().unwrap_or(NOT_ASKED);
        match asked.answer {
            Some(answer) => Ok(Answered::Turn(Box::new(answer.turn))),
            None if asked.is_final || self.live.is_none() => Ok(Answered::Nothing(last.to_owned())),
            None => Err(ClientError::Faults {
                attempts: asked.faults.len(),
                code: last,
            }),
        }
    }
}
