//! An estimate as a table for people.

use crate::cost_text::shown;
use crate::estimate::{Estimate, EstimatedQuantity, Range};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use ktd_view::table::{Align, Column, Layout, Table};
use std::fmt::Write;

/// The table, what it rests on, and whether the budget is enough.
#[must_use]
pub fn text(estimate: &Estimate, caps: &Caps, layout: Layout<'_>) -> String {
    use Align::{Left, Right};
    if estimate.agents.is_empty() {
        return "every agent is a built-in one: nothing is asked over a network, and nothing is spent\n"
            .to_owned();
    }
    let columns = [
        ("agent", Left, 0),
        ("cells", Right, 2),
        ("steps", Right, 2),
        ("", Left, 0),
        ("calls", Right, 1),
        ("tokens in", Right, 3),
        ("cached", Right, 4),
        ("out", Right, 3),
        ("cost", Right, 0),
    ];
    let mut table = Table::with_columns(columns.map(Column::from));
    for agent in &estimate.agents {
        let head = [agent.agent.clone(), shown(agent.cells), shown(agent.steps)];
        rows(&mut table, head, &agent.range);
    }
    if 1 < estimate.agents.len() {
        let sum =
            |part: fn(&crate::estimate::AgentEstimate) -> u64| shown(estimate.agents.iter().map(part).sum());
        let head = [
            "all".to_owned(),
            sum(|agent| agent.cells),
            sum(|agent| agent.steps),
        ];
        rows(&mut table, head, &estimate.all);
    }
    let mut text = table.render_in(layout);
    text.push_str(&unpriced(estimate, caps));
    text.push_str("\nassumptions:\n");
    for assumption in &estimate.assumptions {
        // Writing to a string cannot fail.
        writeln!(text, "- {assumption}").ok();
    }
    text.push_str(&against_caps(estimate, caps));
    text
}

/// Whether each cap is enough: that of the experiment, those of vendors, and that of a cell, agent by agent.
fn against_caps(estimate: &Estimate, caps: &Caps) -> String {
    let whole = caps
        .experiment
        .map(|cap| against("the budget", cap, &estimate.all, 1));
    let vendors = caps.vendor.iter().map(|(vendor, cap)| {
        let mut all = Range::NOTHING;
        let own = estimate.agents.iter().filter(|agent| agent.vendor == *vendor);
        own.for_each(|agent| all.add(&agent.range));
        against(&format!("the budget of vendor {vendor}"), *cap, &all, 1)
    });
    let cells = estimate.agents.iter().filter_map(|agent| {
        let whose = format!("the budget of a cell, for one of {} in the mean,", agent.agent);
        Some(against(&whose, caps.cell?, &agent.range, agent.cells))
    });
    whole.into_iter().chain(vendors).chain(cells).collect()
}

/// Whose cost is unknown, and what to write so that it is known.
fn unpriced(estimate: &Estimate, caps: &Caps) -> String {
    let is_unknown = |range: &Range| range.expected.cost_picodollars.is_none();
    let agents = estimate.agents.iter().filter(|agent| is_unknown(&agent.range));
    let agents: Vec<&str> = agents.map(|agent| agent.agent.as_str()).collect();
    if agents.is_empty() {
        return String::new();
    }
    let (unlimited, budget) = if caps.is_any() {
        ("", "")
    } else {
        (", and nothing limits it", ", and a `budget`")
    };
    format!(
        "the cost of {} is unknown{unlimited}: name a table of prices with `prices = \"prices.json\"` (docs/money.md shows \
         one){budget}\n",
        agents.join(", ")
    )
}

fn rows(table: &mut Table, head: [String; 3], range: &Range) {
    let mut head = Some(head);
    for (label, quantity) in [
        ("least", &range.least),
        ("expected", &range.expected),
        ("most", &range.most),
    ] {
        let head = head.take().unwrap_or_default();
        let figures = figures(quantity);
        table.row(head.into_iter().chain([label.to_owned()]).chain(figures));
    }
}

fn figures(quantity: &EstimatedQuantity) -> [String; 5] {
    let cost = quantity.cost_picodollars;
    [
        shown(quantity.calls),
        shown(quantity.input_tokens),
        shown(quantity.cached_tokens),
        shown(quantity.output_tokens),
        cost.map_or_else(|| "unknown".to_owned(), |cost| cost.to_string()),
    ]
}

/// Whether a cap on each of so many is enough for all of them.
fn against(whose: &str, cap: Picodollars, all: &Range, count: u64) -> String {
    let together = Picodollars(cap.0.saturating_mul(count));
    let is_enough_for =
        |quantity: &EstimatedQuantity| quantity.cost_picodollars.is_some_and(|cost| cost <= together);
    let verdict = if all.expected.cost_picodollars.is_none() {
        "cannot be held against what is expected, for a price is missing: the run would not begin"
    } else if is_enough_for(&all.most) {
        "is enough for the most"
    } else if is_enough_for(&all.expected) {
        "is enough for what is expected, not for the most"
    } else {
        "is not enough for what is expected: the run would stop before its end"
    };
    format!("{whose} of {cap} {verdict}\n")
}
