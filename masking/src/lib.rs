//! Hides what would let a model remember instead of think, and is the only author of [`Payload`].
//!
//! Text that reaches a model is compiled-in template text, a [`Payload`], or the model's own earlier words.
//! A [`Payload`] cannot be made from a `String`, a bare number, a ticker or a date: only from labels fixed at compile
//! time, counts of the harness's own things, what a [`Mask`] shows of a name, a day or a number, and formulas printed anew
//! from their tree.
//!
//! Knows: `env` (names, days, quantities), `expressions` (trees of formulas). Never knows: providers, tools, prompts, files, clocks.

mod cross_section_rank;
mod figures;
mod formula_reader;
mod groups;
mod json_extent;
mod key;
mod labels;
mod level;
mod mask;
#[cfg(test)]
mod mask_tests;
mod masked_number;
mod mode;
mod numeric;
mod payload;
mod pointer;
mod prompt;
mod quantity;
mod roster;
mod rounding;
mod rule_figures;
mod schema;
mod shown_formula;

pub use cross_section_rank::{CrossSectionRank, RankedValues};
pub use formula_reader::FormulaReader;
pub use json_extent::JsonExtent;
pub use key::{MaskKey, MaskKeyError, hex};
pub use level::{Level, MaskSettings};
pub use mask::{EpisodeFrame, Mask, MaskedOrder, UnknownAlias};
pub use masked_number::MaskedNumber;
pub use mode::Mode;
pub use numeric::{FactorScale, Numeric};
pub use payload::Payload;
pub use pointer::PointerPart;
pub use prompt::Prompt;
pub use quantity::{Count, Rank};
pub use roster::{PERIOD_DAYS, Roster, ShownStock, group_of_band, style_groups};
pub use rule_figures::RuleFigures;
pub use schema::{Schema, ToolSpec};
pub use shown_formula::TrainFigures;

/// The version of what masks show: raised when the same market, key and settings give other payloads than before.
pub const SCHEME: u32 = 4;
