//! Anthropic's Messages.
//!
//! Source: the vendor's own types and recorded replies (docs/spec/wires.md#encode).

mod decode;
mod encode;
mod stream;

pub(super) use decode::decode;
pub(super) use encode::{MAX_TOKENS_DEFAULT, encode};
pub(super) use stream::assemble;
