//! Hides what would let a model remember instead of think, and is the only author of [`Payload`].
//!
//! Text that reaches a model is compiled-in template text, a [`Payload`], or the model's own earlier words.
//! A [`Payload`] cannot be made from a `String`, a bare integer, a ticker or a date: only from labels fixed at
//! compile time, scale-free quantities, and what a [`Mask`] shows of a name, a day or a price.
//!
//! Knows: `env` (names, days, quantities). Never knows: providers, tools, prompts, files, clocks.

mod key;
mod level;
mod mask;
#[cfg(test)]
mod mask_tests;
mod mode;
mod payload;
mod pointer;
mod prompt;
mod quantity;
mod rule_figures;
mod schema;

pub use key::{MaskKey, MaskKeyError, hex};
pub use level::{Level, MaskSettings, Numeric};
pub use mask::{EpisodeFrame, Mask, MaskedOrder, UnknownAlias};
pub use mode::Mode;
pub use payload::Payload;
pub use pointer::PointerPart;
pub use prompt::Prompt;
pub use quantity::{Count, Rank, Ratio};
pub use rule_figures::RuleFigures;
pub use schema::{Schema, ToolSpec};
