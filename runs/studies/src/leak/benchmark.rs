//! The benchmark as a whole: runs, report, tables and manifests in a folder.

use super::around_stamp::around_stamp;
use super::config::LeakConfig;
use super::grid::{LeakGrid, LeakSource, identity, run_keys};
use super::manifest_text::manifest_text;
use super::noise_bands::{noise_bands, noise_keys};
use super::report::LeakReport;
use super::sanity::sanity;
use crate::StudyError;
use ktd_io::whole_file::create_directory;
use ktd_leakage::Switch;
use ktd_record::study_folder::StudyFolder;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of the manifests.
const MANIFESTS: &str = "manifests";

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
    (out, threads): (&StudyFolder, usize),
    done: impl Fn(u64) + Sync,
) -> Result<LeakReport, StudyError> {
    let grid = LeakGrid::of(config, &source.years)?;
    let identity = identity(config, source, out.program(), &Value::Null);
    let runs = run_keys(
        &grid.keys,
        &source.bench,
        (&out.path().join("runs"), &identity, threads),
        &done,
    )?;
    let bands = noise_bands(config, source, (out, threads), &done)?;
    let mut report = LeakReport::of(config, source, (&runs, &bands));
    add_proofs(&mut report, config, source);
    let manifests = manifests(config, out.path())?;
    create_directory(&out.path().join(MANIFESTS))?;
    report.write(out.path(), manifests)?;
    Ok(report)
}

/// What ridge regression shows of the last test year. It may be impossible where the years could be run: that is said, and the
/// gains stand.
fn add_proofs(report: &mut LeakReport, config: &LeakConfig, source: &LeakSource) {
    match sanity(config, source) {
        Ok(rows) => report.interventions = rows,
        Err(error) => report.notes.push(format!("no interventions: {error}")),
    }
    match around_stamp(config, source) {
        Ok((profile, ladder)) => (report.profile, report.ladder) = (profile, ladder),
        Err(error) => report
            .notes
            .push(format!("no profile and no fill ladder: {error}")),
    }
}

/// What each protocol of the grid knows when: a manifest a protocol and horizon, and that of the reference, whose purge
/// covers all horizons.
fn manifests(config: &LeakConfig, out: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, StudyError> {
    let folder = out.join(MANIFESTS);
    let mut files = Vec::new();
    let adjusted_from = config.prices.as_ref().map(|prices| prices.adjusted_from);
    let names = (config.universe, adjusted_from.unwrap_or_default());
    let text = |switch, horizon| manifest_text(switch, horizon, config.future_days, names);
    for switch in config.switches()? {
        for horizon in &config.horizons {
            let path = folder.join(format!("{}_h{horizon}.toml", switch.name()));
            files.push((path, text(switch, *horizon).into_bytes()));
        }
    }
    let longest = config.horizons.iter().max().copied().unwrap_or(1);
    let reference = text(Switch::Clean, longest);
    files.push((out.join("manifest.toml"), reference.into_bytes()));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::{list, read_if_exists};
    use ktd_record::program_record::ProgramRecord;
    use std::collections::BTreeMap;

    const SMALL: &str = "name = \"small\"\nsynthetic = { seed = 3, names = 24, days = 800 }\nhorizons = [5]\n\
                         protocols = [\"EXEC_CLOSE\"]\nnoise_panels = 1\n";

    fn program(digit: &str) -> ProgramRecord {
        ProgramRecord {
            source_sha256: digit.repeat(64),
            commit: None,
        }
    }

    /// The bytes of every file of a run by path below its folder.
    fn files(text: &str, threads: usize) -> BTreeMap<String, Vec<u8>> {
        let config: LeakConfig = toml::from_str(text).unwrap();
        let source = LeakSource::read(&config, Path::new("")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let held = StudyFolder::hold(folder.path(), &program("a")).unwrap();
        run_grid(&config, &source, (&held, threads), |_| {}).unwrap();
        let mut found = BTreeMap::new();
        let mut folders = vec![folder.path().to_owned()];
        while let Some(at) = folders.pop() {
            for path in list(&at).unwrap() {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(folder.path()).unwrap().display().to_string();
                    found.insert(name, read_if_exists(&path).unwrap().unwrap());
                }
            }
        }
        found
    }

    #[test]
    fn threads_and_the_order_of_models_change_no_byte() {
        let families = "\"momentum\", \"ridge\", \"trees\", \"graph_mlp\", \"lstm\", \"transformer\"";
        let one = files(&format!("{SMALL}models = [{families}]\n"), 1);
        assert!(
            one.contains_key("index.html") && one.contains_key("noise/000/ridge__CLEAN__h5__2024__s1.json"),
            "{:?}",
            one.keys()
        );
        let backwards: Vec<&str> = families.split(", ").collect();
        let backwards: Vec<&str> = backwards.into_iter().rev().collect();
        for (models, threads) in [(families.to_owned(), 2), (backwards.join(", "), 7)] {
            let other = files(&format!("{SMALL}models = [{models}]\n"), threads);
            let differing: Vec<&String> = one
                .keys()
                .filter(|name| one.get(*name) != other.get(*name))
                .collect();
            assert!(
                differing.is_empty() && one.len() == other.len(),
                "{threads} threads: {differing:?}"
            );
        }
    }

    #[test]
    fn a_market_that_leaves_nothing_to_rank_has_reasons_and_no_figures() {
        // Ten names are asked for on a day, and there are eight: no day is traded, and every run says why.
        let text = SMALL
            .replace("names = 24", "names = 8")
            .replace("noise_panels = 1", "noise_panels = 0");
        let config: LeakConfig = toml::from_str(&text).unwrap();
        let source = LeakSource::read(&config, Path::new("")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let held = StudyFolder::hold(folder.path(), &program("a")).unwrap();
        let report = run_grid(&config, &source, (&held, 1), |_| {}).unwrap();
        assert!(report.gains.is_empty() && report.rows <= report.bars);
        assert!(
            !report.left_out.is_empty() && report.left_out.iter().all(|left| left.contains("10 names")),
            "{:?}",
            report.left_out
        );
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.starts_with("no interventions: ")),
            "{:?}",
            report.notes
        );
        let page = read_if_exists(&folder.path().join("index.html"))
            .unwrap()
            .unwrap();
        assert!(String::from_utf8(page).unwrap().contains("Leakage gains"));
    }
}
