//! Orders and scores from CSV, plain or gzipped.

use super::QlibInstructions;
use crate::SimulateError;
use chrono::NaiveDate;
use csv::StringRecord;
use flate2::read::MultiGzDecoder;
use ktd_io::FileError;
use ktd_io::whole_file::read_input_bytes;
use ktd_qlib::{Instructions, OrderSize, QlibSide, ScriptedOrder, Signal};
use std::io::Read;
use std::path::Path;

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) fn read(instructions: &QlibInstructions) -> Result<Instructions, SimulateError> {
    match instructions {
        QlibInstructions::Orders(path) => Table::open(path, ["date", "symbol", "side", "shares"])?.orders(),
        QlibInstructions::Signal(path) => Table::open(path, ["date", "symbol", "score"])?.signal(),
    }
}

/// A CSV with the places of the columns that are read.
struct Table<'a, const N: usize> {
    path: &'a Path,
    rows: Vec<StringRecord>,
    columns: [(&'static str, usize); N],
}

/// One cell with where it stands, for the error.
struct Cell<'a> {
    path: &'a Path,
    line: u64,
    column: &'static str,
    text: &'a str,
}

impl<'a, const N: usize> Table<'a, N> {
    fn open(path: &'a Path, names: [&'static str; N]) -> Result<Self, SimulateError> {
        let bad = |error: csv::Error| {
            SimulateError::input(
                format_args!("{}: {error}", path.display()),
                "the file must be CSV with a header, plain or gzipped",
            )
        };
        let text = unzip(path, read_input_bytes(path)?)?;
        let mut reader = csv::Reader::from_reader(text.as_slice());
        let header = reader.headers().map_err(bad)?.clone();
        let mut columns = [("", 0); N];
        for (slot, name) in columns.iter_mut().zip(names) {
            let place = header.iter().position(|column| column == name);
            let missing = || {
                SimulateError::input(
                    format_args!("{} has no column `{name}`", path.display()),
                    "orders need `date`, `symbol`, `side`, `shares`; signals need `date`, `symbol`, `score`",
                )
            };
            *slot = (name, place.ok_or_else(missing)?);
        }
        let rows = reader.into_records().collect::<Result<_, _>>().map_err(bad)?;
        Ok(Self { path, rows, columns })
    }

    /// The cells of each row in the order of the columns asked for.
    fn cells(&self) -> impl Iterator<Item = [Cell<'_>; N]> {
        self.rows.iter().map(|row| {
            let line = row.position().map_or(0, csv::Position::line);
            self.columns.map(|(column, place)| Cell {
                path: self.path,
                line,
                column,
                text: row.get(place).unwrap_or_default().trim(),
            })
        })
    }
}

impl Table<'_, 4> {
    fn orders(&self) -> Result<Instructions, SimulateError> {
        let order = |[date, symbol, side, shares]: [Cell<'_>; 4]| {
            Ok(ScriptedOrder {
                date: date.date()?,
                symbol: symbol.symbol()?.to_owned(),
                side: side.side()?,
                shares: shares.shares()?,
            })
        };
        Ok(Instructions::Orders(
            self.cells().map(order).collect::<Result<_, SimulateError>>()?,
        ))
    }
}

impl Table<'_, 3> {
    fn signal(&self) -> Result<Instructions, SimulateError> {
        let mut signal = Signal::default();
        for [date, symbol, score] in self.cells() {
            signal
                .insert(date.date()?, symbol.symbol()?, score.score()?)
                .map_err(|error| {
                    SimulateError::input(
                        format_args!("{} line {}: {error}", self.path.display(), date.line),
                        "keep one score a day for each instrument",
                    )
                })?;
        }
        Ok(Instructions::Signal(signal))
    }
}

impl Cell<'_> {
    fn date(&self) -> Result<NaiveDate, SimulateError> {
        NaiveDate::parse_from_str(self.text, "%Y-%m-%d").map_err(|_| self.bad("a date such as 2024-01-31"))
    }

    fn symbol(&self) -> Result<&str, SimulateError> {
        if self.text.is_empty() {
            Err(self.bad("a symbol"))
        } else {
            Ok(self.text)
        }
    }

    fn side(&self) -> Result<QlibSide, SimulateError> {
        match self.text {
            "BUY" => Ok(QlibSide::Buy),
            "SELL" => Ok(QlibSide::Sell),
            _ => Err(self.bad("BUY or SELL")),
        }
    }

    fn shares(&self) -> Result<OrderSize, SimulateError> {
        if self.text == "ALL" {
            return Ok(OrderSize::All);
        }
        let shares = self
            .text
            .parse::<f64>()
            .ok()
            .filter(|shares| shares.is_finite() && 0.0 <= *shares);
        shares
            .map(OrderSize::Real)
            .ok_or_else(|| self.bad("ALL or a number of real shares, not below zero"))
    }

    /// An empty cell is a missing score, as pandas reads it.
    fn score(&self) -> Result<f64, SimulateError> {
        if self.text.is_empty() {
            return Ok(f64::NAN);
        }
        self.text.parse().map_err(|_| self.bad("a number"))
    }

    fn bad(&self, needs: &'static str) -> SimulateError {
        let (path, line, column, value) = (self.path.display(), self.line, self.column, self.text);
        SimulateError::input(
            format_args!("{path} line {line}: `{column}` was `{value}`, not {needs}"),
            "fix the cell; nothing was run",
        )
    }
}

fn unzip(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, FileError> {
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes.as_slice())
        .read_to_end(&mut text)
        .map_err(FileError::io("read", path))?;
    Ok(text)
}
