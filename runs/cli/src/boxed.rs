//! `ktd box`: foreign Python in a box.

use super::boxed_options::{BoxArgs, SetArg};
use super::boxed_run::{RunArgs, TestArgs, run_file, test};
use crate::CliError;
use crate::output::{Console, visible_lines};
use clap::{Args, Subcommand};
use ktd_boxed::{
    BenchGoal, BoxBench, BoxLauncher, BoxPart, BoxSetup, EnvironmentPlan, NOBODY, PythonEnvironment, examine,
};
use ktd_factor_study::{CodeError, FactorTasks};
use ktd_sandbox::EnvironmentRecord;
use ktd_strategy_study::scenario_answers;
use ktd_view::draw::{Align, TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Work with the box.
#[derive(Debug, Subcommand)]
pub(super) enum BoxCommand {
    /// Say what this machine has for boxes, what it lacks, and how to get it.
    Doctor(DoctorArgs),
    /// Install the pinned Python packages into a folder of their own.
    Setup(SetupArgs),
    /// Run one Python file in a box; print its status and its result.
    Run(RunArgs),
    /// Run programs that try to get out; say which were not contained.
    Test(TestArgs),
    /// Measure starts and jobs against bare Python on this machine.
    Bench(BenchArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd box setup                                   # once: the pinned packages
  ktd box doctor
  ktd box run factor.py --data prices.csv --entry alpha_momentum";

const DOCTOR_EXAMPLE: &str = "\
Example:
  ktd box doctor

Exit code 2: something is missing, and nothing would be run.";
const SETUP_EXAMPLE: &str = "\
Example:
  ktd box setup --python /usr/bin/python3.11

Every package is pinned by version and hash; nothing else is installed. An environment that is there is checked and kept.";
const BENCH_EXAMPLE: &str = "\
Example:
  ktd box bench --rounds 5

Exit code 1: a goal is missed, which a busy machine may do.";

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLE)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SETUP_EXAMPLE)]
pub(super) struct SetupArgs {
    /// The interpreter [default: the newest of 3.11 to 3.13 on the path].
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The folder [default: one of its own for each set, below the user's data].
    #[arg(long, value_name = "DIR")]
    env: Option<PathBuf>,
    /// The set of packages.
    #[arg(long, value_enum, default_value = "pandas2")]
    set: SetArg,
    /// A folder of wheels; no index is asked.
    #[arg(long, value_name = "WHEELS")]
    offline: Option<PathBuf>,
    /// The user number of a box that root asks for.
    #[arg(long, value_name = "UID", default_value_t = NOBODY)]
    user: u32,
}

#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLE)]
pub(super) struct BenchArgs {
    /// How often each thing is measured; the least counts.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Works with the box.
pub(super) fn run(command: &BoxCommand, console: Console) -> Result<(), CliError> {
    match command {
        BoxCommand::Doctor(args) => doctor(args, console),
        BoxCommand::Setup(args) => set_up(args, console),
        BoxCommand::Run(args) => run_file(args, console),
        BoxCommand::Test(args) => test(args, console),
        BoxCommand::Bench(args) => bench(args, console),
    }
}

/// What the machine has for boxes.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Parts {
    parts: Vec<BoxPart>,
}

/// An environment of pinned packages.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct InstalledPackages {
    folder: PathBuf,
    environment: EnvironmentRecord,
}

/// Times of boxes, and what they may be.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Bench<'b> {
    figures: &'b BoxBench,
    goals: &'b [BenchGoal],
}

fn doctor(args: &DoctorArgs, console: Console) -> Result<(), CliError> {
    let tasks = FactorTasks::compiled_in().map_err(CodeError::from)?;
    let parts = examine(&BoxSetup {
        answers: [tasks.answers(), scenario_answers()].concat(),
        ..args.boxes.setup()
    });
    let mut text = String::new();
    for part in &parts {
        let mark = if part.is_there { "ok" } else { "missing" };
        text = format!("{text}{mark:<8} {}: {}\n", part.name, visible_lines(&part.detail));
        if let Some(hint) = &part.hint {
            text = format!("{text}         {hint}\n");
        }
    }
    let parts = Parts { parts };
    console.result(&text, &parts)?;
    let missing: Vec<&str> = parts
        .parts
        .iter()
        .filter(|part| !part.is_there)
        .map(|part| part.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(CliError::input(
        format!("missing: {}", missing.join(", ")),
        "see the lines above",
    ))
}

fn set_up(args: &SetupArgs, console: Console) -> Result<(), CliError> {
    let setup = BoxSetup {
        user: args.user,
        ..BoxSetup::default()
    };
    let plan = EnvironmentPlan {
        set: args.set.set(),
        folder: args.env.clone(),
        python: args.python.clone(),
        wheels: args.offline.clone(),
        box_user: setup.box_user(),
    };
    let made = PythonEnvironment::set_up(&plan)?;
    let text = format!(
        "{}: {}, Python {}",
        made.folder.display(),
        made.record.set.label(),
        made.record.python
    );
    let document = InstalledPackages {
        folder: made.folder,
        environment: made.record,
    };
    console.result(&text, &document)
}

fn bench(args: &BenchArgs, console: Console) -> Result<(), CliError> {
    let launcher = BoxLauncher::prove(args.boxes.setup())?;
    let bench = BoxBench::measure(&launcher, args.rounds)?;
    let goals = bench.goals();
    let times = [
        ("a bare start of Python, s", bench.bare_start_s),
        ("a start of a box, s", bench.box_start_s),
        ("a job that computes nothing, s", bench.job_s),
        ("150 runs of a factor, s", bench.factor_runs_s),
    ];
    let text = |text: &str| TableCell::Text(text.to_owned());
    let figures = times
        .into_iter()
        .map(|(name, seconds)| vec![text(name), text(&format!("{seconds:.4}")), TableCell::Empty]);
    let ratios = goals.iter().map(|goal| {
        vec![
            text(goal.name),
            text(&format!("{:.4}", goal.figure)),
            text(&format!("{:.4}", goal.most)),
        ]
    });
    let heads = [
        ("what", Align::Left),
        ("figure", Align::Right),
        ("goal, at most", Align::Right),
    ];
    let table = TableData::new(format!("The least of {} rounds", bench.rounds), heads)
        .with_rows(figures.chain(ratios));
    let text = table.text_in(console.layout());
    let document = Bench {
        figures: &bench,
        goals: &goals,
    };
    console.result(&text, &document)?;
    let missed: Vec<&str> = goals
        .iter()
        .filter(|goal| !goal.is_met())
        .map(|goal| goal.name)
        .collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(CliError::difference(format!("missed: {}", missed.join("; "))))
}
