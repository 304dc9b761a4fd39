//! `ktd leak`: what a back-test owes to conventions that let tomorrow in, and whether a signal leaks.

use crate::CliError;
use crate::leak_audit_self::{self, AuditSelfArgs};
use crate::output::Console;
use crate::{leak_audit, leak_check, study};
use clap::{Args, Subcommand};
use ktd_leakage_study::{LeakSource, LeakStudy, interventions_table, read_leak_config, sanity};
use ktd_study::any;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Work on leaks.
#[derive(Debug, Subcommand)]
pub(super) enum LeakCommand {
    /// Run the one-switch benchmark: models under a clean protocol and under one changed rule at a time; rerunning continues.
    Run(RunArgs),
    /// Replace what lies after a cut and mask the signal day's bar: the clean protocol must not move.
    Sanity(SanityArgs),
    /// Check what a declared pipeline knows when: twelve rules that keep tomorrow out.
    Check(leak_check::CheckArgs),
    /// Prove on cut panels what columns read, or ask whether signals of a file go with returns that they cannot know.
    Audit(leak_audit::AuditArgs),
    /// Turn the benchmark on this program: whether its tools, exchange or masks see a later day.
    AuditSelf(AuditSelfArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd leak run runs/configs/leak_demo.toml            # synthetic market, no data
  ktd leak check results/leak-demo/manifest.toml
  ktd leak audit --signals signals.csv --panel csi300.ktdp --known-at close";

const RUN_EXAMPLE: &str = "\
Example:
  ktd leak run runs/configs/leak_demo.toml --out results/leak

A market without any alpha shows what a protocol is worth by itself: a centred window and a fill at the signal day's own open \
pretend annual ratios far above any that is real. Every figure is on the same rows, days and seeds.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment file.
    config: PathBuf,
    /// Where results go [default: results/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const SANITY_EXAMPLE: &str = "\
Example:
  ktd leak sanity runs/configs/leak_demo.toml

Exit code 1: the clean protocol reads what lies after the cut, which is a defect of the program.";

#[derive(Debug, Args)]
#[command(after_help = SANITY_EXAMPLE)]
pub(super) struct SanityArgs {
    /// The experiment file.
    config: PathBuf,
}

/// Works on leaks.
pub(super) fn run(command: &LeakCommand, console: Console) -> Result<(), CliError> {
    match command {
        LeakCommand::Run(args) => {
            study::run(any::<LeakStudy>(), (&args.config, args.out.as_deref()), console)
        }
        LeakCommand::Sanity(args) => run_sanity(args, console),
        LeakCommand::Check(args) => leak_check::run(args, console),
        LeakCommand::Audit(args) => leak_audit::run(args, console),
        LeakCommand::AuditSelf(args) => leak_audit_self::run(args, console),
    }
}

/// The folder that relative paths of a file start from.
fn beside(file: &Path) -> &Path {
    file.parent().unwrap_or_else(|| Path::new(""))
}

fn run_sanity(args: &SanityArgs, console: Console) -> Result<(), CliError> {
    let config = read_leak_config(&args.config)?;
    let source = LeakSource::read(&config, beside(&args.config))?;
    let rows = sanity(&config, &source)?;
    let table = interventions_table(&rows);
    console.result(
        &table.text_in(console.layout()),
        &json!({ "interventions": rows }),
    )?;
    match rows
        .iter()
        .find(|row| row.protocol == "CLEAN" && 0 < row.suffix_cells_changed)
    {
        None => Ok(()),
        Some(row) => Err(CliError::difference(format_args!(
            "{} cells of the clean protocol read what lies after the cut",
            row.suffix_cells_changed
        ))),
    }
}
