//! Chat Completions, the wire that most vendors and local servers speak.
//!
//! Source: `OpenAI`'s specification of `POST /chat/completions`, read with the tolerance compatible servers need.

mod decode;
mod encode;

pub use decode::{REPLY_BYTES_MAX, REPLY_DEPTH_MAX, decode};
pub use encode::encode;

/// The path below the base URL.
const PATH: &str = "/chat/completions";
