//! The search for formulas on a market: its file, its folder, and the pool that it leaves.

mod config;
mod days;
mod figures;
mod folder;
mod journal;
mod keys;
mod market;
mod pool;

pub use config::{MineMethod, MineStudy};
pub use folder::{mine_into, mined_table};
pub use keys::{FilterKeys, GeneticKeys, GrowthKeys, MineNoise, RandomKeys, SelectKeys};
pub use market::OpenMine;
pub use pool::{MinedFormula, MinedPool};
