//! Replies that are no answer of a model: the provider's trouble, or ours. Never a model's mistake.

use crate::chat::ModelTurn;
use crate::usage::UsageBound;
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

/// Who has to act on a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultClass {
    /// The provider or the way to it. The same request may be sent again when [`ReplyFault::is_retryable`].
    Infrastructure,
    /// The run's configuration: key, model name, dialect, budget of the context. Sending again changes nothing.
    Configuration,
    /// The harness lost state the provider needs. The episode must stop.
    Harness,
}

/// What kind of fault a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// 429: too many requests or tokens for now.
    RateLimited,
    /// 402, or 429 with a quota code: no credit left.
    QuotaExhausted,
    /// 503, 529 or an overload code.
    Overloaded,
    /// 502, 504: a gateway between us and the model.
    BadGateway,
    /// Another 5xx, or an error of the server's inside a 200.
    ServerError,
    /// 408, 409, 425, 499: the provider gave up on this attempt; or a 400 that says that the request came cut.
    RequestExpired,
    /// Not JSON at all (an HTML page, an event stream, broken bytes).
    NotJson,
    /// JSON that ends in the middle.
    BodyTruncated,
    /// More bytes than any answer needs.
    BodyTooLarge,
    /// Nested deeper than any answer needs.
    BodyTooDeep,
    /// An event stream that ends before the model did.
    StreamTruncated,
    /// A call that the server had promised came as text, or as text in its arguments: its parser lost it.
    ParserLeak,
    /// JSON without a choice or without a message in it.
    EmptyEnvelope,
    /// A message with nothing in it and no token generated.
    ZeroOutput,
    /// 401: the key was not accepted.
    Unauthorized,
    /// 403: the key may not do this.
    Forbidden,
    /// 3xx: the endpoint is somewhere else. It is not followed there: key and prompt were meant for this address.
    Redirected,
    /// 404, 405: no such address or model.
    NotFound,
    /// 400 and 413: the conversation is longer than the model's context.
    ContextOverflow,
    /// 400: the provider does not take this `tool_choice`.
    ToolChoiceRefused,
    /// Another 4xx: the provider does not take this request.
    BadRequest,
    /// 400: an opaque field of an earlier turn did not go back.
    LostOpaqueState,
}

impl FaultKind {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Overloaded => "overloaded",
            Self::BadGateway => "bad_gateway",
            Self::ServerError => "server_error",
            Self::RequestExpired => "request_expired",
            Self::NotJson => "not_json",
            Self::BodyTruncated => "body_truncated",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTooDeep => "body_too_deep",
            Self::StreamTruncated => "stream_truncated",
            Self::ParserLeak => "server_parser_leak",
            Self::EmptyEnvelope => "empty_envelope",
            Self::ZeroOutput => "zero_output",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::Redirected => "redirected",
            Self::NotFound => "not_found",
            Self::ContextOverflow => "context_overflow",
            Self::ToolChoiceRefused => "dialect_mismatch",
            Self::BadRequest => "bad_request",
            Self::LostOpaqueState => "lost_opaque_state",
        }
    }

    /// Who has to act.
    #[must_use]
    pub const fn class(self) -> FaultClass {
        match self {
            Self::RateLimited
            | Self::QuotaExhausted
            | Self::Overloaded
            | Self::BadGateway
            | Self::ServerError
            | Self::RequestExpired
            | Self::NotJson
            | Self::BodyTruncated
            | Self::BodyTooLarge
            | Self::BodyTooDeep
            | Self::StreamTruncated
            | Self::ParserLeak
            | Self::EmptyEnvelope
            | Self::ZeroOutput => FaultClass::Infrastructure,
            Self::Unauthorized
            | Self::Forbidden
            | Self::Redirected
            | Self::NotFound
            | Self::ContextOverflow
            | Self::ToolChoiceRefused
            | Self::BadRequest => FaultClass::Configuration,
            Self::LostOpaqueState => FaultClass::Harness,
        }
    }

    /// Whether the identical request may succeed later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self.class(), FaultClass::Infrastructure)
            && !matches!(self, Self::QuotaExhausted | Self::ParserLeak)
    }
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
            FaultKind::NotFound => "check the base URL and the model's name",
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

fn kind_of(status: u16, code: &str, message: &str) -> FaultKind {
    match status {
        300..=399 => FaultKind::Redirected,
        404 | 405 => FaultKind::NotFound,
        401 => FaultKind::Unauthorized,
        402 => FaultKind::QuotaExhausted,
        403 => FaultKind::Forbidden,
        408 | 409 | 425 | 499 => FaultKind::RequestExpired,
        413 => FaultKind::ContextOverflow,
        // Some vendors call an empty account too many requests (GLM's 1113) or an error of their own (MiniMax-M2#62).
        429 | 500 if says_no_credit(message) => FaultKind::QuotaExhausted,
        429 => kind_of_code(code).unwrap_or(FaultKind::RateLimited),
        400..=499 => kind_of_bad_request(code, message),
        502 | 504 => FaultKind::BadGateway,
        503 | 529 => FaultKind::Overloaded,
        _ => FaultKind::ServerError,
    }
}

/// Whether a message says that the account is empty.
fn says_no_credit(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "credit balance",
        "insufficient balance",
        "\u{4f59}\u{989d}\u{4e0d}\u{8db3}",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn kind_of_code(codes: &str) -> Option<FaultKind> {
    let codes = codes.to_ascii_lowercase();
    let has = |word| codes.contains(word);
    if has("quota") || has("insufficient_balance") || has("billing") {
        Some(FaultKind::QuotaExhausted)
    } else if has("rate_limit") || has("resource_exhausted") {
        Some(FaultKind::RateLimited)
    } else if has("overload") || has("unavailable") {
        Some(FaultKind::Overloaded)
    } else if has("invalid_prompt") || has("invalid_request") {
        Some(FaultKind::BadRequest)
    } else if has("authentication_error") {
        Some(FaultKind::Unauthorized)
    } else if has("permission_error") {
        Some(FaultKind::Forbidden)
    } else if has("not_found_error") {
        Some(FaultKind::NotFound)
    } else if has("timeout_error") {
        Some(FaultKind::BadGateway)
    } else {
        None
    }
}

/// What vendors write in a 400, by the words that their own error texts hold (docs/spec/wires.md#faults).
fn kind_of_bad_request(codes: &str, message: &str) -> FaultKind {
    let (codes, message) = (codes.to_ascii_lowercase(), message.to_ascii_lowercase());
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if codes.contains("context")
        || says(&[
            "context length",
            "context size",
            "context window",
            "token limit",
            "prompt is too long",
            "exceeds the maximum number of tokens",
        ])
    {
        FaultKind::ContextOverflow
    } else if says(&[
        "reasoning_content",
        "thought_signature",
        "thoughtsignature",
        "redacted_thinking",
        "`signature` in `thinking`",
        "tool id not found",
        "`tool_result`",
    ]) || (says(&["tool result's tool id("]) && says(&["not found"]))
    {
        FaultKind::LostOpaqueState
    } else if says(&["tool_choice", "tool choice"]) {
        FaultKind::ToolChoiceRefused
    } else if codes.contains("api_key") || says(&["api key not valid", "invalid api key"]) {
        FaultKind::Unauthorized
    } else if says_no_credit(&message) {
        FaultKind::QuotaExhausted
    } else if says(&["unexpected end of data"]) {
        // The request was cut on its way: the same bytes may arrive whole.
        FaultKind::RequestExpired
    } else {
        FaultKind::BadRequest
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
