//! Chat Completions, the wire that most vendors and local servers speak.
//!
//! Source: `OpenAI`'s specification of `POST /chat/completions`, read with the tolerance compatible servers need.

mod decode;
mod encode;
mod stream;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use stream::assemble;
