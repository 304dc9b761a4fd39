//! `ktd diff A B`.

use super::attribute::selections;
use super::given::{kind_in, not_a_study};
use super::study;
use crate::CliError;
use crate::output::{Console, visible_lines};
use clap::Args;
use ktd_bundle::book_difference::{BookDifference, StepDifference};
use ktd_view::table::{Align, Column, Layout, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  ktd diff results/first results/second # two studies of one kind
  ktd replay BUNDLE --branch 3 --out DIR --rule 'max_positions = 9'
  ktd diff BUNDLE DIR                   # where the branch parts, and what that came to
  ktd diff results/try/cells/A results/try/cells/B --json";

/// Show how two studies of one kind differ: settings, units and results; or two books of one window: orders, fills and NAV of
/// each step, and what that came to.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct DiffArgs {
    /// The folder of a study, or a bundle with its private part.
    first: PathBuf,
    /// Another one, such as a branch of it.
    second: PathBuf,
    /// The panel, when it is no longer where the bundles were made.
    #[arg(long)]
    panel: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when the bundles do not compare or cannot be read.
pub(super) fn run(args: &DiffArgs, console: Console) -> Result<(), CliError> {
    let folders = [args.first.as_path(), args.second.as_path()];
    match [kind_in(folders[0])?, kind_in(folders[1])?] {
        [Some(kind), Some(_)] => {
            let difference = kind.difference(folders)?;
            return study::show_value(&difference.report(), &difference, console);
        }
        [None, None] => {}
        [Some(_), None] => return Err(not_a_study(folders[1])),
        [None, Some(_)] => return Err(not_a_study(folders[0])),
    }
    let difference = BookDifference::of(&args.first, &args.second)?;
    let bundles = [args.first.clone(), args.second.clone()];
    let selection = selections(&bundles, args.panel.as_deref());
    let mut text = head(&difference);
    text.push_str(&steps(&difference.differing, console.layout()));
    text.push_str(&end(&difference));
    let document = match &selection {
        Ok([first, second]) => {
            // Writing to a string cannot fail.
            writeln!(
                text,
                "selection: {} and {}, a difference of {}",
                percent(*first),
                percent(*second),
                percent(second - first)
            )
            .ok();
            BookSelection::Known {
                values: [*first, *second],
                difference: second - first,
            }
        }
        Err(error) => {
            writeln!(text, "selection: n/a, {}", visible_lines(error.message())).ok();
            BookSelection::Unknown {
                reason: error.message().to_owned(),
            }
        }
    };
    let document = ComparedBooks {
        difference,
        selection: document,
    };
    console.result(&text, &document)
}

/// Two books of one window.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ComparedBooks {
    difference: BookDifference,
    selection: BookSelection,
}

/// What was selected in two books.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
enum BookSelection {
    /// By how much they differ.
    Known { values: [f64; 2], difference: f64 },
    /// Why it is not known.
    Unknown { reason: String },
}

fn head(difference: &BookDifference) -> String {
    let [first, second] = &difference.cells;
    let change = difference.change.as_ref();
    let change = change.map_or_else(String::new, |change| {
        format!("changed: {}\n", visible_lines(change))
    });
    format!("A {first}\nB {second}\n{change}")
}

fn steps(steps: &[StepDifference], layout: Layout<'_>) -> String {
    if steps.is_empty() {
        return String::new();
    }
    // Both sides of a comparison stay, or neither.
    let columns = [
        ("step", Align::Right, 0),
        ("orders of A alone", Align::Left, 0),
        ("orders of B alone", Align::Left, 0),
        ("fills A", Align::Right, 3),
        ("fills B", Align::Right, 3),
        ("NAV A", Align::Right, 2),
        ("NAV B", Align::Right, 2),
        ("B - A", Align::Right, 0),
    ];
    let mut table = Table::with_columns(columns.map(Column::from));
    for step in steps {
        let [a, b] = &step.marks;
        let [of_a, of_b] = &step.orders;
        let orders = |orders: &[String]| visible_lines(&orders.join("; "));
        table.row([
            step.step.to_string(),
            orders(of_a),
            orders(of_b),
            a.filled.to_string(),
            b.filled.to_string(),
            cny(a.nav_fen),
            cny(b.nav_fen),
            cny(step.nav_difference_fen),
        ]);
    }
    table.render_in(layout)
}

fn end(difference: &BookDifference) -> String {
    let [first, second] = difference.final_nav_fen.map(cny);
    let parts = difference.first_step.map_or_else(
        || "the books are the same".to_owned(),
        |step| {
            format!(
                "the books part at step {step} and differ in {} of {}",
                difference.differing.len(),
                difference.steps
            )
        },
    );
    format!(
        "{parts}\nNAV after step {}: {first} and {second}, a difference of {} CNY\n",
        difference.steps,
        cny(difference.final_nav_difference_fen)
    )
}

/// Fen as CNY with two decimals.
fn cny(fen: i64) -> String {
    let sign = if fen < 0 { "-" } else { "" };
    let fen = fen.unsigned_abs();
    format!("{sign}{}.{:02}", fen / 100, fen % 100)
}

fn percent(value: f64) -> String {
    format!("{:+.3} %", value * 100.0)
}
