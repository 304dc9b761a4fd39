//! The program `ktd`: one file a command.
//!
//! Knows: every room, the terminal, arguments. Never knows: how anything is computed.

mod alpha;
mod alpha_studies;
mod attribute;
mod attribute_text;
mod baseline;
mod boxed;
mod boxed_options;
mod boxed_run;
mod branch;
#[cfg(feature = "server")]
mod bucket;
mod certify;
mod command_groups;
mod completions;
mod curve;
mod data;
mod data_import;
mod demo;
mod demo_certificate;
mod demo_story;
mod diff;
mod doctor;
mod doctor_file;
mod doctor_probe;
mod doctor_repeat;
mod doctor_self_test;
mod document;
mod documents;
#[cfg(feature = "server")]
mod enqueue;
mod error;
mod export;
mod factor_code;
mod factor_code_run;
mod factors;
mod gate_secret_args;
mod given;
mod help_topic;
mod leaderboard;
mod leak;
mod leak_audit;
mod mcp;
mod on_event;
mod output;
mod plan;
mod planting;
mod printed_document;
mod probe;
mod progress;
mod publish;
mod reasons;
mod replay;
mod replay_args;
mod replay_step;
mod report;
#[cfg(feature = "server")]
mod requeue;
mod results;
mod retired;
mod run;
mod runtime;
mod selection;
mod signals;
mod simulate;
mod sizes;
mod status;
mod status_view;
mod step_bar;
mod strategy_code;
mod strategy_code_args;
mod strategy_code_run;
mod study;
mod study_bar;
mod this_program;
mod trading_day;
mod typed_command;
mod unless_ending;
mod vendors;
mod verify;
mod verify_document;
mod verify_report;
mod verify_signed;
mod view;
mod windows;
#[cfg(feature = "server")]
mod worker;

pub use documents::{PrintedSchema, printed_schemas};
pub use error::CliError;

use crate::output::{Console, declared_width};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

const EXAMPLES: &str = "\
Examples:
  ktd demo                      # no key, no network, no data
  ktd data import prices.parquet --basis raw --out csi300.ktdp
  ktd run experiment.toml       # run it again to continue

Exit code 0: all is well. 1: a check found a difference. 2: the input or the machine has to be fixed. 3: a budget is \
used up. 130: a signal ended it. A message says what and how.";

