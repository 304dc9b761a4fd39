//! The A-share exchange of profile `ktd` (docs/spec/exchange.md): what happens to an order, rule by rule.
//!
//! [`step`] is pure and total: a bad order is a rejection in the report, never an error. Money is integer fen,
//! shares are whole, and no float decides a fill.

mod account;
mod corporate;
mod decision;
mod dividend_tax;
mod fees;
mod grid;
mod limit_open;
mod limits;
mod lot;
mod open;
mod order;
mod report;
mod rules;
mod standing;
mod step;
mod trading_day;

pub use account::{Account, Holding};
pub use decision::{Decision, decide};
pub use fees::{ChargedTrade, fee, fee_rate};
pub use limit_open::LimitOpen;
pub use limits::{LimitState, PriceLimits, reference_price};
pub use lot::Lot;
pub use order::{Order, Quantity, Side, TargetWeight};
pub use report::{CorporateEvent, EventKind, Execution, Fill, NavIdentity, Position, RejectCode, StepReport};
pub use rules::{
    AuctionCash, ByBoard, Delisting, DividendTaxRule, ExDayOrders, FeeRule, LimitOpenRule, LimitRounding,
    LimitRule, Rules, VolumeShare,
};
pub use standing::Standing;
pub use step::step;
pub use trading_day::TradingDay;

#[cfg(test)]
mod dated_tests;
#[cfg(test)]
mod dividend_tax_tests;
#[cfg(test)]
mod open_tests;
#[cfg(test)]
mod property_tests;
