//! When a request was sent, and its line in the log of sends.

use crate::ClientError;
use crate::money::Meter;
use chrono::{DateTime, SecondsFormat, Utc};
use ktd_experiment::amount::Picodollars;
use ktd_record::exchanges::{ExchangeStore, RequestPlace};
use ktd_record::send_log::SendLine;
use ktd_record::tariff::Charge;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// When a request was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentAt {
    clock: SystemTime,
    since: Instant,
}

impl SentAt {
    pub(super) fn now() -> Self {
        Self {
            clock: SystemTime::now(),
            since: Instant::now(),
        }
    }

    /// Logs what a send to a model through a meter has just come to, where it is recorded and somebody is paid.
    pub(super) fn log(
        self,
        at: RequestPlace,
        (store, meter, model): (Option<&ExchangeStore>, &Meter, &str),
        outcome: String,
        charge: &Charge,
    ) -> Result<(), ClientError> {
        let Some(store) = store.filter(|_| !meter.is_free()) else {
            return Ok(());
        };
        let line = SendLine {
            at: DateTime::<Utc>::from(self.clock).to_rfc3339_opts(SecondsFormat::Millis, true),
            vendor: meter.vendor().to_owned(),
            model: model.to_owned(),
            key: meter.key().key.clone(),
            base_url: meter.key().base_url.clone(),
            step: at.step,
            ordinal: at.ordinal,
            attempt: at.attempt,
            latency_ms: milliseconds(self.since.elapsed()),
            outcome,
            cost_picodollars: charge.amount().map(|Picodollars(cost)| cost),
            is_most: matches!(charge, Charge::Incomplete { .. } | Charge::Unknown { .. }),
            paused_ms: meter.paused_for().map(milliseconds),
        };
        Ok(store.send_log().add(&line)?)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
