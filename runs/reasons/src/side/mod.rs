//! The reasons that one agent gave for the same steps under several masks, side by side.

mod group;
mod page;
mod real;
mod record;
mod text;

pub use group::side_by_side;
pub use page::render;
pub use record::{
    MarkedText, MarkedWord, MaskColumn, MaskComparison, OrderCell, OrderRow, SideBySide, StepCell,
    StepComparison, TextPart,
};
pub use text::text;

use std::path::PathBuf;

/// What is laid side by side.
#[derive(Debug, Clone, Default)]
pub struct SideOptions {
    /// 1-based steps; none: those with the most hits.
    pub steps: Vec<usize>,
    /// How many steps are chosen by their hits.
    pub most: usize,
    /// Whether the real stocks are told, so that the same stock stands in the same row.
    pub real: bool,
    /// The panel, when it is no longer where the bundles were made.
    pub panel: Option<PathBuf>,
}
