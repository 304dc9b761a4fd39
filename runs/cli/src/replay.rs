//! `ktd replay BUNDLE`.

use super::branch;
use super::replay_step::{self, ShownStep, StepRange, StepView};
use super::run::runtime;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_bundle::BundlePaths;
use ktd_bundle::exchanges::Cassette;
use ktd_bundle::open::read_header;
use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::recorded_step::RecordedStep;
use ktd_episode::replay_episode;
use ktd_episode::transcript::{CommonOpening, Transcript, real_names};
use ktd_experiment::amount::Picodollars;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  ktd replay results/demo/cells/momentum__short__blinded-rescaled__open-research__s1
  ktd replay BUNDLE --step 3            # what the model saw and did at step 3
  ktd replay BUNDLE --step 3..7         # steps 3 to 7
  ktd replay BUNDLE --step 3 --full     # with the prompt that is the same in every step
  ktd replay BUNDLE --step 3 --real     # with the real names beside the aliases
  ktd replay BUNDLE --branch 3 --out DIR --builtin hold    # steps 1 and 2 as recorded, then live
  ktd replay BUNDLE --branch 3 --out DIR --agent try.toml:gpt --budget 2.00

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
    /// Show this step, or these, as the model saw them, with orders, fills and NAV, instead of replaying.
    #[arg(long, value_name = "STEP or FIRST..LAST")]
    pub step: Option<StepRange>,
    /// With --step: show the text that is the same in every step, too.
    #[arg(long, requires = "step")]
    pub full: bool,
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
    /// With --branch: most that the new bundle may cost, US dollars such as 2.00.
    #[arg(long, value_name = "USD", requires = "branch", value_parser = Picodollars::parse)]
    pub budget: Option<Picodollars>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] with the first difference.
pub(super) fn run(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    match (args.step, args.branch, &args.out) {
        (Some(steps), ..) => show_steps(args, steps, console),
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

fn show_steps(args: &ReplayArgs, steps: StepRange, console: Console) -> Result<(), CliError> {
    let paths = BundlePaths::new(&args.bundle);
    let header = read_header(&paths)?;
    let cassette = Cassette::read(&paths.exchanges())?;
    let recorded = RecordedStep::all(&paths)?;
    let count = recorded.len();
    if count < steps.last {
        let what = format!("step {} is not recorded", steps.last);
        return Err(CliError::input(
            what,
            format!("the bundle has the steps 1 to {count}"),
        ));
    }
    let bundle = if args.real {
        Some(OpenBundle::open(&args.bundle, args.panel.as_deref())?)
    } else {
        None
    };
    let common = if args.full {
        CommonOpening::default()
    } else {
        CommonOpening::of(&cassette)
    };
    let view = StepView {
        steps: header.window.steps,
        common: &common,
        layout: console.layout(),
    };
    let wanted = recorded.into_iter();
    let wanted = wanted.filter(|record| (steps.first..=steps.last).contains(&record.step));
    let mut texts = Vec::new();
    let mut documents = Vec::new();
    for record in wanted {
        let transcript = Transcript::of(&cassette, record.step).ok();
        let mut shown = ShownStep {
            record,
            transcript,
            real: BTreeMap::new(),
        };
        if let Some(bundle) = &bundle {
            shown.real = real_of(bundle, &shown);
        }
        texts.push(view.text(&shown));
        documents.push(replay_step::to_json(&shown));
    }
    console.result(
        &texts.join("\n\n"),
        &json!({ "cell": header.cell, "steps": documents }),
    )
}

/// The real names of all that a step shows, and its real day.
fn real_of(bundle: &OpenBundle, shown: &ShownStep) -> BTreeMap<String, String> {
    let mut real = real_names(bundle, &replay_step::to_json(shown).to_string());
    let day = bundle.cell.window.days.get(shown.record.step.saturating_sub(1));
    let date = day.and_then(|day| bundle.shared.market.date(*day));
    if let Some(date) = date {
        real.insert(format!("day of step {}", shown.record.step), date.reveal());
    }
    real
}
