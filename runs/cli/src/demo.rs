//! `ktd demo`: no key, no network, no data.

use super::demo_certificate::{self, DemoCertificate};
use super::demo_story;
use super::run::execute;
use super::runtime::runtime;
use crate::CliError;
use crate::output::Console;
use crate::results::{Results, results_table};
use crate::this_program::this_program;
use clap::Args;
use ktd_board::sheet::{self, TableKind};
use ktd_board::{WeightBasis, build};
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::mask_key::DEMO_KEY;
use ktd_client::progress::Silent;
use ktd_episode::CellResult;
use ktd_episode::grid::RunPlan;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_experiment::config::ExperimentConfig;
use ktd_io::whole_file::{Durability, IfExists, create_private, read_text, write_file};
use ktd_masking::FactorScale;
use ktd_view::table::Layout;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where the bundles go unless told otherwise.
const RESULTS: &str = "results/demo";

/// The experiment the demo runs, also as an example to copy.
const DEMO: &str = include_str!("../../configs/demo.toml");

const EXAMPLE: &str = "\
Examples:
  ktd demo                      # who earns the same when names and dates are hidden
  ktd demo --tables             # every run with its figures, and the ranking by selection
  ktd demo --tables --wide      # with every column
  ktd demo --out my-demo        # keep the bundles there; running again continues

The mask key of the demo is published in its source, so that two runs are the same. It hides nothing from anybody: \
experiments of your own draw a secret key.";

/// Watch the built-in agents trade a masked synthetic market; then replay an episode byte for byte.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct DemoArgs {
    /// Where the bundles go.
    #[arg(long, default_value = RESULTS)]
    pub out: PathBuf,
    /// Show every run, and the ranking by selection.
    #[arg(long)]
    pub tables: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when a cell stops or the replay differs.
pub(super) fn run(args: &DemoArgs, console: Console) -> Result<(), CliError> {
    let config = ExperimentConfig::parse(DEMO)?;
    let key = publish_key(&args.out)?;
    let plan = RunPlan {
        config,
        base: PathBuf::new(),
        output: args.out.clone(),
        program: Some(this_program()),
    };
    let results = execute(plan, (false, None), console)?.results;
    if let Some(error) = results.iter().find_map(|result| result.result.as_ref().err()) {
        let message = format!("the demo stopped: {error}");
        return Err(CliError::difference(message).with_hint(error.hint()));
    }
    let replayed = replay_one(&results)?;
    publish_key(&args.out.join(demo_certificate::DIRECTORY))?;
    let certificate = DemoCertificate::make(&args.out, console)?;
    let rows = demo_story::story(&results);
    let (layout, out) = (console.layout(), args.out.display());
    let mut text = format!("{}\n{}", demo_story::HEADLINE, demo_story::table(&rows, layout));
    if args.tables || console.wide {
        text.push('\n');
        text.push_str(&results_table(&results, layout));
        text.push('\n');
        text.push_str(&ranking(&args.out, &certificate, layout)?);
        text.push('\n');
    }
    let all = if args.tables || console.wide {
        String::new()
    } else {
        let place = if args.out == Path::new(RESULTS) {
            String::new()
        } else {
            format!(" --out {out}")
        };
        format!(" All {} runs: ktd demo{place} --tables", results.len())
    };
    // Writing to a string cannot fail.
    write!(
        text,
        "{}\n{} steps of momentum replayed: every byte the same ({key}).{all}\n\
         next: ktd replay {out}/cells/{} --step 3\n\
         look: ktd view {out}\n",
        certificate.line(),
        replayed.steps,
        replayed.cell
    )
    .ok();
    let document = DemoDocument {
        results: Results::of(&results),
        shows: demo_story::HEADLINE,
        story: Story {
            mode: demo_story::MODE,
            agents: rows,
        },
        certificate: &certificate,
        mask_key: key,
        replayed,
    };
    console.result(&text, &document)
}

/// Writes the demo's key where a run looks for its own; says which key the run will use. A directory of an earlier demo
/// keeps its key.
fn publish_key(out: &Path) -> Result<&'static str, CliError> {
    let private = out.join("private");
    create_private(&private)?;
    let path = private.join("mask.key");
    write_file(
        &path,
        format!("{DEMO_KEY}\n").as_bytes(),
        IfExists::Keep,
        Durability::Buffered,
    )?;
    let kept = read_text(&path, 1 << 10)?;
    Ok(if kept.trim() == DEMO_KEY {
        "public demo key"
    } else {
        "key of an earlier run"
    })
}

/// The headline's ranking by selection.
fn ranking(out: &Path, certificate: &DemoCertificate, layout: Layout<'_>) -> Result<String, CliError> {
    let findings = BundleSet::below(&[out.to_owned()])?;
    let board = build(&findings, &certificate.options(&findings)?, &|| {})?;
    let table = board
        .tracks
        .first()
        .map(|track| sheet::table(&board, TableKind::Ranking, track, WeightBasis::HEADLINE));
    Ok(table.map_or_else(String::new, |table| table.text_in(layout)))
}

/// Cells of the demo and what they show.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct DemoDocument<'d> {
    #[serde(flatten)]
    results: Results<'d>,
    /// What the demo shows, in a sentence.
    shows: &'static str,
    story: Story,
    certificate: &'d DemoCertificate,
    /// Whose key masked it.
    mask_key: &'static str,
    replayed: Replayed,
}

/// The table of the demo.
#[derive(Debug, JsonSchema, Serialize)]
struct Story {
    /// Decision mode.
    mode: &'static str,
    agents: Vec<demo_story::StoryRow>,
}

/// An episode that was run again from its record.
#[derive(Debug, JsonSchema, Serialize)]
struct Replayed {
    cell: String,
    steps: usize,
    /// Whether every byte is the same.
    matches: bool,
}

/// Replays the last momentum episode whose tools showed numbers.
fn replay_one(results: &[CellResult]) -> Result<Replayed, CliError> {
    let chosen = results
        .iter()
        .rfind(|result| {
            let is_numbers = result.cell.mask.numeric.scale() != FactorScale::Bands;
            result.cell.agent.id == "momentum" && is_numbers
        })
        .or(results.last())
        .ok_or_else(|| CliError::invalid("the demo has no cells"))?;
    let bundle = OpenBundle::open(BundlePaths::new(&chosen.bundle).root(), None)?;
    runtime()?.block_on(replay_episode(&bundle.input(), &bundle.paths, &Silent))?;
    Ok(Replayed {
        cell: chosen.cell.id.clone(),
        steps: chosen.cell.window.days.len(),
        matches: true,
    })
}
