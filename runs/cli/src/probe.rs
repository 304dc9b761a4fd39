//! `ktd probe CONFIG`.

use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_certify::CertificateStudy;
use ktd_certify::config::{CertifyConfig, check_nonce};
use ktd_certify::own_answers::count_answers;
use ktd_study::{ReportOf, StudyKind, StudyRun, read_study_file, run_any};
use std::path::{Path, PathBuf};

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
  ktd probe --count results/try --answers mine.jsonl    # what a program of your own found

A line of answers, with its day as a place in the panel's calendar, from 0:

  {\"kind\": \"day\", \"number\": 0, \"answer\": {\"stocks\": [\"SH600519\"], \"place\": 1893}}
  {\"kind\": \"linked\", \"number\": 0, \"answer\": {\"same_stock\": true}}

Probes of another harness are theirs/probes/*.jsonl and theirs/private/gold.jsonl. Rerunning keeps what is on disk; every figure stands in figures.csv.";

/// Ask fifteen attackers that own the price database which stock and which day a masked payload shows.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    set: SetArgs,
    /// Ask nobody: count answers of your own to the probes in this directory, whose `private/gold.jsonl` is beside them.
    #[arg(long, value_name = "DIR", requires = "answers", conflicts_with_all = ["config", "out", "probes", "nonce", "threads"])]
    count: Option<PathBuf>,
    /// With --count: the answers of an attacker of your own, a JSON line a probe; several files are several attackers.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    answers: Vec<PathBuf>,
}

/// Which probes, and where they go.
#[derive(Debug, Clone, Args)]
pub(super) struct SetArgs {
    /// The file that says what is probed.
    pub(super) config: Option<PathBuf>,
    /// Where everything goes (default: the file's `output`, else `results/NAME`).
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
    /// Print every table of the report.
    #[arg(long, alias = "all")]
    pub(super) tables: bool,
}

impl SetArgs {
    /// The keys of the file, and the folder in which it lies.
    ///
    /// # Errors
    /// [`CliError`] for a missing or wrong file.
    pub(super) fn keys<K: StudyKind<Keys = CertifyConfig>>(
        &self,
    ) -> Result<(CertifyConfig, PathBuf), CliError> {
        let path = self.config.as_deref().ok_or_else(|| {
            CliError::input(
                "no file says what is probed",
                "name one: `ktd probe --help` shows an example",
            )
        })?;
        let mut keys = read_study_file::<K>(path)?;
        keys.given.clone_from(&self.probes);
        Ok((keys, path.parent().unwrap_or(Path::new("")).to_owned()))
    }

    /// Runs the study of the file with its keys changed.
    ///
    /// # Errors
    /// [`CliError`] for a missing or wrong file, and as the study.
    pub(super) fn finish<K: StudyKind<Keys = CertifyConfig>>(
        &self,
        change: impl FnOnce(&mut CertifyConfig) -> Result<(), CliError>,
        console: Console,
    ) -> Result<ReportOf, CliError> {
        let (mut keys, base) = self.keys::<K>()?;
        if let Some(nonce) = &self.nonce {
            check_nonce(nonce)?;
            keys.nonce = Some(nonce.clone());
        }
        change(&mut keys)?;
        study::finished_by(K::ASKS, console, |run| {
            let threads = self.threads.unwrap_or(run.threads);
            run_any::<K>(keys, (&base, self.out.as_deref()), &StudyRun { threads, ..*run })
        })
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input.
pub(super) fn run(args: &ProbeArgs, console: Console) -> Result<(), CliError> {
    if let Some(set) = &args.count {
        let (counts, report) = count_answers(set, &args.answers)?;
        let all = args.set.tables || console.wide;
        return console.result(&report.text(console.layout(), all), &counts);
    }
    if !args.answers.is_empty() {
        let set = args.set.config.as_deref().unwrap_or(Path::new("results/try"));
        return Err(CliError::input(
            "--answers names answers of your own, and no --count the probes that they answer",
            format_args!(
                "name the folder of the set: `ktd probe --count {} --answers {}`",
                set.display(),
                args.answers
                    .first()
                    .map(|file| file.display().to_string())
                    .unwrap_or_default()
            ),
        ));
    }
    let unsigned = |keys: &mut CertifyConfig| {
        keys.key = None;
        Ok(())
    };
    let done = args.set.finish::<CertificateStudy>(unsigned, console)?;
    study::show(&done, args.set.tables || console.wide, console)
}
