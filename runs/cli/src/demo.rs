//! `ktd demo`: no key, no network, no data.

use super::run::{execute, runtime};
use crate::CliError;
use crate::output::Console;
use crate::results::{results_json, results_table};
use clap::Args;
use ktd_board::sheet::{self, TableKind};
use ktd_board::{Basis, BoardOptions, build};
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_set::BundleSet;
use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_episode::run::{CellResult, RunPlan};
use ktd_experiment::config::ExperimentConfig;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The experiment the demo runs, also as an example to copy.
const DEMO: &str = include_str!("../../configs/demo.toml");

const EXAMPLE: &str = "\
Example:
  ktd demo                      # a table of the built-in agents, bright and blinded, and a replay check
  ktd demo --out my-demo        # keep the bundles there; running again continues";

/// Watch the built-in agents trade a masked synthetic market; then replay an episode byte for byte.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct DemoArgs {
    /// Where the bundles go.
    #[arg(long, default_value = "results/demo")]
    pub out: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when a cell stops or the replay differs.
pub(super) fn run(args: &DemoArgs, console: Console) -> Result<(), CliError> {
    let config = ExperimentConfig::parse(DEMO)?;
    let plan = RunPlan {
        config,
        base: PathBuf::new(),
        output: args.out.clone(),
    };
    let results = execute(&plan, console)?.results;
    if let Some(error) = results.iter().find_map(|result| result.result.as_ref().err()) {
        let message = format!("the demo stopped: {error}");
        return Err(CliError::difference(message).with_hint(error.hint()));
    }
    let replayed = replay_one(&results)?;
    let mut text = format!(
        "A synthetic market (300 fictitious names), {} agents, three modes, bright and blinded:\n\n",
        plan.config.agents.len()
    );
    text.push_str(&results_table(&results));
    text.push_str(GAP_NOTE);
    text.push('\n');
    text.push_str(&ranking(&args.out)?);
    // Writing to a string cannot fail.
    write!(
        text,
        "\nreplayed {replayed} from its recorded replies: every event matched, byte for byte\n\
         bundles: {out}\nnext: ktd replay {out}/cells/{replayed} --step 1\n      ktd leaderboard {out} --out board\n",
        out = args.out.display()
    )
    .ok();
    let mut document = results_json(&results);
    if let Some(object) = document.as_object_mut() {
        object.insert(
            "replayed".to_owned(),
            json!({ "cell": replayed, "matches": true }),
        );
    }
    console.result(&text, &document)
}

const GAP_NOTE: &str = "
The cheater knows the real future by code and date: compare its bright rows with its blinded ones.
";

/// The headline's ranking by selection.
fn ranking(out: &Path) -> Result<String, CliError> {
    let findings = BundleSet::below(&[out.to_owned()])?;
    let board = build(&findings, &BoardOptions::default(), &|| {})?;
    let table = board
        .tracks
        .first()
        .map(|track| sheet::table(&board, TableKind::Ranking, track, Basis::Pre));
    Ok(table.map_or_else(String::new, |table| table.text()))
}

/// Replays the last momentum episode, which used tools under a mask.
fn replay_one(results: &[CellResult]) -> Result<String, CliError> {
    let chosen = results
        .iter()
        .rfind(|result| result.cell.agent.id == "momentum")
        .or(results.last())
        .ok_or_else(|| CliError::invalid("the demo has no cells"))?;
    let bundle = OpenBundle::open(BundlePaths::new(&chosen.bundle).root(), None)?;
    runtime()?.block_on(replay_episode(&bundle.input(), &bundle.paths, &Silent))?;
    Ok(chosen.cell.id.clone())
}
