//! The factor model: exposures, the daily regression, the screen of its columns, its health.
//!
//! A fit depends on the panel and the configuration alone, never on who held what: it is made once and shared by every
//! trajectory.

mod day_fit;

pub use day_fit::{DayFit, DayStatus, Leg};
