//! An episode as a timeline: its steps, what became of them, and the account.

use crate::entry::EpisodeEntry;
use crate::{ViewerError, plain_files};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::{ReadEvent, StepOutcome};
use ktd_bundle::ledger::{ExecutionRecord, FillRecord, LedgerLine};
use ktd_bundle::ledger_mark::mark_of;
use ktd_bundle::recorded_step::RecordedStep;
use ktd_io::sha256::sha256_file;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An episode as far as it is recorded.
#[derive(Debug, Clone)]
pub struct Episode {
    /// Its line in the list.
    pub entry: Arc<EpisodeEntry>,
    /// Its steps, in order.
    pub steps: Vec<TimelineStep>,
    /// How it ended, if it did.
    pub reason: Option<String>,
    /// Real codes of what was ordered, and real days, for the owner of the private part.
    pub real: BTreeMap<String, String>,
}

/// A step of the timeline.
#[derive(Debug, Clone)]
pub struct TimelineStep {
    /// Requests, calls, orders, fills and the account.
    pub record: RecordedStep,
    /// Net asset value at the close as a multiple of the first cash, where the record or the private ledger tells it.
    pub nav: Option<f64>,
    /// Orders by what became of them.
    pub fills: BTreeMap<String, usize>,
    /// Codes of those that did not trade, for the owner of the private part also where the model is not told.
    pub rejections: Vec<String>,
    /// What the exchange made of the orders of the day where the model is not told it, by the private ledger.
    pub untold: Vec<UntoldFill>,
    /// Weights at the close by stock, as shown.
    pub weights: BTreeMap<String, f64>,
}

/// What became of an order of which the model is told nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntoldFill {
    /// `BUY` or `SELL`.
    pub side: &'static str,
    /// Shares asked for.
    pub requested: i64,
    /// `filled`, `clipped`, or the code of why it did not trade.
    pub result: &'static str,
}

impl UntoldFill {
    fn of(fill: &FillRecord) -> Self {
        Self {
            side: fill.side.label(),
            requested: fill.requested,
            result: match fill.execution {
                ExecutionRecord::Filled { is_clipped: true, .. } => "clipped",
                ExecutionRecord::Filled { .. } => "filled",
                ExecutionRecord::Rejected { code } => code.code(),
            },
        }
    }
}

/// How a step looks on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StepMark {
    /// Orders were submitted.
    Submitted,
    /// Orders were submitted, and some were rejected.
    Rejected,
    /// The model decided to hold.
    Hold,
    /// No valid submission within the retries.
    Fallback,
    /// The infrastructure failed.
    Uncovered,
    /// It has not ended.
    Open,
}

impl StepMark {
    /// All marks.
    pub const ALL: [Self; 6] = [
        Self::Submitted,
        Self::Rejected,
        Self::Hold,
        Self::Fallback,
        Self::Uncovered,
        Self::Open,
    ];

    /// Its stable name.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// What it means.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Submitted => "orders were submitted",
            Self::Rejected => "orders were submitted, and the exchange rejected some",
            Self::Hold => "the model decided to hold",
            Self::Fallback => "no valid submission within the retries: no trade",
            Self::Uncovered => "the infrastructure failed: no trade, and no decision of the model",
            Self::Open => "not decided yet",
        }
    }
}

impl TimelineStep {
    /// Its mark.
    #[must_use]
    pub fn mark(&self) -> StepMark {
        match self.record.outcome {
            Some(StepOutcome::Submitted) if 0 < self.rejected() => StepMark::Rejected,
            Some(StepOutcome::Submitted) => StepMark::Submitted,
            Some(StepOutcome::Hold) => StepMark::Hold,
            Some(StepOutcome::Fallback) => StepMark::Fallback,
            Some(StepOutcome::Uncovered) => StepMark::Uncovered,
            None => StepMark::Open,
        }
    }

    /// Orders that the exchange rejected.
    #[must_use]
    pub fn rejected(&self) -> usize {
        let traded = |result: &str| matches!(result, "filled" | "clipped" | "accepted");
        let others = self.fills.iter().filter(|(result, _)| !traded(result));
        others.map(|(_, count)| count).sum()
    }

    /// Stocks of its orders.
    #[must_use]
    pub fn stocks(&self) -> BTreeSet<&str> {
        self.record
            .orders
            .iter()
            .map(|order| order.stock_id.as_str())
            .collect()
    }

    fn of(record: RecordedStep, initial_cash_fen: i64) -> Self {
        let nav = match &record.mark {
            Some(mark) => share(mark.nav_fen, initial_cash_fen),
            None => record
                .holdings
                .get("nav")
                .and_then(Value::as_f64)
                .and_then(|nav| {
                    let initial = yuan(initial_cash_fen);
                    (0.0 < initial).then_some(nav / initial)
                }),
        };
        let fills = column(record.fills.get("orders"), "result");
        let mut counts = BTreeMap::new();
        for result in fills.iter().filter_map(|value| value.as_str()) {
            *counts.entry(result.to_owned()).or_insert(0) += 1;
        }
        let table = record.holdings.get("holdings");
        let names = column(table, "stock_id");
        let weights = column(table, "weight");
        let weights = names
            .iter()
            .zip(weights)
            .filter_map(|(name, weight)| Some((name.as_str()?.to_owned(), weight.as_f64()?)));
        let weights = weights.collect();
        Self {
            nav,
            rejections: column(record.fills.get("orders"), "code")
                .into_iter()
                .filter_map(|code| code.as_str().map(str::to_owned))
                .collect(),
            untold: Vec::new(),
            record,
            fills: counts,
            weights,
        }
    }
}

