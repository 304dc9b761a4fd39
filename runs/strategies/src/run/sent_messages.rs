//! What a submission's model was sent.

use super::cell::{MESSAGES, REPLAY_HINT};
use crate::error::StrategyError;
use ktd_asking::{AskingError, LineJournal};
use ktd_io::line_file::LineKind;
use ktd_unmasked::OpenPrompt;
use std::path::Path;

/// Messages of a submission, one an iteration: those of an earlier run, then new ones.
pub(super) struct SentMessages {
    known: Vec<String>,
    journal: Option<LineJournal>,
}

impl SentMessages {
    /// The messages of an earlier run, and a journal of further ones.
    pub(super) fn continued(folder: &Path) -> Result<Self, StrategyError> {
        let (journal, known) = LineJournal::open(&folder.join(MESSAGES))?;
        Ok(Self {
            known,
            journal: Some(journal),
        })
    }

    /// The messages of a record.
    pub(super) fn recorded(folder: &Path) -> Result<Self, StrategyError> {
        let path = folder.join(MESSAGES);
        let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
        Ok(Self {
            known: LineKind::Log.lines(&path, &bytes)?.values()?,
            journal: None,
        })
    }

    /// The message of a place among all: the recorded one, or else the one that is made now, which is kept. In a replay both are
    /// the same, or what was sent was another's.
    pub(super) fn of(&mut self, place: usize, made: OpenPrompt) -> Result<OpenPrompt, StrategyError> {
        if let Some(known) = self.known.get(place) {
            if self.journal.is_none() && *known != made.as_str() {
                return Err(StrategyError::Asking(AskingError::Difference {
                    what: format!("{MESSAGES}: message {} is not what the record makes", place + 1),
                    hint: REPLAY_HINT,
                }));
            }
            return Ok(OpenPrompt::new().outside(known));
        }
        if let Some(journal) = &mut self.journal {
            journal.add(&made.as_str())?;
        }
        Ok(made)
    }
}
