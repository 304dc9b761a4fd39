//! The profile `qlib`: a Qlib data directory, a JSON config and a CSV of orders or scores in, three CSVs out.

mod config;
mod instructions;
mod output;
mod panel;

use crate::SimulateError;
use ktd_qlib::{Instructions, QlibConfig, QlibPanel, QlibRun, simulate};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Paths of a run.
#[derive(Debug, Clone)]
pub struct QlibInputs {
    /// The JSON config.
    pub config: PathBuf,
    /// A Qlib data directory: `calendars/`, `features/`, `instruments/`.
    pub panel: PathBuf,
    /// What to trade.
    pub instructions: QlibInstructions,
    /// Directory to write to; made when it is not there, files of the same name are replaced.
    pub out: PathBuf,
}

/// What to trade, a CSV, plain or gzipped.
#[derive(Debug, Clone)]
pub enum QlibInstructions {
    /// Columns `date`, `symbol`, `side`, `shares`; others are not read.
    Orders(PathBuf),
    /// Columns `date`, `symbol`, `score`; others are not read.
    Signal(PathBuf),
}

/// The inputs of a run, read.
#[derive(Debug)]
pub struct LoadedQlib {
    /// The settings.
    pub config: QlibConfig,
    /// What the data directory holds.
    pub panel: QlibPanel,
    /// What to trade.
    pub instructions: Instructions,
    /// Bins of the universe that the run reads but the directory does not have.
    pub n_missing_bins: usize,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QlibSummary {
    /// Days traded.
    pub days: usize,
    /// Orders made.
    pub orders: usize,
    /// Orders of which something was dealt.
    pub filled: usize,
    /// Net asset value at the end, yuan.
    pub final_account: f64,
    /// Least cash at the end of a day, yuan.
    pub min_cash: f64,
    /// Most instruments held at the end of a day.
    pub max_positions: usize,
    /// Whether a missing factor turned lot rounding off for all instruments.
    pub trade_with_adjusted_price: bool,
    /// Orders dated outside the trading days of the run, which were not made.
    pub orders_outside: usize,
    /// Bins of the universe that the run reads but the directory does not have: their values are missing.
    pub missing_bins: usize,
}

/// Reads the inputs, runs them through Qlib's rules and writes `fills.csv`, `daily.csv` and `final_positions.csv`.
///
/// The files appear whole or not at all: they are written under other names and then renamed.
///
/// # Errors
/// [`SimulateError`] for the first input, step or output at fault. Nothing is written before the run is done.
pub fn simulate_qlib(inputs: &QlibInputs) -> Result<QlibSummary, SimulateError> {
    let loaded = load_qlib(inputs)?;
    let run = simulate(&loaded.panel, &loaded.config, &loaded.instructions)
        .map_err(|error| SimulateError::input(&error, error.hint()))?;
    output::write(&inputs.out, &run)?;
    Ok(summary(&run, loaded.n_missing_bins))
}

/// Reads the inputs and runs nothing.
///
/// # Errors
/// [`SimulateError`] for the first input at fault.
pub fn load_qlib(inputs: &QlibInputs) -> Result<LoadedQlib, SimulateError> {
    let config = config::read(&inputs.config)?;
    let instructions = instructions::read(&inputs.instructions)?;
    let loaded = panel::read(&inputs.panel, &config)?;
    Ok(LoadedQlib {
        config,
        panel: loaded.panel,
        instructions,
        n_missing_bins: loaded.n_missing_bins,
    })
}

fn summary(run: &QlibRun, missing_bins: usize) -> QlibSummary {
    let days = || run.daily.iter();
    QlibSummary {
        days: run.daily.len(),
        orders: run.fills.len(),
        filled: run.fills.iter().filter(|fill| 0.0 < fill.value).count(),
        final_account: run.daily.last().map_or(f64::NAN, |day| day.metrics.account),
        min_cash: days().map(|day| day.metrics.cash).fold(f64::INFINITY, f64::min),
        max_positions: days().map(|day| day.n_positions).max().unwrap_or(0),
        trade_with_adjusted_price: run.trade_with_adjusted_price,
        orders_outside: run.n_orders_outside,
        missing_bins,
    }
}
