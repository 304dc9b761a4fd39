//! What every recorded work has in common: chained lines, exchanges with a model and what they cost, which program made it, and
//! signatures.
//!
//! | module | what it holds |
//! |---|---|
//! | [`chain`] | lines of JSON, each with the hash of the one before |
//! | [`exchanges`] | every request before it is sent, and what came back |
//! | [`spending`], [`tariff`], [`budget_file`] | what sends were charged, in picodollars |
//! | [`send_log`] | when each was sent, and how long its answer took |
//! | [`program_record`], [`study_folder`] | the program that made a folder, and the lock of who writes it |
//! | [`draw_number`] | what drawn windows hang on beside the experiment's secret |
//! | [`signing`], [`signer_mark`], [`signed_folder`] | Ed25519 over canonical JSON; folders that are given away |
//!
//! Knows: files, wires, prices. Never knows: an episode, a market, a mask, a client.

pub mod budget_file;
mod canonical;
pub mod chain;
pub mod draw_number;
mod error;
mod exchange;
pub mod exchanges;
pub mod json_parts;
mod log_reader;
mod nearest_request;
pub mod program_record;
mod record_paths;
pub mod send_log;
pub mod set_aside;
pub mod signed_folder;
pub mod signer_mark;
pub mod signing;
pub mod spending;
pub mod study_folder;
pub mod tariff;

pub use error::RecordError;
pub use record_paths::RecordPaths;
