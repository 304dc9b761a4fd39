//! Local pages over results: experiments, episodes and steps, as they grow.
//!
//! Knows: the record of episodes and how to draw. Never knows: a client, a running episode, a market, a key: it reads, and
//! writes nothing but the folder of an exported site. What a certificate says, it is told. The same pages are served
//! on loopback and exported.

mod board;
pub mod catalogue;
mod certificate;
pub mod difference;
pub mod entry;
pub mod episode;
mod error;
mod export;
mod library;
mod overview;
mod page;
mod performance;
mod plain_files;
pub mod search;
mod server;
mod slug;
pub mod step;
pub mod study;

pub use error::ViewerError;
pub use export::{ExportedSite, export};
pub use library::{CertificateReader, DocumentReaders, StatusReader};
pub use server::{ServerSettings, ViewerServer};
