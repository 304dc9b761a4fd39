//! One request as it is recorded, and what came back.

use crate::canonical::write_canonical;
use ktd_agents::{TransportError, WireReply, WireRequest};
use ktd_io::sha256::sha256_hex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// Which request of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPlace {
    /// 1-based step.
    pub step: usize,
    /// 0-based request of the step.
    pub ordinal: u32,
    /// 0-based attempt at the same request; an infrastructure fault adds one.
    pub attempt: u32,
}

/// A request that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Which request.
    pub at: RequestPlace,
    /// SHA-256 of path and canonical JSON (RFC 8785) of the request.
    pub key: String,
    /// The path below the provider's base URL.
    pub path: String,
    /// The request's exact body.
    pub request: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ExchangeOutcome {
    /// A complete reply.
    Reply {
        /// HTTP status.
        status: u16,
        /// Allow-listed headers.
        headers: BTreeMap<String, String>,
        /// The body, when it is UTF-8.
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// The body's bytes in hexadecimal, when it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        body_hex: Option<String>,
    },
    /// No complete reply.
    Failed {
        /// The stable name of the failure.
        code: String,
        /// Whether sending it again may help.
        retryable: bool,
        /// The message of the failure.
        detail: String,
    },
    /// The provider took the request for wrongly configured, or it never left: nothing was charged and nothing is
    /// replayed; fixed, the same request is sent again. None of the provider's words are kept, for they may repeat
    /// a key.
    Refused {
        /// HTTP status, if there was a reply.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<u16>,
    },
}

/// One request that was to be sent, with what came back.
///
/// The same place is sent again after a kill between intent and outcome, and after a refusal; it is answered once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The request.
    pub intent: Intent,
    /// What came back; `None` when the program died before that was written.
    pub outcome: Option<ExchangeOutcome>,
}

impl RequestPlace {
    /// All attempts at a request of a step.
    pub(crate) const fn attempts(step: usize, ordinal: u32) -> RangeInclusive<Self> {
        let place = Self {
            step,
            ordinal,
            attempt: 0,
        };
        place..=Self {
            attempt: u32::MAX,
            ..place
        }
    }
}

impl fmt::Display for RequestPlace {
    /// `step 3, request 1, attempt 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            ordinal,
            attempt,
        } = self;
        write!(f, "step {step}, request {ordinal}, attempt {attempt}")
    }
}

impl Intent {
    /// The intent to send a request.
    #[must_use]
    pub fn of(at: RequestPlace, key: &str, request: &WireRequest) -> Self {
        Self {
            at,
            key: key.to_owned(),
            path: request.path().to_owned(),
            request: String::from_utf8(request.body().to_vec())
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        }
    }

    /// Whether the key is that of path and body.
    #[must_use]
    pub fn has_own_key(&self) -> bool {
        self.key == key_of(&self.path, self.request.as_bytes())
    }
}

impl Sent {
    /// Whether nobody knows if it was sent, answered or charged.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.outcome.is_none()
    }

    /// The outcome that a replay hears: a reply or a fault of the infrastructure.
    #[must_use]
    pub fn answer(&self) -> Option<&ExchangeOutcome> {
        self.outcome.as_ref().filter(|outcome| outcome.is_answer())
    }
}

/// The key of a request: SHA-256 of its path and its canonical JSON.
#[must_use]
pub fn request_key(request: &WireRequest) -> String {
    key_of(request.path(), request.body())
}

fn key_of(path: &str, body: &[u8]) -> String {
    key_of_read(path, body, serde_json::from_slice(body).ok().as_ref())
}

/// The key of a request whose body has been read before, where it is JSON.
#[must_use]
pub fn key_of_read(path: &str, body: &[u8], value: Option<&serde_json::Value>) -> String {
    let mut bytes = path.as_bytes().to_vec();
    bytes.push(b'\n');
    let path_end = bytes.len();
    if value.is_none_or(|value| write_canonical(value, &mut bytes).is_err()) {
        bytes.truncate(path_end);
        bytes.extend_from_slice(body);
    }
    sha256_hex(&bytes)
}

impl ExchangeOutcome {
    /// Keeps what a transport returned.
    #[must_use]
    pub fn of(result: &Result<WireReply, TransportError>) -> Self {
        match result {
            Ok(reply) => {
                let text = String::from_utf8(reply.body.clone()).ok();
                let hex = text.is_none().then(|| ktd_io::sha256::hex(&reply.body));
                let headers = reply.headers.clone();
                Self::Reply {
                    status: reply.status,
                    headers,
                    body: text,
                    body_hex: hex,
                }
            }
            Err(error) => Self::Failed {
                code: error.code().to_owned(),
                retryable: error.is_retryable(),
                detail: error.to_string(),
            },
        }
    }

    /// The HTTP status, or the stable name of the fault.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            Self::Reply { status, .. } => status.to_string(),
            Self::Failed { code, .. } => code.clone(),
            Self::Refused { .. } => "refused".to_owned(),
        }
    }

    /// Whether a replay hears it: a reply or a fault of the infrastructure.
    #[must_use]
    pub const fn is_answer(&self) -> bool {
        match self {
            Self::Reply { .. } | Self::Failed { .. } => true,
            Self::Refused { .. } => false,
        }
    }

    /// The reply again, if it was one.
    #[must_use]
    pub fn reply(&self) -> Option<WireReply> {
        match self {
            Self::Reply {
                status,
                headers,
                body,
                body_hex,
            } => {
                let bytes = match (body, body_hex) {
                    (Some(text), _) => text.clone().into_bytes(),
                    (None, Some(hex)) => unhex(hex),
                    (None, None) => Vec::new(),
                };
                let mut reply = WireReply::new(*status, bytes);
                reply.headers.clone_from(headers);
                Some(reply)
            }
            Self::Failed { .. } | Self::Refused { .. } => None,
        }
    }

    /// What is kept instead of an outcome that stops a run until its configuration is fixed.
    #[must_use]
    pub const fn refused(&self) -> Self {
        match self {
            Self::Reply { status, .. } => Self::Refused {
                status: Some(*status),
            },
            Self::Failed { .. } | Self::Refused { .. } => Self::Refused { status: None },
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| {
        char::from(*byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    text.as_bytes()
        .chunks(2)
        .filter_map(|pair| match pair {
            [high, low] => Some((digit(high)? << 4) | digit(low)?),
            _ => None,
        })
        .collect()
}
