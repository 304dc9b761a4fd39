//! The search for formulas on a market: its file, its folder, and the pool that it leaves.

mod config;
mod days;
mod feedback;
mod figures;
mod keys;
mod kind;
mod llm_keys;
mod market;
mod pool;
mod proposals;
mod rounds;
mod tables;
mod trials;

pub use config::{MineMethod, MineStudy};
pub use keys::{FilterKeys, GeneticKeys, GrowthKeys, MineNoise, RandomKeys, SelectKeys};
pub use kind::FormulaMining;
pub use llm_keys::LlmKeys;
pub use market::OpenMine;
pub use pool::{MinedFormula, MinedPool, ModelFinder};
pub use proposals::{ProposedAlpha, read_proposals};
pub use rounds::{ProposalLine, RoundEvent};
