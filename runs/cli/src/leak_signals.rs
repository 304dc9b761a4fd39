//! `ktd leak audit --signals`: whether signals of a file go with returns that they cannot know.

use crate::CliError;
use crate::output::Console;
use ktd_data::load_panel;
use ktd_io::parallel::available_threads;
use ktd_leakage_study::{
    AuditedSignal, FillRule, KnownAt, LeakUniverse, SignalVerdict, audit_signals, market_bars, planted_rates,
    read_signals, read_weights,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};
use std::path::Path;

/// Signals, and when they are known and traded.
pub(super) struct SignalsAudit<'a> {
    /// The file.
    pub(super) file: SignalsSource<'a>,
    /// The panel file.
    pub(super) panel: &'a Path,
    /// When a signal of a day is known.
    pub(super) known_at: KnownAt,
    /// Where its orders are filled.
    pub(super) fill: FillRule,
}

/// What a file holds.
pub(super) enum SignalsSource<'a> {
    /// CSV with the columns `date,symbol` and one a signal.
    Scores(&'a Path),
    /// CSV with the columns `date,symbol,weight`.
    Weights(&'a Path),
}

/// Audits the signals of a file.
pub(super) fn audit(args: &SignalsAudit<'_>, console: Console) -> Result<(), CliError> {
    let bars = market_bars(&load_panel(args.panel)?, LeakUniverse::All)?;
    let signals = match args.file {
        SignalsSource::Scores(path) => read_signals(path, &bars)?,
        SignalsSource::Weights(path) => read_weights(path, &bars)?,
    };
    let audited = audit_signals(&bars, &signals, (args.known_at, args.fill), available_threads())?;
    let heads = [
        ("signal", Left),
        ("verdict", Left),
        ("days", Right),
        ("goes with", Left),
        ("rank IC", Right),
        ("t", Right),
        ("largest far", Right),
        ("SR same open", Right),
        ("SR next open", Right),
    ];
    let mut table = TableData::new(
        format!(
            "{} signals, known at the {}",
            audited.len(),
            if matches!(args.known_at, KnownAt::Open) {
                "open"
            } else {
                "close"
            }
        ),
        heads,
    )
    .with_rows(audited.iter().map(audit_row));
    table.notes.push(
        "a file of scores can accuse and never acquit: centred volatilities and scales of the whole sample do not show in returns"
            .to_owned(),
    );
    for (what, count) in [
        ("rows of codes that the panel lacks", signals.unknown_codes),
        ("rows of days that are no sessions", signals.unknown_days),
        ("cells that are empty or not finite", signals.missing_cells),
    ] {
        if 0 < count {
            table.notes.push(format!("{count} {what} were left out"));
        }
    }
    let value = json!({ "signals": audited.iter().map(audit_json).collect::<Vec<_>>(), "rows": signals.rows,
        "unknown_codes": signals.unknown_codes, "unknown_days": signals.unknown_days, "missing_cells": signals.missing_cells });
    console.result(&table.text_in(console.layout()), &value)?;
    let suspect: Vec<&str> = audited
        .iter()
        .filter(|signal| matches!(signal.audit.verdict, SignalVerdict::Suspect { .. }))
        .map(|signal| signal.name.as_str())
        .collect();
    if suspect.is_empty() {
        return Ok(());
    }
    Err(CliError::difference(format_args!(
        "{} goes with returns that it cannot know",
        suspect.join(", ")
    )))
}

/// Shows how often the audit is right on signals whose leaks are known.
pub(super) fn rates(panel: Option<&Path>, draws: u64, console: Console) -> Result<(), CliError> {
    let bars = match panel {
        Some(panel) => Some(market_bars(&load_panel(panel)?, LeakUniverse::All)?),
        None => None,
    };
    let rates = planted_rates(bars.as_ref(), draws, available_threads())?;
    let heads = [
        ("signal", Left),
        ("kind", Left),
        ("draws", Right),
        ("suspect", Right),
    ];
    let what = if bars.is_some() {
        "random halves of the panel's names"
    } else {
        "synthetic markets of 60 names and 500 days"
    };
    let title = format!("Signals with known leaks on {draws} {what}");
    let signals = TableData::new(title, heads).with_rows(rates.signals.iter().map(|rate| {
        vec![
            TableCell::Text(rate.signal.to_owned()),
            TableCell::Text(rate.kind.to_owned()),
            TableCell::Count(rate.draws),
            TableCell::Count(rate.suspect),
        ]
    }));
    let heads = [
        ("floor", Right),
        ("times far", Right),
        ("false alarms", Right),
        ("leaks seen", Right),
        ("invisible seen", Right),
        ("", Left),
    ];
    let rules = TableData::new("Other thresholds on the same draws", heads).with_rows(
        rates.rules.iter().map(|rule| {
            let share = |(suspect, judged): (usize, usize)| TableCell::Text(format!("{suspect}/{judged}"));
            vec![
                TableCell::Ratio(rule.floor),
                TableCell::Ratio(rule.times),
                share(rule.ordinary),
                share(rule.leaking),
                share(rule.invisible),
                TableCell::Text(if rule.is_own { "the audit's" } else { "" }.to_owned()),
            ]
        }),
    );
    let text = format!(
        "{}\n{}",
        signals.text_in(console.layout()),
        rules.text_in(console.layout())
    );
    let value = serde_json::to_value(&rates).map_err(CliError::invalid)?;
    console.result(&text, &value)
}

/// The annual ratio of a signal's best tenth at a fill.
fn rung(signal: &AuditedSignal, fill: FillRule) -> Option<f64> {
    let rung = signal.audit.ladder.iter().find(|rung| rung.fill == fill)?;
    rung.sharpe.as_ref().ok().copied()
}

fn piece(verdict: &SignalVerdict) -> Option<String> {
    let SignalVerdict::Suspect { piece, .. } = verdict else {
        return None;
    };
    let part = if piece.is_night() {
        "night into"
    } else {
        "session of"
    };
    Some(format!("{part} day {:+}", piece.sessions_after()))
}

fn audit_row(signal: &AuditedSignal) -> Vec<TableCell> {
    let verdict = &signal.audit.verdict;
    let (ic, t, far) = match verdict {
        SignalVerdict::Suspect {
            ic, t, largest_far, ..
        } => (Some(*ic), *t, Some(*largest_far)),
        SignalVerdict::NothingSeen | SignalVerdict::TooLittle { .. } => (None, None, None),
    };
    vec![
        TableCell::Text(signal.name.clone()),
        TableCell::Text(verdict.name().to_owned()),
        TableCell::Count(signal.days),
        TableCell::Text(piece(verdict).unwrap_or_default()),
        TableCell::optional(ic, TableCell::Ratio),
        TableCell::optional(t, TableCell::Ratio),
        TableCell::optional(far, TableCell::Ratio),
        TableCell::optional(rung(signal, FillRule::SameOpen), TableCell::Ratio),
        TableCell::optional(rung(signal, FillRule::NextOpen), TableCell::Ratio),
    ]
}

fn audit_json(signal: &AuditedSignal) -> Value {
    let profile = signal
        .audit
        .profile
        .iter()
        .map(|row| json!({ "piece": row.piece.0, "days": row.days, "ic": row.ic, "t": row.t }));
    let ladder = signal.audit.ladder.iter().map(|rung| {
        json!({ "fill": rung.fill.name(), "sharpe": rung.sharpe.as_ref().ok(), "turnover": rung.turnover })
    });
    json!({
        "signal": signal.name,
        "verdict": signal.audit.verdict.name(),
        "goes_with": piece(&signal.audit.verdict),
        "days": signal.days,
        "profile": profile.collect::<Vec<_>>(),
        "fill_ladder": ladder.collect::<Vec<_>>(),
        "delayed_sharpe": signal.audit.delayed.sharpe.as_ref().ok(),
    })
}
