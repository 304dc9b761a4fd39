//! What an attempt's outcome means: a turn, another attempt, or the end.

use crate::ClientError;
use ktd_agents::{
    DecodedReply, Expected, FaultClass, FaultKind, ModelTurn, ReplyFault, WireReply, parser_leak,
};
use ktd_io::sha256::sha256_hex;
use ktd_record::exchanges::ExchangeOutcome;

/// What an attempt's outcome means.
pub(super) enum Reading {
    Turn(Box<ModelTurn>, String),
    /// Send the same bytes again; the body may say after how many seconds.
    Again {
        code: &'static str,
        blank: Option<Blank>,
        wait_seconds: Option<u64>,
        /// Whether something came back that cannot be used; else nobody answered, or had no time.
        is_answered: bool,
    },
    /// Never send them again: nobody can answer them now.
    GiveUp {
        code: &'static str,
    },
    Stop(ClientError),
}

impl Reading {
    /// Whether the provider has too much to do: then nobody should ask it with this key.
    pub(super) fn is_busy(&self) -> bool {
        let busy = [FaultKind::RateLimited, FaultKind::Overloaded];
        matches!(self, Self::Again { code, .. } if busy.iter().any(|kind| kind.code() == *code))
    }

    /// Whether it has no time for anybody.
    pub(super) fn is_overloaded(&self) -> bool {
        matches!(self, Self::Again { code, .. } if *code == FaultKind::Overloaded.code())
    }
}

/// A turn with nothing in it, and the SHA-256 of its reply.
pub(super) type Blank = (Box<ModelTurn>, String);

/// What an outcome means; `reply` is the reply in it, and what was decoded of that.
pub(super) fn read(
    step: usize,
    outcome: &ExchangeOutcome,
    reply: (Option<&WireReply>, Option<DecodedReply>),
    expected: &Expected<'_>,
) -> Reading {
    match outcome {
        ExchangeOutcome::Failed {
            code,
            retryable,
            detail,
        } => return read_failure(step, code, *retryable, detail),
        ExchangeOutcome::Refused { .. } => {
            return Reading::Stop(ClientError::Configuration {
                step,
                detail: "the provider refused the request".to_owned(),
                hint: "fix the configuration and run again: the request is sent again then",
            });
        }
        ExchangeOutcome::Reply { .. } => {}
    }
    let (Some(reply), Some(decoded)) = reply else {
        return Reading::GiveUp {
            code: "unreadable_record",
        };
    };
    match decoded.into_turn() {
        Ok(turn) => match parser_leak(&turn, expected) {
            Some(leak) => Reading::GiveUp { code: leak.code() },
            None => Reading::Turn(Box::new(turn), sha256_hex(&reply.body)),
        },
        Err(fault) => read_fault(step, fault, reply),
    }
}

/// Whether an outcome would stop a run until its configuration is fixed: none of the provider's words are kept then.
pub(super) fn is_refused(outcome: &ExchangeOutcome, decoded: Option<&DecodedReply>) -> bool {
    let is_class = |fault: &ReplyFault| match fault.class() {
        FaultClass::Infrastructure => fault.kind() == FaultKind::QuotaExhausted,
        FaultClass::Harness | FaultClass::Configuration => true,
    };
    match outcome {
        ExchangeOutcome::Failed { retryable, .. } => !retryable,
        ExchangeOutcome::Refused { .. } => true,
        ExchangeOutcome::Reply { .. } => decoded.is_some_and(|decoded| decoded.turn().is_err_and(is_class)),
    }
}

fn read_failure(step: usize, code_given: &str, retryable: bool, detail: &str) -> Reading {
    const REPLY_TOO_LARGE: &str = "reply_too_large";
    const CODES: [&str; 4] = ["connect", "timeout", "interrupted", REPLY_TOO_LARGE];
    let code = CODES
        .into_iter()
        .find(|known| *known == code_given)
        .unwrap_or("transport");
    if retryable {
        return Reading::Again {
            code,
            blank: None,
            wait_seconds: None,
            is_answered: code == REPLY_TOO_LARGE,
        };
    }
    Reading::Stop(ClientError::Configuration {
        step,
        detail: detail.to_owned(),
        hint: if code_given == "not_running" {
            "run its command by hand in the experiment's folder, mend what it says, and give the same command again"
        } else {
            "check the base URL and the headers of this agent"
        },
    })
}

fn read_fault(step: usize, fault: ReplyFault, reply: &WireReply) -> Reading {
    let code = fault.kind().code();
    match fault.class() {
        FaultClass::Infrastructure if fault.is_retryable() => {
            let wait_seconds = fault.retry_after_seconds();
            let is_answered = fault.kind().is_answered();
            let is_blank = fault.kind() == FaultKind::ZeroOutput;
            let blank = fault.into_blank_turn().filter(|_| is_blank);
            let blank = blank.map(|turn| (Box::new(turn), sha256_hex(&reply.body)));
            Reading::Again {
                code,
                blank,
                wait_seconds,
                is_answered,
            }
        }
        // Going on would lose every later step to the same fault; after a payment the same step is asked again.
        FaultClass::Infrastructure if fault.kind() == FaultKind::QuotaExhausted => {
            Reading::Stop(ClientError::QuotaExhausted {
                step,
                detail: fault.to_string(),
            })
        }
        FaultClass::Infrastructure => Reading::GiveUp { code },
        FaultClass::Harness => Reading::Stop(ClientError::HarnessBug {
            step,
            detail: fault.to_string(),
        }),
        FaultClass::Configuration => Reading::Stop(ClientError::Configuration {
            step,
            detail: fault.to_string(),
            hint: fault.hint(),
        }),
    }
}
