//! Predictors of returns: trained on one span of a panel, validated on the next, and written as scores of what follows.
//!
//! Knows: a panel's training rows. Never knows: a mask, a model of language, a record.

mod error;
mod linear;
mod ridge;
mod spans;

pub use error::PredictError;
pub use linear::{LinearPredictor, linear};
pub use spans::TrainingSpans;
