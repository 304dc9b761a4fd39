//! Strategies on real bars: what a panel or a file of bars gives each document, and what a run of it earned.

mod choice;
mod daily;
mod minutes;
mod series;
mod study;
mod study_files;
mod study_tables;
mod submitted;

pub use choice::{RealBars, SeriesChoice, SplitDays};
pub(crate) use series::RealSource;
pub use study::{BarRun, BarStudy, SeriesLeftOut, reference_study};
pub use study_files::STUDY_FILES;
pub use study_tables::study_tables;
pub use submitted::{EarnedRow, FillRow, RealRow, RealVersion};
pub(crate) use submitted::{RealTask, with_whole_paths};
