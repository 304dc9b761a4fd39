//! Anthropic's Messages.
//!
//! Source: the vendor's own types and recorded replies (providers.md, section 1.3).

mod decode;
mod encode;
mod stream;

pub(super) use decode::decode;
pub(super) use encode::{MAX_TOKENS_DEFAULT, encode};
pub(super) use stream::assemble;
