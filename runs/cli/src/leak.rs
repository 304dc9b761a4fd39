//! `ktd leak`: what a back-test owes to conventions that let tomorrow in, and whether a signal leaks.

use crate::output::Console;
use crate::progress::TickBar;
use crate::unless_ending::unless_interrupted;
use crate::{CliError, leak_audit, study};
use clap::{Args, Subcommand};
use ktd_io::parallel::available_threads;
use ktd_leakage_study::{LeakManifest, LeakStudy, check_manifest, sanity};
use ktd_mirror::{AuditSubject, audit_self};
use ktd_study::any;
use std::path::PathBuf;
use std::sync::Arc;

/// Work on leaks.
#[derive(Debug, Subcommand)]
pub(super) enum LeakCommand {
    /// Run the one-switch benchmark: models under a clean protocol and under one changed rule at a time; rerunning continues.
    Run(RunArgs),
    /// Replace what lies after a cut and mask the signal day's bar: the clean protocol must not move.
    Sanity(SanityArgs),
    /// Check what a declared pipeline knows when: twelve rules that keep tomorrow out.
    Check(CheckArgs),
    /// Prove on cut panels what columns read, or ask whether signals of a file go with returns that they cannot know.
    Audit(leak_audit::AuditArgs),
    /// Turn the benchmark on this program: whether its tools, exchange or masks see a later day.
    AuditSelf(AuditSelfArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd leak run runs/configs/leak_demo.toml --out results/leak-demo   # synthetic market, no data
  ktd leak check runs/configs/results/leak-demo/manifest.toml
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

const CHECK_EXAMPLE: &str = "\
Example:
  ktd leak check runs/configs/results/leak-demo/manifest.toml
  ktd leak check mine.toml --source features.py

A manifest declares when scores are made, where orders are filled, and for each feature its expression or program and when it is \
known. Exit code 1: a rule is broken. What a program reads is proved by `ktd leak audit`; lines of --source are hints alone.";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLE)]
pub(super) struct CheckArgs {
    /// The manifest.
    manifest: PathBuf,
    /// Source files in which patterns that often read ahead are searched.
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
}

const AUDIT_SELF_EXAMPLE: &str = "\
Example:
  ktd leak audit-self                                # synthetic market, no data
  ktd leak audit-self runs/configs/headline.toml --panel csi300.ktdp

Turns the benchmark on this program: fixed calls of every tool under every mask, orders, decisions and bands are compared with those \
on the same panel with another future, byte by byte. Exit code 0: only what the data card declares was found, and the agents and \
rules that are known to look ahead were found. Exit code 1 names the tool or rule, the call, the day and the first byte.";

#[derive(Debug, Args)]
#[command(after_help = AUDIT_SELF_EXAMPLE)]
pub(super) struct AuditSelfArgs {
    /// An experiment file, whose panel, windows, rules and limits are taken [default: the synthetic market].
    experiment: Option<PathBuf>,
    /// A panel file, in place of the experiment's.
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
}

/// Works on leaks.
pub(super) fn run(command: &LeakCommand, console: Console) -> Result<(), CliError> {
    let audited = match command {
        LeakCommand::Run(args) => {
            let paths = (&*args.config, args.out.as_deref());
            return study::run(any::<LeakStudy>(), paths, console);
        }
        LeakCommand::Sanity(args) => sanity(&args.config)?,
        LeakCommand::Check(args) => check_manifest(&LeakManifest::read(&args.manifest)?, &args.source)?,
        LeakCommand::Audit(args) => leak_audit::audited(args)?,
        LeakCommand::AuditSelf(args) => {
            let panel = args.panel.as_deref();
            let subject = match &args.experiment {
                Some(experiment) => AuditSubject::of_experiment(experiment, panel)?,
                None => AuditSubject::of_panel(panel)?,
            };
            let bar = Arc::new(TickBar::new(console, "auditing", "days of checks"));
            let tell = |done, of| bar.tell(done, of);
            unless_interrupted(&bar, console, || audit_self(&subject, available_threads(), &tell))??
                .audited()?
        }
    };
    study::show_audited(audited, console)
}
