//! Scores of agents, kept so that ranking again need not read their episodes.
//!
//! A score is kept outside of any record, in a folder of this machine's user (or one that machines share) that may be deleted at any
//! time, because whoever gives away a record could write anything beside it. It stands under a hash of all that it hangs on: the
//! program's sources, the factor model and its days, the settings, how chance is drawn, and what closes each episode's record. What
//! is checked each time is that every file of every episode has the hash that its summary closes. That summaries follow from the
//! files was checked when the score was made.

use super::agent_score::AgentScore;
use crate::BoardError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{Durability, IfExists, create_directory, parse_json, read_bounded, write_file};
use std::path::PathBuf;

/// Where scores are kept, and by which program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptScores {
    /// The folder, which need not exist.
    pub folder: PathBuf,
    /// SHA-256 over the sources of this program: another one may score in another way.
    pub program: String,
}

/// The most that a score may hold: 64 MiB, of 100 seeds of 548 days under 16 settings some 20.
const SCORE_LIMIT_BYTES: u64 = 64 << 20;

impl KeptScores {
    /// The score that hangs on what `hangs_on` says; none where it was never kept, cannot be read, or has fewer settings than are needed.
    pub(super) fn get(&self, hangs_on: &str, settings: usize) -> Option<AgentScore> {
        let path = self.path(hangs_on);
        let bytes = read_bounded(&path, SCORE_LIMIT_BYTES).ok()?;
        let score: AgentScore = parse_json(&path, &bytes).ok()?;
        (settings <= score.settings()).then_some(score)
    }

    /// Keeps a score. Where it cannot be written, the next board takes longer, and nothing else.
    pub(super) fn keep(&self, hangs_on: &str, score: &AgentScore) {
        let path = self.path(hangs_on);
        // Numbers by the million: no indents.
        let Ok(bytes) = serde_json::to_vec(score) else {
            return;
        };
        let written = create_directory(&self.folder)
            .and_then(|()| write_file(&path, &bytes, IfExists::Replace, Durability::Buffered));
        written.ok();
    }

    /// Whether what was kept, where anything was, is the score that was made anew.
    ///
    /// # Errors
    /// [`BoardError`] naming the file that says something else.
    pub(super) fn compare(&self, hangs_on: &str, score: &AgentScore) -> Result<(), BoardError> {
        let settings = score.settings();
        let kept = self.get(hangs_on, settings);
        if kept.is_none_or(|kept| kept.with_settings(settings) == *score) {
            return Ok(());
        }
        let what = "what was kept of an agent's records is not what they say: delete the file's folder, and make the board again";
        Err(BoardError::damaged(&self.path(hangs_on), what))
    }

    fn path(&self, hangs_on: &str) -> PathBuf {
        let name = sha256_hex(format!("{}\n{hangs_on}", self.program).as_bytes());
        self.folder.join(format!("{name}.json"))
    }
}
