//! Budgets and rates: what a call may cost, and when it may be made.

pub mod budget;
pub mod meter;
mod payer;
pub mod rate_gate;
mod rolling_minute;
pub mod terms;
pub mod wait;

pub use crate::cap_reached::{CapReached, Scope};
pub use budget::{Budget, Reservation, Spender};
pub use meter::{Meter, Metering};
pub use payer::{Payer, PricedAgent};
pub use rate_gate::{Gates, RateGate};
pub use terms::PaymentTerms;
