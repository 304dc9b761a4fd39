//! `ktd leak check`: what a declared pipeline knows when.

use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_leakage_study::{CheckFinding, LeakManifest, SourceHint, check_manifest, read_source_hints};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  ktd leak check results/leak-demo/manifest.toml
  ktd leak check mine.toml --source features.py

A manifest declares when scores are made, where orders are filled, and for each feature its expression or program and when it is \
known. Exit code 1: a rule is broken. What a program reads is proved by `ktd leak audit`; lines of --source are hints alone.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct CheckArgs {
    /// The manifest.
    manifest: PathBuf,
    /// Source files in which patterns that often read ahead are searched.
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: Console) -> Result<(), CliError> {
    let manifest = LeakManifest::read(&args.manifest)?;
    let findings = check_manifest(&manifest);
    let mut hints = Vec::new();
    for path in &args.source {
        let found = read_source_hints(path)?;
        hints.extend(found.into_iter().map(|hint| (path.display().to_string(), hint)));
    }
    let mut text = table(&findings, manifest.columns.len()).text_in(console.layout());
    if !args.source.is_empty() {
        text.push('\n');
        text.push_str(&hint_table(&hints).text_in(console.layout()));
    }
    let hints: Vec<Value> = hints
        .iter()
        .map(|(file, hint)| json!({ "file": file, "line": hint.line, "pattern": hint.pattern, "meaning": hint.meaning }))
        .collect();
    console.result(
        &text,
        &json!({ "features": manifest.columns.len(), "findings": findings, "source_hints": hints }),
    )?;
    let Some(first) = findings.first() else {
        return Ok(());
    };
    let of = first
        .column
        .as_ref()
        .map_or_else(String::new, |name| format!(" of {name}"));
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more findings"),
    };
    Err(CliError::difference(format_args!(
        "{} ({}){of} is broken{more}",
        first.rule, first.class
    ))
    .with_hint(&first.hint))
}

fn table(findings: &[CheckFinding], features: usize) -> TableData {
    let heads = [
        ("rule", Left),
        ("class", Left),
        ("column", Left),
        ("known at", Left),
        ("used at", Left),
        ("expected gain", Right),
        ("hint", Left),
    ];
    let text = |text: Option<&String>| TableCell::Text(text.cloned().unwrap_or_default());
    let rows = findings.iter().map(|finding| {
        vec![
            TableCell::Text(finding.rule.clone()),
            TableCell::Text(if finding.is_weak {
                format!("{} (weak)", finding.class)
            } else {
                finding.class.clone()
            }),
            text(finding.column.as_ref()),
            text(finding.known_at.as_ref().or(finding.detail.as_ref())),
            text(finding.used_at.as_ref()),
            TableCell::Text(expected(finding)),
            TableCell::Text(finding.hint.clone()),
        ]
    });
    let count = match findings.len() {
        0 => "no rule is broken".to_owned(),
        1 => "1 finding".to_owned(),
        more => format!("{more} findings"),
    };
    let mut table = TableData::new(format!("{features} features: {count}"), heads).with_rows(rows);
    if findings.iter().any(|finding| !finding.expected_gain.is_empty()) {
        table.notes.push(
            "expected gain: what such a leak adds to the annual ratio of momentum and of ridge regression on the demonstration's \
             market, which has no alpha; --json has all models"
                .to_owned(),
        );
    }
    table
}

/// The gains of the two models without chance.
fn expected(finding: &CheckFinding) -> String {
    let of = |model: &str| finding.expected_gain.iter().find(|gain| gain.model == model);
    match (of("momentum"), of("ridge")) {
        (Some(momentum), Some(ridge)) => format!("{:+.2} / {:+.2}", momentum.gain, ridge.gain),
        _ => "not measured".to_owned(),
    }
}

fn hint_table(hints: &[(String, SourceHint)]) -> TableData {
    let heads = [
        ("file", Left),
        ("line", Right),
        ("pattern", Left),
        ("may be", Left),
    ];
    let rows = hints.iter().map(|(file, hint)| {
        vec![
            TableCell::Text(file.clone()),
            TableCell::Count(hint.line),
            TableCell::Text(hint.pattern.to_owned()),
            TableCell::Text(hint.meaning.to_owned()),
        ]
    });
    TableData::new(
        format!("{} lines of source to look at: hints, no verdict", hints.len()),
        heads,
    )
    .with_rows(rows)
}
