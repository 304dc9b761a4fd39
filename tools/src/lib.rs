//! What a model may call: the six read-only tools and `submit_action`.
//!
//! Knows: the market's as-of view, masking. Never knows: agents, prompts, files.

pub mod order;
