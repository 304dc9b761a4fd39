//! What an experiment costs and how fast it may ask: prices, budgets, rates, estimates.
//!
//! Money is counted exactly, in integers. What is charged follows from the recorded exchanges and the price row in
//! the header alone, so that a summary can be recomputed and a continued run knows what has been spent.

pub mod amount;
pub mod budget;
pub mod charge;
pub mod estimate;
pub mod meter;
pub mod opening;
pub mod price_row;
pub mod price_table;
pub mod rate_gate;
pub mod spending;
pub mod wait;

pub use amount::{AmountError, Picodollars};
pub use budget::{Budget, CapReached, Caps, Payer, Reservation, Scope};
pub use charge::{Charge, Tariff};
pub use meter::{Meter, Metering};
pub use price_row::{ExchangeRate, PriceRow, Priced};
pub use price_table::{Basis, PriceTable, PricesRecord};
pub use rate_gate::{Gates, RateGate, RateLimits};
pub use spending::Spending;
