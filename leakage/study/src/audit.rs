//! The audit of columns: what they read, and whether their contracts hold.

use super::audit_panel::AuditPanel;
use super::instant_text::instant_text;
use super::manifest::{ColumnSource, LeakManifest, ManifestCommand};
use super::program_columns::{ProgramRunner, program_columns};
use super::replay_audit::{ColumnOutcome, ComputedColumns, replay_columns, run_text};
use crate::StudyError;
use ktd_expressions::{CheckedFormula, FormulaPrecision};
use ktd_formulas::FieldPanel;
use ktd_formulas::{ValueSpan, evaluate};
use ktd_leakage::{
    CausalityReport, CausalityVerdict, GraphScope, GraphWindow, LeakageSettings, ReplayPanel, SessionInstant,
    peer_graphs, peer_means, replay_plan,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// What replays say of a column, against its contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditedColumn {
    /// Its name.
    pub column: String,
    /// `clean`, `reads_ahead`, `whole_sample`, `length_or_calendar`, `not_deterministic` or `failed`.
    pub verdict: &'static str,
    /// The verdict with what was tested.
    pub text: String,
    /// Sessions that it reads ahead, at four of five cuts.
    pub sessions_ahead: Option<usize>,
    /// Whether the session's own bar behind its open is read.
    pub reads_own_bar: Option<bool>,
    /// When it is declared to be known.
    pub available_at: String,
    /// Whether it reads what is not known when it is declared to be, or when it is used.
    pub is_broken: bool,
    /// Cuts that were compared.
    pub cuts: usize,
    /// Sessions that were compared, over all cuts.
    pub sessions: usize,
    /// The first cell that differs.
    pub first: Option<AuditDifference>,
}

/// A cell that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditDifference {
    /// The day.
    pub date: String,
    /// The code.
    pub symbol: String,
    /// On the whole panel; none where missing.
    pub whole: Option<f64>,
    /// In the run.
    pub replayed: Option<f64>,
    /// The run that shows it.
    pub run: String,
}

/// How an audit compares and computes.
#[derive(Clone, Copy)]
pub struct AuditOptions<'a> {
    /// Numbers are equal within this share of the larger one; 0 asks for equal bits.
    pub tolerance: f64,
    /// Runs at once.
    pub threads: usize,
    /// Runs a program.
    pub run_program: &'a ProgramRunner<'a>,
}

impl std::fmt::Debug for AuditOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AuditOptions")
            .field("tolerance", &self.tolerance)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Audits every feature of a manifest that has an expression, peers or a program.
///
/// # Errors
/// [`StudyError`] for a manifest without such a feature.
pub fn audit_manifest(
    manifest: &LeakManifest,
    panel: &AuditPanel,
    options: &AuditOptions<'_>,
) -> Result<Vec<AuditedColumn>, StudyError> {
    let is_computed = |source: &ColumnSource| {
        matches!(
            source,
            ColumnSource::Expression(_) | ColumnSource::PeersOf(_) | ColumnSource::Command(_)
        )
    };
    if !manifest.columns.iter().any(|column| is_computed(&column.source)) {
        return Err(StudyError::input(
            "the manifest has no feature with an expression or a command that could be computed",
            "give its features expressions or commands; `ktd leak check` names those without",
        ));
    }
    let compute = |bars: &ReplayPanel| -> Result<ComputedColumns, String> {
        let mut columns = expressions(manifest, panel, bars);
        for column in &manifest.columns {
            if let ColumnSource::Command(command) = &column.source {
                let own = program_columns(command, panel, bars, options.run_program);
                let own = own.and_then(|mut columns| {
                    let missing = || format!("its output has no column `{}`", column.name);
                    columns.remove(&column.name).ok_or_else(missing)
                });
                columns.insert(column.name.clone(), own);
            }
        }
        Ok(columns)
    };
    let outcomes: BTreeMap<String, ColumnOutcome> =
        replay_columns(panel, (options.tolerance, options.threads), &compute)
            .map_err(|failure| StudyError::input(failure, "fix what computes the columns"))?
            .into_iter()
            .collect();
    let signal = manifest.contract.signal_at;
    let audited = manifest.columns.iter().filter_map(|column| {
        let outcome = outcomes.get(&column.name)?;
        Some(audited(
            &column.name,
            outcome,
            (column.available_at, signal),
            panel,
        ))
    });
    Ok(audited.collect())
}

