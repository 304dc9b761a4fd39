//! `ktd simulate`.

use super::data::BasisArg;
use crate::failure::Failure;
use crate::output::{Console, Overwrite, grouped};
use crate::simulate::ktd::{SimulateOptions, simulate};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:
  ktd simulate --panel panel.csv.gz --basis adjusted --universe universe.csv \\
      --orders orders.jsonl.gz --config config.json --out results/

The order file has one JSON line a day: {\"date\": \"2024-04-01\", \"orders\": [{\"symbol\": \"SH600519\",
\"side\": \"BUY\", \"shares\": 100, \"confidence\": 0.7, \"reason\": \"why, in a sentence\"}]}.
The configuration needs window_start and window_end; every other key has a default.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct SimulateArgs {
    /// A panel file, or a source as for `ktd data import`.
    #[arg(long, alias = "data", value_name = "P")]
    panel: PathBuf,
    /// Basis of a source's prices.
    #[arg(long, value_enum)]
    basis: Option<BasisArg>,
    /// Membership for a source [default: every name is a member].
    #[arg(long, value_name = "F")]
    universe: Option<PathBuf>,
    /// Orders, one JSON line a day.
    #[arg(long, value_name = "F")]
    orders: PathBuf,
    /// Window and rules, JSON.
    #[arg(long, value_name = "C")]
    config: PathBuf,
    /// Directory for fills.csv, daily.csv, positions.csv, events.csv.
    #[arg(long, value_name = "D")]
    out: PathBuf,
    /// Replace the files of an earlier run.
    #[arg(long)]
    force: bool,
}

/// Runs an order file.
pub(super) fn run(args: &SimulateArgs, console: Console) -> Result<(), Failure> {
    let options = SimulateOptions {
        panel: args.panel.clone(),
        basis: args.basis.map(BasisArg::basis),
        universe: args.universe.clone(),
        orders: args.orders.clone(),
        config: args.config.clone(),
        out: args.out.clone(),
        overwrite: if args.force {
            Overwrite::Replace
        } else {
            Overwrite::Refuse
        },
    };
    let summary = simulate(&options, console)?;
    let text = format!(
        "{} trading days, {} fills, {} rejected orders, NAV {}.{:02} yuan\nresults in {}",
        summary.days,
        grouped(summary.fills),
        grouped(summary.rejected),
        summary.nav_fen / 100,
        summary.nav_fen % 100,
        args.out.display()
    );
    let value = json!({
        "days": summary.days,
        "fills": summary.fills,
        "rejected": summary.rejected,
        "nav_fen": summary.nav_fen,
        "out": args.out.display().to_string(),
    });
    console.result(if console.quiet { "" } else { &text }, &value)
}
