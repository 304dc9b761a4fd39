//! Kinds of faults, and the words by which vendors name them.

/// Who has to act on a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultClass {
    /// The provider or the way to it. The same request may be sent again when [`crate::ReplyFault::is_retryable`].
    Infrastructure,
    /// The run's configuration: key, model name, dialect, budget of the context. Sending again changes nothing.
    Configuration,
    /// The harness lost state the provider needs. The episode must stop.
    Harness,
}

/// What kind of fault a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
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
    #[strum(serialize = "server_parser_leak")]
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
    #[strum(serialize = "dialect_mismatch")]
    ToolChoiceRefused,
    /// Another 4xx: the provider does not take this request.
    BadRequest,
    /// 400: an opaque field of an earlier turn did not go back.
    LostOpaqueState,
}

impl FaultKind {
    /// The stable name used in records.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
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

    /// Whether the model, or a server in its place, answered, if badly; the others had no time, or were not there.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        !matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::BadGateway
                | Self::ServerError
                | Self::RequestExpired
        )
    }
}

/// The kind of fault that status, codes and message of a provider name.
pub(super) fn kind_of(status: u16, code: &str, message: &str) -> FaultKind {
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

pub(super) fn kind_of_code(codes: &str) -> Option<FaultKind> {
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
