//! Replies that are no answer of a model: the provider's trouble, or ours. Never a model's mistake.

use crate::chat::ModelTurn;
use crate::usage::UsageBound;
use crate::wire::fault_kind::{FaultClass, FaultKind, kind_of, kind_of_code};
use crate::wire::raw_object::{RawObject, read_text};
use crate::wire::wait::{wait_in, wait_of};

/// How many characters of a provider's own message are kept.
const DETAIL_CHARS_MAX: usize = 300;

/// A reply that holds no turn of the model.
#[derive(Debug, thiserror::Error)]
#[error("provider answered with status {status}: {}{}{detail}", .kind.code(), if .detail.is_empty() { "" } else { ": " })]
pub struct ReplyFault {
    kind: FaultKind,
    status: u16,
    detail: String,
    blank_turn: Option<Box<ModelTurn>>,
    wait_seconds: Option<u64>,
}

impl ReplyFault {
    pub(crate) fn new(kind: FaultKind, status: u16, detail: &str) -> Self {
        let detail = detail
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(DETAIL_CHARS_MAX)
            .collect();
        Self {
            kind,
            status,
            detail,
            blank_turn: None,
            wait_seconds: None,
        }
    }

    /// A reply with nothing in it. It keeps the turn: after a bounded number of resends the model did not answer.
    pub(crate) fn zero_output(status: u16, turn: ModelTurn) -> Self {
        Self {
            kind: FaultKind::ZeroOutput,
            status,
            detail: String::new(),
            blank_turn: Some(Box::new(turn)),
            wait_seconds: None,
        }
    }

    /// The fault that a status outside 200..=299 means, looking into the body where statuses are ambiguous.
    pub(crate) fn of_status(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let error = RawObject::read(&text).and_then(|reply| ErrorObject::of_reply(&reply));
        let message = error
            .as_ref()
            .map_or_else(|| text.into_owned(), |e| e.message.clone());
        let wait_seconds = error.as_ref().and_then(|e| e.wait_seconds);
        let codes = error.map_or_else(String::new, |e| e.codes);
        let kind = kind_of(status, &codes, &message);
        // A provider may repeat the key it refused; errors must never hold a key.
        let detail = if matches!(kind, FaultKind::Unauthorized | FaultKind::Forbidden) {
            ""
        } else {
            &message
        };
        Self {
            wait_seconds,
            ..Self::new(kind, status, detail)
        }
    }

    /// The fault of an `error` member inside a 200, when `holder` has one.
    pub(crate) fn of_inner_error(status: u16, holder: &RawObject) -> Option<Self> {
        let error = ErrorObject::of_reply(holder)?;
        let inner = error.status.unwrap_or(status);
        // Inside a success only the inner code can speak; anything it leaves open is the server's trouble.
        let kind = if (400..=599).contains(&inner) {
            kind_of(inner, &error.codes, &error.message)
        } else {
            kind_of_code(&error.codes).unwrap_or(FaultKind::ServerError)
        };
        let detail = if matches!(kind, FaultKind::Unauthorized | FaultKind::Forbidden) {
            ""
        } else {
            &error.message
        };
        Some(Self {
            wait_seconds: error.wait_seconds,
            ..Self::new(kind, status, detail)
        })
    }

    /// What kind of fault it is.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Who has to act.
    #[must_use]
    pub const fn class(&self) -> FaultClass {
        self.kind.class()
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// How long the body asks us to wait, in seconds, rounded up, where it does.
    #[must_use]
    pub const fn retry_after_seconds(&self) -> Option<u64> {
        self.wait_seconds
    }

    /// Whether the identical request may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// The empty turn of a [`FaultKind::ZeroOutput`]: when resending keeps giving nothing, this is what the model
    /// said, and the session counts it as no answer.
    #[must_use]
    pub fn into_blank_turn(self) -> Option<ModelTurn> {
        self.blank_turn.map(|turn| *turn)
    }

    /// The empty turn of a [`FaultKind::ZeroOutput`].
    pub(crate) fn blank_turn(&self) -> Option<&ModelTurn> {
        self.blank_turn.as_deref()
    }

    pub(crate) fn bound_usage(&mut self, bound: UsageBound) {
        if let Some(turn) = &mut self.blank_turn {
            turn.bound_usage(bound);
        }
    }

    /// Says where a redirect leads; a query may hold a key and is left out.
    pub(crate) fn name_target(&mut self, location: Option<&String>) {
        let target = location.and_then(|text| text.split(['?', '#']).next());
        if let Some(target) = target {
            let named = Self::new(
                self.kind,
                self.status,
                &format!("the endpoint redirects to {target}"),
            );
            self.detail = named.detail;
        }
    }

    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.kind {
            FaultKind::RateLimited => "wait as `retry-after` says and send the same request again",
            FaultKind::QuotaExhausted => "add credit to the provider account, then continue the run",
            FaultKind::Overloaded => "back off and lower the number of concurrent episodes",
            FaultKind::BadGateway
            | FaultKind::ServerError
            | FaultKind::RequestExpired
            | FaultKind::NotJson
            | FaultKind::BodyTruncated
            | FaultKind::StreamTruncated
            | FaultKind::EmptyEnvelope
            | FaultKind::ZeroOutput => "back off and send the same request again",
            FaultKind::BodyTooLarge | FaultKind::BodyTooDeep => {
                "lower `max_output_tokens` or change the provider"
            }
            FaultKind::ParserLeak => {
                "declare a lower force level, or change the server's tool parser: it did not read the model's call"
            }
            FaultKind::Unauthorized => "check the API key of this provider",
            FaultKind::Forbidden => "check what the API key may do and whether the model is open to it",
            FaultKind::Redirected => {
                "fix `base_url`: write the address that the endpoint redirects to; redirects are not followed"
            }
            FaultKind::NotFound => {
                "check the base URL and the model's name; of a model that is gone, `ktd run FILE --withdraw AGENT` closes what it played"
            }
            FaultKind::ContextOverflow => "lower `max_tool_calls` or choose a model with a longer context",
            FaultKind::ToolChoiceRefused => "declare a lower force level for this model",
            FaultKind::BadRequest => "compare the request with what the provider documents",
            FaultKind::LostOpaqueState => "report it: an assistant turn did not go back as it came",
        }
    }
}

