//! The search for formulas on a market: its file, its folder, and the pool that it leaves.

mod config;
mod days;
mod feedback;
mod figures;
mod folder;
mod journal;
mod keys;
mod llm_keys;
mod market;
mod model_search;
mod pool;
mod proposals;
mod rounds;

pub use config::{MineMethod, MineStudy};
pub use folder::{mine_into, mined_table};
pub use keys::{FilterKeys, GeneticKeys, GrowthKeys, MineNoise, RandomKeys, SelectKeys};
pub use llm_keys::LlmKeys;
pub use market::OpenMine;
pub use model_search::{mine_with_model, replay_mined};
pub use pool::{MinedFormula, MinedPool, ModelFinder};
pub use proposals::{ProposedAlpha, read_proposals};
