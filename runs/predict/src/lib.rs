//! Predictors of returns: trained on one span of a panel, validated on the next, and written as scores of what follows.
//!
//! Knows: a panel's training rows. Never knows: a mask, a model of language, a record.

mod boosted;
mod correlation;
mod error;
mod linear;
mod parts;
mod predicted_return;
mod ridge;
mod spans;

pub use boosted::{BoostedPredictor, boosted};
pub use error::PredictError;
pub use linear::{LinearPredictor, linear};
pub use predicted_return::{PredictedReturn, score_file};
pub use spans::TrainingSpans;
