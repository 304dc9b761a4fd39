//! `ktd probe CONFIG`.

use super::probe_batch::{self, BatchCommand, WhoArgs};
use super::run::runtime;
use super::signals::unless_told_to_end;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::{Args, Subcommand};
use ktd_certify::certificate::{Counted, Judgement};
use ktd_certify::config::CertifyConfig;
use ktd_certify::figure::{Figure, Rule};
use ktd_certify::paths::CertifyPaths;
use ktd_certify::session::{CertifyRun, count_probes, database_attackers};
use ktd_certify::set_record::SetRecord;
use ktd_certify::table;
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
  ktd probe try.toml --probes theirs     # attack probes of another harness: theirs/probes/*.jsonl, theirs/private/gold.jsonl

Rerunning keeps what is on disk and recomputes the tables.";

/// Ask ten attackers that own the price database which stock and which day a masked payload shows.
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
        let run = of_file(path, self.out.as_deref())?;
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
        let open = |who: &WhoArgs| Ok(of_file(&who.config, who.results.as_deref())?.sitting(&|| {})?);
        return probe_batch::run(command, open, console);
    }
    let run = args.set.run()?;
    let record = attack(&run, false, console)?;
    let mut counted = count_probes(&run.paths, &record, &database_attackers())?;
    let asked = ask(&run, &record, console)?;
    counted.counts.extend(asked.counts);
    counted.silences.extend(asked.silences);
    let figures = figures(&run, &record, &counted)?;
    let text = if args.csv {
        table::csv(&figures, &counted.silences)?
    } else {
        let root = run.paths.root().display();
        format!("{}probes: {root}\n", table::text(&figures, &counted.silences))
    };
    console.result(
        &text,
        &json!({ "set": record, "figures": figures, "unanswered": counted.silences }),
    )
}

/// Makes and attacks under a progress bar.
pub(super) fn attack(run: &CertifyRun, with_controls: bool, console: Console) -> Result<SetRecord, CliError> {
    let ticks = u64::try_from(run.ticks(with_controls)).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(
        console,
        "probing",
        ticks,
        "probes made, learned from or attacked",
    ));
    Ok(run.attack(with_controls, &|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    })?)
}

/// Asks the language models of the file under a progress bar.
pub(super) fn ask(run: &CertifyRun, record: &SetRecord, console: Console) -> Result<Counted, CliError> {
    let probes: usize = record.by_kind().into_values().sum();
    let questions = u64::try_from(probes * run.config.language.agents.len()).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "asking", questions, "questions answered"));
    let told = || {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    };
    let asked = runtime()?.block_on(unless_told_to_end(run.ask_language(record, &told)))??;
    Ok(asked)
}

fn figures(run: &CertifyRun, record: &SetRecord, counted: &Counted) -> Result<Vec<Figure>, CliError> {
    let Judgement {
        confidence,
        thresholds,
    } = judgement(run);
    let rule = Rule {
        mask: record.plan.mask()?,
        confidence,
        thresholds,
        attackers: database_attackers().len() + run.config.language.agents.len(),
    };
    let figures = counted.counts.iter().map(|count| rule.figure(count));
    Ok(figures.collect::<Result<_, _>>()?)
}

/// By what a run's figures are judged.
pub(super) const fn judgement(run: &CertifyRun) -> Judgement {
    Judgement {
        confidence: run.config.confidence,
        thresholds: run.config.thresholds,
    }
}
