//! `ktd vendors`: the table of dialects.

use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_agents::{Dialect, DialectTable, JsonFormat, Pinned};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::provider::builtin_table;
use ktd_view::table::{Align, Layout, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ktd vendors                   # what each vendor accepts; what nobody confirmed is marked ?
  ktd vendors deepseek          # one vendor whole, with addresses and notes
  ktd vendors --json            # the rows, in the form that [[dialects]] of an experiment takes";

/// Show the vendors that are known and what each accepts; what no document or recording confirms is marked `?`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VendorsArgs {
    /// One vendor, whole.
    vendor: Option<String>,
    /// An experiment whose own `[[dialects]]` are to be shown too.
    #[arg(long)]
    experiment: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a vendor that there is not, and an experiment file that is none.
pub(super) fn run(args: &VendorsArgs, console: Console) -> Result<(), CliError> {
    let table = match &args.experiment {
        Some(path) => ExperimentConfig::read(path)?.dialect_table()?,
        None => builtin_table()?,
    };
    let Some(id) = &args.vendor else {
        return console.result(
            &overview(&table, console.layout()),
            &Vendors {
                dialects: table.rows(),
            },
        );
    };
    let row = table.find(id).ok_or_else(|| {
        let known: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
        CliError::invalid(format_args!("there is no vendor {id:?}"))
            .with_hint(format!("it is one of {}", known.join(", ")))
    })?;
    let dialects = std::slice::from_ref(row);
    console.result(&whole(row), &Vendors { dialects })
}

/// Vendors, in the form that `[[dialects]]` of an experiment takes.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Vendors<'v> {
    dialects: &'v [Dialect],
}

/// A cell with `?` behind what is unverified under any of these keys.
fn cell(row: &Dialect, keys: &[&str], text: String) -> String {
    let is_unverified = row.unverified.iter().any(|key| {
        let head = key.split('.').next().unwrap_or(key);
        keys.contains(&key.as_str()) || keys.contains(&head)
    });
    if is_unverified { format!("{text}?") } else { text }
}

fn force(row: &Dialect) -> String {
    let plain = row.force.plain.map_or("-", |level| level.label());
    cell(row, &["force"], format!("{}/{plain}", row.force.thinking))
}

fn json_format(row: &Dialect) -> String {
    let format = match row.json {
        JsonFormat::None => "none",
        JsonFormat::Object => "object",
        JsonFormat::StrictSchema => "strict schema",
        JsonFormat::Schema => "schema",
    };
    cell(row, &["json"], format.to_owned())
}

fn temperature(row: &Dialect) -> String {
    let limits = row.temperature;
    let open = if limits.min_excluded { '(' } else { '[' };
    let close = if limits.max_excluded { ')' } else { ']' };
    let range = format!("{open}{}, {}{close}", limits.min, limits.max);
    let pinned = match limits.pinned {
        Pinned::Never => "",
        Pinned::WhileThinking => ", own while thinking",
        Pinned::Always => ", own always",
    };
    cell(row, &["temperature"], format!("{range}{pinned}"))
}

fn thinking(row: &Dialect) -> String {
    let switch = &row.thinking;
    let default = if switch.by_default { "on" } else { "off" };
    let ways = match (switch.on.is_some(), switch.off.is_some()) {
        (true, true) => ", both ways",
        (true, false) => ", can go on",
        (false, true) => ", can go off",
        (false, false) => ", no switch",
    };
    cell(row, &["thinking"], format!("{default}{ways}"))
}

fn returns(row: &Dialect) -> String {
    let text = if row.reasoning.must_return { "yes" } else { "no" };
    cell(row, &["reasoning"], text.to_owned())
}

fn seed(row: &Dialect) -> String {
    let wires = row.endpoints.iter().filter_map(|endpoint| row.on(endpoint.wire));
    let seeds: Vec<bool> = wires.map(|row| row.seed).collect();
    let text = match (seeds.contains(&true), seeds.contains(&false)) {
        (true, true) => "some wires",
        (true, false) => "best effort",
        _ => "no",
    };
    cell(row, &["seed"], text.to_owned())
}

fn unverified(row: &Dialect) -> String {
    if row.unverified.is_empty() {
        "nothing".to_owned()
    } else {
        row.unverified.join(", ")
    }
}

fn overview(table: &DialectTable, layout: Layout<'_>) -> String {
    let mut shown = Table::new(
        &[
            "vendor",
            "wires",
            "force thinking/not",
            "JSON",
            "temperature",
            "seed",
            "thinking",
            "reasoning returns",
        ]
        .map(|head| (head, Align::Left)),
    );
    for row in table.rows() {
        let wires: Vec<&str> = row
            .endpoints
            .iter()
            .map(|endpoint| endpoint.wire.label())
            .collect();
        shown.row([
            row.id.clone(),
            wires.join(" "),
            force(row),
            json_format(row),
            temperature(row),
            seed(row),
            thinking(row),
            returns(row),
        ]);
    }
    let mut text = shown.render_in(layout);
    text.push_str(
        "\n? no document, error text or recorded reply confirms it: probe before relying on it\n\
         F0 named call, F1 some call, F2 free choice of one tool, F3 JSON object, F4 text\n",
    );
    text
}

fn whole(row: &Dialect) -> String {
    let mut text = format!("{} ({})\n", row.name, row.id);
    for endpoint in &row.endpoints {
        let url = if endpoint.base_url.is_empty() {
            "where you run it"
        } else {
            &endpoint.base_url
        };
        // Writing to a string cannot fail.
        writeln!(text, "  {}: {url}", endpoint.wire.label()).ok();
        for (region, url) in &endpoint.other_urls {
            writeln!(text, "    region {region}: {url}").ok();
        }
    }
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (what, value) in [
        ("  force while thinking/not", force(row)),
        ("  JSON format", json_format(row)),
        ("  temperature", temperature(row)),
        ("  seed", seed(row)),
        ("  thinking by default", thinking(row)),
        ("  reasoning must return", returns(row)),
        ("  tokens", cell(row, &["usage"], row.usage.law.clone())),
        ("  unverified", unverified(row)),
    ] {
        table.row([what.to_owned(), value]);
    }
    text.push_str(&table.render());
    for note in &row.notes {
        writeln!(text, "  note: {note}").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unverified_is_marked_and_nothing_else() {
        let table = builtin_table().unwrap();
        let row = |id: &str| table.find(id).unwrap();
        assert_eq!(force(row("doubao")), "F2/F2?");
        assert_eq!(force(row("deepseek")), "F2/F0");
        assert_eq!(force(row("minimax")), "F2/-?");
        assert_eq!(temperature(row("qwen")), "[0, 2)");
        assert!(thinking(row("doubao")).ends_with('?'));
        assert_eq!(seed(row("openai")), "some wires");
        for row in table.rows() {
            assert!(overview(&table, Layout::default()).contains(&row.id) && whole(row).contains(&row.name));
        }
    }
}
