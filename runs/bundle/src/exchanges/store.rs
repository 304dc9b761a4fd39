//! The open store that intents and outcomes are appended to.

use super::frame::{Frame, Settled};
use super::{Cassette, Intent, Outcome, Place};
use crate::BundleError;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open store that records are appended to. Its copies append to the same file, each record whole.
#[derive(Debug, Clone)]
pub struct ExchangeStore {
    path: PathBuf,
    /// `None` after a record that was not written whole: what would follow it could not be read.
    file: Arc<Mutex<Option<File>>>,
}

impl ExchangeStore {
    /// Opens a store to continue it after what `cassette` read.
    ///
    /// # Errors
    /// [`BundleError::Io`] when it cannot be opened or its torn end cannot be cut off.
    pub fn continue_after(path: &Path, cassette: &Cassette) -> Result<Self, BundleError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(BundleError::io("open", path))?;
        let whole_bytes = cassette.whole_bytes();
        if file.metadata().map_err(BundleError::io("read", path))?.len() != whole_bytes {
            file.set_len(whole_bytes)
                .map_err(BundleError::io("cut the torn end of", path))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(Mutex::new(Some(file))),
        })
    }

    /// Writes what is about to be sent, before it is.
    ///
    /// # Errors
    /// [`BundleError::Io`]: it must not be sent then.
    pub fn intend(&self, intent: Intent) -> Result<(), BundleError> {
        self.append(&Frame::Intent(intent))
    }

    /// Writes what came back for the last intent of a place.
    ///
    /// # Errors
    /// [`BundleError::Io`]: nothing may hang on it then.
    pub fn settle(&self, at: Place, outcome: Outcome) -> Result<(), BundleError> {
        self.append(&Frame::Outcome(Settled { at, outcome }))
    }

    /// One record, one write.
    fn append(&self, frame: &Frame) -> Result<(), BundleError> {
        let bytes = frame
            .to_bytes()
            .map_err(BundleError::io("pack a record of", &self.path))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.as_mut().map_or_else(
            || Err(std::io::Error::other("the record before was not written whole")),
            |file| file.write_all(&bytes),
        );
        if written.is_err() {
            *file = None;
        }
        written.map_err(BundleError::io("write", &self.path))
    }
}
