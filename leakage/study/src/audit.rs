//! The audit of columns: what they read, and whether their contracts hold.

use super::audit_panel::AuditPanel;
use super::manifest::{ColumnSource, LeakManifest, ManifestCommand};
use super::program_columns::{ProgramRunner, program_columns};
use super::replay_audit::{ColumnOutcome, ComputedColumns, replay_columns, run_text};
use crate::StudyError;
use ktd_expressions::{CheckedFormula, FormulaPrecision};
use ktd_formulas::FieldPanel;
use ktd_formulas::{ValueSpan, evaluate};
use ktd_leakage::{
    ColumnVerdict, GraphScope, GraphWindow, LeakageSettings, ReplayPanel, SessionInstant, peer_graphs,
    peer_means, replay_plan,
};
use ktd_study::{Audited, Report, Section, Shown};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData, counted};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What replays say of columns.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnAudit {
    /// Column by column.
    pub columns: Vec<AuditedColumn>,
}

/// What replays say of a column, against its contract.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedColumn {
    /// Its name.
    pub column: String,
    /// The verdict.
    pub verdict: ColumnVerdict,
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
        verdict: ColumnVerdict::Failed,
        text: String::new(),
        sessions_ahead: None,
        reads_own_bar: None,
        available_at: available_at.code(),
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
            (row.verdict, row.text) = (report.verdict.name(), report.words());
            row.sessions_ahead = report.verdict.sessions_ahead();
            row.is_broken = report.breaks(available_at.min(signal_at));
        }
    }
    row
}

/// The outcome of an audit of columns; `notes` say what else a reader must know.
///
/// # Errors
/// [`StudyError`] for a document that cannot be written.
pub fn columns_audited(columns: Vec<AuditedColumn>, notes: Vec<String>) -> Result<Audited, StudyError> {
    let wrong = wrong_column(&columns);
    let verdict = wrong.as_ref().map_or_else(
        || {
            let count = counted(columns.len(), "column");
            format!("{count} on cut and changed panels: every one keeps its contract.")
        },
        |wrong| format!("{wrong}."),
    );
    let table = notes
        .into_iter()
        .fold(column_table(&columns), TableData::with_note);
    let section = Section::new("Columns").table("columns", table, Shown::Everywhere);
    let report = Report {
        title: "Columns on cut and changed panels".to_owned(),
        verdict,
        sections: vec![section],
        ..Report::default()
    };
    Audited::new(&ColumnAudit { columns }, report, wrong)
}

/// A program that failed, or the first column that breaks its contract.
fn wrong_column(columns: &[AuditedColumn]) -> Option<StudyError> {
    if let Some(failed) = columns
        .iter()
        .find(|column| column.verdict == ColumnVerdict::Failed)
    {
        return Some(StudyError::input(
            format_args!("{}: {}", failed.column, failed.text),
            "run the program by hand on the rows of the panel; a verdict needs every run",
        ));
    }
    let broken: Vec<&AuditedColumn> = columns.iter().filter(|column| column.is_broken).collect();
    let first = broken.first()?;
    let more = match broken.len() - 1 {
        0 => String::new(),
        more => format!(", and {} more break their contracts", counted(more, "column")),
    };
    let what = if first.verdict == ColumnVerdict::Clean {
        "it reads the day's own bar"
    } else {
        &first.text
    };
    Some(StudyError::difference(
        format_args!(
            "{} is declared known at the {}: {what}{more}",
            first.column, first.available_at
        ),
        "",
    ))
}

fn column_table(columns: &[AuditedColumn]) -> TableData {
    // What the day's own bar says is no leak where the column is declared for its close.
    let first = |column: &AuditedColumn| {
        let is_told = column.verdict != ColumnVerdict::Clean || column.is_broken;
        column.first.clone().filter(|_| is_told)
    };
    let cell = |value: Option<f64>| value.map_or_else(|| "missing".to_owned(), |value| value.to_string());
    let of_first = |column: &AuditedColumn, of: &dyn Fn(AuditDifference) -> String| {
        TableCell::Text(first(column).map_or_else(String::new, of))
    };
    RowTable::new("Columns", columns)
        .text("column", |column| &column.column)
        .text("verdict", |column| &column.text)
        .text("declared", |column| &column.available_at)
        .text("own bar", |column| match column.reads_own_bar {
            Some(true) => "read",
            Some(false) => "not read",
            None => "",
        })
        .text("contract", |column| if column.is_broken { "broken" } else { "" })
        .text("first difference", |column| {
            let place = |first: AuditDifference| format!("{} {}: {}", first.date, first.symbol, first.run);
            first(column).map_or_else(String::new, place)
        })
        .column(("whole", Right), |column| {
            of_first(column, &|first| cell(first.whole))
        })
        .column(("in the run", Right), |column| {
            of_first(column, &|first| cell(first.replayed))
        })
        .table()
        .with_note("clean: no cell up to a cut changed at the cuts that were tested")
}
