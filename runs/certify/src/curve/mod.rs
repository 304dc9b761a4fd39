//! What each rung of the numeric ladder leaks, and what it costs those who only look at numbers.

mod earned;
mod forecast;
mod kind;
mod leakage;
mod picture;
mod record;
mod recovery;
mod report;
mod sight;
mod signals;
mod strategy;

pub use kind::{CurveFound, CurveStudy, CurveUnit};
pub use leakage::ClassLeakage;
pub use record::{Curve, FactorSight, ReturnDifference, Rung, StrategyCost};
pub use recovery::Recovery;
pub use strategy::FactorStrategy;
