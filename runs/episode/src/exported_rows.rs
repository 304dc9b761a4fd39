//! Finished episodes as tables for data frames: steps, calls, orders and scores, of the public part of their records alone.

use crate::bundles::BUNDLES;
use crate::exported_step::{CALL_COLUMNS, ORDER_COLUMNS, STEP_COLUMNS, StepRows, whole};
use ktd_bundle::bundle_ref::{BundleRef, check_copies};
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::event::{ReadEvent, publishes_account};
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::recorded_files::RecordObserver;
use ktd_bundle::summary::{AccountSummary, Metric, Summary};
use ktd_experiment::amount::Picodollars;
use ktd_io::parallel::{Tell, Ticks};
use ktd_io::whole_file::create_directory;
use ktd_study::{NamedUnits, RowCells, RowsFile, StudyError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// So many rows of a table are held at most.
const CHUNK: usize = 4_096;

/// The files of the tables: steps, calls, orders and scores.
pub const EXPORTED_FILES: [&str; 4] = [
    "steps.parquet",
    "calls.parquet",
    "orders.parquet",
    "scores.parquet",
];

/// What every row says first: whose it is.
const CELL_COLUMNS: [(&str, RowCells); 8] = [
    ("experiment", RowCells::Text),
    ("cell", RowCells::Text),
    ("agent", RowCells::Text),
    ("window", RowCells::Text),
    ("level", RowCells::Text),
    ("numeric", RowCells::Text),
    ("mode", RowCells::Text),
    ("seed", RowCells::Whole),
];

/// The columns of a cell's scores. What a report does not show of a masked account is missing.
const SCORE_COLUMNS: [(&str, RowCells); 28] = [
    ("reason", RowCells::Text),
    ("days", RowCells::Whole),
    ("abstention", RowCells::Number),
    ("parse_failure", RowCells::Number),
    ("parse_failure_strict", RowCells::Number),
    ("rule_breach", RowCells::Number),
    ("submitted", RowCells::Whole),
    ("hold", RowCells::Whole),
    ("fallback", RowCells::Whole),
    ("uncovered", RowCells::Whole),
    ("repaired", RowCells::Whole),
    ("turns", RowCells::Whole),
    ("tool_calls_ok", RowCells::Whole),
    ("model_faults", RowCells::Whole),
    ("infrastructure_faults", RowCells::Whole),
    ("prompt_tokens", RowCells::Whole),
    ("completion_tokens", RowCells::Whole),
    ("cost_picodollars", RowCells::Whole),
    ("total_return", RowCells::Number),
    ("sharpe_ratio", RowCells::Number),
    ("max_drawdown", RowCells::Number),
    ("final_nav_fen", RowCells::Whole),
    ("turnover", RowCells::Number),
    ("hhi", RowCells::Number),
    ("cash_ratio", RowCells::Number),
    ("fee_drag", RowCells::Number),
    ("orders_filled", RowCells::Whole),
    ("orders_rejected", RowCells::Whole),
];

/// Tables that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportedRows {
    /// The folder that they were written into.
    pub folder: String,
    /// Finished episodes in them.
    pub episodes: usize,
    /// Episodes that have not ended and are left out.
    pub unfinished: usize,
    /// Sealed episodes, which are left out.
    pub sealed: usize,
    /// Folders among those of a study's episodes that its plan does not name, or whose record is another one's. They are left out, unless
    /// the folder that was exported is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<String>,
    /// The tables.
    pub tables: Vec<ExportedTable>,
}

/// Table that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportedTable {
    /// The name of its file.
    pub file: String,
    /// Its rows.
    pub rows: u64,
}

/// Rows of a table on their way into its file.
struct Table {
    name: &'static str,
    file: RowsFile,
    held: Vec<Vec<Value>>,
    rows: u64,
}

impl Table {
    fn create(folder: &Path, name: &'static str, columns: &[(&str, RowCells)]) -> Result<Self, StudyError> {
        let columns = [&CELL_COLUMNS[..], columns].concat();
        Ok(Self {
            file: RowsFile::create(&folder.join(name), &columns)?,
            name,
            held: Vec::new(),
            rows: 0,
        })
    }

