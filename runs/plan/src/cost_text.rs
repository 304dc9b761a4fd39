//! What cells cost, by agent and in all.

use ktd_client::money::Budget;
use ktd_episode::CellResult;
use ktd_experiment::amount::Picodollars;
use ktd_record::spending::{Cost, Spending};
use ktd_view::table::{Align, Column, Layout, Table, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A cell's cost for people.
#[must_use]
pub fn cost_text(spending: Option<&Spending>) -> String {
    spending.map_or_else(|| "unknown".to_owned(), Spending::text)
}

/// A cell's cost in the table: a built-in agent has none.
#[must_use]
pub fn cost_cell(result: &CellResult) -> String {
    if result.cell.agent.is_ours() {
        return "-".to_owned();
    }
    cost_text(money(result).as_ref())
}

/// What a cell took; an outside agent, which pays whom it asks itself, costs nothing here.
fn money(result: &CellResult) -> Option<Spending> {
    let money = result.money.clone();
    if !result.cell.agent.is_outside() {
        return money;
    }
    Some(Spending {
        cost: Some(Cost::default()),
        ..money.unwrap_or_default()
    })
}

/// The sums of the agents that are asked over a network, and of all of them.
struct Sums<'a> {
    agents: BTreeMap<&'a str, (usize, Spending)>,
    all: Spending,
}

impl<'a> Sums<'a> {
    fn of(results: &'a [CellResult]) -> Self {
        let mut sums = Self {
            agents: BTreeMap::new(),
            all: Spending::nothing(),
        };
        let asked = results.iter().filter(|result| !result.cell.agent.is_ours());
        for result in asked {
            let money = money(result).unwrap_or_default();
            let (cells, sum) = sums
                .agents
                .entry(&result.cell.agent.id)
                .or_insert_with(|| (0, Spending::nothing()));
            *cells += 1;
            sum.add(&money);
            sums.all.add(&money);
        }
        sums
    }
}

/// Cost and tokens by agent, laid out to fit, and how the budget stands; empty when every agent is a built-in one.
#[must_use]
pub fn text(results: &[CellResult], budget: Option<&Budget>, layout: Layout<'_>) -> String {
    use Align::{Left, Right};
    let sums = Sums::of(results);
    if sums.agents.is_empty() {
        return String::new();
    }
    let columns = [
        ("agent", Left, 0),
        ("cells", Right, 1),
        ("tokens in", Right, 1),
        ("cached", Right, 2),
        ("out", Right, 1),
        ("paid", Right, 1),
        ("uncounted replies, at most", Right, 3),
        ("lost replies, at most", Right, 3),
        ("cost", Right, 0),
        ("vendor says", Right, 4),
    ];
    let mut table = Table::with_columns(columns.map(Column::from));
    for (id, (cells, sum)) in &sums.agents {
        table.row(row(id, *cells, sum));
    }
    if 1 < sums.agents.len() {
        let cells = sums.agents.values().map(|(cells, _)| cells).sum();
        table.row(row("all", cells, &sums.all));
    }
    let mut text = format!("\n{}", table.render_in(layout));
    text.push_str(&notes(&sums.all));
    if let Some(budget) = budget {
        for (scope, cap) in budget.scopes() {
            let spent = budget.account(&scope).spent;
            // Writing to a string cannot fail.
            writeln!(text, "budget of {scope}: {spent} of {cap} counted").ok();
        }
    }
    text
}

fn row(id: &str, cells: usize, sum: &Spending) -> Vec<String> {
    let tokens = &sum.tokens;
    let output = tokens.visible_output.saturating_add(tokens.reasoning_output);
    let amounts = sum.cost.map_or_else(
        || ["unknown"; 3].map(str::to_owned),
        |cost| {
            [
                cost.paid_picodollars,
                cost.incomplete_picodollars,
                cost.unknown_picodollars,
            ]
            .map(|amount| amount.to_string())
        },
    );
    let vendor = sum
        .vendor_cost
        .map_or_else(|| "-".to_owned(), |vendor| vendor.picodollars.to_string());
    let counts = [tokens.input(), tokens.cache_read, output].map(shown);
    let mut cells = vec![id.to_owned(), cells.to_string()];
    cells.extend(counts);
    cells.extend(amounts);
    cells.extend([cost_text(Some(sum)), vendor]);
    cells
}

/// A count with its thousands apart.
#[must_use]
pub fn shown(count: u64) -> String {
    usize::try_from(count).map_or_else(|_| count.to_string(), grouped)
}

fn notes(sum: &Spending) -> String {
    let gaps = sum.vendor_cost.map_or(0, |vendor| vendor.gaps);
    let unbounded = sum.cost.map_or(0, |cost| cost.unbounded_sends);
    let estimated = sum.cost.map_or(0, |cost| cost.estimated_sends);
    let facts = [
        (
            sum.sends.incomplete,
            "uncounted replies came without token counts: their cost is an upper bound",
        ),
        (
            sum.sends.unknown,
            "requests may have been charged though no reply is recorded: the cost of these lost replies is an upper bound",
        ),
        (
            unbounded,
            "of these have no most, for `max_output_tokens` is not set: they are in no sum",
        ),
        (
            estimated,
            "replies were priced at a price that the table leaves out",
        ),
        (
            gaps,
            "replies cost more than 1 % more or less by the vendor's own figure",
        ),
    ];
    let mut notes = String::new();
    for (count, what) in facts.into_iter().filter(|(count, _)| 0 < *count) {
        // Writing to a string cannot fail.
        writeln!(notes, "note: {count} {what}").ok();
    }
    notes
}

/// What was spent, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MoneyDocument {
    /// By agent that is asked over a network.
    agents: BTreeMap<String, AgentMoney>,
    /// Over the experiment.
    experiment: Spending,
    /// Each cap of the budget, with what is spent of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Vec<SpentCap>>,
}

/// What an agent spent.
#[derive(Debug, JsonSchema, Serialize)]
struct AgentMoney {
    cells: usize,
    money: Spending,
}

/// A cap and what is spent of it.
#[derive(Debug, JsonSchema, Serialize)]
struct SpentCap {
    scope: String,
    cap_picodollars: Picodollars,
    spent_picodollars: Picodollars,
}

impl MoneyDocument {
    /// What cells spent, and how the budget stands.
    #[must_use]
    pub fn of(results: &[CellResult], budget: Option<&Budget>) -> Self {
        let Sums { agents, all } = Sums::of(results);
        let agents = agents.into_iter();
        let caps = |budget: &Budget| {
            let scopes = budget.scopes().into_iter();
            let caps = scopes.map(|(scope, cap)| SpentCap {
                scope: scope.to_string(),
                cap_picodollars: cap,
                spent_picodollars: budget.account(&scope).spent,
            });
            caps.collect()
        };
        Self {
            agents: agents
                .map(|(id, (cells, money))| (id.to_owned(), AgentMoney { cells, money }))
                .collect(),
            experiment: all,
            budget: budget.map(caps),
        }
    }
}
