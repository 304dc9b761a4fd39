//! Every request and reply of an episode: what is sent is written before it is sent, what came back before anything
//! hangs on it.
//!
//! A store has two parts. `exchanges.jsonl` is open: lines of JSON, appended one by one; `exchanges.jsonl.zst` holds what
//! was closed before, in frames of many lines. An *intent* is a request that is about to be sent, the *outcome* after it
//! what came back. A reply once received is therefore never asked for again, and an intent without an outcome is a request
//! of which nobody knows whether it was answered, or charged. Killed in the middle of a line or a frame, the torn end is
//! cut off when the store is opened again. A finished store is one frame.

mod by_step;
mod cassette;
mod line;
mod records;
mod store;

pub use by_step::ExchangesByStep;
pub use cassette::Cassette;
pub use records::{ExchangeRecord, each_exchange, read_sends};
pub use store::ExchangeStore;

pub use crate::exchange::{ExchangeOutcome, Intent, RequestPlace, Sent, key_of_read, request_key};
pub use crate::nearest_request::{Difference, Nearest};
