//! One attempt at a request: recorded or live.

use super::sent_at::SentAt;
use crate::ClientError;
use crate::money::meter::{Admitted, Refused};
use ktd_agents::{DecodedReply, WireReply};
use ktd_record::exchanges::ExchangeOutcome;
use ktd_record::tariff::Charge;
use std::time::Duration;

/// What an attempt cost, and the wait after it where it was made now and should be made again.
pub(super) struct Attempt {
    pub(super) charge: Charge,
    pub(super) pause: Option<Duration>,
    pub(super) is_live: bool,
}

impl Attempt {
    pub(super) const fn recorded(charge: Charge) -> Self {
        Self {
            charge,
            pause: None,
            is_live: false,
        }
    }
}

/// One attempt, recorded or live.
pub(super) struct Sent<'m> {
    pub(super) outcome: ExchangeOutcome,
    pub(super) reply: Option<WireReply>,
    pub(super) decoded: Option<DecodedReply>,
    /// Of a live one, which is still to be written down and paid for, and when it was sent.
    pub(super) admitted: Option<(Admitted<'m>, SentAt)>,
}

/// What came back for a request that was sent once.
#[derive(Debug)]
pub struct OneReply {
    /// As it is recorded, but for what a refusal says.
    pub outcome: ExchangeOutcome,
    /// HTTP status, if there was a reply.
    pub status: Option<u16>,
    /// What the reply holds, if there was one.
    pub decoded: Option<DecodedReply>,
}

/// What stops a request that is not admitted.
pub(super) fn not_admitted(step: usize, refused: Refused) -> ClientError {
    match refused {
        Refused::Cap(reached) => ClientError::Budget {
            step,
            reached: Box::new(reached),
        },
        Refused::Lease(why) => ClientError::Lease { step, why },
        Refused::NoBound => ClientError::input(
            "there is a budget, but the cost of a call has no bound",
            "give the model a row in the price table and the agent `max_output_tokens`",
        ),
    }
}
