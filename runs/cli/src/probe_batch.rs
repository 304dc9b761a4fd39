//! `ktd probe batch write|read CONFIG`: a vendor's batch interface in place of one request after the other.

use crate::CliError;
use crate::output::Console;
use crate::runtime::runtime;
use clap::{Args, Subcommand};
use ktd_certify::language_attackers::{BatchRead, ProbeBatch, read_batch, write_batch};
use ktd_io::whole_file::{read_input, write_whole};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  ktd probe batch write attackers.toml --agent gpt-5.5 --out gpt.jsonl
  ... give the file to the vendor, wait, download the results ...
  ktd probe batch read attackers.toml --agent gpt-5.5 gpt-results.jsonl
  ktd probe attackers.toml             # ask live what the batch left open

A batch answers each question once: a bad answer in it has no retry until it is asked live.";

/// Ask a model by a vendor's batch files.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum BatchCommand {
    /// Write the questions that have no recorded answer as a vendor's batch file.
    #[command(after_help = EXAMPLE)]
    Write(WriteArgs),
    /// Read a vendor's results into the record; rows may stand in any order.
    #[command(after_help = EXAMPLE)]
    Read(ReadArgs),
}

/// Whose probes, and of which file.
#[derive(Debug, Clone, Args)]
pub(super) struct WhoArgs {
    /// The file that says what is probed, with the model under `[language]`.
    pub(super) config: PathBuf,
    /// The model: an agent of the file.
    #[arg(long)]
    pub(super) agent: String,
    /// Where everything goes (default: the file's `output`, else `results/NAME` beside the file).
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,
}

/// What is written.
#[derive(Debug, Clone, Args)]
pub(super) struct WriteArgs {
    /// Whose probes.
    #[command(flatten)]
    pub(super) who: WhoArgs,
    /// The batch file.
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,
}

/// What is read.
#[derive(Debug, Clone, Args)]
pub(super) struct ReadArgs {
    /// Whose probes.
    #[command(flatten)]
    pub(super) who: WhoArgs,
    /// The vendor's results.
    pub(super) file: PathBuf,
}

/// Runs the command. `open` makes a probe file ready.
///
/// # Errors
/// [`CliError`] for bad input.
pub(super) fn run(
    command: &BatchCommand,
    open: impl FnOnce(&WhoArgs) -> Result<ProbeBatch, CliError>,
    console: Console,
) -> Result<(), CliError> {
    let (BatchCommand::Write(WriteArgs { who, .. }) | BatchCommand::Read(ReadArgs { who, .. })) = command;
    let batch = open(who)?;
    let attacker = batch.attackers.find(&who.agent)?;
    let questions = batch.questions();
    match command {
        BatchCommand::Write(WriteArgs { out, .. }) => {
            let written = write_batch(&batch.attackers, attacker, &questions)?;
            write_whole(out, written.text.as_bytes())?;
            let (requests, recorded) = (written.requests, written.recorded);
            let text = format!(
                "{requests} requests in {}, {recorded} answered before\n",
                out.display()
            );
            console.result(
                &text,
                &json!({ "requests": requests, "recorded": recorded, "file": out }),
            )
        }
        BatchCommand::Read(ReadArgs { file, .. }) => {
            let text = read_input(file)?;
            let given = (file.as_path(), text.as_str());
            let read = runtime()?.block_on(read_batch(&batch.attackers, attacker, &questions, given))?;
            console.result(&described(&read), &document(&read))
        }
    }
}

/// How many probes are unanswered, by reason.
fn reasons(read: &BatchRead) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for reason in read.answers.iter().filter_map(|answer| answer.reason.as_deref()) {
        *reasons.entry(reason).or_insert(0) += 1;
    }
    reasons
}

fn described(read: &BatchRead) -> String {
    let answered = read
        .answers
        .iter()
        .filter(|answer| answer.answer.is_some())
        .count();
    let mut text = format!(
        "{} rows recorded, {} known before; {answered} of {} probes answered\n",
        read.recorded,
        read.known,
        read.answers.len()
    );
    // Writing to a string cannot fail.
    for (reason, count) in reasons(read) {
        writeln!(text, "unanswered: {count} {reason}").ok();
    }
    for error in &read.errors {
        writeln!(text, "no answer in the row of {}: {}", error.id, error.code).ok();
    }
    if !read.missing.is_empty() {
        writeln!(text, "no row for {}", read.missing.join(", ")).ok();
    }
    text
}

fn document(read: &BatchRead) -> serde_json::Value {
    let errors = read.errors.iter();
    json!({
        "recorded": read.recorded,
        "known": read.known,
        "answered": read.answers.iter().filter(|answer| answer.answer.is_some()).count(),
        "probes": read.answers.len(),
        "unanswered": reasons(read),
        "errors": errors.map(|error| json!({ "id": error.id, "code": error.code })).collect::<Vec<_>>(),
        "missing": read.missing,
    })
}
