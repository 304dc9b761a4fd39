//! The run bundle: one directory an episode, written as it goes, safe to kill at any byte.
//!
//! | file | holds | who may see it |
//! |---|---|---|
//! | `header.json` | format, code, configuration, hashes, mask commitment, model, seed | anyone |
//! | `events.jsonl` | what happened, in what the model may see, hash-chained; the account's totals under `bright` alone | anyone |
//! | `exchanges.jsonl.zst` | every request before it is sent, and what came back | anyone |
//! | `summary.json` | metrics and counters, recomputable from the other files, and the hashes of these | anyone |
//! | `private/episode.json` | mask key and real dates | the owner |
//! | `private/ledger.jsonl` | the exact account, fills and marks with real codes | the owner |
//! | `private/summary.json` | the account's metrics and counts, recomputable from the ledger | the owner |
//!
//! A publication is a folder of finished bundles with `published.json` above them: which they are, the hash of every file, and the
//! signature of who published them. Their private parts are public from then on.
//!
//! What any recorded talk with a model has in common - chain, exchanges, money, signatures - is `ktd_record`'s.
//!
//! Knows: files, the nouns of experiments and accounts. Never knows: a client, a running episode, ranks.

pub mod book_difference;
pub mod bundle_ref;
pub mod bundle_set;
pub mod canary;
pub mod conversation;
pub mod episode_filter;
pub mod episode_tariff;
pub mod event;
pub mod finished_episode;
pub mod guessable_key;
pub mod header;
mod header_names;
pub mod ledger;
pub mod ledger_binding;
pub mod ledger_mark;
#[cfg(test)]
mod ledger_tests;
pub mod log_tail;
pub mod mask_key;
mod metrics;
pub mod open;
pub mod publication;
pub mod publish;
pub mod recorded_agent;
pub mod recorded_files;
pub mod recorded_prompts;
pub mod recorded_step;
pub mod sent_settings;
pub mod summary;
pub mod summary_file;
pub mod transcript;

use ktd_io::FileError;
use ktd_io::lock::FileLock;
use ktd_record::RecordPaths;
use std::path::{Component, Path, PathBuf};

/// The version of everything in a bundle. A reader takes its own version alone.
pub const FORMAT_VERSION: u32 = 3;

/// The folder of an experiment's bundles, in its results or in their `private/`.
pub const CELLS: &str = "cells";

/// What its owner alone may see.
pub const PRIVATE: &str = "private";

/// The results directory of a bundle: above its `cells`, where it has one, and above the `private/` of sealed ones.
#[must_use]
pub fn results_of(bundle: &Path) -> PathBuf {
    let above = bundle.parent().unwrap_or(bundle);
    let is = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    let results = above.parent().filter(|_| is(above, CELLS));
    let results = results.map(|results| match results.parent() {
        Some(parent) if is(results, PRIVATE) => parent,
        _ => results,
    });
    results.unwrap_or(above).to_owned()
}

/// Whether a path, which need not exist, leads below a folder called `private`, wherever links and `..` lead.
#[must_use]
pub fn lies_in_private(path: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let existing = path
        .ancestors()
        .find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, real)) = existing else {
        return false;
    };
    let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
    // A path that goes up again where nothing is yet leads anywhere.
    let goes_up = rest.components().any(|part| part == Component::ParentDir);
    // The first folder of a machine may be called so.
    let whole = real.join(rest);
    !goes_up && whole.components().skip(2).any(|part| part.as_os_str() == PRIVATE)
}

/// The paths of one bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePaths {
    record: RecordPaths,
}

impl BundlePaths {
    /// The bundle in a directory.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            record: RecordPaths::new(root),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.record.root()
    }

    /// `header.json`.
    #[must_use]
    pub fn header(&self) -> PathBuf {
        self.root().join("header.json")
    }

    /// `events.jsonl`.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.record.events()
    }

    /// `exchanges.jsonl.zst`, as [`RecordPaths::exchanges`] says.
    #[must_use]
    pub fn exchanges(&self) -> PathBuf {
        self.record.exchanges()
    }

    /// `exchanges.jsonl`, as [`RecordPaths::open_exchanges`] says.
    #[must_use]
    pub fn open_exchanges(&self) -> PathBuf {
        self.record.open_exchanges()
    }

    /// `summary.json`.
    #[must_use]
    pub fn summary(&self) -> PathBuf {
        self.root().join("summary.json")
    }

    /// `private/`.
    #[must_use]
    pub fn private(&self) -> PathBuf {
        self.record.private()
    }

    /// `private/episode.json`.
    #[must_use]
    pub fn episode(&self) -> PathBuf {
        self.private().join("episode.json")
    }

    /// `private/ledger.jsonl`.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.private().join("ledger.jsonl")
    }

    /// `private/summary.json`.
    #[must_use]
    pub fn private_summary(&self) -> PathBuf {
        self.private().join("summary.json")
    }

    /// `private/lock`: held by the one process that writes the bundle.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.record.lock()
    }

    /// Makes the directories.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub fn create(&self) -> Result<(), FileError> {
        self.record.create()
    }

    /// Takes the bundle's lock, before anything of it is read.
    ///
    /// # Errors
    /// As [`RecordPaths::lock_for_writing`].
    pub fn lock_for_writing(&self) -> Result<FileLock, FileError> {
        self.record.lock_for_writing()
    }
}
