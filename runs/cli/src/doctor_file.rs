//! `ktd doctor --file FILE`: what a run would read in recorded exchanges.

use crate::CliError;
use crate::output::Console;
use ktd_client::wire_check::{Checked, ExchangeDocument, check_file, line_of};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::provider::builtin_table;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Says outcome, tool calls, usage and stop reason of each exchange of a file; an experiment may have dialects of its own.
///
/// # Errors
/// [`CliError`] when the file cannot be read, and when lines of it could not.
pub(super) fn run(file: &Path, experiment: Option<&Path>, console: Console) -> Result<(), CliError> {
    let table = match experiment {
        Some(path) => ExperimentConfig::read(path)?.dialect_table()?,
        None => builtin_table()?,
    };
    let (mut text, mut all) = (String::new(), Vec::new());
    let (mut counts, mut unread) = (BTreeMap::<String, usize>::new(), 0_usize);
    let ended = check_file(file, &table, |checked| {
        let outcome = outcome_of(&checked);
        unread += usize::from(outcome.is_none());
        *counts
            .entry(outcome.unwrap_or("unreadable").to_owned())
            .or_insert(0) += 1;
        if console.json {
            all.push(ExchangeDocument::of(&checked));
        } else {
            // Writing to a string cannot fail.
            writeln!(text, "{}", line_of(&checked)).ok();
        }
    });
    let total: usize = counts.values().sum();
    if total == 0 {
        ended?;
        return Err(
            CliError::invalid(format_args!("{} holds no exchange", file.display()))
                .with_hint("it holds one JSON object a line: vendor, path, request, status and body"),
        );
    }
    let summary: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    write!(text, "\n{total} exchanges: {}", summary.join(", ")).ok();
    let document = CheckedExchanges {
        exchanges: all,
        outcomes: counts,
    };
    console.result(&text, &document)?;
    // What was read before a file broke off is shown all the same.
    ended?;
    if unread == 0 {
        return Ok(());
    }
    Err(CliError::difference(format_args!(
        "{}: {unread} of {total} lines are no exchange of a known wire",
        file.display()
    ))
    .with_hint("each line holds vendor, path, request, status and body; the path ends as the wire's does"))
}

fn outcome_of(checked: &Checked) -> Option<&'static str> {
    let reading = checked.reading.as_ref().ok()?;
    reading.verdict.as_ref().map(ktd_agents::Verdict::label)
}

/// Recorded exchanges, as a run would read them.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CheckedExchanges {
    exchanges: Vec<ExchangeDocument>,
    /// Exchanges by their outcome.
    outcomes: BTreeMap<String, usize>,
}
