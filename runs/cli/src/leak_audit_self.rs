//! `ktd leak audit-self`.

use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_io::parallel::available_threads;
use ktd_mirror::{AuditSubject, CheckReport, SelfAudit, audit_self};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, paragraph};
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  ktd leak audit-self                                # synthetic market, no data
  ktd leak audit-self runs/configs/headline.toml --panel csi300.ktdp

Turns the benchmark on this program: fixed calls of every tool under every mask, orders, decisions and bands are compared with those \
on the same panel with another future, byte by byte. Exit code 0: only what the data card declares was found, and the agents and \
rules that are known to look ahead were found. Exit code 1 names the tool or rule, the call, the day and the first byte.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct AuditSelfArgs {
    /// An experiment file, whose panel, windows, rules and limits are taken [default: the synthetic market].
    experiment: Option<PathBuf>,
    /// A panel file, in place of the experiment's.
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
}

/// Audits the program itself.
pub(super) fn run(args: &AuditSelfArgs, console: Console) -> Result<(), CliError> {
    let panel = args.panel.as_deref();
    let subject = match &args.experiment {
        Some(experiment) => AuditSubject::of_experiment(experiment, panel)?,
        None => AuditSubject::of_panel(panel)?,
    };
    let audit = audit_self(&subject, available_threads())?;
    let value = serde_json::to_value(&audit).map_err(CliError::invalid)?;
    console.result(&text(&audit, console), &value)?;
    let failures: Vec<String> = audit.failures().map(failure).collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(CliError::difference(failures.join("; "))
        .with_hint("report this with the whole output: it is a defect of the program"))
}

fn failure(check: &CheckReport) -> String {
    match check.findings.first() {
        Some(finding) if 0 < check.differing => format!(
            "{}: {} {} on {} differs from byte {} on ({})",
            check.id, finding.door, finding.call, finding.day, finding.byte, finding.change
        ),
        Some(_) | None => format!("{}: what is known to look ahead was not found", check.id),
    }
}

/// The verdicts in a table that fits a narrow terminal, then what each check asked and found.
fn text(audit: &SelfAudit, console: Console) -> String {
    let heads = [
        ("check", Left),
        ("verdict", Left),
        ("compared", Right),
        ("differing", Right),
        ("not possible", Right),
    ];
    let row = |check: &CheckReport| {
        vec![
            TableCell::Text(check.id.clone()),
            TableCell::Text(check.verdict.name().to_owned()),
            TableCell::Count(check.compared),
            TableCell::Count(check.differing),
            TableCell::Count(check.skipped),
        ]
    };
    let title = format!(
        "Audit of this program on {} as-of days from {} to {}",
        audit.as_of_days.len(),
        audit.as_of_days.first().map_or("", String::as_str),
        audit.as_of_days.last().map_or("", String::as_str)
    );
    let table = TableData::new(title, heads).with_rows(audit.checks.iter().map(row));
    let lines = audit.checks.iter().flat_map(lines_of);
    let lines: String = lines.map(|line| paragraph(&line, console.layout())).collect();
    format!("{}\n{lines}", table.text_in(console.layout()))
}

/// What a check asked, its figures and notes, and what it found where it fails.
fn lines_of(check: &CheckReport) -> Vec<String> {
    let mut lines = vec![format!("{} {}", check.id, check.question)];
    let figures = check.figures.iter();
    lines.extend(figures.map(|figure| format!("- {}: {}", figure.name, number(figure.value))));
    lines.extend(check.notes.iter().map(|note| format!("- {note}")));
    let findings = check.findings.iter().filter(|_| check.verdict.fails());
    lines.extend(findings.map(|finding| {
        format!(
            "- {} {} on {}, {}, differs from byte {} on: {:?} against {:?}",
            finding.door,
            finding.call,
            finding.day,
            finding.change,
            finding.byte,
            finding.answer,
            finding.other_answer
        )
    }));
    lines
}

/// A count without decimals, a ratio with two.
fn number(value: f64) -> String {
    if value.fract().abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
