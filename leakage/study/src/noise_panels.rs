//! Panels without a signal between names, on which the weak protocols are run as well.

use super::config::LeakConfig;
use super::grid::{LeakSource, run_keys};
use ktd_leakage::{LeakageBench, RunKey, permuted_paths};
use ktd_study::StudyError;
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// Sessions for which a name goes on with another's path: the longest window of a feature, and a little more.
const BLOCK_SESSIONS: usize = 63;

/// The runs of one noise panel: the reference and the weak protocols, with every seed.
pub(super) fn noise_keys(config: &LeakConfig, years: &[i32]) -> Vec<RunKey> {
    let mut keys = run_keys(config, years);
    keys.retain(|key| !key.switch.is_dominant());
    keys
}

/// A panel whose names go on with each other's paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NoisePanel {
    /// Sessions for which a name goes on with another's path.
    pub block_sessions: usize,
    /// What its paths are drawn by.
    pub panel_seed: u64,
}

impl NoisePanel {
    /// The panel at a place, counted from 0.
    pub(super) fn at(place: usize) -> Self {
        Self {
            block_sessions: BLOCK_SESSIONS,
            panel_seed: u64::try_from(place).map_or(u64::MAX, |place| place + 1),
        }
    }
}

/// The panels without a signal that runs are on just now: all runs on one come behind each other.
#[derive(Debug, Default)]
pub(super) struct NoisePanels(Mutex<Vec<(u64, Arc<Slot>)>>);

/// One panel, made by the first run on it while the others wait.
type Slot = Mutex<Option<Arc<LeakageBench>>>;

/// Panels that are held at once: threads may be at the end of one and at the beginning of the next.
const HELD: usize = 2;

impl NoisePanels {
    /// The benchmark on a panel, which is made once while runs are on it.
    pub(super) fn bench(
        &self,
        panel: &NoisePanel,
        config: &LeakConfig,
        source: &LeakSource,
    ) -> Result<Arc<LeakageBench>, StudyError> {
        let held = {
            let mut panels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, bench)) = panels.iter().find(|(seed, _)| *seed == panel.panel_seed) {
                Arc::clone(bench)
            } else {
                let bench = Arc::new(Slot::default());
                panels.push((panel.panel_seed, Arc::clone(&bench)));
                if HELD < panels.len() {
                    panels.remove(0);
                }
                bench
            }
        };
        let mut bench = held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bench) = &*bench {
            return Ok(Arc::clone(bench));
        }
        let bars = permuted_paths(source.bench.bars(), panel.block_sessions, panel.panel_seed);
        let made = source.on(config, bars)?;
        let made = Arc::new(made);
        *bench = Some(Arc::clone(&made));
        Ok(made)
    }
}
