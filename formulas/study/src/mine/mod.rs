//! The search for formulas on a market: its file, its folder, and the pool that it leaves.

mod config;
mod days;
mod feedback;
mod figures;
mod kind;
mod market;
mod pool;
mod proposals;
mod round_event;
mod rounds;
mod trials;

pub use config::{FilterKeys, LlmKeys, MineMethod, MineStudy, RandomKeys, SelectKeys};
pub use kind::FormulaMining;
pub use market::OpenMine;
pub use pool::{MinedFormula, MinedPool, ModelFinder};
pub use proposals::{ProposedAlpha, read_proposals};
pub use round_event::{ProposalLine, RoundEvent};
