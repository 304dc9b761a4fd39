//! The benchmark as a whole: runs, report, tables and manifests in a folder.

use super::config::LeakConfig;
use super::grid::{LeakGrid, LeakSource, identity, run_keys};
use super::manifest_text::manifest_text;
use super::noise_bands::{noise_bands, noise_keys};
use super::report::LeakReport;
use crate::StudyError;
use ktd_io::whole_file::{create_directory, json_bytes, write_whole};
use ktd_leakage::Switch;
use std::path::Path;

/// How many runs a file asks for, those on the noise band's panels among them.
///
/// # Errors
/// [`StudyError`] for names that nobody has.
pub fn count_runs(config: &LeakConfig, years: &[i32]) -> Result<usize, StudyError> {
    let noise = config.noise_panels * noise_keys(config, years)?.len();
    Ok(LeakGrid::of(config, years)?.keys.len() + noise)
}

/// Runs what of the grid has no result yet, and reports all of it. The bytes do not depend on threads or interruptions.
///
/// # Errors
/// [`StudyError`] when a file cannot be written.
pub fn run_grid(
    config: &LeakConfig,
    source: &LeakSource,
    (out, threads): (&Path, usize),
    done: impl Fn(u64) + Sync,
) -> Result<LeakReport, StudyError> {
    let grid = LeakGrid::of(config, &source.years)?;
    let identity = identity(config, source, "");
    let runs = run_keys(
        &grid.keys,
        &source.bench,
        (&out.join("runs"), &identity, threads),
        &done,
    )?;
    let bands = noise_bands(config, source, (out, threads), &done)?;
    let report = LeakReport::of(config, source, (&runs, &bands));
    let path = out.join("report.json");
    write_whole(&path, &json_bytes(&path, &report)?)?;
    report.write_tables(out)?;
    write_manifests(config, out)?;
    Ok(report)
}

/// What each protocol of the grid knows when: a manifest a protocol and horizon, and that of the reference, whose purge
/// covers all horizons.
fn write_manifests(config: &LeakConfig, out: &Path) -> Result<(), StudyError> {
    let folder = out.join("manifests");
    create_directory(&folder)?;
    let text = |switch, horizon| manifest_text(switch, horizon, config.future_days, config.universe);
    for switch in config.switches()? {
        for horizon in &config.horizons {
            let path = folder.join(format!("{}_h{horizon}.toml", switch.name()));
            write_whole(&path, text(switch, *horizon).as_bytes())?;
        }
    }
    let longest = config.horizons.iter().max().copied().unwrap_or(1);
    let reference = text(Switch::Clean, longest);
    Ok(write_whole(&out.join("manifest.toml"), reference.as_bytes())?)
}
