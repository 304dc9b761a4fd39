//! Boosted regression trees.

mod bins;
mod boosting;
mod grower;
mod histogram;
mod tree;

pub use boosting::{BoostedTrees, BoostingSettings};
