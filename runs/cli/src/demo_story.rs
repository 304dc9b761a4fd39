//! What the demo shows at first sight: who earns the same when names and dates are hidden, and who does not.

use ktd_bundle::summary::Summary;
use ktd_episode::CellResult;
use ktd_masking::{FactorScale, Level, MaskSettings};
use ktd_view::table::{Align, Column, Layout, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the demo shows, in a sentence.
pub(super) const HEADLINE: &str =
    "Memory or skill? Hide names and dates, and the cheater loses its future; momentum earns the same.";

/// The decision mode of the first table: the agents see the whole market.
pub(super) const MODE: &str = "open-research";

/// From this share of unreadable decisions on, an account says nothing about its agent.
const MOSTLY_UNREADABLE: f64 = 0.5;

/// An agent's returns with names and dates shown and hidden.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub(super) struct StoryRow {
    /// The agent.
    pub agent: String,
    /// Return with names and dates shown.
    pub bright: Option<f64>,
    /// Return with names and dates hidden, and every number scaled.
    pub blinded: Option<f64>,
    /// Return where style groups are all that is shown.
    pub banded: Option<f64>,
    /// Why its returns say nothing, where they do not.
    pub unranked: Option<String>,
}

/// The agents by their bright returns; those that never traded, or whose decisions could mostly not be read, come last.
pub(super) fn story(results: &[CellResult]) -> Vec<StoryRow> {
    let mut agents: Vec<&str> = Vec::new();
    let mut summaries: BTreeMap<(&str, Shown), &Summary> = BTreeMap::new();
    for result in results.iter().filter(|result| result.cell.mode.label() == MODE) {
        let agent = result.cell.agent.id.as_str();
        if !agents.contains(&agent) {
            agents.push(agent);
        }
        if let Ok(summary) = &result.result {
            summaries.insert((agent, Shown::of(result.cell.mask)), summary);
        }
    }
    let mut rows: Vec<StoryRow> = agents
        .into_iter()
        .map(|agent| {
            let of = |shown| summaries.get(&(agent, shown)).copied();
            row(agent, [Shown::All, Shown::Scaled, Shown::Groups].map(of))
        })
        .collect();
    let earned = |row: &StoryRow| row.bright.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| {
        let by_return = earned(b).total_cmp(&earned(a));
        a.unranked.is_some().cmp(&b.unranked.is_some()).then(by_return)
    });
    rows
}

/// What a column of the story shows of the market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    All,
    Scaled,
    Groups,
}

impl Shown {
    fn of(mask: MaskSettings) -> Self {
        match (mask.level, mask.numeric.scale()) {
            (_, FactorScale::Bands) => Self::Groups,
            (Level::Bright, _) => Self::All,
            (Level::DateBlind | Level::StockBlind | Level::Blinded, _) => Self::Scaled,
        }
    }
}

fn row(agent: &str, [bright, blinded, banded]: [Option<&Summary>; 3]) -> StoryRow {
    let earned =
        |summary: Option<&Summary>| summary.and_then(|summary| summary.account.as_ref()?.total_return.value);
    let all = || [bright, blinded, banded].into_iter().flatten();
    let unreadable = all().filter_map(|summary| summary.metrics.parse_failure.value);
    let unreadable = unreadable.fold(0.0, f64::max);
    let unranked = if MOSTLY_UNREADABLE <= unreadable {
        Some(format!(
            "last: up to {:.0} % of its decisions are unreadable",
            unreadable * 100.0
        ))
    } else if all().all(|summary| {
        summary
            .account
            .as_ref()
            .is_some_and(|account| account.orders_filled == 0)
    }) {
        Some("last: never traded".to_owned())
    } else {
        None
    };
    StoryRow {
        agent: agent.to_owned(),
        bright: earned(bright),
        blinded: earned(blinded),
        banded: earned(banded),
        unranked,
    }
}

/// The rows as a table.
pub(super) fn table(rows: &[StoryRow], layout: Layout<'_>) -> String {
    let mut table = Table::with_columns([
        Column::new("agent", Align::Left).with_priority(0),
        Column::new("bright", Align::Right).with_priority(0),
        Column::new("blinded", Align::Right).with_priority(0),
        Column::new("banded", Align::Right).with_priority(0),
        Column::new("how it decides", Align::Left),
    ]);
    let percent = |value: Option<f64>| {
        value.map_or_else(|| "n/a".to_owned(), |value| format!("{:+.2} %", value * 100.0))
    };
    for row in rows {
        let remark = row.unranked.as_deref().unwrap_or_else(|| remark(&row.agent));
        table.row([
            row.agent.clone(),
            percent(row.bright),
            percent(row.blinded),
            percent(row.banded),
            remark.to_owned(),
        ]);
    }
    table.render_in(layout)
}

/// What a built-in agent does.
fn remark(agent: &str) -> &'static str {
    match agent {
        "cheater" => "knows the future of every stock, by name and date",
        "momentum" => "buys what rose most over the past year",
        "equal-weight" => "buys the first stocks that it sees and holds them",
        "random" => "draws its orders at random, anew in each run",
        _ => "",
    }
}
