//! Neural networks with their own derivatives.

mod adam;
mod dense;
mod graph_mlp;
mod layers;
mod lstm;
mod net;
mod norm;
mod parameters;
mod shape;
mod training;
mod transformer;

pub use net::NeuralNet;
pub use parameters::NamedWeights;
pub use shape::NetShape;
pub use training::{FittedNet, NetChances, NetData, Training};
