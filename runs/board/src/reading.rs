//! What events and exchanges of an episode say for its score, kept so that ranking again need not read them.
//!
//! They are most of a bundle's bytes: of an episode of 548 steps with 20 calls each, 311 MB when they are unpacked. A reading is
//! kept outside of any record, in a folder of this machine's user that may be deleted at any time, because whoever gives away a
//! record could write anything beside it. It stands under the hash of the summaries that close the record and of the program's
//! sources. What is checked each time is that every file of the bundle has the hash that its summary closes; the ledger is read
//! anew. That the summary follows from the files was checked when the reading was made.

use super::order_tally::rule;
use crate::BoardError;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::sent_settings::SentSettings;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{
    Durability, IfExists, create_directory, json_bytes, parse_json, read_bounded, write_file,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the events and the exchanges of an episode say for its score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordReading {
    /// Cash before the first day, fen.
    pub(super) initial_cash_fen: i64,
    /// Stated confidences of the orders of each step.
    pub(super) confidences: BTreeMap<usize, Vec<f64>>,
    /// Submissions that were fed back, by the code of the first rule of the exchange that they broke.
    pub(super) fed_back: BTreeMap<String, usize>,
    /// Calls of the tool that submits during research, which are wishes and no submissions.
    pub(super) early_submissions: usize,
    /// Names of the models that answered, as the provider says.
    pub(super) served_models: BTreeSet<String>,
    /// Settings of generation as its requests name them.
    pub(super) sent: SentSettings,
}

impl RecordReading {
    /// Adds what an event says.
    pub(super) fn add(&mut self, event: ReadEvent) {
        self.early_submissions += event.early_submissions();
        match event {
            ReadEvent::EpisodeBegin { initial_cash_fen, .. } => self.initial_cash_fen = initial_cash_fen,
            ReadEvent::Turn { served_model, .. } => self.served_models.extend(served_model),
            ReadEvent::Decision { step, orders, .. } => {
                let confidences = orders.iter().map(|order| order.confidence).collect();
                self.confidences.insert(step, confidences);
            }
            ReadEvent::ModelFault { detail, .. } => {
                // What is no rule of the exchange is a fault of form.
                if let Some(code) = detail.filter(|code| rule(code).is_some()) {
                    *self.fed_back.entry(code).or_insert(0) += 1;
                }
            }
            ReadEvent::StepBegin { .. }
            | ReadEvent::InfrastructureFault { .. }
            | ReadEvent::ToolCall { .. }
            | ReadEvent::Fills { .. }
            | ReadEvent::StepEnd { .. }
            | ReadEvent::EpisodeEnd { .. } => {}
        }
    }
}

/// Where readings are kept, and by which program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReadings {
    /// The folder, which need not exist.
    pub folder: PathBuf,
    /// SHA-256 over the sources of this program: another one may read records in another way.
    pub program: String,
}

/// The most that a reading may hold: 16 MiB, a hundred times one of 548 steps.
const READING_LIMIT_BYTES: u64 = 16 << 20;

impl KeptReadings {
    /// The reading of the record with this closing hash; none where it was never kept, or cannot be read.
    pub(super) fn get(&self, record: &str) -> Option<RecordReading> {
        let path = self.path(record);
        let bytes = read_bounded(&path, READING_LIMIT_BYTES).ok()?;
        parse_json(&path, &bytes).ok()
    }

    /// Keeps a reading. Where it cannot be written, the next board takes longer, and nothing else.
    pub(super) fn keep(&self, record: &str, reading: &RecordReading) {
        let path = self.path(record);
        let written = create_directory(&self.folder)
            .and_then(|()| json_bytes(&path, reading))
            .and_then(|bytes| write_file(&path, &bytes, IfExists::Keep, Durability::Buffered));
        written.ok();
    }

    /// Whether what was kept, where anything was, is what the record says now.
    ///
    /// # Errors
    /// [`BoardError`] naming the file that says something else.
    pub(super) fn compare(&self, record: &str, reading: &RecordReading) -> Result<(), BoardError> {
        let path = self.path(record);
        let kept = read_bounded(&path, READING_LIMIT_BYTES).ok();
        if kept.is_none_or(|kept| json_bytes(&path, reading).is_ok_and(|bytes| bytes == kept)) {
            return Ok(());
        }
        let what = "what was kept of a record is not what that record says: delete the file's folder, and make the board again";
        Err(BoardError::damaged(&path, what))
    }

    fn path(&self, record: &str) -> PathBuf {
        let name = sha256_hex(format!("{}\n{record}", self.program).as_bytes());
        Path::new(&self.folder).join(format!("{name}.json"))
    }
}
