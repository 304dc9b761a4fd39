//! Cells as a table for people and as JSON for programs.

use crate::output::visible_lines;
use ktd_agents::{ForceLevel, ThinkingPolicy};
use ktd_bundle::summary::{AccountSummary, Metric, Summary};
use ktd_episode::CellResult;
use ktd_experiment::cells::Cell;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_plan::cost_text::MoneyDocument;
use ktd_record::spending::Spending;
use ktd_study::StudyError;
use ktd_view::draw::{display_width, wrapped};
use ktd_view::table::{Align, Column, Layout, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A column that says which cell a row is: head, side, priority and content.
type IdentityColumn<'a> = (&'static str, Align, u8, &'a dyn Fn(&Cell) -> String);

/// A figure of a cell.
#[derive(Clone, Copy)]
struct Figure {
    head: &'static str,
    /// What a narrow table leaves out first.
    priority: u8,
    of: fn(&CellResult) -> String,
}

const fn figure(head: &'static str, priority: u8, of: fn(&CellResult) -> String) -> Figure {
    Figure { head, priority, of }
}

const MODEL_FAULTS: &str = "model faults";
const INFRASTRUCTURE_FAULTS: &str = "infra faults";

const FIGURES: [Figure; 13] = [
    figure("return", 0, |cell| match &cell.result {
        Ok(summary) => of_account(summary, percent, |account| &account.total_return),
        Err(error) if error.is_waiting() => "waits".to_owned(),
        Err(_) => "stopped".to_owned(),
    }),
    figure("Sharpe", 1, |cell| {
        of(cell, |summary| {
            of_account(summary, number, |account| &account.sharpe_ratio)
        })
    }),
    figure("drawdown", 1, |cell| {
        of(cell, |summary| {
            of_account(summary, percent, |account| &account.max_drawdown)
        })
    }),
    figure("turnover", 8, |cell| {
        of(cell, |summary| {
            of_account(summary, number, |account| &account.turnover)
        })
    }),
    figure("abstained", 8, |cell| {
        of(cell, |summary| percent(&summary.metrics.abstention))
    }),
    figure("parse fail", 2, |cell| {
        of(cell, |summary| percent(&summary.metrics.parse_failure))
    }),
    figure("strict", 9, |cell| {
        of(cell, |summary| percent(&summary.metrics.parse_failure_strict))
    }),
    figure("rule breach", 9, |cell| {
        of(cell, |summary| percent(&summary.metrics.rule_breach))
    }),
    figure(MODEL_FAULTS, 3, |cell| {
        of(cell, |summary| summary.model_faults().to_string())
    }),
    figure(INFRASTRUCTURE_FAULTS, 3, |cell| {
        of(cell, |summary| summary.infrastructure_faults().to_string())
    }),
    figure("coverage", 2, |cell| of(cell, coverage)),
    figure("cost", 4, ktd_plan::cost_text::cost_cell),
    figure("tokens/step", 9, |cell| {
        of(cell, |summary| {
            let tokens = summary
                .per_step
                .map(|step| ktd_plan::cost_text::shown(step.tokens));
            tokens.unwrap_or_default()
        })
    }),
];

/// Both kinds of faults in one column.
const FAULTS: Figure = figure("faults", 3, |cell| {
    of(cell, |summary| {
        format!("{}+{}", summary.model_faults(), summary.infrastructure_faults())
    })
});

/// A figure of a finished cell; nothing of one that stopped.
fn of(cell: &CellResult, figure: fn(&Summary) -> String) -> String {
    cell.result.as_ref().map_or_else(|_| String::new(), figure)
}

/// The table of results: how submissions were forced (parse failures compare within a level only), return, Sharpe,
/// drawdown, turnover, abstention, parse failure (lenient, then strict), rules broken after all retries, the three kinds of fault apart, cost and tokens.
///
/// Where the whole table does not fit, what all cells share is said once above it, and modes and masks go by their first
/// word as long as that names them.
#[must_use]
pub(crate) fn results_table(results: &[CellResult], layout: Layout<'_>) -> String {
    let whole = whole_table(results);
    let text = whole.render();
    let widest = text.lines().map(display_width).max().unwrap_or(0);
    let mut text = if layout.width.is_none_or(|width| widest <= width) {
        whole.render_in(layout)
    } else {
        narrow_table(results, layout)
    };
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
            let ended = if error.is_waiting() { "waits" } else { "stopped" };
            let cells = alike.entry((ended, error.to_string(), error.hint())).or_default();
            cells.push(&result.cell.id);
        }
    }
    alike
}

