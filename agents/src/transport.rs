//! The seam between pure code and whatever answers: a provider, a recording, a built-in agent.

use crate::wire::WireRequest;
use futures::future::BoxFuture;
use std::collections::BTreeMap;

/// Something that answers wire requests. One call is one attempt: retrying is the caller's affair.
pub trait Transport: Send + Sync {
    /// Sends exactly the bytes of `request`, once.
    ///
    /// # Errors
    /// [`TransportError`] when no complete reply came. Any status is a reply.
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>>;
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WireReply {
    /// HTTP status.
    pub status: u16,
    /// The headers worth keeping, by lower-case name: `retry-after`, rate limits, the request's id, the content type, where a redirect leads.
    pub headers: BTreeMap<String, String>,
    /// The body as received, after any content coding.
    pub body: Vec<u8>,
}

impl WireReply {
    /// A reply without headers.
    #[must_use]
    pub const fn new(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: BTreeMap::new(),
            body,
        }
    }

    /// How long the headers ask us to wait, in seconds, rounded up; `None` when they do not say, or say it as a date.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let wait = |name, unit| {
            let text = self.headers.get(name)?;
            crate::wire::wait_of(&format!("{}{unit}", text.trim()))
        };
        wait("retry-after-ms", "ms").or_else(|| wait("retry-after", "s"))
    }
}

/// No complete reply came. Never a model's mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum TransportError {
    /// The provider could not be reached.
    #[error("failed to connect to the provider: {detail}")]
    Connect {
        /// The system's message.
        detail: String,
    },
    /// No reply within the time given.
    #[error("the provider did not answer in time")]
    Timeout,
    /// The reply broke off.
    #[error("the provider's reply broke off: {detail}")]
    Interrupted {
        /// The system's message.
        detail: String,
    },
    /// The reply was larger than any answer needs.
    #[error("the provider's reply exceeds {limit_bytes} bytes")]
    ReplyTooLarge {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The request could not be built, or its bytes would have changed on the way.
    #[error("the request was not sent: {detail}")]
    NotSent {
        /// Why not.
        detail: String,
    },
    /// The program that answers ended by itself before its first answer, as often as it was started.
    #[error("the program does not run: {detail}")]
    NotRunning {
        /// Its exit code, and the last line of its standard error.
        detail: String,
    },
}

impl TransportError {
    /// The stable name used in records.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        !matches!(self, Self::NotSent { .. } | Self::NotRunning { .. })
    }

    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "check the base URL and the network, then send the same request again",
            Self::Timeout => "send the same request again, or raise the timeout",
            Self::Interrupted { .. } => "send the same request again",
            Self::ReplyTooLarge { .. } => "lower `max_output_tokens` or change the provider",
            Self::NotSent { .. } => "check the base URL and the headers of this provider",
            Self::NotRunning { .. } => "run its command by hand, and mend what it says",
        }
    }
}