/// A benchmark that puts a language model into a deterministic simulation of the Chinese A-share market.
#[derive(Debug, Parser)]
#[command(name = "ktd", version, max_term_width = 100, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// No progress bars.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Show every column of tables, however wide they become.
    #[arg(long, global = true)]
    wide: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch the built-in agents trade a masked synthetic market; no key, no network, no data.
    Demo(demo::DemoArgs),
    /// Run what a file describes: a grid of episodes, or a study of any kind; rerunning continues.
    Run(run::RunArgs),
    /// Say what the file of a study asks and costs; of episodes, also what they can detect. Nothing is run.
    Plan(plan::PlanArgs),
    /// Say how far a study is, what it has spent, and what to type to go on.
    Status(status::StatusArgs),
    /// Put a study into the queue of a server, for workers on many machines.
    #[cfg(feature = "server")]
    Enqueue(enqueue::EnqueueArgs),
    /// Run units of a server's queue beside workers on other machines.
    #[cfg(feature = "server")]
    Worker(worker::WorkerArgs),
    /// Let dead, capped and cancelled units of a queue wait again.
    #[cfg(feature = "server")]
    Retry(requeue::RequeueArgs),
    /// Take units out of a queue.
    #[cfg(feature = "server")]
    Cancel(requeue::RequeueArgs),
    /// Write the report of a study again from its records, and show it.
    Report(report::ReportArgs),
    /// Make an episode or a study again from its record and compare every byte; or show one step.
    Replay(replay_args::ReplayArgs),
    /// Check bundles, studies, publications, boards and certificates; name what differs first.
    Verify(verify::VerifyArgs),
    /// Split returns into market, style and selection, with costs and execution apart.
    Attribute(attribute::AttributeArgs),
    /// Ask attackers which stock and which day a masked payload shows; count what they recover.
    Probe(probe::ProbeArgs),
    /// Show what each way to show numbers leaks, and what it costs strategies
    Curve(curve::CurveArgs),
    /// Probe a mask, check the attackers, and sign a certificate that others can verify.
    Certify(certify::CertifyArgs),
    /// Look at experiments, episodes and steps in a browser: read only, on this machine alone.
    View(view::ViewArgs),
    /// Write the records of finished episodes as tables for pandas and polars.
    Export(export::ExportArgs),
    /// Show how two studies of one kind differ, or two books of one window.
    Diff(diff::DiffArgs),
    /// Rank finished runs by what they selected; say which differences are real.
    Leaderboard(leaderboard::LeaderboardArgs),
    /// Show what an experiment that draws its windows commits to, or sign a number for another lab's draw.
    Windows(windows::WindowsArgs),
    /// Give a finished study, or episodes, to others, signed; of masked episodes this opens the masks.
    Publish(publish::PublishArgs),
    /// Count what models name in their reasons without having been shown it; lay reasons side by side, mask by mask.
    Reasons(reasons::ReasonsArgs),
    /// Let an MCP client trade one cell: a server on standard input and output, no network.
    Mcp(mcp::McpArgs),
    /// Check what works here, and how to fix what does not.
    Doctor(doctor::DoctorArgs),
    /// Show the vendors that are known and what each accepts; what nobody confirmed is marked `?`.
    Vendors(vendors::VendorsArgs),
    /// Import, check and generate market panels.
    #[command(subcommand, after_help = data::EXAMPLES)]
    Data(data::DataCommand),
    /// Train predictors whose scores an agent of scores trades.
    #[command(subcommand, after_help = baseline::EXAMPLES)]
    Baseline(baseline::BaselineCommand),
    /// Check and evaluate formulas in Qlib's language.
    #[command(subcommand, after_help = alpha::EXAMPLES)]
    Alpha(alpha::AlphaCommand),
    /// Measure what a back-test owes to its protocol; audit signals for leaks.
    #[command(subcommand, after_help = leak::EXAMPLES)]
    Leak(leak::LeakCommand),
    /// Run foreign Python in a box that lets nothing out and remembers nothing.
    #[command(name = "box", subcommand, after_help = boxed::EXAMPLES)]
    Boxed(boxed::BoxCommand),
    /// Judge factor functions that models wrote: do they run, look ahead, give the right values, loop.
    #[command(name = "factor-code", subcommand, after_help = factor_code::EXAMPLES)]
    FactorCode(factor_code::FactorCodeCommand),
    /// Judge trading strategies that models wrote: gates, drift between versions, fidelity to the document.
    #[command(name = "strategy-code", subcommand, after_help = strategy_code::EXAMPLES)]
    StrategyCode(strategy_code::StrategyCodeCommand),
    /// Plant accounts of known skill, style and luck; show which headline recovers what was planted.
    Planting(planting::PlantingArgs),
    /// Show how often a board is wrong about agents without skill: tests, intervals, pairs and ranks.
    Sizes(sizes::SizesArgs),
    /// Run a scripted order file through the exchange, without an agent.
    Simulate(simulate::SimulateArgs),
    /// Print what lets a shell complete commands and options.
    Completions(completions::CompletionsArgs),
    /// Write manual pages, one a command.
    Man(completions::ManArgs),
}

/// Runs the program on the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match asked(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(ended) => return ended,
    };
    let console = Console {
        json: cli.json,
        quiet: cli.quiet,
        wide: cli.wide,
    };
    log_to_stderr();
    let result = match cli.command {
        Command::Demo(args) => demo::run(&args, console),
        Command::Run(args) => run::run(&args, console),
        Command::Plan(args) => plan::run(&args, console),
        Command::Status(args) => status::run(&args, console),
        #[cfg(feature = "server")]
        Command::Enqueue(args) => enqueue::run(&args, console),
        #[cfg(feature = "server")]
        Command::Worker(args) => worker::run(&args, console),
        #[cfg(feature = "server")]
        Command::Retry(args) => requeue::run(&args, true, console),
        #[cfg(feature = "server")]
        Command::Cancel(args) => requeue::run(&args, false, console),
        Command::Report(args) => report::run(&args, console),
        Command::Replay(args) => replay::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Attribute(args) => attribute::run(&args, console),
        Command::View(args) => view::run(&args, console),
        Command::Export(args) => export::run(&args, console),
        Command::Diff(args) => diff::run(&args, console),
        Command::Probe(args) => probe::run(&args, console),
        Command::Curve(args) => curve::run(&args, console),
        Command::Certify(args) => certify::run(&args, console),
        Command::Leaderboard(args) => leaderboard::run(&args, console),
        Command::Windows(args) => windows::run(&args, console),
        Command::Publish(args) => publish::run(&args, console),
        Command::Reasons(args) => reasons::run(&args, console),
        Command::Mcp(args) => mcp::run(&args, console),
        Command::Doctor(args) => doctor::run(&args, console),
        Command::Vendors(args) => vendors::run(&args, console),
        Command::Data(command) => data::run(command, console),
        Command::Alpha(command) => alpha::run(&command, console),
        Command::Leak(command) => leak::run(&command, console),
        Command::Boxed(command) => boxed::run(&command, console),
        Command::FactorCode(command) => factor_code::run(&command, console),
        Command::StrategyCode(command) => strategy_code::run(&command, console),
        Command::Planting(args) => planting::run(&args, console),
        Command::Baseline(command) => baseline::run(&command, console),
        Command::Sizes(args) => sizes::run(&args, console),
        Command::Simulate(args) => simulate::run(&args, console),
        Command::Completions(args) => completions::completions(&args, console),
        Command::Man(args) => completions::man(&args, console),
    };
    ended(console, result)
}

