//! Gemini's `generateContent`.
//!
//! Source: the vendor's own types and recorded replies (providers.md, section 1.4).

mod decode;
mod encode;
mod stream;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use stream::assemble;
