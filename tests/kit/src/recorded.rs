//! All exchanges of a short store.

use ktd_record::RecordError;
use ktd_record::exchanges::{Sent, read_sends};
use std::path::Path;

/// All exchanges of a short store.
#[derive(Debug)]
pub struct Recorded(Vec<Sent>);

impl Recorded {
    /// Those of the store at `path`.
    ///
    /// # Errors
    /// As [`read_sends`].
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        read_sends(path).map(Self)
    }

    /// All sends in the order they were made, answered, refused and unknown ones.
    #[must_use]
    pub fn sends(&self) -> impl DoubleEndedIterator<Item = &Sent> {
        self.0.iter()
    }

    /// The sends that a replay hears.
    pub fn answered(&self) -> impl Iterator<Item = &Sent> {
        self.sends().filter(|sent| sent.answer().is_some())
    }

    /// The sends whose outcome nobody knows.
    pub fn unknown(&self) -> impl Iterator<Item = &Sent> {
        self.sends().filter(|sent| sent.is_unknown())
    }
}
