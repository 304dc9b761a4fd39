//! Strategies on real bars: what a panel or a file of bars gives each document, and what a run of it earned.

mod choice;
mod daily;
mod minutes;
mod series;
mod study;
mod study_files;
mod study_tables;

pub use choice::{RealBars, SeriesChoice, SplitDays};
pub use study::{BarRun, BarStudy, LeftOut, reference_study};
pub use study_files::STUDY_FILES;
pub use study_tables::study_tables;
