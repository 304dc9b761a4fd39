//! `ktd sizes`.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use ktd_board::size_table::{SizeOptions, sizes};
use ktd_factor_study::{factor_size_designs, factor_sizes};
use ktd_formula_study::{alpha_size_designs, alpha_sizes};
use ktd_leakage_study::{leak_size_designs, leak_sizes};
use ktd_strategy_study::{strategy_size_designs, strategy_sizes};
use ktd_view::draw::TableData;
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd sizes --quick              # some two minutes
  ktd sizes --of factor-code     # of the report on factor functions that models wrote
  ktd sizes --of strategy-code   # of the report on strategies that models wrote and reviewed
  ktd sizes --of alpha           # of the report on pools of formulas
  ktd sizes --of leak            # of `ktd leak run` and of the audit of signals
  ktd sizes --seed 7 --json      # 4,000 boards a row, other shocks";

/// Whose conclusions are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SizesOf {
    /// A board of agents.
    Board,
    /// A report on factor code.
    FactorCode,
    /// A report on strategy code.
    StrategyCode,
    /// A report on pools of formulas.
    Alpha,
    /// A report of leakage gains, and the audit of signals.
    Leak,
}

/// Shows how often a board, or a report, is wrong about what is planted: tests, intervals, pairs, ranks and flags, design by design.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct SizesArgs {
    /// Whose conclusions.
    #[arg(long, value_enum, default_value = "board")]
    of: SizesOf,
    /// 400 boards, reports or draws a row instead of 4,000.
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
    let count = if args.quick { 400 } else { 4_000 };
    let designs = match args.of {
        SizesOf::Board => ktd_board::size_table::designs(),
        SizesOf::FactorCode => factor_size_designs(),
        SizesOf::StrategyCode => strategy_size_designs(),
        SizesOf::Alpha => alpha_size_designs(),
        SizesOf::Leak => leak_size_designs(),
    };
    let designs = u64::try_from(designs).unwrap_or(u64::MAX);
    let bar = Mutex::new(Some(Progress::new(console, "planting", designs, "designs")));
    let tick = || {
        if let Ok(mut bar) = bar.lock()
            && let Some(bar) = bar.as_mut()
        {
            bar.advance(1);
        }
    };
    let threads = ktd_io::parallel::available_threads();
    let shown = |tables: &[TableData]| {
        if let Ok(mut bar) = bar.lock() {
            bar.take();
        }
        let texts = tables.iter().map(|table| table.text_in(console.layout()));
        texts.collect::<Vec<_>>().join("\n")
    };
    let draws = (count, args.seed);
    match args.of {
        SizesOf::Board => {
            let options = SizeOptions {
                boards: count,
                replicates: 399,
                seed: args.seed,
                threads,
            };
            let report = sizes(options, &tick);
            console.result(&shown(&[report.table()]), &report)
        }
        SizesOf::FactorCode => {
            let report = factor_sizes(draws, threads, &tick);
            console.result(&shown(&[report.table()]), &report)
        }
        SizesOf::StrategyCode => {
            let report = strategy_sizes(draws, threads, &tick);
            console.result(&shown(&[report.table()]), &report)
        }
        SizesOf::Alpha => {
            let report = alpha_sizes(draws, threads, &tick)?;
            console.result(&shown(&[report.table()]), &report)
        }
        SizesOf::Leak => {
            let report = leak_sizes(draws, threads, &tick)?;
            console.result(&shown(&[report.gains_table(), report.audits_table()]), &report)
        }
    }
}
