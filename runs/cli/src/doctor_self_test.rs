//! What `ktd doctor` tries of the program itself.

use super::runtime::runtime;
use crate::CliError;
use crate::this_program::this_program;
use ktd_client::progress::Silent;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::run_cell;
use ktd_episode::transports::Transports;
use ktd_episode::verify::verify;
use ktd_experiment::config::ExperimentConfig;
use ktd_io::whole_file::{create_directory, remove_directory, remove_file, write_whole};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROBE_BYTES: usize = 1 << 16;

/// Writes and removes a file where results would go.
///
/// # Errors
/// [`CliError`] where that cannot be done.
pub(super) fn writable(out: &Path) -> Result<String, CliError> {
    create_directory(out)?;
    let probe = out.join(".doctor");
    write_whole(&probe, &vec![0; PROBE_BYTES])?;
    remove_file(&probe)?;
    Ok(format!("{} can be written", out.display()))
}

/// A tiny masked episode with tools, run, verified and replayed.
const SELF_TEST: &str = r#"
name = "self-test"
synthetic = { seed = 1, names = 30, days = 200 }
windows = [{ id = "three", last_days = 3 }]
masks = [{ level = "blinded", numeric = "rescaled" }]
agents = [{ id = "momentum", builtin = "momentum" }]
"#;

/// Runs, verifies and replays it.
///
/// # Errors
/// [`CliError`] where one of them fails.
pub(super) fn self_test(out: &Path) -> Result<String, CliError> {
    let output = out.join(".doctor-self-test");
    let result = run_self_test(&output);
    // The directory is this check's own; what cannot be removed is said by the next run.
    remove_directory(&output).ok();
    result
}

fn run_self_test(output: &Path) -> Result<String, CliError> {
    let config = ExperimentConfig::parse(SELF_TEST)?;
    let plan = RunPlan {
        config,
        base: PathBuf::new(),
        output: output.to_owned(),
        program: Some(this_program()),
    };
    let grid = Grid::open(plan)?;
    let runtime = runtime().map_err(|failure| CliError::input(failure.message(), "free some threads"))?;
    let (shared, transports) = (grid.shared(Arc::default()), Transports::default());
    for cell in &grid.cells {
        let (input, bundle) = (grid.episode(&shared, cell), grid.bundle(cell));
        runtime.block_on(async {
            run_cell(&input, (&transports, Path::new("")), &bundle, &Silent).await?;
            verify(bundle.root(), None, &this_program()).await
        })?;
    }
    Ok(format!(
        "ktd {}: a masked episode ran, verified and replayed byte for byte",
        env!("CARGO_PKG_VERSION")
    ))
}
