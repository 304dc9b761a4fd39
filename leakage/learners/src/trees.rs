//! Boosted regression trees.

mod bins;
mod boosting;
mod grower;
mod histogram;
mod settings;
mod tree;

pub use boosting::BoostedTrees;
pub use settings::BoostingSettings;
