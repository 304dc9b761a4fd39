//! `ktd simulate`.

use super::data_import::BasisArg;
use crate::CliError;
use crate::output::Console;
use crate::progress::ImportBar;
use clap::Args;
use ktd_io::whole_file::{IfExists, check_writable};
use ktd_simulate::ktd::{LimitOpens, SimulateOptions, SimulateSummary, simulate};
use ktd_simulate::qlib::{QlibInputs, QlibInstructions, QlibSummary, simulate_qlib};
use ktd_simulate::{MissedStock, Profile, read_profile};
use ktd_view::draw::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:
  ktd simulate --panel panel.csv.gz --basis adjusted --universe universe.csv \\
      --orders orders.jsonl.gz --config config.json --out results/

The order file has one JSON line a day: {\"date\": \"2024-04-01\", \"orders\": [{\"symbol\": \"SH600519\", \
\"side\": \"BUY\", \"shares\": 100, \"confidence\": 0.7, \"reason\": \"why, in a sentence\"}]}. \
The configuration holds window_start, window_end and any rule of the exchange.

With \"profile\": \"qlib\" in the configuration the rules are Qlib's own: --panel is a Qlib directory, and the \
orders (or, with --signal, the scores of a TopkDropout strategy) are a CSV file.";

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
    /// Orders.
    #[arg(
        long,
        value_name = "F",
        required_unless_present = "signal",
        conflicts_with = "signal"
    )]
    orders: Option<PathBuf>,
    /// Scores by day and symbol; profile qlib only.
    #[arg(long, value_name = "F")]
    signal: Option<PathBuf>,
    /// Window and rules, JSON [default: all days, default rules].
    #[arg(long, value_name = "C")]
    config: Option<PathBuf>,
    /// Directory for the results.
    #[arg(long, value_name = "D")]
    out: PathBuf,
    /// Replace the files of an earlier run.
    #[arg(long)]
    force: bool,
}

/// Runs an order file, or scores, through the profile that the configuration names.
pub(super) fn run(args: &SimulateArgs, console: Console) -> Result<(), CliError> {
    match read_profile(args.config.as_deref())? {
        Profile::Ktd => run_ktd(args, console),
        Profile::Qlib => run_qlib(args, console),
    }
}

fn run_ktd(args: &SimulateArgs, console: Console) -> Result<(), CliError> {
    let orders = args.orders.clone().ok_or_else(|| {
        CliError::invalid("--signal belongs to profile qlib; profile ktd takes --orders")
            .with_hint("set \"profile\": \"qlib\" in the configuration, or pass --orders")
    })?;
    let options = SimulateOptions {
        panel: args.panel.clone(),
        basis: args.basis.map(BasisArg::basis),
        universe: args.universe.clone(),
        orders,
        config: args.config.clone(),
        out: args.out.clone(),
        overwrite: IfExists::refused_unless(args.force),
    };
    let summary = simulate(&options, &mut ImportBar::new(console))?;
    let LimitOpens { left, sealed, beyond } = summary.limit_opens;
    let mut text = format!(
        "{} trading days, {} fills, {} rejected orders, NAV {}.{:02} yuan\n\
         opens at the limit of an order's side: {} that the price left, {} sealed, {} beyond it\nresults in {}",
        summary.days,
        grouped(summary.fills),
        grouped(summary.rejected),
        summary.nav_fen / 100,
        summary.nav_fen % 100,
        grouped(left),
        grouped(sealed),
        grouped(beyond),
        args.out.display()
    );
    text.push_str(&unknown_text(&summary));
    let value = Simulated {
        summary,
        out: args.out.display().to_string(),
    };
    console.result(if console.quiet { "" } else { &text }, &value)
}

/// Which stocks of orders the panel does not have, and what they may have meant; nothing where it has all.
fn unknown_text(summary: &SimulateSummary) -> String {
    const SHOWN: usize = 5;
    let unknown = &summary.unknown_symbols;
    if unknown.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = unknown.iter().take(SHOWN).map(MissedStock::text).collect();
    if SHOWN < unknown.len() {
        shown.push("...".to_owned());
    }
    let orders: usize = unknown.iter().map(|symbol| symbol.orders).sum();
    format!(
        "\nnot among the {} of the panel, so that {} rejected: {}",
        counted(summary.stocks, "stock"),
        if orders == 1 {
            "1 order was".to_owned()
        } else {
            format!("{} orders were", grouped(orders))
        },
        shown.join(", ")
    )
}

/// Orders that were played.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Simulated {
    #[serde(flatten)]
    summary: SimulateSummary,
    /// The folder of the results.
    out: String,
}

/// Orders that were played as Qlib plays them.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct SimulatedQlib {
    #[serde(flatten)]
    summary: QlibSummary,
    /// The folder of the results.
    out: String,
}

fn run_qlib(args: &SimulateArgs, console: Console) -> Result<(), CliError> {
    if args.basis.is_some() || args.universe.is_some() {
        return Err(CliError::invalid(
            "--basis and --universe belong to profile ktd; a Qlib directory says both itself",
        )
        .with_hint("drop the two options"));
    }
    for name in ["fills.csv", "daily.csv", "final_positions.csv"] {
        if args.out.is_dir() {
            check_writable(&args.out.join(name), IfExists::refused_unless(args.force))?;
        }
    }
    let (Some(config), Some(instructions)) = (&args.config, instructions(args)) else {
        return Err(CliError::invalid(
            "profile qlib needs --config and --orders or --signal",
        ));
    };
    let inputs = QlibInputs {
        config: config.clone(),
        panel: args.panel.clone(),
        instructions,
        out: args.out.clone(),
    };
    let summary = simulate_qlib(&inputs)?;
    let mut text = format!(
        "{} trading days, {} orders of which {} dealt, account {:.2} yuan\nresults in {}",
        summary.days,
        grouped(summary.orders),
        grouped(summary.filled),
        summary.final_account,
        args.out.display()
    );
    if summary.orders_outside > 0 {
        text.push_str("\norders dated outside the run's days, not made: ");
        text.push_str(&grouped(summary.orders_outside));
    }
    if summary.trade_with_adjusted_price {
        text.push_str("\na factor is missing somewhere: as in Qlib, lots are rounded for no instrument");
    }
    let value = SimulatedQlib {
        summary,
        out: args.out.display().to_string(),
    };
    console.result(if console.quiet { "" } else { &text }, &value)
}

fn instructions(args: &SimulateArgs) -> Option<QlibInstructions> {
    let signal = args.signal.clone().map(QlibInstructions::Signal);
    signal.or_else(|| args.orders.clone().map(QlibInstructions::Orders))
}
