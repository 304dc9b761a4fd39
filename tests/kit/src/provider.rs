//! A provider whose faults follow a script.

use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use ktd_baselines::{BuiltinTransport, ChatModel};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// One attempt of a scripted provider.
#[derive(Clone, Copy, Debug)]
pub enum Attempt {
    /// It is answered as the model answers.
    Good,
    /// It is answered with this status and body.
    Status(u16, &'static str),
    /// No answer comes in time.
    Timeout,
    /// The connection is refused.
    Refused,
}

impl Attempt {
    /// The name it is counted under.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Good => "none",
            Self::Status(429, _) => "rate_limited",
            Self::Status(500, _) => "server_error",
            Self::Status(503, _) => "overloaded",
            Self::Status(200, body) if body.as_bytes()[0] == b'<' => "not_json",
            Self::Status(200, _) => "body_truncated",
            Self::Status(..) => "configuration",
            Self::Timeout => "timeout",
            Self::Refused => "connect",
        }
    }
}

/// A provider whose first attempts are scripted; after them it is good. It counts what it is sent.
pub struct Provider {
    script: Mutex<VecDeque<Attempt>>,
    sent: Mutex<Vec<Vec<u8>>>,
    model: BuiltinTransport,
}

impl Provider {
    /// A provider of a model, whose first attempts follow a script.
    #[must_use]
    pub fn new(model: Arc<dyn ChatModel>, script: &[Attempt]) -> Self {
        Self {
            script: Mutex::new(script.iter().copied().collect()),
            sent: Mutex::default(),
            model: BuiltinTransport::new(model),
        }
    }

    /// The bodies that it was sent, in order.
    #[must_use]
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.sent.lock().unwrap().clone()
    }
}

impl Transport for Provider {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        self.sent.lock().unwrap().push(request.body().to_vec());
        let next = self.script.lock().unwrap().pop_front().unwrap_or(Attempt::Good);
        let outcome = match next {
            Attempt::Good => return self.model.send(request),
            Attempt::Status(status, body) => {
                let mut reply = WireReply::new(status, body.as_bytes().to_vec());
                reply.headers.insert("retry-after".to_owned(), "1".to_owned());
                Ok(reply)
            }
            Attempt::Timeout => Err(TransportError::Timeout),
            Attempt::Refused => Err(TransportError::Connect {
                detail: "connection refused".to_owned(),
            }),
        };
        Box::pin(std::future::ready(outcome))
    }
}