    fn add(&mut self, cell: &[Value], rows: impl Iterator<Item = Vec<Value>>) -> Result<(), StudyError> {
        for row in rows {
            self.held.push([cell, &row].concat());
            self.rows += 1;
            if CHUNK <= self.held.len() {
                self.file.add(&self.held)?;
                self.held.clear();
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ExportedTable, StudyError> {
        self.file.add(&self.held)?;
        self.file.finish()?;
        Ok(ExportedTable {
            file: self.name.to_owned(),
            rows: self.rows,
        })
    }
}

/// Writes `steps.parquet`, `calls.parquet`, `orders.parquet` and `scores.parquet` of the finished episodes below a folder: names
/// and days as the models saw them, nothing of a private part but the three figures of the account that a report shows. Sealed
/// episodes are left out.
///
/// # Errors
/// [`StudyError`] for a folder without episodes, or with one and a copy of it, a record that is damaged or was changed, and a table that
/// cannot be written.
pub fn export_rows(folder: &Path, out: &Path, tell: Tell<'_>) -> Result<ExportedRows, StudyError> {
    let found = BundleSet::below(&[folder.to_owned()])?;
    let is_sealed = |bundle: &&BundleRef| {
        let inside = bundle.root.strip_prefix(folder).unwrap_or(&bundle.root);
        inside.iter().any(|part| part == "private")
    };
    let (sealed, open): (Vec<&BundleRef>, Vec<&BundleRef>) = found.named.iter().partition(is_sealed);
    let (mut units, mut shown, mut unnamed) = (NamedUnits::of(BUNDLES), Vec::new(), Vec::new());
    for bundle in open {
        let is_named = units.has(&bundle.root, &bundle.header.cell)?;
        if !is_named {
            unnamed.push(bundle.root.display().to_string());
        }
        if is_named || bundle.root == folder {
            shown.push(bundle);
        }
    }
    check_copies(shown.iter().copied())?;
    create_directory(out)?;
    let [steps, calls, orders, scores] = EXPORTED_FILES;
    let mut steps = Table::create(out, steps, &STEP_COLUMNS)?;
    let mut calls = Table::create(out, calls, &CALL_COLUMNS)?;
    let mut orders = Table::create(out, orders, &ORDER_COLUMNS)?;
    let mut scores = Table::create(out, scores, &SCORE_COLUMNS)?;
    let ticks = Ticks::of(u64::try_from(shown.len()).unwrap_or(u64::MAX), tell);
    for bundle in &shown {
        let cell = cell_of(bundle);
        let summary = each_step(bundle, |step| {
            steps.add(&cell, std::iter::once(step.step_row()))?;
            calls.add(&cell, step.call_rows())?;
            orders.add(&cell, step.order_rows())
        })?;
        scores.add(&cell, std::iter::once(score_row(bundle, &summary)))?;
        ticks.tick();
    }
    Ok(ExportedRows {
        folder: out.display().to_string(),
        episodes: shown.len(),
        unfinished: found.unfinished.len(),
        sealed: sealed.len(),
        unnamed,
        tables: [steps, calls, orders, scores]
            .into_iter()
            .map(Table::finish)
            .collect::<Result<_, _>>()?,
    })
}

/// Tells of each step of an episode while its files are read and compared.
struct StepTeller<F> {
    step: StepRows,
    take: F,
    failed: Option<StudyError>,
}

impl<F: FnMut(StepRows) -> Result<(), StudyError>> RecordObserver for StepTeller<F> {
    fn event(&mut self, event: ReadEvent) {
        if self.step.add(event) && self.failed.is_none() {
            self.failed = (self.take)(std::mem::take(&mut self.step)).err();
        }
    }
}

/// Hands over each step of an episode: its summary, where every file is the one that it was made of.
fn each_step(
    bundle: &BundleRef,
    take: impl FnMut(StepRows) -> Result<(), StudyError>,
) -> Result<Summary, StudyError> {
    let mut teller = StepTeller {
        step: StepRows::default(),
        take,
        failed: None,
    };
    let read = FinishedEpisode::read(OpenedBundle::read(bundle.clone())?, &mut teller)?;
    teller.failed.map_or(Ok(read.summary), Err)
}

fn cell_of(bundle: &BundleRef) -> Vec<Value> {
    let header = &bundle.header;
    vec![
        json!(header.experiment),
        json!(header.cell),
        json!(bundle.row),
        json!(header.window.id),
        json!(header.mask.level.label()),
        json!(header.mask.numeric.label()),
        json!(header.mode.label()),
        whole(header.seed),
    ]
}

fn score_row(bundle: &BundleRef, summary: &Summary) -> Vec<Value> {
    let (metrics, counters) = (&summary.metrics, &summary.counters);
    let account = summary.account.as_ref();
    // Beyond the report's three figures, the account is told where the record itself publishes it.
    let open = account.filter(|_| publishes_account(bundle.header.mask.level));
    let metric = |of: fn(&AccountSummary) -> &Metric, account: Option<&AccountSummary>| {
        json!(account.and_then(|account| of(account).value))
    };
    let count = |of: fn(&AccountSummary) -> usize| open.map_or(Value::Null, |account| whole(of(account)));
    vec![
        json!(summary.reason),
        whole(metrics.days),
        json!(metrics.abstention.value),
        json!(metrics.parse_failure.value),
        json!(metrics.parse_failure_strict.value),
        json!(metrics.rule_breach.value),
        whole(counters.submitted),
        whole(counters.hold),
        whole(counters.fallback),
        whole(counters.uncovered),
        whole(counters.repaired),
        whole(counters.turns),
        whole(counters.tool_calls_ok),
        whole(summary.model_faults()),
        whole(summary.infrastructure_faults()),
        whole(counters.prompt_tokens),
        whole(counters.completion_tokens),
        summary
            .money
            .total()
            .map_or(Value::Null, |Picodollars(cost)| whole(cost)),
        metric(|account| &account.total_return, account),
        metric(|account| &account.sharpe_ratio, account),
        metric(|account| &account.max_drawdown, account),
        open.map_or(Value::Null, |account| json!(account.final_nav_fen)),
        metric(|account| &account.turnover, open),
        metric(|account| &account.hhi, open),
        metric(|account| &account.cash_ratio, open),
        metric(|account| &account.fee_drag, open),
        count(|account| account.orders_filled),
        count(|account| account.orders_rejected),
    ]
}
