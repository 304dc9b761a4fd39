//! Neural networks with their own derivatives.

mod adam;
mod dense;
mod graph_mlp;
mod lstm;
mod net;
mod norm;
mod parameters;
mod training;
mod transformer;

pub use net::{NetShape, NeuralNet};
pub use parameters::NamedWeights;
pub use training::{FittedNet, NetChances, NetData, Training};
