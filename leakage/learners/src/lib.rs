//! Five predictors of returns: ridge regression, boosted trees, and three neural networks.
//!
//! A fit depends on its arguments alone, to the last bit and on every machine: sums keep their order in every width of
//! vectors, no product is fused with an addition, exponentials are `libm`'s or a pinned polynomial, and chance is handed in
//! as a [`Chance`]. A fit runs on one thread; fits beside each other do not touch.
//!
//! Rows are row-major slices of finite numbers, standardised by the caller where a predictor wants it.
//!
//! Source of every rule: docs/spec/leakage.md#models.
//!
//! Knows: nothing of ours. Never knows: markets, protocols, files, clocks, threads.

mod chance;
mod error;
mod kernel;
mod nets;
mod real;
mod ridge;
mod trees;

pub use chance::Chance;
pub use error::LearnError;
pub use nets::{FittedNet, NamedWeights, NetChances, NetData, NetShape, NeuralNet, Training};
pub use real::Real;
pub use ridge::RidgeFit;
pub use trees::{BoostedTrees, BoostingSettings};
