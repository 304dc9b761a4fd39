//! Exact accounting: a day's return split into parts that add up to it, and days linked into a window.
//!
//! With `h0`, `h1` the shares before and after the day's trades `q = h1 - h0` at price `P`, `M` the mark, `O` the open,
//! `N` the NAV before, `w- = h0 M/N` and `w+ = h1 M/N`, both at the mark of the day before, and fees `phi`:
//!
//! `R = sum w- r + sum (w+ - w-) r_id - sum q (P - O) / N - phi / N`
//!
//! Three bases split it; each closes to rounding. Source: docs/spec/factor-model.md#bases.

mod active;
mod attribution;
mod basis;
mod day_book;
mod decisions;
mod error;
mod factor_timing;
mod linking;
mod luck;
mod parts;
mod peers;

pub use active::{ActiveLinking, link_active};
pub use attribution::{Attribution, attribute};
pub use basis::WeightBasis;
pub use day_book::{DayBook, HeldName};
pub use decisions::{FEW_DECISIONS, independent_decisions, traded_days};
pub use error::AccountError;
pub use factor_timing::FactorTiming;
pub use linking::{Linking, carino_weights, linking_weights};
pub use luck::random_selections;
pub use parts::{Part, Parts};
pub use peers::Peers;
