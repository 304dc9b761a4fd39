//! How a board is made.

use super::kept_scores::KeptScores;
use super::record::Resampling;
use super::settings::ModelSettings;
use ktd_bundle::episode_filter::EpisodeFilter;
use ktd_probes::judge::CertificationMark;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a board is made.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardOptions {
    /// The panel, where it is no longer where the bundles were made.
    pub panel: Option<PathBuf>,
    /// The factor model.
    pub settings: ModelSettings,
    /// How chance is drawn.
    pub draws: Resampling,
    /// What is shown; everything on disk counts as a trial all the same.
    pub shown: EpisodeFilter,
    /// What certificates say of the mask of each bundle that was named, by its directory; an episode that is missing has
    /// no certificate.
    pub marks: BTreeMap<PathBuf, CertificationMark>,
    /// Whether windows that are not opened are shown as they are, to their owner.
    pub shows_closed: bool,
    /// Where scores of agents are kept for the next board; nowhere without it.
    pub kept: Option<KeptScores>,
    /// Episodes that are shown and drawn, whose agents are scored anew and compared with what was kept.
    pub verify_sample: usize,
    /// What decides which they are: chance, so that nobody knows them before.
    pub verify_chance: [u8; 32],
    /// Threads.
    pub threads: usize,
}

impl Default for BoardOptions {
    fn default() -> Self {
        Self {
            panel: None,
            settings: ModelSettings::default(),
            draws: Resampling {
                replicates: 2000,
                seed: 1,
                null_portfolios: 500,
            },
            shown: EpisodeFilter::default(),
            marks: BTreeMap::new(),
            shows_closed: false,
            kept: None,
            verify_sample: 0,
            verify_chance: [0; 32],
            threads: ktd_io::parallel::available_threads(),
        }
    }
}

/// A callback for each episode scored and each track ranked.
pub type ProgressCallback<'t> = &'t (dyn Fn() + Sync);
