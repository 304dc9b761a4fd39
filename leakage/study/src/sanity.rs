//! The two interventions on a panel.

use super::config::LeakConfig;
use super::grid::LeakSource;
use crate::StudyError;
use ktd_leakage::{SuffixPaths, Switch, mask_check, suffix_check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seed of the paths that replace what lies after the cut.
const SUFFIX_SEED: u64 = 1;

/// What two interventions find of a protocol, ridge regression being the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanityRow {
    /// The protocol.
    pub protocol: String,
    /// Cells of features up to the cut that changed when all after it was replaced.
    pub suffix_cells_changed: usize,
    /// Sessions up to the cut with another score.
    pub suffix_sessions_changed: usize,
    /// Mean change of a score over the deviation of its session's scores.
    pub suffix_change: f64,
    /// Annual ratio with the signal day's bar.
    pub sharpe_full: Option<f64>,
    /// Annual ratio with its open alone.
    pub sharpe_masked: Option<f64>,
    /// The difference.
    pub sharpe_change: Option<f64>,
}

/// Replaces what lies after a cut, and masks the signal day's bar, for the reference and the two dominant protocols.
///
/// # Errors
/// [`StudyError`] for a panel that is too short.
pub fn sanity(config: &LeakConfig, source: &LeakSource) -> Result<Vec<SanityRow>, StudyError> {
    let invalid =
        |error: ktd_leakage::LeakageError| StudyError::input(error.to_string(), "use a longer panel");
    let (Some(horizon), Some(year)) = (config.horizons.first(), source.years.last()) else {
        return Err(StudyError::input(
            "there is no horizon or no year to test",
            "name `horizons` and `test_years`",
        ));
    };
    let paths = SuffixPaths::drawn(source.bars.bars.names(), SUFFIX_SEED);
    [Switch::Clean, Switch::TempCenter, Switch::ExecOpen]
        .into_iter()
        .map(|switch| {
            let suffix = suffix_check(&source.bench, switch, (*horizon, *year), &paths).map_err(invalid)?;
            let mask = mask_check(&source.bench, switch, (*horizon, *year)).map_err(invalid)?;
            Ok(SanityRow {
                protocol: switch.name().to_owned(),
                suffix_cells_changed: suffix.cells_changed,
                suffix_sessions_changed: suffix.sessions_changed.len(),
                suffix_change: suffix.normalised_change,
                sharpe_full: mask.full.as_ref().ok().copied(),
                sharpe_masked: mask.masked.as_ref().ok().copied(),
                sharpe_change: mask.change(),
            })
        })
        .collect()
}
