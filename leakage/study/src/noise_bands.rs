//! The gains that the weak protocols show where there is no signal between names.

use super::config::LeakConfig;
use super::grid::{LeakGrid, LeakSource, is_dominant};
use super::run::{LeakRun, series_of};
use ktd_leakage::{LeakageBench, LeakageGain, RunKey, SessionMonth, Switch, noise_band, permuted_paths};
use ktd_study::StudyError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Sessions for which a name goes on with another's path: the longest window of a feature, and a little more.
const BLOCK_SESSIONS: usize = 63;

/// A model, a horizon and a protocol, by name.
pub(super) type BandKey = (String, usize, String);

/// The runs of one noise panel: the reference and the weak protocols, with every seed.
pub(super) fn noise_keys(config: &LeakConfig, years: &[i32]) -> Result<Vec<RunKey>, StudyError> {
    let mut keys = LeakGrid::of(config, years)?.keys;
    keys.retain(|key| !is_dominant(key.switch));
    Ok(keys)
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
        let eligible = source.bars.eligible.as_deref();
        let made = LeakageBench::new(bars, config.settings(), &config.horizons, eligible)
            .map_err(|error| StudyError::input(error.to_string(), "change the setting that it names"))?;
        let made = Arc::new(made);
        *bench = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// For each model, horizon and weak protocol the absolute gain that a panel whose names go on with each other's paths exceeds at
/// most once in twenty times, of runs with the name of their panel; empty where there is no such panel.
pub(super) fn noise_bands(runs: &[(String, LeakRun)], months: &[SessionMonth]) -> BTreeMap<BandKey, f64> {
    let mut panels: BTreeMap<&str, Vec<&LeakRun>> = BTreeMap::new();
    for (panel, run) in runs {
        panels.entry(panel).or_default().push(run);
    }
    let mut gains: BTreeMap<BandKey, Vec<f64>> = BTreeMap::new();
    for runs in panels.values() {
        for (key, gain) in panel_gains(runs, months) {
            gains.entry(key).or_default().push(gain);
        }
    }
    let bands = gains
        .into_iter()
        .filter_map(|(key, gains)| Some((key, noise_band(&gains)?)));
    bands.collect()
}

/// The gains of a panel's runs over its reference: of several seeds the median, as on the panel itself.
fn panel_gains(runs: &[&LeakRun], months: &[SessionMonth]) -> Vec<(BandKey, f64)> {
    let mut each: BTreeMap<(BandKey, u64), Vec<&LeakRun>> = BTreeMap::new();
    for run in runs {
        let key = (run.model.clone(), run.horizon, run.protocol.clone());
        each.entry((key, run.seed)).or_default().push(run);
    }
    let mut gains: BTreeMap<BandKey, Vec<f64>> = BTreeMap::new();
    for ((key, seed), own) in &each {
        let (model, horizon, protocol) = key;
        let clean = (model.clone(), *horizon, Switch::Clean.name().to_owned());
        let Some(reference) = each.get(&(clean, *seed)) else {
            continue;
        };
        let gain = LeakageGain::of(&series_of(own), &series_of(reference), months).headline();
        if let (false, Some(gain)) = (protocol == Switch::Clean.name(), gain) {
            gains.entry(key.clone()).or_default().push(gain);
        }
    }
    let median = |(key, mut gains): (BandKey, Vec<f64>)| {
        gains.sort_by(f64::total_cmp);
        let gain = gains.get(gains.len().checked_sub(1)? / 2).copied()?;
        Some((key, gain))
    };
    gains.into_iter().filter_map(median).collect()
}
