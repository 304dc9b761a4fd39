//! How many lines a patch changes.

use crate::edit_distance::common_subsequence;
use crate::indicators::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changed lines that a patch may have at most.
pub const PATCH_LINES_MAX: usize = 50;

/// Size of a patch, in lines without trailing white space; blank lines do not count, comments do.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PatchSize {
    /// Lines of the old source that the new one lacks.
    pub removed: usize,
    /// Lines of the new source that the old one lacks.
    pub added: usize,
    /// 2 x common lines over lines of both, from 0 to 1; 1 for two empty sources.
    pub similarity: f64,
}

impl PatchSize {
    /// Between two versions of a source.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let (old, new) = (lines(old), lines(new));
        let (old, new) = (lines_of(&old), lines_of(&new));
        let common = common_subsequence(&old, &new);
        let both = old.len() + new.len();
        Self {
            removed: old.len() - common,
            added: new.len() - common,
            similarity: if both == 0 {
                1.0
            } else {
                2.0 * count(common) / count(both)
            },
        }
    }

    /// Lines added and removed.
    #[must_use]
    pub const fn changed(self) -> usize {
        self.removed + self.added
    }

    /// Whether the patch is within [`PATCH_LINES_MAX`].
    #[must_use]
    pub const fn is_within_budget(self) -> bool {
        self.changed() <= PATCH_LINES_MAX
    }
}

/// A source with line feeds alone.
fn lines(source: &str) -> String {
    source.replace("\r\n", "\n").replace('\r', "\n")
}

fn lines_of(source: &str) -> Vec<&str> {
    source
        .split('\n')
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect()
}
