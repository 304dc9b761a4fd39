//! The profile `qlib`: a Qlib data directory, a JSON config and a CSV of orders or scores in, three CSVs out.

mod config;
mod instructions;
mod output;
mod panel;

use ktd_io::FileError;
use ktd_io::whole_file::read_input_bytes;
use ktd_qlib::{
    DuplicateScore, Instructions, QlibConfig, QlibDataError, QlibPanel, QlibRun, SimulationError, simulate,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

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

/// A run that failed.
#[derive(Debug, Error)]
pub enum QlibSimulateError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(FileError),
    /// The config is not JSON of the layout.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A directory is no Qlib data directory.
    #[error("{} is no Qlib data directory: it has no {missing}", path.display())]
    NotAPanel {
        /// The directory.
        path: PathBuf,
        /// What it lacks.
        missing: &'static str,
    },
    /// A file of the data directory is broken.
    #[error("{}: {source}", path.display())]
    Panel {
        /// The directory.
        path: PathBuf,
        /// Which file, and why.
        source: QlibDataError,
    },
    /// A CSV cannot be parsed.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: csv::Error,
    },
    /// A CSV lacks a column.
    #[error("{} has no column `{column}`", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A cell of a CSV cannot be used.
    #[error("{} line {line}: `{column}` was `{value}`, not {needs}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Line, from one.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stood there.
        value: String,
        /// What belongs there.
        needs: &'static str,
    },
    /// A signal scores an instrument twice on a day.
    #[error("{} line {line}: {source}", path.display())]
    Score {
        /// The file.
        path: PathBuf,
        /// Line of the second score, from one.
        line: u64,
        /// Which.
        source: DuplicateScore,
    },
    /// The run cannot be made, or broke off where Qlib would.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A result cannot be written.
    #[error(transparent)]
    Write(FileError),
}

impl QlibSimulateError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Read(_) => "check the path and its permissions",
            Self::Config { .. } => "see docs/qlib-profile.md for the settings; all of them are needed",
            Self::NotAPanel { .. } => {
                "point `--panel` at the directory that holds calendars/, features/ and instruments/"
            }
            Self::Panel { source, .. } => source.hint(),
            Self::Csv { .. } => "the file must be CSV with a header, plain or gzipped",
            Self::Column { .. } => {
                "orders need `date`, `symbol`, `side`, `shares`; signals need `date`, `symbol`, `score`"
            }
            Self::Cell { .. } => "fix the cell; nothing was run",
            Self::Score { .. } => "keep one score a day for each instrument",
            Self::Simulation(error) => error.hint(),
            Self::Write(_) => "check that `--out` is a directory you may write to",
        }
    }
}

/// Reads the inputs, runs them through Qlib's rules and writes `fills.csv`, `daily.csv` and `final_positions.csv`.
///
/// The files appear whole or not at all: they are written under other names and then renamed.
///
/// # Errors
/// [`QlibSimulateError`] for the first input, step or output at fault. Nothing is written before the run is done.
pub fn simulate_qlib(inputs: &QlibInputs) -> Result<QlibSummary, QlibSimulateError> {
    let loaded = load_qlib(inputs)?;
    let run = simulate(&loaded.panel, &loaded.config, &loaded.instructions)?;
    output::write(&inputs.out, &run)?;
    Ok(summary(&run, loaded.n_missing_bins))
}

/// Reads the inputs and runs nothing.
///
/// # Errors
/// [`QlibSimulateError`] for the first input at fault.
pub fn load_qlib(inputs: &QlibInputs) -> Result<LoadedQlib, QlibSimulateError> {
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

fn read_file(path: &Path) -> Result<Vec<u8>, QlibSimulateError> {
    read_input_bytes(path).map_err(QlibSimulateError::Read)
}
