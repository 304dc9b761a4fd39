//! The arena: models review each other's programs without knowing who wrote them, and planted programs show how far a
//! reviewer can be trusted.

mod program;
mod review;
mod reviewer;
mod table;

pub use reviewer::ReviewUnit;
pub(crate) use reviewer::run_reviews;
pub(crate) use table::{arena_tables, mean_mark};
