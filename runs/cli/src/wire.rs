//! `ktd wire check FILE`.

use crate::CliError;
use crate::output::Console;
use clap::{Args, Subcommand};
use ktd_client::wire_check::{Checked, check_file, line_of, to_json};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::provider::builtin_table;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd wire check recorded.jsonl             # one line an exchange
  ktd wire check recorded.jsonl.gz --json   # everything, for programs";

/// Look at what vendors sent.
#[derive(Debug, Subcommand)]
pub(super) enum WireCommand {
    /// Read recorded exchanges as a run would, and tell outcome, tool calls, usage and stop reason of each.
    Check(CheckArgs),
}

/// Arguments of `ktd wire check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// One JSON object a line, plain or gzip: `vendor`, `path`, `request`, `status`, `body`.
    file: PathBuf,
    /// An experiment whose own `[[dialects]]` are to be used.
    #[arg(long)]
    experiment: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when the file cannot be read, and when lines of it could not.
pub(super) fn run(command: &WireCommand, console: Console) -> Result<(), CliError> {
    let WireCommand::Check(args) = command;
    let table = match &args.experiment {
        Some(path) => ExperimentConfig::read(path)?.dialect_table()?,
        None => builtin_table()?,
    };
    let (mut text, mut all) = (String::new(), Vec::new());
    let (mut counts, mut unread) = (BTreeMap::<String, usize>::new(), 0_usize);
    let ended = check_file(&args.file, &table, |checked| {
        let outcome = outcome_of(&checked);
        unread += usize::from(outcome.is_none());
        *counts
            .entry(outcome.unwrap_or("unreadable").to_owned())
            .or_insert(0) += 1;
        if console.json {
            all.push(to_json(&checked));
        } else {
            // Writing to a string cannot fail.
            writeln!(text, "{}", line_of(&checked)).ok();
        }
    });
    let total: usize = counts.values().sum();
    if total == 0 {
        ended?;
        return Err(
            CliError::invalid(format_args!("{} holds no exchange", args.file.display()))
                .with_hint("it holds one JSON object a line: vendor, path, request, status and body"),
        );
    }
    let summary: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    write!(text, "\n{total} exchanges: {}", summary.join(", ")).ok();
    console.result(&text, &json!({ "exchanges": all, "outcomes": counts }))?;
    // What was read before a file broke off is shown all the same.
    ended?;
    if unread == 0 {
        return Ok(());
    }
    Err(CliError::difference(format_args!(
        "{}: {unread} of {total} lines are no exchange of a known wire",
        args.file.display()
    ))
    .with_hint("each line holds vendor, path, request, status and body; the path ends as the wire's does"))
}

fn outcome_of(checked: &Checked) -> Option<&'static str> {
    let reading = checked.reading.as_ref().ok()?;
    reading.verdict.as_ref().map(ktd_agents::Verdict::label)
}
