//! Budgets and rates: what a call may cost, and when it may be made.

pub mod budget;
mod gates;
pub mod meter;
mod payer;
pub mod rate_gate;
mod rolling_minute;
pub mod terms;
pub mod wait;

pub use crate::cap_reached::{CapReached, Scope};
pub use budget::{Budget, BudgetNews, Reservation, Spender};
pub use gates::{Gates, KeyName};
pub use meter::{Meter, Metering};
pub use payer::{Payer, PricedAgent};
pub use rate_gate::RateGate;
pub use terms::PaymentTerms;
