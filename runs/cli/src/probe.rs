//! `ktd probe CONFIG`.

use super::probe_batch::{self, BatchCommand, WhoArgs};
use super::runtime::runtime;
use super::signals::unless_told_to_end;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::{Args, Subcommand};
use ktd_certify::acts::{self, Asking, RunProgress};
use ktd_certify::config::{CertifyConfig, check_nonce};
use ktd_certify::paths::CertifyPaths;
use ktd_certify::run::CertifyRun;
use ktd_certify::table;
use ktd_probes::judge::AttackCounts;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const EXAMPLE: &str = "\
Example file:

  name = \"try\"
  panel = \"csi300.ktdp\"            # without it: the synthetic market
  mask = { level = \"blinded\", numeric = \"rescaled\" }
  seed = 1
  probes = { day = 2000, days = 2000, episode = 2000, linked = 2000, anchored = 2000 }
  stretches = 10                   # or windows = [{ id = \"W1\" }]

  ktd probe try.toml                     # make the probes, attack them, say what was recovered
  ktd probe try.toml --probes theirs     # attack probes of another harness

Probes of another harness are theirs/probes/*.jsonl and theirs/private/gold.jsonl. Rerunning keeps what is on disk and recomputes the tables.";

/// Ask fifteen attackers that own the price database which stock and which day a masked payload shows.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE, args_conflicts_with_subcommands = true)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    set: SetArgs,
    /// Print every figure as CSV.
    #[arg(long)]
    csv: bool,
    #[command(subcommand)]
    way: Option<Way>,
}

/// Other ways to ask than one question after the other.
#[derive(Debug, Clone, Subcommand)]
enum Way {
    /// Ask a language model by a vendor's batch files.
    #[command(subcommand)]
    Batch(BatchCommand),
}

/// Which probes, and where they go.
#[derive(Debug, Clone, Args)]
pub(super) struct SetArgs {
    /// The file that says what is probed.
    config: Option<PathBuf>,
    /// Where everything goes (default: the file's `output`, else `results/NAME` beside the file).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Attack probes that somebody else made or changed, in this directory, instead of making them.
    #[arg(long, value_name = "DIR")]
    probes: Option<PathBuf>,
    /// A word of an auditor's that decides the draw with the seed, instead of the file's `nonce`.
    #[arg(long, value_name = "WORD")]
    nonce: Option<String>,
    /// Threads (default: one a core); results do not depend on them.
    #[arg(long)]
    threads: Option<usize>,
}

impl SetArgs {
    /// The run that is asked for.
    ///
    /// # Errors
    /// [`CliError`] for a missing or wrong file.
    pub(super) fn run(&self) -> Result<CertifyRun, CliError> {
        let path = self.config.as_deref().ok_or_else(|| {
            CliError::input(
                "no file says what is probed",
                "name one: `ktd probe --help` shows an example",
            )
        })?;
        let mut run = of_file(path, self.out.as_deref())?;
        if let Some(nonce) = &self.nonce {
            check_nonce(nonce)?;
            run.config.nonce = Some(nonce.clone());
        }
        Ok(CertifyRun {
            given: self.probes.clone(),
            threads: threads(self.threads),
            ..run
        })
    }
}

/// The run of a file.
///
/// # Errors
/// [`CliError`] for a missing or wrong file.
fn of_file(path: &Path, out: Option<&Path>) -> Result<CertifyRun, CliError> {
    let config = CertifyConfig::read(path)?;
    let base = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let paths = CertifyPaths::new(&config.directory(out, &base));
    Ok(CertifyRun {
        config,
        base,
        paths,
        given: None,
        threads: threads(None),
    })
}

/// So many threads as asked for, else one a core.
pub(super) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(ktd_io::parallel::available_threads)
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input.
pub(super) fn run(args: &ProbeArgs, console: Console) -> Result<(), CliError> {
    if let Some(Way::Batch(command)) = &args.way {
        let open = |who: &WhoArgs| Ok(of_file(&who.config, who.results.as_deref())?.probe_batch(&|| {})?);
        return probe_batch::run(command, open, console);
    }
    let run = args.set.run()?;
    let bars = WaitBars::of(&run, false, console);
    let report = bars.watch(|progress| acts::probe(&run, progress, wait_for_models))?;
    let text = if args.csv {
        table::csv(&report.figures, &report.unanswered)?
    } else {
        let root = run.paths.root().display();
        format!(
            "{}probes: {root}\n",
            table::text(&report.figures, &report.unanswered)
        )
    };
    console.result(&text, &json!(report))
}

/// Waits for language models, unless a signal ends the program.
pub(super) fn wait_for_models(asking: Asking<'_>) -> Result<AttackCounts, CliError> {
    Ok(runtime()?.block_on(unless_told_to_end(asking))??)
}

/// Progress bars of a run: one for what is computed, one for what is asked. Each begins with its first unit of work.
pub(super) struct WaitBars {
    console: Console,
    probing: u64,
    asking: u64,
}

impl WaitBars {
    pub(super) fn of(run: &CertifyRun, with_controls: bool, console: Console) -> Self {
        let units = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Self {
            console,
            probing: units(run.progress_total(with_controls)),
            asking: units(run.questions()),
        }
    }

    /// Does the work under the bars.
    pub(super) fn watch<T>(&self, work: impl FnOnce(RunProgress<'_>) -> T) -> T {
        let bars = Mutex::new((None, None));
        let probing = || {
            if let Ok(mut bars) = bars.lock() {
                let (probing, _) = &mut *bars;
                let unit = "probes made, learned from or attacked";
                probing
                    .get_or_insert_with(|| Progress::new(self.console, "probing", self.probing, unit))
                    .advance(1);
            }
        };
        let asking = || {
            if let Ok(mut bars) = bars.lock() {
                let (probing, asking): &mut (Option<Progress>, Option<Progress>) = &mut bars;
                // One bar at a time is drawn.
                *probing = None;
                asking
                    .get_or_insert_with(|| {
                        Progress::new(self.console, "asking", self.asking, "questions answered")
                    })
                    .advance(1);
            }
        };
        work(RunProgress {
            probing: &probing,
            asking: &asking,
        })
    }
}
