//! FX, the language of the definitions: what a factor is, exactly, so that a program can compute it.
//!
//! A definition is `name = value; ...; result` over the series `O H L C V` of one stock and `nan`. A value is a number or
//! missing, and whatever is not finite is missing. An operator with a missing argument gives none, unless its
//! description says otherwise. No operator reads a later row, so a definition cannot look ahead.

mod calendar;
mod check;
mod definition;
mod element;
mod evaluate;
mod moments;
mod node;
mod operator;
mod ordered;
mod parser;
mod past;
mod rolling;
mod script;
mod spread_divisor;
mod state;
mod token;
mod variant;
mod windows;

pub use crate::fx_error::{FxError, FxFault};
pub use check::MAX_FX_WINDOW;
pub use definition::FxDefinition;
pub use parser::{MAX_FX_BYTES, MAX_FX_DEPTH, MAX_FX_NODES};
pub use spread_divisor::SpreadDivisor;
pub use variant::{DefinitionChange, DefinitionVariant};

#[cfg(test)]
mod tests;
