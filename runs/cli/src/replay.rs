//! `ktd replay BUNDLE`.

use super::branch;
use super::run::runtime;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_bundle::BundlePaths;
use ktd_bundle::exchanges::Cassette;
use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_episode::transcript::{Transcript, real_names};
use ktd_view::table::{Align, Table};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  ktd replay results/demo/cells/momentum__short__blinded-rescaled__open-research__s1
  ktd replay BUNDLE --step 3            # what the model saw and said at step 3
  ktd replay BUNDLE --step 3 --real     # with the real names beside the aliases
  ktd replay BUNDLE --branch 3 --out DIR --builtin hold    # steps 1 and 2 as recorded, then live

Running a branch again with the same --out continues it.";

/// Runs an episode again from its recorded replies, offline, and compares every byte; shows one step; or continues it
/// otherwise from a step.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ReplayArgs {
    /// The bundle's directory.
    pub bundle: PathBuf,
    /// The panel, when it is no longer where the bundle was made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// Show this step as the model saw it, instead of replaying.
    #[arg(long)]
    pub step: Option<usize>,
    /// With --step: show real names and dates too (needs the bundle's private part).
    #[arg(long, requires = "step")]
    pub real: bool,
    /// Make another bundle: its steps before this one come from the recorded replies, the others are asked live.
    #[arg(long, value_name = "STEP", requires = "out", conflicts_with = "step")]
    pub branch: Option<usize>,
    /// With --branch: the directory of the new bundle.
    #[arg(long, value_name = "DIR", requires = "branch")]
    pub out: Option<PathBuf>,
    /// With --branch: ask this agent of an experiment file instead of the one that answered there.
    #[arg(
        long,
        value_name = "EXPERIMENT.toml:ID",
        requires = "branch",
        conflicts_with = "builtin"
    )]
    pub agent: Option<String>,
    /// With --branch: ask this built-in agent.
    #[arg(long, value_name = "NAME", requires = "branch")]
    pub builtin: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] with the first difference.
pub(super) fn run(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    match (args.step, args.branch, &args.out) {
        (Some(step), ..) => show_step(args, step, console),
        (None, Some(step), Some(out)) => branch::run(args, step, out, console),
        (None, ..) => replay(args, console),
    }
}

fn replay(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    let bundle = OpenBundle::open(&args.bundle, args.panel.as_deref())?;
    runtime()?.block_on(replay_episode(&bundle.input(), &bundle.paths, &Silent))?;
    let steps = bundle.cell.window.days.len();
    let text = format!(
        "{}: {steps} steps replayed, every event byte for byte the same",
        bundle.cell.id
    );
    console.result(
        &text,
        &json!({ "cell": bundle.cell.id, "steps": steps, "matches": true }),
    )
}

fn show_step(args: &ReplayArgs, step: usize, console: Console) -> Result<(), CliError> {
    let cassette = Cassette::read(&BundlePaths::new(&args.bundle).exchanges())?;
    let transcript = Transcript::of(&cassette, step)?;
    let mut text = transcript.render();
    let mut real = Vec::new();
    if args.real {
        let bundle = OpenBundle::open(&args.bundle, args.panel.as_deref())?;
        let mut table = Table::new(&[("shown", Align::Left), ("real", Align::Left)]);
        if let Some(date) = bundle.cell.window.days.get(step.saturating_sub(1)) {
            let date = bundle
                .shared
                .market
                .date(*date)
                .map(ktd_env::TradeDate::reveal)
                .unwrap_or_default();
            real.push((format!("day of step {step}"), date));
        }
        real.extend(real_names(&bundle, &text));
        for (shown, name) in &real {
            table.row([shown.clone(), name.clone()]);
        }
        text.push_str("\n--- real ---\n");
        text.push_str(&table.render());
    }
    let messages: Vec<_> = transcript
        .messages
        .iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect();
    let real: serde_json::Map<_, _> = real
        .into_iter()
        .map(|(shown, name)| (shown, json!(name)))
        .collect();
    console.result(
        &text,
        &json!({ "step": step, "messages": messages, "real": real }),
    )
}
