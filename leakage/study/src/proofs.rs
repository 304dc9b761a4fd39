//! What ridge regression shows of the last test year.

use super::around_stamp::around_stamp;
use super::config::LeakConfig;
use super::grid::LeakSource;
use super::report_rows::{LadderRow, ProfileRow};
use super::sanity::{SanityRow, sanity};
use serde::{Deserialize, Serialize};

/// What ridge regression shows of the last test year. It may be impossible where the years could be run: then it says why, and
/// the gains stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakProofs {
    pub(super) interventions: Vec<SanityRow>,
    pub(super) profile: Vec<ProfileRow>,
    pub(super) ladder: Vec<LadderRow>,
    pub(super) notes: Vec<String>,
}

impl LeakProofs {
    pub(super) fn of(config: &LeakConfig, source: &LeakSource) -> Self {
        let mut proofs = Self::default();
        match sanity(config, source) {
            Ok(rows) => proofs.interventions = rows,
            Err(error) => proofs.notes.push(format!("no interventions: {error}")),
        }
        match around_stamp(config, source) {
            Ok((profile, ladder)) => (proofs.profile, proofs.ladder) = (profile, ladder),
            Err(error) => proofs
                .notes
                .push(format!("no profile and no fill ladder: {error}")),
        }
        proofs
    }
}
