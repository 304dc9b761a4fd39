//! The arena: models review each other's programs without knowing who wrote them, and planted programs show how far a
//! reviewer can be trusted.

mod control;
mod header;
mod program;
mod record;
mod review;
mod reviewed_versions;
mod run;
mod table;

pub use control::ControlKind;
pub use record::{ArenaModel, ArenaRecord, LeftOut, ReviewScore, ReviewerRow};
pub use review::ReviewEvent;
pub(crate) use reviewed_versions::ReviewedVersions;
pub use run::{ArenaOutcome, ArenaPlan, plan_arena, read_arena, read_reviews, replay_arena, run_arena};
pub use table::arena_tables;

#[cfg(test)]
pub(crate) use run::fixture;
