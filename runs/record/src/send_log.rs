//! When each request was sent, how long its answer took, and what it cost: for the owner alone.

use crate::RecordError;
use ktd_io::whole_file::{create_private, owner_alone};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `private/sends.jsonl` of a record: a line for each request when it leaves and one when its answer has come, by the clock of the
/// machine. It is in no hash, is never given away, and no replay or check reads it: an invoice is met with it.
#[derive(Debug, Clone)]
pub struct SendLog {
    path: PathBuf,
}

/// Line of a send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendLine {
    /// When it was sent, UTC, such as `2026-11-02T07:28:00.125Z`.
    pub at: String,
    /// The vendor's id.
    pub vendor: String,
    /// The model that was asked for.
    pub model: String,
    /// The name of the key: its environment variable, or the path of its file; empty where none was sent.
    #[serde(default)]
    pub key: String,
    /// The address that was asked.
    #[serde(default)]
    pub base_url: String,
    /// 1-based step, or conversation.
    pub step: usize,
    /// 0-based request of the step.
    pub ordinal: u32,
    /// 0-based attempt.
    pub attempt: u32,
    /// From sending to the end of the answer, milliseconds.
    pub latency_ms: u64,
    /// The HTTP status, or the stable name of the fault; [`UNDER_WAY`] when it leaves.
    pub outcome: String,
    /// What it was charged, picodollars; `null` where nobody knows.
    pub cost_picodollars: Option<u64>,
    /// Whether that is the most that it may have cost.
    pub is_most: bool,
    /// How long from the end of the answer on nobody may use the key, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_ms: Option<u64>,
}

/// The outcome of a request that leaves: what became of it has a line of its own, with the same time and place.
pub const UNDER_WAY: &str = "under_way";

/// Requests of a log that left and of which nothing more is known: under way, or lost with the program that waited for them.
#[derive(Debug, Default)]
pub struct OpenSends(BTreeMap<(usize, u32, u32, String), SendLine>);

impl OpenSends {
    /// Takes the next line of the log, and gives it back where the request came to an end.
    pub fn take(&mut self, line: SendLine) -> Option<SendLine> {
        let send = (line.step, line.ordinal, line.attempt, line.at.clone());
        if line.outcome == UNDER_WAY {
            self.0.insert(send, line);
            return None;
        }
        self.0.remove(&send);
        Some(line)
    }

    /// Those that have not come to an end, each with the most that it may cost.
    pub fn all(&self) -> impl Iterator<Item = &SendLine> {
        self.0.values()
    }
}

impl SendLog {
    /// That of the record whose exchanges are at this path.
    #[must_use]
    pub fn beside(exchanges: &Path) -> Self {
        Self::of_record(exchanges.parent().unwrap_or(Path::new("")))
    }

    /// That of a record's folder.
    #[must_use]
    pub fn of_record(folder: &Path) -> Self {
        Self {
            path: folder.join("private").join("sends.jsonl"),
        }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line.
    ///
    /// # Errors
    /// [`RecordError::File`] when it cannot be written.
    pub fn add(&self, line: &SendLine) -> Result<(), RecordError> {
        let path = &self.path;
        if let Some(private) = path.parent().filter(|private| !private.exists()) {
            create_private(private)?;
        }
        let mut text = serde_json::to_string(line)
            .map_err(|error| RecordError::damaged(path, format!("a send cannot be written: {error}")))?;
        text.push('\n');
        owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(RecordError::io("write", path))
    }
}