/// Audits every column that a program writes.
///
/// # Errors
/// [`StudyError`] when the program fails on the whole panel.
pub fn audit_program(
    command: &ManifestCommand,
    available_at: SessionInstant,
    panel: &AuditPanel,
    options: &AuditOptions<'_>,
) -> Result<Vec<AuditedColumn>, StudyError> {
    let compute = |bars: &ReplayPanel| {
        let columns = program_columns(command, panel, bars, options.run_program)?;
        Ok(columns
            .into_iter()
            .map(|(name, cells)| (name, Ok(cells)))
            .collect())
    };
    let outcomes =
        replay_columns(panel, (options.tolerance, options.threads), &compute).map_err(|failure| {
            StudyError::input(
                format_args!("failed: {failure}"),
                "run the program by hand on a few rows",
            )
        })?;
    let audited = outcomes
        .iter()
        .map(|(name, outcome)| audited(name, outcome, (available_at, available_at), panel));
    Ok(audited.collect())
}

/// The columns of expressions and of peers on a panel; one that cannot be computed has the reason.
fn expressions(manifest: &LeakManifest, panel: &AuditPanel, bars: &ReplayPanel) -> ComputedColumns {
    let fields = panel.fields(bars);
    let names = bars.names();
    let mut columns = ComputedColumns::new();
    let formulas: Vec<(&String, &CheckedFormula)> = manifest
        .columns
        .iter()
        .filter_map(|column| match &column.source {
            ColumnSource::Expression(formula) => Some((&column.name, &**formula)),
            ColumnSource::Refused(_)
            | ColumnSource::PeersOf(_)
            | ColumnSource::Command(_)
            | ColumnSource::Undeclared => None,
        })
        .collect();
    let all: Vec<CheckedFormula> = formulas.iter().map(|(_, formula)| (*formula).clone()).collect();
    if let Ok(cells) = formula_cells(&all, &fields, panel, bars) {
        for ((name, _), cells) in formulas.iter().zip(cells) {
            columns.insert((*name).clone(), Ok(cells));
        }
    } else {
        // One of them names an instrument that is not there: the others are computed without it.
        for (name, formula) in formulas {
            let own = formula_cells(std::slice::from_ref(formula), &fields, panel, bars);
            let own = own.and_then(|mut cells| cells.pop().ok_or_else(|| "no value".to_owned()));
            columns.insert(name.clone(), own);
        }
    }
    if !manifest
        .columns
        .iter()
        .any(|column| matches!(column.source, ColumnSource::PeersOf(_)))
    {
        return columns;
    }
    let settings = LeakageSettings::BENCHMARK;
    let window = match manifest.contract.graph {
        GraphScope::NoGraph | GraphScope::Trailing => GraphWindow::trailing(settings.graph_days),
        GraphScope::Symmetric => GraphWindow::symmetric(settings.graph_days),
        GraphScope::WholePanel => GraphWindow::whole(bars.sessions()),
    };
    let graphs = bars
        .adjusted()
        .map(|bars| peer_graphs(&bars, window, settings.graph_peers));
    for column in &manifest.columns {
        if let ColumnSource::PeersOf(of) = &column.source {
            let own = columns
                .get(of)
                .cloned()
                .unwrap_or_else(|| Err(format!("`{of}` was not computed")));
            let means = own.and_then(|own| {
                let graphs = graphs.as_ref().map_err(ToString::to_string)?;
                Ok(peer_means(graphs, &own, names))
            });
            columns.insert(column.name.clone(), means);
        }
    }
    columns
}