/// The part of a provider's error object that tells faults apart.
struct ErrorObject {
    /// The status that the object itself names.
    status: Option<u16>,
    /// `code`, `type`, `status` and the reasons of `details`, whichever are there.
    codes: String,
    message: String,
    /// How long the provider asks us to wait, in seconds.
    wait_seconds: Option<u64>,
}

impl ErrorObject {
    fn of_reply(reply: &RawObject) -> Option<Self> {
        // Some servers send the member with nothing in it beside a good answer.
        let raw = reply
            .get("error")
            .filter(|raw| !matches!(*raw, "false" | "\"\"" | "{}"))?;
        let Some(error) = RawObject::read(raw) else {
            return Some(Self {
                status: None,
                codes: String::new(),
                message: read_text(raw).unwrap_or_else(|| raw.to_owned()),
                wait_seconds: None,
            });
        };
        let plain = |key| error.text(key).or_else(|| error.get(key).map(str::to_owned));
        let details = error.list("details").unwrap_or_default();
        let details: Vec<RawObject> = details
            .iter()
            .filter_map(|raw| RawObject::read(raw.get()))
            .collect();
        let mut codes: Vec<String> = ["code", "type", "status"].into_iter().filter_map(plain).collect();
        codes.extend(details.iter().filter_map(|detail| detail.text("reason")));
        let message = plain("message").unwrap_or_default();
        Some(Self {
            status: plain("code").and_then(|code| code.parse().ok()),
            codes: codes.join(" "),
            wait_seconds: details
                .iter()
                .find_map(|detail| wait_of(&detail.text("retryDelay")?))
                .or_else(|| wait_in(&message)),
            message,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_account_is_told_from_too_many_requests() {
        for (status, body, kind) in [
            (
                429,
                r#"{"error":{"code":"1113","message":"\u4f59\u989d\u4e0d\u8db3\u6216\u65e0\u53ef\u7528\u8d44\u6e90\u5305"}}"#,
                FaultKind::QuotaExhausted,
            ),
            (
                429,
                r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#,
                FaultKind::QuotaExhausted,
            ),
            (
                500,
                r#"{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}"#,
                FaultKind::QuotaExhausted,
            ),
            (
                429,
                r#"{"error":{"code":"1302","message":"Rate limit reached"}}"#,
                FaultKind::RateLimited,
            ),
            (
                500,
                r#"{"error":{"message":"unknown error, 999 (1000)"}}"#,
                FaultKind::ServerError,
            ),
            (
                400,
                r#"{"error":{"type":"bad_request_error","message":"invalid params, tool result's tool id(call_function_1) not found (2013)"}}"#,
                FaultKind::LostOpaqueState,
            ),
            (
                400,
                r#"{"error":{"type":"bad_request_error","message":"invalid params, invalid chat setting (2013)"}}"#,
                FaultKind::BadRequest,
            ),
        ] {
            assert_eq!(
                ReplyFault::of_status(status, body.as_bytes()).kind(),
                kind,
                "{body}"
            );
        }
    }

    #[test]
    fn an_error_member_with_nothing_in_it_is_no_error() {
        let fault = |body| ReplyFault::of_inner_error(200, &RawObject::read(body).unwrap());
        for body in [
            r#"{"error":null}"#,
            r#"{"error":""}"#,
            r#"{"error":{}}"#,
            r#"{"error":false}"#,
        ] {
            assert!(fault(body).is_none(), "{body}");
        }
        assert_eq!(fault(r#"{"error":"no"}"#).unwrap().kind(), FaultKind::ServerError);
    }
}
