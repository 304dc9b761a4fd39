//! The gains that the weak protocols show where there is no signal between names.

use super::config::LeakConfig;
use super::grid::{LeakGrid, LeakSource, identity, is_dominant, run_keys};
use super::report::series_of;
use super::run_file::RunFile;
use crate::StudyError;
use ktd_leakage::{LeakageBench, LeakageGain, RunKey, Switch, noise_band, permuted_paths};
use ktd_record::study_folder::StudyFolder;
use serde_json::json;
use std::collections::BTreeMap;

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

/// For each model, horizon and weak protocol the absolute gain that a panel whose names go on with each other's paths exceeds at
/// most once in twenty times; empty where no such panel is asked for.
pub(super) fn noise_bands(
    config: &LeakConfig,
    source: &LeakSource,
    (out, threads): (&StudyFolder, usize),
    done: &(impl Fn(u64) + Sync),
) -> Result<BTreeMap<BandKey, f64>, StudyError> {
    let keys = noise_keys(config, &source.years)?;
    let mut gains: BTreeMap<BandKey, Vec<f64>> = BTreeMap::new();
    for (seed, panel) in (1..).zip(0..config.noise_panels) {
        let bars = permuted_paths(source.bench.bars(), BLOCK_SESSIONS, seed);
        let eligible = source.bars.eligible.as_deref();
        let bench = LeakageBench::new(bars, config.settings(), &config.horizons, eligible)
            .map_err(|error| StudyError::input(error.to_string(), "change the setting that it names"))?;
        let noise = json!({ "block_sessions": BLOCK_SESSIONS, "seed": seed });
        let identity = identity(config, source, out.program(), &noise);
        let folder = out.path().join("noise").join(format!("{panel:03}"));
        let runs = run_keys(&keys, &bench, (&folder, &identity, threads), done)?;
        for (key, gain) in panel_gains(&runs, source) {
            gains.entry(key).or_default().push(gain);
        }
    }
    let bands = gains
        .into_iter()
        .filter_map(|(key, gains)| Some((key, noise_band(&gains)?)));
    Ok(bands.collect())
}

/// The gains of a panel's runs over its reference: of several seeds the median, as on the panel itself.
fn panel_gains(runs: &[RunFile], source: &LeakSource) -> Vec<(BandKey, f64)> {
    let mut each: BTreeMap<(BandKey, u64), Vec<&RunFile>> = BTreeMap::new();
    for run in runs {
        let key = (run.model.clone(), run.horizon, run.protocol.clone());
        each.entry((key, run.seed)).or_default().push(run);
    }
    let months = source.bars.bars.months();
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
