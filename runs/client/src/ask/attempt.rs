//! One attempt at a request: recorded or live.

use super::sent_at::SentAt;
use crate::money::meter::Admitted;
use ktd_agents::{DecodedReply, WireReply};
use ktd_record::exchanges::ExchangeOutcome;
use ktd_record::tariff::Charge;
use std::time::Duration;

/// What an attempt that was made now cost, and the wait after it where it should be made again.
pub(super) struct LiveAttempt {
    pub(super) charge: Charge,
    pub(super) pause: Option<Duration>,
}

/// One attempt, recorded or live.
pub(super) struct Sent<'m> {
    pub(super) outcome: ExchangeOutcome,
    pub(super) reply: Option<WireReply>,
    pub(super) decoded: Option<DecodedReply>,
    /// Of a live one, which is still to be written down and paid for, and when it was sent.
    pub(super) admitted: Option<(Admitted<'m>, SentAt)>,
}
