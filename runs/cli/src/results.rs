//! Cells as a table for people and as JSON for programs.

use ktd_bundle::summary::{Metric, Summary};
use ktd_episode::run::CellResult;
use ktd_view::table::{Align, Table};
use serde_json::{Value, json};
use std::fmt::Write;

/// The table of results: how submissions were forced (parse failures compare within a level only), return, Sharpe,
/// drawdown, turnover, abstention, parse failure (lenient, then strict), the three kinds of fault apart, cost and tokens.
#[must_use]
pub(crate) fn results_table(results: &[CellResult]) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("agent", Left),
        ("window", Left),
        ("mask", Left),
        ("mode", Left),
        ("seed", Right),
        ("force", Left),
        ("return", Right),
        ("Sharpe", Right),
        ("drawdown", Right),
        ("turnover", Right),
        ("abstained", Right),
        ("parse fail", Right),
        ("strict", Right),
        ("model faults", Right),
        ("infra faults", Right),
        ("coverage", Right),
        ("cost", Right),
        ("tokens/step", Right),
    ]);
    for result in results {
        let cell = &result.cell;
        let mask = format!("{}/{}", cell.mask.level.label(), cell.mask.numeric.label());
        let identity = [
            cell.agent.id.clone(),
            cell.window.id.clone(),
            mask,
            cell.mode.label().to_owned(),
            cell.seed.to_string(),
            cell.provider.force.label().to_owned(),
        ];
        let figures = result.result.as_ref().map_or_else(|_| stopped(), figures);
        let per_step = result.result.as_ref().ok().and_then(|summary| summary.per_step);
        let tokens = per_step.map(|step| ktd_plan::cost_text::shown(step.tokens));
        let money = [ktd_plan::cost_text::cost_cell(result), tokens.unwrap_or_default()];
        table.row(identity.into_iter().chain(figures).chain(money));
    }
    let mut text = table.render();
    for result in results {
        if let Err(error) = &result.result {
            // Writing to a string cannot fail.
            write!(
                text,
                "\nstopped: {}: {error}\n  hint: {}\n",
                result.cell.id,
                error.hint()
            )
            .ok();
        }
    }
    text
}

fn stopped() -> [String; 10] {
    ["stopped", "", "", "", "", "", "", "", "", ""].map(str::to_owned)
}

fn figures(summary: &Summary) -> [String; 10] {
    let (metrics, counters) = (&summary.metrics, &summary.counters);
    let faults: usize = counters
        .model_faults
        .values()
        .chain(counters.tool_calls_refused.values())
        .sum();
    let infrastructure: usize = counters.infrastructure_faults.values().sum();
    let steps = counters.submitted + counters.hold + counters.fallback + counters.uncovered;
    [
        percent(&metrics.total_return),
        number(&metrics.sharpe_ratio),
        percent(&metrics.max_drawdown),
        number(&metrics.turnover),
        percent(&metrics.abstention),
        percent(&metrics.parse_failure),
        percent(&metrics.parse_failure_strict),
        faults.to_string(),
        infrastructure.to_string(),
        coverage(steps, counters.uncovered),
    ]
}

/// Decided steps of all. Below 99 of 100 a cell is incomplete: its figures are of another episode than the others'.
fn coverage(steps: usize, uncovered: usize) -> String {
    let decided = steps.saturating_sub(uncovered);
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

/// The results for programs.
#[must_use]
pub(crate) fn results_json(results: &[CellResult]) -> Value {
    let cells = results.iter().map(|result| {
        let cell = &result.cell;
        json!({
            "cell": cell.id,
            "bundle": result.bundle.display().to_string(),
            "agent": cell.agent.id,
            "window": cell.window.id,
            "level": cell.mask.level.label(),
            "numeric": cell.mask.numeric.label(),
            "mode": cell.mode.label(),
            "seed": cell.seed,
            "force": cell.provider.force,
            "thinking": cell.provider.thinking,
            "summary": result.result.as_ref().ok(),
            "money": result.money,
            "error": result.result.as_ref().err().map(ToString::to_string),
            "hint": result.result.as_ref().err().map(ktd_episode::EpisodeError::hint),
        })
    });
    json!({ "cells": cells.collect::<Vec<_>>() })
}
