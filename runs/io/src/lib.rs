//! Files and threads: whole files and folders, files of JSON lines, locks, hashes, and what went wrong with them.
//!
//! Knows: the file system, threads, and limits of the process. Never knows: anything of a market, a mask, a model or an
//! experiment.

pub mod crash_points;
mod error;
pub mod file_set;
pub mod frame;
pub mod line_file;
pub mod lock;
pub mod memory;
pub mod open_files;
pub mod parallel;
pub mod sha256;
pub mod shared_file;
pub mod text_file;
pub mod whole_file;
pub mod whole_folder;

pub use error::{ErrorClass, Explained, FileError, InputError};
