//! Budgets and rates: what a call may cost, and when it may be made.

pub mod budget;
pub mod meter;
pub mod rate_gate;
pub mod terms;
pub mod wait;

pub use budget::{Budget, CapReached, Reservation, Scope, Spender};
pub use meter::{Meter, Metering};
pub use rate_gate::{Gates, RateGate};
pub use terms::PaymentTerms;
