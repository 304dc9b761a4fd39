//! Cells as a table for people and as JSON for programs.

use crate::output::visible_lines;
use ktd_agents::{ForceLevel, ThinkingPolicy};
use ktd_bundle::summary::{AccountSummary, Metric, Metrics, Summary};
use ktd_episode::CellResult;
use ktd_experiment::cells::Cell;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_plan::cost_text::{MoneyDocument, cost_cell, shown};
use ktd_record::spending::Spending;
use ktd_study::StudyError;
use ktd_view::draw::TableCell::{self, Percent, Ratio};
use ktd_view::draw::{counted, joined};
use ktd_view::row_table::RowTable;
use ktd_view::table::{Align, Layout};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A column that says which cell a row is: head, side, priority, content, and what its first word ends with.
type IdentityColumn = (&'static str, Align, u8, fn(&Cell) -> String, Option<char>);

const IDENTITY: [IdentityColumn; 6] = [
    ("agent", Align::Left, 0, |cell| cell.agent.id.clone(), None),
    ("window", Align::Left, 0, |cell| cell.window.id.clone(), None),
    ("mask", Align::Left, 0, mask, Some('/')),
    ("mode", Align::Left, 0, mode, Some('-')),
    ("seed", Align::Right, 0, |cell| cell.seed.to_string(), None),
    ("force", Align::Left, 5, force, None),
];

/// A figure of a cell: head, what a narrow table leaves out first, and content.
type FigureColumn = (&'static str, u8, fn(&CellResult) -> TableCell);

/// Stands in the place of a column for each kind of faults where the width is given.
const BOTH_FAULTS: &str = "faults";

const FIGURES: [FigureColumn; 14] = [
    ("return", 0, |cell| match &cell.result {
        Ok(_) => account(cell, Percent, |it| &it.total_return),
        Err(error) => TableCell::Text(ended(error).to_owned()),
    }),
    ("Sharpe", 1, |cell| account(cell, Ratio, |it| &it.sharpe_ratio)),
    ("drawdown", 1, |cell| {
        account(cell, Percent, |it| &it.max_drawdown)
    }),
    ("turnover", 8, |cell| account(cell, Ratio, |it| &it.turnover)),
    ("abstained", 8, |cell| share(cell, |it| &it.abstention)),
    ("parse fail", 2, |cell| share(cell, |it| &it.parse_failure)),
    ("strict", 9, |cell| share(cell, |it| &it.parse_failure_strict)),
    ("rule breach", 9, |cell| share(cell, |it| &it.rule_breach)),
    ("model faults", 3, |cell| count(cell, Summary::model_faults)),
    ("infra faults", 3, |cell| {
        count(cell, Summary::infrastructure_faults)
    }),
    (BOTH_FAULTS, 3, |cell| finished(cell, both_faults)),
    ("coverage", 2, |cell| finished(cell, coverage)),
    ("cost", 4, |cell| TableCell::Text(cost_cell(cell))),
    ("tokens/step", 9, |cell| finished(cell, tokens_a_step)),
];

/// The table of results: how submissions were forced (parse failures compare within a level only), return, Sharpe,
/// drawdown, turnover, abstention, parse failure (lenient, then strict), rules broken after all retries, the three kinds of fault apart, cost and tokens.
///
/// In a given width, what all cells share is said once above it, and modes and masks go by their first word as long as that names
/// them.
#[must_use]
pub(crate) fn results_table(results: &[CellResult], layout: Layout<'_>) -> String {
    let is_narrow = layout.width.is_some();
    let mut said = vec![counted(results.len(), "cell")];
    let mut table = RowTable::new("", results);
    for (head, align, priority, of, end) in IDENTITY {
        let names: BTreeSet<String> = results.iter().map(|result| of(&result.cell)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let short: BTreeSet<&str> = names.iter().map(|name| first_word(name, end)).collect();
        if let ([only], true) = (names.as_slice(), is_narrow && head != "agent") {
            said.push(format!("{head} {only}"));
            continue;
        }
        let end = end.filter(|_| is_narrow && 1 < names.len() && short.len() == names.len());
        if end.is_some() {
            said.push(format!("{head}s {}", joined(&names)));
        }
        table = table.column((head, align, priority), |result| {
            TableCell::Text(first_word(&of(&result.cell), end).to_owned())
        });
    }
    for (head, priority, of) in FIGURES {
        let is_shown = match head {
            BOTH_FAULTS => is_narrow,
            _ => !is_narrow || !head.ends_with(BOTH_FAULTS),
        };
        if is_shown {
            table = table.column((head, Align::Right, priority), of);
        }
    }
    let mut table = table.table();
    table.title = said.join("; ");
    if is_narrow {
        table = table.with_note("faults: the model's, refused orders among them, + the infrastructure's");
    }
    let mut text = table.text_in(layout);
    for ((ended, error, hint), cells) in stopped_alike(results) {
        let more = match cells.len().saturating_sub(NAMED_CELLS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named: Vec<&str> = cells.into_iter().take(NAMED_CELLS).collect();
        let stopped = format!("\n{ended}: {}{more}: {error}\n  hint: {hint}\n", named.join(", "));
        text.push_str(&visible_lines(&stopped));
    }
    text
}

/// So many cells are named of those that ended alike.
const NAMED_CELLS: usize = 3;

/// Cells without a result, those together that ended in the same way for the same reason.
fn stopped_alike(results: &[CellResult]) -> BTreeMap<(&str, String, &str), Vec<&str>> {
    let mut alike = BTreeMap::<_, Vec<&str>>::new();
    for result in results {
        if let Err(error) = &result.result {
            let cells = alike
                .entry((ended(error), error.to_string(), error.hint()))
                .or_default();
            cells.push(&result.cell.id);
        }
    }
    alike
}

fn ended(error: &StudyError) -> &'static str {
    if error.is_waiting() { "waits" } else { "stopped" }
}

/// A text up to what ends its first word.
fn first_word(text: &str, end: Option<char>) -> &str {
    let parts = end.and_then(|end| text.split_once(end));
    parts.map_or(text, |(first, _)| first)
}

fn mask(cell: &Cell) -> String {
    format!("{}/{}", cell.arm().label(), cell.mask.numeric.label())
}

fn mode(cell: &Cell) -> String {
    cell.mode.label().to_owned()
}

fn force(cell: &Cell) -> String {
    cell.provider.force.label().to_owned()
}

/// A figure of a finished cell; nothing of one that stopped.
fn finished(cell: &CellResult, figure: impl Fn(&Summary) -> TableCell) -> TableCell {
    cell.result.as_ref().map_or(TableCell::Empty, figure)
}

/// A figure of the account; a bundle whose private part is missing does not tell it.
fn account(cell: &CellResult, form: fn(f64) -> TableCell, of: fn(&AccountSummary) -> &Metric) -> TableCell {
    finished(cell, |summary| match &summary.account {
        Some(account) => figure(of(account), form),
        None => TableCell::Missing("it is told in the private part, which is missing".to_owned()),
    })
}

fn share(cell: &CellResult, of: fn(&Metrics) -> &Metric) -> TableCell {
    finished(cell, |summary| figure(of(&summary.metrics), Percent))
}

fn count(cell: &CellResult, of: fn(&Summary) -> usize) -> TableCell {
    finished(cell, |summary| TableCell::Count(of(summary)))
}

fn both_faults(summary: &Summary) -> TableCell {
    let (model, infrastructure) = (summary.model_faults(), summary.infrastructure_faults());
    TableCell::Text(format!("{model}+{infrastructure}"))
}

fn figure(metric: &Metric, form: fn(f64) -> TableCell) -> TableCell {
    let missing = || {
        let reason = metric.reason.clone();
        TableCell::Missing(reason.unwrap_or_else(|| "the record does not say why".to_owned()))
    };
    metric.value.map_or_else(missing, form)
}

/// Decided steps of all. Below 99 of 100 a cell is incomplete: its figures are of another episode than the others'.
fn coverage(Summary { counters, .. }: &Summary) -> TableCell {
    let decided = counters.submitted + counters.hold + counters.fallback;
    let steps = decided + counters.uncovered;
    let word = if decided * 100 < steps * 99 {
        " incomplete"
    } else {
        ""
    };
    TableCell::Text(format!("{decided}/{steps}{word}"))
}

fn tokens_a_step(summary: &Summary) -> TableCell {
    let tokens = summary.per_step.map(|step| shown(step.tokens));
    tokens.map_or(TableCell::Empty, TableCell::Text)
}

/// Cells of an experiment, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Results<'r> {
    cells: Vec<CellDocument<'r>>,
    /// What was spent, by agent and over all; of a run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<MoneyDocument>,
    /// What the data cannot support; of a run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
}

/// A cell and its result.
#[derive(Debug, JsonSchema, Serialize)]
struct CellDocument<'r> {
    /// The episode's identity in the experiment.
    cell: &'r str,
    /// Its directory.
    bundle: String,
    agent: &'r str,
    window: &'r str,
    /// Mask level.
    level: &'static str,
    /// The level whose text explains identifiers in a prompt-only control.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<MaskInstruction>,
    /// How numbers are shown.
    numeric: &'static str,
    /// Decision mode.
    mode: &'static str,
    seed: u64,
    /// How strongly submissions are forced.
    force: ForceLevel,
    thinking: ThinkingPolicy,
    /// What summary.json holds; absent where the cell stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'r Summary>,
    /// What this run spent on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<&'r Spending>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How to fix that.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'r str>,
}

impl<'r> Results<'r> {
    /// Cells with their results.
    pub(crate) fn of(results: &'r [CellResult]) -> Self {
        let cells = results.iter().map(|result| {
            let (cell, error) = (&result.cell, result.result.as_ref().err());
            CellDocument {
                cell: &cell.id,
                bundle: result.bundle.display().to_string(),
                agent: &cell.agent.id,
                window: &cell.window.id,
                level: cell.mask.level.label(),
                instruction: cell.instruction,
                numeric: cell.mask.numeric.label(),
                mode: cell.mode.label(),
                seed: cell.seed,
                force: cell.provider.force,
                thinking: cell.provider.thinking,
                summary: result.result.as_ref().ok(),
                money: result.money.as_ref(),
                error: error.map(ToString::to_string),
                hint: error.map(StudyError::hint),
            }
        });
        Self {
            cells: cells.collect(),
            money: None,
            notes: None,
        }
    }
}
