//! Foreign Python in a box: finding bubblewrap and Python, processes, pipes, clocks, limits of the kernel, the pinned
//! environment, and the test that a box must pass before anything runs in it.
//!
//! A [`BoxSetup`] says how boxes are to be, [`BoxLauncher::prove`] looks at the machine and tests one. A [`CodeBox`] is the
//! box of one submission, on the thread that opened it; [`CodeRunner`] is what it does, a job at a time. Nothing of this
//! program is in a box: the runner, a text in Python, gives up what it must not have before it imports anything.
//!
//! Knows: the rules of the box, files. Never knows: what a program is for, markets, masks, models.

mod answers;
mod battery;
mod bench;
mod bwrap;
mod code_box;
mod doctor;
mod environment;
mod error;
mod interpreter;
mod landlock_version;
mod launcher;
mod memory_group;
mod places;
mod process;
mod search;
mod self_test;
mod setup;
mod study_boxes;
mod table_file;

pub use battery::run_battery;
pub use bench::{BenchGoal, BoxBench};
pub use bwrap::Bubblewrap;
pub use code_box::{CodeBox, CodeRunner, JobMeasure, JobOutcome};
pub use doctor::{BoxPart, examine};
pub use environment::{EnvironmentPlan, PythonEnvironment, environment_folder};
pub use error::BoxError;
pub use interpreter::Interpreter;
pub use landlock_version::landlock_version;
pub use launcher::BoxLauncher;
pub use memory_group::GroupKind;
pub use setup::{BoxSetup, NOBODY};
pub use study_boxes::{SandboxRecord, StudyBoxes};
pub use table_file::read_table;
