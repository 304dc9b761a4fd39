//! Wire formats: pure translations between [`crate::ChatRequest`], bytes, and [`crate::ModelTurn`].
//!
//! One folder a format, with the same two functions `encode` and `decode` in each.

mod fault;
pub mod openai;
mod raw_object;

pub use fault::{FaultClass, FaultKind, ReplyFault};

/// A request as it will be sent. Only an encoder makes one, so its bytes are what was hashed and scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    path: &'static str,
    body: Vec<u8>,
}

impl WireRequest {
    pub(crate) const fn new(path: &'static str, body: Vec<u8>) -> Self {
        Self { path, body }
    }

    /// The path below the provider's base URL, with a leading slash.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        self.path
    }

    /// The JSON body: keys in a fixed order, no white space of ours, the same bytes for the same request.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}