/// What the arguments ask for; else how the program ends: what is retired, a topic of the help, and what cannot be understood.
fn asked(given: Vec<OsString>) -> Result<Cli, ExitCode> {
    let arguments: Vec<String> = given
        .iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    if let Some(failure) = retired::retired(&arguments) {
        return Err(failed(&failure, json));
    }
    let plain = Console {
        json,
        ..Console::default()
    };
    if let Some(shown) = help_topic::help_topic(&arguments, plain) {
        return Err(ended(plain, shown));
    }
    #[cfg(feature = "server")]
    let given = match bucket::with_copies(given, plain) {
        Ok(given) => given,
        Err(failure) => return Err(failed(&failure, json)),
    };
    parsed(given).map_err(|error| usage(&error))
}

fn ended(console: Console, result: Result<(), CliError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The process's arguments; help shows commands in groups.
fn parsed(given: Vec<OsString>) -> Result<Cli, clap::Error> {
    const WIDEST: usize = 100;
    let width = declared_width()
        .or(Console::default().layout().width)
        .unwrap_or(WIDEST)
        .min(WIDEST);
    let command = command_groups::grouped(Cli::command(), width);
    command
        .try_get_matches_from(given)
        .and_then(|matches| Cli::from_arg_matches(&matches))
}

/// The log goes to standard error where `KTD_LOG=info` or `debug` asks for it; what stops a command is printed without
/// it, once, as text or as one JSON document. It never holds a request.
fn log_to_stderr() {
    let wanted = std::env::var("KTD_LOG").unwrap_or_default();
    // What cannot be read asks for nothing, and so does an empty text, which would parse as a filter of errors.
    let filter: Targets = match wanted.trim() {
        "" => Targets::new(),
        wanted => wanted.parse().unwrap_or_default(),
    };
    let log = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .finish();
    // A second initialisation, as in tests, keeps the first.
    log.with(filter).try_init().ok();
}

/// Help and version succeed; every other usage error is bad input, in JSON where that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || !std::env::args_os().any(|argument| argument == "--json") {
        // Nothing is left to tell anyone when the terminal is gone.
        error.print().ok();
        if error.kind() == clap::error::ErrorKind::InvalidSubcommand {
            Console::warning("`ktd help topics` lists the documents.");
        }
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    failed(&CliError::invalid(text.trim_end()).with_hint("see --help"), true)
}

fn failed(failure: &CliError, json: bool) -> ExitCode {
    let console = Console {
        json,
        ..Console::default()
    };
    console.failure(failure);
    ExitCode::from(failure.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example_in_lines_that_are_not_broken() {
        fn visit(command: &clap::Command, path: &str, width: usize) {
            let path = format!("{path} {}", command.get_name());
            let mut leaves = command.get_subcommands().peekable();
            let after = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                after.contains("Example") || leaves.peek().is_some(),
                "{path} has no example"
            );
            for line in after.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= width, "{path} at {width}: {line}");
            }
            for leaf in leaves {
                visit(leaf, &path, width);
            }
        }
        for width in [80, 100] {
            visit(&command_groups::grouped(Cli::command(), width), "", width);
        }
    }
}
