//! Finished episodes as tables for data frames: steps, calls, orders and scores, of the public part of their records alone.

use crate::bundles::BUNDLES;
use crate::exported_step::{CallRow, Columns, OrderRow, StepRows, cells, heads, whole};
use ktd_bundle::bundle_ref::{BundleRef, check_copies};
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::event::{ReadEvent, publishes_account};
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::recorded_files::RecordObserver;
use ktd_bundle::summary::{AccountSummary, Counters, Metric, Metrics, Summary};
use ktd_experiment::amount::Picodollars;
use ktd_io::parallel::{Tell, Ticks};
use ktd_io::whole_file::create_directory;
use ktd_study::RowCells::{Number, Text, Whole};
use ktd_study::{NamedUnits, RowsFile, StudyError};
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
const CELL_COLUMNS: Columns<BundleRef, 8> = [
    ("experiment", Text, |of| json!(of.header.experiment)),
    ("cell", Text, |of| json!(of.header.cell)),
    ("agent", Text, |of| json!(of.row)),
    ("window", Text, |of| json!(of.header.window.id)),
    ("level", Text, |of| json!(of.header.mask.level.label())),
    ("numeric", Text, |of| json!(of.header.mask.numeric.label())),
    ("mode", Text, |of| json!(of.header.mode.label())),
    ("seed", Whole, |of| whole(of.header.seed)),
];

/// What a cell came to.
struct ScoreRow<'s> {
    summary: &'s Summary,
    metrics: &'s Metrics,
    counters: &'s Counters,
    /// Whether the record itself publishes the account: otherwise a report shows three figures of it, and the rest is missing.
    is_open: bool,
}

impl ScoreRow<'_> {
    const COLUMNS: Columns<Self, 28> = [
        ("reason", Text, |of| json!(of.summary.reason)),
        ("days", Whole, |of| whole(of.metrics.days)),
        ("abstention", Number, |of| json!(of.metrics.abstention.value)),
        ("parse_failure", Number, |of| {
            json!(of.metrics.parse_failure.value)
        }),
        ("parse_failure_strict", Number, |of| {
            json!(of.metrics.parse_failure_strict.value)
        }),
        ("rule_breach", Number, |of| json!(of.metrics.rule_breach.value)),
        ("submitted", Whole, |of| whole(of.counters.submitted)),
        ("hold", Whole, |of| whole(of.counters.hold)),
        ("fallback", Whole, |of| whole(of.counters.fallback)),
        ("uncovered", Whole, |of| whole(of.counters.uncovered)),
        ("repaired", Whole, |of| whole(of.counters.repaired)),
        ("turns", Whole, |of| whole(of.counters.turns)),
        ("tool_calls_ok", Whole, |of| whole(of.counters.tool_calls_ok)),
        ("model_faults", Whole, |of| whole(of.summary.model_faults())),
        ("infrastructure_faults", Whole, |of| {
            whole(of.summary.infrastructure_faults())
        }),
        ("prompt_tokens", Whole, |of| whole(of.counters.prompt_tokens)),
        ("completion_tokens", Whole, |of| {
            whole(of.counters.completion_tokens)
        }),
        ("cost_picodollars", Whole, |of| of.cost()),
        ("total_return", Number, |of| of.shown(|it| &it.total_return)),
        ("sharpe_ratio", Number, |of| of.shown(|it| &it.sharpe_ratio)),
        ("max_drawdown", Number, |of| of.shown(|it| &it.max_drawdown)),
        ("final_nav_fen", Whole, |of| of.open(|it| json!(it.final_nav_fen))),
        ("turnover", Number, |of| of.open(|it| json!(it.turnover.value))),
        ("hhi", Number, |of| of.open(|it| json!(it.hhi.value))),
        ("cash_ratio", Number, |of| {
            of.open(|it| json!(it.cash_ratio.value))
        }),
        ("fee_drag", Number, |of| of.open(|it| json!(it.fee_drag.value))),
        ("orders_filled", Whole, |of| of.open(|it| whole(it.orders_filled))),
        ("orders_rejected", Whole, |of| {
            of.open(|it| whole(it.orders_rejected))
        }),
    ];

    fn cost(&self) -> Value {
        let cost = self.summary.money.total();
        cost.map_or(Value::Null, |Picodollars(cost)| whole(cost))
    }

    fn shown(&self, metric: fn(&AccountSummary) -> &Metric) -> Value {
        let account = self.summary.account.as_ref();
        json!(account.and_then(|account| metric(account).value))
    }

    fn open(&self, cell: fn(&AccountSummary) -> Value) -> Value {
        let account = self.summary.account.as_ref().filter(|_| self.is_open);
        account.map_or(Value::Null, cell)
    }
}

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
    fn create<T, const N: usize>(
        folder: &Path,
        name: &'static str,
        columns: &Columns<T, N>,
    ) -> Result<Self, StudyError> {
        let columns = [&heads(&CELL_COLUMNS)[..], &heads(columns)].concat();
        Ok(Self {
            file: RowsFile::create(&folder.join(name), &columns)?,
            name,
            held: Vec::new(),
            rows: 0,
        })
    }

    fn add(&mut self, cell: &[Value], rows: impl IntoIterator<Item = Vec<Value>>) -> Result<(), StudyError> {
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
    let mut steps = Table::create(out, steps, &StepRows::COLUMNS)?;
    let mut calls = Table::create(out, calls, &CallRow::COLUMNS)?;
    let mut orders = Table::create(out, orders, &OrderRow::COLUMNS)?;
    let mut scores = Table::create(out, scores, &ScoreRow::COLUMNS)?;
    let ticks = Ticks::of(u64::try_from(shown.len()).unwrap_or(u64::MAX), tell);
    for bundle in &shown {
        let cell = cells(&CELL_COLUMNS, *bundle);
        let summary = each_step(bundle, |step| {
            steps.add(&cell, [cells(&StepRows::COLUMNS, &step)])?;
            calls.add(
                &cell,
                step.calls.iter().map(|call| cells(&CallRow::COLUMNS, call)),
            )?;
            orders.add(
                &cell,
                step.orders().map(|order| cells(&OrderRow::COLUMNS, &order)),
            )
        })?;
        let score = ScoreRow {
            summary: &summary,
            metrics: &summary.metrics,
            counters: &summary.counters,
            is_open: publishes_account(bundle.header.mask.level),
        };
        scores.add(&cell, [cells(&ScoreRow::COLUMNS, &score)])?;
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