/// The cells of expressions, one list each.
fn formula_cells(
    formulas: &[CheckedFormula],
    fields: &FieldPanel,
    panel: &AuditPanel,
    bars: &ReplayPanel,
) -> Result<Vec<Vec<f64>>, String> {
    let values = evaluate(fields, formulas, FormulaPrecision::Qlib, &ValueSpan::default(), 1)
        .map_err(|error| error.to_string())?;
    let mut cells = vec![vec![f64::NAN; bars.sessions() * bars.names()]; formulas.len()];
    for name in &values.names {
        let Ok(place) = panel.codes.binary_search(&name.code) else {
            continue;
        };
        for (cells, column) in cells.iter_mut().zip(&name.columns) {
            for (session, value) in name.sessions.iter().zip(column) {
                if let Some(cell) = cells.get_mut(session * bars.names() + place) {
                    *cell = f64::from(*value);
                }
            }
        }
    }
    Ok(cells)
}

fn audited(
    name: &str,
    outcome: &ColumnOutcome,
    (available_at, signal_at): (SessionInstant, SessionInstant),
    panel: &AuditPanel,
) -> AuditedColumn {
    let mut row = AuditedColumn {
        column: name.to_owned(),
        verdict: "failed",
        text: String::new(),
        sessions_ahead: None,
        reads_own_bar: None,
        available_at: instant_text(available_at),
        is_broken: false,
        cuts: 0,
        sessions: 0,
        first: None,
    };
    match outcome {
        ColumnOutcome::Failed(failure) => row.text = format!("failed: {failure}"),
        ColumnOutcome::Judged(report) => {
            row.reads_own_bar = report.reads_own_bar;
            (row.cuts, row.sessions) = (report.cuts, report.sessions);
            row.first = report.first.as_ref().map(|first| AuditDifference {
                date: panel.date(first.session),
                symbol: panel.codes.get(first.name).cloned().unwrap_or_default(),
                whole: Some(first.whole).filter(|value| !value.is_nan()),
                replayed: Some(first.replayed).filter(|value| !value.is_nan()),
                run: replay_plan(panel.bars.days())
                    .get(first.run)
                    .map_or_else(String::new, |run| run_text(run, panel)),
            });
            describe(&mut row, report);
            row.is_broken = is_broken(report, available_at.min(signal_at));
        }
    }
    row
}

/// The verdict in words.
fn describe(row: &mut AuditedColumn, report: &CausalityReport) {
    (row.verdict, row.text) = match report.verdict {
        CausalityVerdict::Clean => (
            "clean",
            format!("clean (tested {} cuts, {} days)", report.cuts, report.sessions),
        ),
        CausalityVerdict::ReadsAhead { sessions } => {
            row.sessions_ahead = Some(sessions);
            let days = if sessions == 1 { "day" } else { "days" };
            ("reads_ahead", format!("reads {sessions} {days} ahead"))
        }
        CausalityVerdict::WholeSample => ("whole_sample", "whole-sample fit".to_owned()),
        CausalityVerdict::LengthOrCalendar => {
            ("length_or_calendar", "depends on length or calendar".to_owned())
        }
        CausalityVerdict::NotDeterministic => ("not_deterministic", "not_deterministic".to_owned()),
        CausalityVerdict::Incomplete { .. } => {
            ("failed", "failed: a run has fewer rows than the panel".to_owned())
        }
    };
}

/// Whether a column reads what is not known at an instant. A column that reads a later session may read its open alone, so
/// that a declaration of that open is not called broken.
fn is_broken(report: &CausalityReport, known_by: SessionInstant) -> bool {
    match report.verdict {
        CausalityVerdict::Clean => report.reads_own_bar == Some(true) && known_by < SessionInstant::close(0),
        CausalityVerdict::ReadsAhead { sessions } => {
            known_by < SessionInstant::open(i64::try_from(sessions).unwrap_or(i64::MAX / 4))
        }
        CausalityVerdict::WholeSample
        | CausalityVerdict::LengthOrCalendar
        | CausalityVerdict::NotDeterministic => true,
        CausalityVerdict::Incomplete { .. } => false,
    }
}
