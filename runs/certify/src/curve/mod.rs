//! What each rung of the numeric ladder leaks, and what it costs those who only look at numbers.

mod forecast;
mod leakage;
mod picture;
pub mod plan;
mod record;
mod returns;
mod signals;
mod strategy;
mod text;

pub use leakage::ClassLeakage;
pub use picture::render;
pub use record::{CURVE_FORMAT, Curve, FactorSight, Recovery, ReturnDifference, Rung, StrategyCost};
pub use returns::experiment;
pub use signals::{SignalDays, signal_days};
pub use strategy::FactorStrategy;
pub use text::table;
