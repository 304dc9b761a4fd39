//! `ktd replay DIR`.

use super::branch;
use super::given::{kind_in, not_a_study};
use super::replay_args::ReplayArgs;
use super::replay_step::{ShownStep, StepDocument, StepRange, StepView};
use super::runtime::runtime;
use super::study;
use crate::CliError;
use crate::output::Console;
use crate::this_program::this_program;
use ktd_bundle::BundlePaths;
use ktd_bundle::finished_episode::check_bundle;
use ktd_bundle::open::read_header;
use ktd_bundle::recorded_step::RecordedStep;
use ktd_bundle::transcript::{CommonOpening, Transcripts};
use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::real_names::real_names;
use ktd_episode::replay_episode;
use ktd_study::Depth;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs the command.
///
/// # Errors
/// [`CliError`] with the first difference.
pub(super) fn run(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    if let Some(kind) = kind_in(&args.bundle)? {
        if args.step.is_some() || args.branch.is_some() {
            return Err(CliError::input(
                format_args!(
                    "{}: it holds many units, and a step is one episode's",
                    args.bundle.display()
                ),
                format_args!("name the episode, such as {}/cells/CELL", args.bundle.display()),
            ));
        }
        let depth = if args.study.deep {
            Depth::Deep
        } else {
            Depth::Recorded
        };
        let moved = args.study.moved(args.panel.as_deref());
        return study::replay(kind, (&args.bundle, moved), depth, console);
    }
    if !BundlePaths::new(&args.bundle).header().exists() {
        return Err(not_a_study(&args.bundle));
    }
    args.study.check_has_study(false)?;
    match (args.step, args.branch, &args.out) {
        (Some(steps), ..) => show_steps(args, steps, console),
        (None, Some(step), Some(out)) => branch::run(args, step, out, console),
        (None, ..) => replay(args, console),
    }
}

fn replay(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    // Before anything else: whatever follows may be a difference of programs.
    let other = read_header(&BundlePaths::new(&args.bundle))?.another_program(&this_program());
    if let Some(other) = &other {
        console.note(other);
    }
    check_bundle(&args.bundle, true)?;
    let bundle = OpenBundle::open(&args.bundle, args.panel.as_deref())?;
    runtime()?.block_on(replay_episode(&bundle.input(), &bundle.paths, &Silent))?;
    let steps = bundle.cell.window.days.len();
    let text = format!(
        "{}: {steps} steps replayed, every event byte for byte the same",
        bundle.cell.id
    );
    console.result(
        &text,
        &ReplayedEpisode {
            cell: bundle.cell.id,
            steps,
            matches: true,
            another_program: other,
        },
    )
}

/// An episode that was made again from its record.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ReplayedEpisode {
    cell: String,
    steps: usize,
    /// Whether every byte is the same.
    matches: bool,
    /// How the program that recorded it differs from this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    another_program: Option<String>,
}

/// Steps of an episode.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ShownSteps {
    cell: String,
    steps: Vec<StepDocument>,
}

fn show_steps(args: &ReplayArgs, steps: StepRange, console: Console) -> Result<(), CliError> {
    let paths = BundlePaths::new(&args.bundle);
    let header = read_header(&paths)?;
    check_bundle(&args.bundle, true)?;
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
    let Transcripts {
        steps: mut transcripts,
        common,
    } = Transcripts::read(&paths.exchanges(), &(steps.first..=steps.last))?;
    let common = if args.full {
        CommonOpening::default()
    } else {
        common
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
        let transcript = transcripts.remove(&record.step);
        let mut shown = ShownStep {
            record,
            transcript,
            real: BTreeMap::new(),
        };
        if let Some(bundle) = &bundle {
            shown.real = real_of(bundle, &shown);
        }
        texts.push(view.text(&shown));
        documents.push(StepDocument::from(shown));
    }
    // Each line is laid out, or of a record and shown as it stands there.
    let console = Console {
        wide: true,
        ..console
    };
    console.result(
        &texts.join("\n\n"),
        &ShownSteps {
            cell: header.cell,
            steps: documents,
        },
    )
}

/// The real names of all that a step shows, and its real day.
fn real_of(bundle: &OpenBundle, shown: &ShownStep) -> BTreeMap<String, String> {
    let words = serde_json::to_string(&StepDocument::from(shown.clone())).unwrap_or_default();
    let mut real = real_names(bundle, &words);
    let day = bundle.cell.window.days.get(shown.record.step.saturating_sub(1));
    let date = day.and_then(|day| bundle.shared.market.date(*day));
    if let Some(date) = date {
        real.insert(format!("day of step {}", shown.record.step), date.reveal());
    }
    real
}