fn whole_table(results: &[CellResult]) -> Table {
    let identity = ["agent", "window", "mask", "mode"].map(|head| Column::new(head, Align::Left));
    let figures = FIGURES.map(|figure| Column::new(figure.head, Align::Right));
    let more = [
        Column::new("seed", Align::Right),
        Column::new("force", Align::Left),
    ];
    let mut table = Table::with_columns(identity.into_iter().chain(more).chain(figures));
    for result in results {
        let cell = &result.cell;
        let identity = [
            cell.agent.id.clone(),
            cell.window.id.clone(),
            mask(cell),
            cell.mode.label().to_owned(),
            cell.seed.to_string(),
            cell.provider.force.label().to_owned(),
        ];
        table.row(
            identity
                .into_iter()
                .chain(FIGURES.map(|figure| (figure.of)(result))),
        );
    }
    table
}

fn narrow_table(results: &[CellResult], layout: Layout<'_>) -> String {
    let numerics: BTreeMap<&str, BTreeSet<&str>> = results.iter().fold(BTreeMap::new(), |mut all, result| {
        let mask = &result.cell.mask;
        let numerics: &mut BTreeSet<&str> = all.entry(result.cell.arm().label()).or_default();
        numerics.insert(mask.numeric.label());
        all
    });
    let is_named_by_level = numerics.values().all(|numerics| numerics.len() == 1);
    let identity: [IdentityColumn<'_>; 6] = [
        ("agent", Align::Left, 0, &|cell| cell.agent.id.clone()),
        ("window", Align::Left, 0, &|cell| cell.window.id.clone()),
        ("mask", Align::Left, 0, &|cell| {
            if is_named_by_level {
                cell.arm().label().to_owned()
            } else {
                mask(cell)
            }
        }),
        ("mode", Align::Left, 0, &|cell| {
            let label = cell.mode.label();
            label.split_once('-').map_or(label, |(first, _)| first).to_owned()
        }),
        ("seed", Align::Right, 0, &|cell| cell.seed.to_string()),
        ("force", Align::Left, 5, &|cell| {
            cell.provider.force.label().to_owned()
        }),
    ];
    let mut shared = Vec::new();
    let mut shown = Vec::new();
    for column in identity {
        let values: BTreeSet<String> = results.iter().map(|result| (column.3)(&result.cell)).collect();
        match (column.0, values.first()) {
            ("window" | "seed" | "force", Some(value)) if values.len() == 1 => {
                shared.push(format!("{} {value}", column.0));
            }
            _ => shown.push(column),
        }
    }
    if is_named_by_level {
        let masks = results.iter().map(|result| mask(&result.cell));
        let masks: BTreeSet<String> = masks.collect();
        shared.push(format!(
            "masks {}",
            masks.into_iter().collect::<Vec<_>>().join(" and ")
        ));
    }
    shared.push("faults: the model's, refused orders among them, + the infrastructure's".to_owned());
    let identity = shown.iter();
    let identity =
        identity.map(|(head, align, priority, _)| Column::new(*head, *align).with_priority(*priority));
    let figures = FIGURES.into_iter().filter_map(|figure| match figure.head {
        INFRASTRUCTURE_FAULTS => None,
        MODEL_FAULTS => Some(FAULTS),
        _ => Some(figure),
    });
    let heads = figures.clone();
    let heads = heads.map(|figure| Column::new(figure.head, Align::Right).with_priority(figure.priority));
    let mut table = Table::with_columns(identity.chain(heads));
    for result in results {
        let identity = shown.iter().map(|(.., of)| of(&result.cell));
        table.row(identity.chain(figures.clone().map(|figure| (figure.of)(result))));
    }
    let above = wrapped(
        &visible_lines(&shared.join("; ")),
        layout.width.unwrap_or(usize::MAX),
    );
    format!("{}\n{}", above.join("\n"), table.render_in(layout))
}

fn mask(cell: &Cell) -> String {
    format!("{}/{}", cell.arm().label(), cell.mask.numeric.label())
}

/// A figure of the account; a bundle whose private part is missing does not tell it.
fn of_account(
    summary: &Summary,
    form: fn(&Metric) -> String,
    metric: fn(&AccountSummary) -> &Metric,
) -> String {
    let account = summary.account.as_ref();
    account.map_or_else(|| "n/a".to_owned(), |account| form(metric(account)))
}

/// Decided steps of all. Below 99 of 100 a cell is incomplete: its figures are of another episode than the others'.
fn coverage(Summary { counters, .. }: &Summary) -> String {
    let decided = counters.submitted + counters.hold + counters.fallback;
    let steps = decided + counters.uncovered;
    let word = if decided * 100 < steps * 99 {
        " incomplete"
    } else {
        ""
    };
    format!("{decided}/{steps}{word}")
}

fn percent(metric: &Metric) -> String {
    metric
        .value
        .map_or_else(|| "n/a".to_owned(), |value| format!("{:.2} %", value * 100.0))
}

fn number(metric: &Metric) -> String {
    metric
        .value
        .map_or_else(|| "n/a".to_owned(), |value| format!("{value:.2}"))
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
