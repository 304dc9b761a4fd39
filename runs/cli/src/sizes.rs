//! `ktd sizes`.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::Args;
use ktd_board::size_table::{SizeOptions, sizes};
use serde_json::json;
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd sizes --quick              # some two minutes
  ktd sizes --seed 7 --json      # 4,000 boards a row, other shocks";

/// Shows how often a board is wrong about agents without skill: tests, intervals, pairs and ranks, design by design.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct SizesArgs {
    /// 400 boards a row instead of 4,000.
    #[arg(long)]
    quick: bool,
    /// The seed of all shocks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when standard output is gone.
pub(super) fn run(args: &SizesArgs, console: Console) -> Result<(), CliError> {
    let designs = u64::try_from(ktd_board::size_table::designs()).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "planting", designs, "designs"));
    let options = SizeOptions {
        boards: if args.quick { 400 } else { 4_000 },
        replicates: 399,
        seed: args.seed,
        threads: ktd_io::parallel::available_threads(),
    };
    let report = sizes(options, &|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    });
    drop(bar);
    console.result(&report.table().text_in(console.layout()), &json!(report))
}
