//! Budgets and rates: what a call may cost, and when it may be made.

pub mod budget;
mod gates;
mod key_name;
pub mod meter;
mod minute;
mod payer;
pub mod rate_gate;
mod rolling_minute;
pub mod shared;
pub mod terms;
pub mod wait;

pub use crate::cap_reached::{CapReached, Scope};
pub use budget::{Budget, BudgetNews, Reservation, Spender};
pub use gates::Gates;
pub use key_name::KeyName;
pub use meter::{Meter, Metering};
pub use payer::{Payer, PricedAgent};
pub use rate_gate::RateGate;
pub use terms::PaymentTerms;
