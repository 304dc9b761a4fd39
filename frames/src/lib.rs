//! Panels and bundles as polars frames, for people who analyse in Rust.
//!
//! An optional leaf: nothing depends on it, and the default build leaves it out, because polars would multiply a cold
//! build. It stands at the edge, so its frames hold real codes and dates: they are for the eyes of the owner and not
//! for a model.
//!
//! Knows: `env` (panels), the text of a bundle's private ledger. Never knows: masks, prompts, agents, tools, runs,
//! files, clocks.

mod events;
mod panel;

pub use events::{EventsError, step_frame};
pub use panel::panel_frame;
