//! Strategies on real bars: what a panel or a file of bars gives each document, and what a program earned on them.

mod choice;
mod daily;
mod minutes;
mod series;
mod submitted;

pub use choice::{RealBars, SeriesChoice, SplitDays};
pub(crate) use series::RealSource;
pub(crate) use submitted::RealTask;
