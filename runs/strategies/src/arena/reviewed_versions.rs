//! The versions that an arena reviewed, for whoever takes the reviewers' words as words about a version.

use super::program::ProgramKey;
use super::run::read_header;
use crate::error::StrategyError;
use crate::submission::StrategySubmission;
use ktd_io::sha256::sha256_hex;
use std::path::Path;

/// The versions that the arena of a folder reviewed.
pub(crate) struct ReviewedVersions(Vec<ProgramKey>);

impl ReviewedVersions {
    /// Those that the header of an arena names; none where there is no header.
    pub(crate) fn read(folder: &Path) -> Result<Self, StrategyError> {
        let header = read_header(folder)?;
        Ok(Self(header.map(|header| header.programs).unwrap_or_default()))
    }

    /// Whether a version of a submission is one of them, to the byte.
    pub(crate) fn has(
        &self,
        (model, strategy, seed): (&str, &str, u64),
        (iteration, version): (usize, &StrategySubmission),
    ) -> bool {
        let key = ProgramKey {
            strategy: strategy.to_owned(),
            model: Some(model.to_owned()),
            seed,
            iteration,
            control: None,
            card_sha256: sha256_hex(version.card.as_bytes()),
            source_sha256: sha256_hex(version.source.as_bytes()),
        };
        self.0.contains(&key)
    }
}
