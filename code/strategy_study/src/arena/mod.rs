//! The arena: models review each other's programs without knowing who wrote them, and planted programs show how far a
//! reviewer can be trusted.

mod control;
mod program;
mod record;
mod review;
mod reviewer;
mod table;

pub use control::ControlKind;
pub(crate) use program::ProgramKey;
pub use record::{ArenaModel, ArenaRecord, LeftOut, ReviewScore, ReviewerRow};
pub(crate) use record::{ArenaPanel, ModelVendor};
pub use review::ReviewEvent;
pub use reviewer::{ReviewUnit, ReviewsFound};
pub(crate) use reviewer::{reviews, run_reviews};
pub(crate) use table::arena_tables;
