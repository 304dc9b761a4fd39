//! `OpenAI`'s Responses.
//!
//! Source: the vendor's specification of `POST /responses` (docs/spec/wires.md#encode). Nothing is stored with the
//! vendor: the items of earlier turns, encrypted reasoning among them, go back with every request.

mod decode;
mod encode;
mod stream;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use stream::assemble;
