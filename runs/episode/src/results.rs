//! What the cells of an experiment came to, without a rank: the report of the study.

use ktd_bundle::summary::{Metric, Summary};
use ktd_experiment::amount::Picodollars;
use ktd_study::{Report, Section, Shown};
use ktd_view::draw::TableCell;
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all cells came to: `report.json` of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EpisodesSummary {
    /// The experiment.
    pub name: String,
    /// Its cells, in the order of the grid.
    pub cells: Vec<CellFigures>,
}

/// Figures of a finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellFigures {
    /// Its identity and directory name.
    pub cell: String,
    /// `NAV_T / NAV_0 - 1`; `null` where the account is not told.
    pub total_return: Option<f64>,
    /// Annualised, risk-free rate 0.
    pub sharpe_ratio: Option<f64>,
    /// Largest fall from a peak, positive.
    pub max_drawdown: Option<f64>,
    /// Share of emissions whose form stayed unreadable after all retries.
    pub parse_failure: Option<f64>,
    /// Steps that were decided: submitted, held, or without a good submission.
    pub decided_steps: usize,
    /// Steps lost to the infrastructure.
    pub lost_steps: usize,
    /// The model's mistakes.
    pub model_faults: usize,
    /// Faults of the infrastructure.
    pub infrastructure_faults: usize,
    /// What it cost at most; `null` where no price is known.
    pub cost_picodollars: Option<u64>,
}

impl CellFigures {
    pub(crate) fn of(cell: &str, summary: &Summary) -> Self {
        let counters = &summary.counters;
        let account = |of: fn(&ktd_bundle::summary::AccountSummary) -> &Metric| {
            summary.account.as_ref().and_then(|account| of(account).value)
        };
        Self {
            cell: cell.to_owned(),
            total_return: account(|account| &account.total_return),
            sharpe_ratio: account(|account| &account.sharpe_ratio),
            max_drawdown: account(|account| &account.max_drawdown),
            parse_failure: summary.metrics.parse_failure.value,
            decided_steps: counters.submitted + counters.hold + counters.fallback,
            lost_steps: counters.uncovered,
            model_faults: summary.model_faults(),
            infrastructure_faults: summary.infrastructure_faults(),
            cost_picodollars: summary.money.total().map(|Picodollars(cost)| cost),
        }
    }
}

/// The report of an experiment.
pub(crate) fn results_report(summary: &EpisodesSummary) -> Report {
    let cells = &summary.cells;
    let lost = cells.iter().filter(|cell| 0 < cell.lost_steps).count();
    let verdict = match lost {
        0 => format!("{} cells have ended.", cells.len()),
        _ => format!(
            "{} cells have ended; {lost} of them lost steps to the infrastructure.",
            cells.len()
        ),
    };
    let table = RowTable::new("Cells", cells)
        .text("cell", |cell| &cell.cell)
        .number("return", |cell| cell.total_return, TableCell::Change)
        .ratio("Sharpe", |cell| cell.sharpe_ratio)
        .number("drawdown", |cell| cell.max_drawdown, TableCell::Percent)
        .number("parse fail", |cell| cell.parse_failure, TableCell::Percent)
        .count("decided", |cell| cell.decided_steps)
        .count("lost", |cell| cell.lost_steps)
        .count("model faults", |cell| cell.model_faults)
        .count("infra faults", |cell| cell.infrastructure_faults)
        .table();
    Report {
        title: summary.name.clone(),
        verdict,
        notes: vec!["Nothing is ranked here: `ktd leaderboard` does.".to_owned()],
        sections: vec![Section::new("Cells").table("cells_results", table, Shown::Everywhere)],
        ..Report::default()
    }
}