impl Episode {
    /// The episode of an entry. Of a finished one, the events must be those that its summary was made of.
    ///
    /// # Errors
    /// [`ViewerError`] when a file cannot be read, is a link, is damaged, or is not the recorded one.
    pub fn read(entry: &Arc<EpisodeEntry>, with_private: bool) -> Result<Self, ViewerError> {
        let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
        let paths = BundlePaths::new(&entry.root);
        plain_files::check(&paths)?;
        let path = paths.events();
        if let Some(summary) = content.summary() {
            check_hash(&path, "events.jsonl", &sha256_file(&path)?, &summary.sha256)?;
        }
        let genesis = content.header.genesis()?;
        let events = LogReader::open(&path)?.from(&genesis).bodies();
        let events: Vec<ReadEvent> = events.map_err(RecordError::of_bundle)?;
        let ledger = if with_private && paths.ledger().is_file() {
            LogReader::open(&paths.ledger())?.bodies()?
        } else {
            Vec::new()
        };
        let mut episode = Self::of(entry, events, &ledger);
        episode.add_untold(&ledger);
        episode.real = real_names(&episode.steps, &ledger);
        Ok(episode)
    }

    fn of(entry: &Arc<EpisodeEntry>, events: Vec<ReadEvent>, ledger: &[LedgerLine]) -> Self {
        let marks = ledger.iter().map(|line| (line.step, mark_of(line))).collect();
        let begin = events.first();
        let initial = begin.and_then(|event| {
            if let ReadEvent::EpisodeBegin { initial_cash_fen, .. } = event {
                Some(*initial_cash_fen)
            } else {
                None
            }
        });
        let initial = initial.unwrap_or_default();
        let reason = events.iter().rev().find_map(|event| {
            if let ReadEvent::EpisodeEnd { reason } = event {
                Some(reason.clone())
            } else {
                None
            }
        });
        let steps = RecordedStep::of(events, &marks).into_iter();
        let steps = steps.map(|record| TimelineStep::of(record, initial));
        Self {
            entry: Arc::clone(entry),
            steps: steps.collect(),
            reason,
            real: BTreeMap::new(),
        }
    }

    /// Adds what became of orders where the record of the model's words does not say it.
    fn add_untold(&mut self, ledger: &[LedgerLine]) {
        for line in ledger {
            let step = self.steps.iter_mut().find(|step| step.record.step == line.step);
            let Some(step) = step.filter(|step| !tells_execution(&step.record.fills)) else {
                continue;
            };
            step.untold = line.fills.iter().map(UntoldFill::of).collect();
            let rejected = line.fills.iter().filter_map(|fill| match fill.execution {
                ExecutionRecord::Rejected { code } => Some(code.code().to_owned()),
                ExecutionRecord::Filled { .. } => None,
            });
            step.rejections.extend(rejected);
        }
    }

    /// The step of a number.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&TimelineStep> {
        self.steps.iter().find(|other| other.record.step == step)
    }
}

/// Whether what the model is told of its orders is what the exchange made of them: under bands it hears of its own book alone.
fn tells_execution(fills: &Value) -> bool {
    let results = column(fills.get("orders"), "result");
    results.iter().any(|result| result.as_str() != Some("accepted"))
}

/// Refuses a file that is not the one that the summary names.
///
/// # Errors
/// [`ViewerError`] naming it.
pub(crate) fn check_hash(
    path: &std::path::Path,
    name: &str,
    found: &str,
    recorded: &BTreeMap<String, String>,
) -> Result<(), ViewerError> {
    if recorded.get(name).is_some_and(|recorded| recorded == found) {
        return Ok(());
    }
    Err(ViewerError::damaged(
        path,
        "its hash is not the one in summary.json",
    ))
}

/// Real codes of ordered stocks: the ledger has a line an order, in their order; and the real day of each step.
fn real_names(steps: &[TimelineStep], ledger: &[LedgerLine]) -> BTreeMap<String, String> {
    let mut real = BTreeMap::new();
    for line in ledger {
        let Some(step) = steps.iter().find(|step| step.record.step == line.step) else {
            continue;
        };
        if let Some(day) = step.record.day.as_str() {
            real.insert(day.to_owned(), line.date.clone());
        }
        if step.record.orders.len() == line.fills.len() {
            for (order, fill) in step.record.orders.iter().zip(&line.fills) {
                if let Some(symbol) = &fill.symbol {
                    real.insert(order.stock_id.clone(), symbol.clone());
                }
            }
        }
    }
    real.retain(|shown, real| shown != real);
    real
}

/// The values of a column of a table as the model reads it.
pub(crate) fn column<'t>(table: Option<&'t Value>, name: &str) -> Vec<&'t Value> {
    let read = || {
        let table = table?;
        let columns = table.get("columns")?.as_array()?;
        let place = columns.iter().position(|column| column.as_str() == Some(name))?;
        let rows = table.get("rows")?.as_array()?;
        Some(rows.iter().filter_map(|row| row.get(place)).collect())
    };
    read().unwrap_or_default()
}

/// Fen as CNY.
#[expect(
    clippy::cast_precision_loss,
    reason = "a net asset value stays far below 2^53 fen"
)]
pub(crate) fn yuan(fen: i64) -> f64 {
    fen as f64 / 100.0
}

fn share(nav_fen: i64, initial_fen: i64) -> Option<f64> {
    (0 < initial_fen).then(|| yuan(nav_fen) / yuan(initial_fen))
}
