//! `ktd data factors`: rows to train predictors on.

use crate::CliError;
use crate::output::Console;
use crate::trading_day::read_day;
use clap::Args;
use ktd_data::factor_file::{LABEL, factor_file};
use ktd_data::load_panel;
use ktd_data::training_rows::training_rows;
use ktd_env::{DateSpan, TradeDate};
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_view::table::grouped;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:
  ktd data factors csi300.ktdp --out factors.parquet --end 2026-04-10

One row a member of the index and day: `date`, `code`, the nine factors of the screen as they are known at that day's close, \
their z-scores (`MOM_12_1_Z`), and `future_return`, which is NOT known at that day: the return from the open of the next trading \
day to the open of the day after it. Train on it, and never use it as a feature.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct FactorsArgs {
    /// The panel file.
    panel: PathBuf,
    /// The Parquet file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// First day to write [default: the first that has enough history].
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    start: Option<TradeDate>,
    /// Last day to write.
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    end: Option<TradeDate>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Writes the factors of a panel.
pub(super) fn run(args: &FactorsArgs, console: Console) -> Result<(), CliError> {
    let overwrite = IfExists::refused_unless(args.force);
    check_writable(&args.out, overwrite)?;
    let market = load_panel(&args.panel)?;
    let span = DateSpan {
        start: args.start.unwrap_or(DateSpan::ALWAYS.start),
        end: args.end.unwrap_or(DateSpan::ALWAYS.end),
    };
    let rows = training_rows(&market, &span)?;
    let bytes = factor_file(&market, &rows)?;
    write_file(&args.out, &bytes, overwrite, Durability::Synced)?;
    let out = args.out.display().to_string();
    let labelled = rows.iter().filter(|row| row.future_return.is_some()).count();
    let text = format!(
        "{out}: {} rows, {} of them with the label `{LABEL}`, which is the future of its row",
        grouped(rows.len()),
        grouped(labelled),
    );
    let value = WrittenFactors {
        factors: out,
        rows: rows.len(),
        labelled,
        bytes: bytes.len(),
    };
    console.result(if console.quiet { "" } else { &text }, &value)
}

/// Rows to train on.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct WrittenFactors {
    /// The file.
    factors: String,
    rows: usize,
    /// Rows with the return that followed.
    labelled: usize,
    bytes: usize,
}
