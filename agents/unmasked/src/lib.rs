//! Conversations with text from outside any mask: a task, a formula to be judged, the traceback of a program.
//!
//! They are held and go over the same wires as the masked ones, and are of other types: an
//! [`OpenRequest`] is no [`ktd_agents::ChatRequest`], and no [`OpenPrompt`] becomes a [`ktd_masking::Prompt`]. Masked
//! text may stand in an open conversation; there is no way back.
//!
//! Only crates of sciences and studies may know this one. An episode masks what it shows, so none of what it is made of
//! may name these types: not `env`, `masking`, `guard`, `probes`, `prompts`, `tools`, `agents`, `attribution`; nor
//! `bundle`, `client`, `episode`, `certify` and `board` at the edge.
//!
//! Knows: `agents` (conversations), `masking` (`Payload`, `Prompt`). Never knows: a
//! market, a mask, tools' code, files, clocks.

mod prompt;
mod words;

pub use prompt::OpenPrompt;
pub use words::{Open, OpenRequest};

#[cfg(test)]
mod tests;
