//! Daily bars of any market: a long file without boards, lots or limits, for work that needs prices alone.

use crate::DataFileError;
use crate::columns::{Column, Layout};
use crate::error::empty;
use crate::table_rows::{TableFile, TableRow};
use ktd_env::TradeDate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The columns that are read; the factor is optional.
const COLUMNS: [Column; 8] = [
    Column::Date,
    Column::Symbol,
    Column::Open,
    Column::High,
    Column::Low,
    Column::Close,
    Column::Volume,
    Column::Factor,
];

/// Most cells of a column: a gigabyte of numbers.
const MOST_CELLS: usize = 1 << 27;

/// Daily bars of the names of a long file, adjusted: a column has a cell for each name of the first day, then of the second,
/// NaN where the name has no row or an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub struct BarTable {
    /// Codes as written, ascending.
    pub codes: Vec<String>,
    /// Days with a row of any name, ascending.
    pub days: Vec<TradeDate>,
    /// Open times factor.
    pub open: Vec<f64>,
    /// High times factor.
    pub high: Vec<f64>,
    /// Low times factor.
    pub low: Vec<f64>,
    /// Close times factor.
    pub close: Vec<f64>,
    /// Shares over factor.
    pub volume: Vec<f64>,
}

/// A row: open, high, low, close and volume, adjusted.
type Cells = [f64; 5];

/// Rows of a file on their way into a table.
#[derive(Debug, Default)]
struct ReadRows {
    file: String,
    codes: BTreeMap<String, usize>,
    read: Vec<(TradeDate, usize, Cells)>,
}

impl BarTable {
    /// Reads a Parquet or CSV(.gz) file with the columns `date`, `symbol`, `open`, `high`, `low`, `close`, `volume` and, where
    /// prices are to be adjusted, `factor`: prices are multiplied by it and shares divided by it. Other columns are left
    /// out, and so are days after `until`.
    ///
    /// # Errors
    /// [`DataFileError`] naming the column that is missing, or the row: what is no date or no number, a name twice on a day.
    pub fn read(path: &Path, until: Option<TradeDate>) -> Result<Self, DataFileError> {
        let file = TableFile::open(path)?;
        let layout = Layout::of(file.name(), file.heads())?.only(&COLUMNS);
        let mut rows = ReadRows {
            file: file.name().to_owned(),
            ..ReadRows::default()
        };
        file.read(&layout, |row| rows.add(row))?;
        rows.read
            .retain(|(day, _, _)| until.is_none_or(|until| *day <= until));
        rows.into_table()
    }
}

impl ReadRows {
    fn add(&mut self, row: &TableRow<'_>) -> Result<(), DataFileError> {
        let (day, cells, code) = (row.day()?, adjusted(row)?, row.text(Column::Symbol));
        if code.is_empty() {
            return Err(row.fail("the symbol is missing"));
        }
        let next = self.codes.len();
        let place = match self.codes.get(code) {
            Some(place) => *place,
            None => *self.codes.entry(code.to_owned()).or_insert(next),
        };
        self.read.push((day, place, cells));
        Ok(())
    }

    fn into_table(mut self) -> Result<BarTable, DataFileError> {
        let days: BTreeSet<TradeDate> = self.read.iter().map(|(day, _, _)| *day).collect();
        let days: Vec<TradeDate> = days.into_iter().collect();
        if days.is_empty() {
            return Err(empty(&self.file));
        }
        // Names were numbered as they came; columns go by code.
        let mut order = vec![0; self.codes.len()];
        for (sorted, place) in self.codes.values().enumerate() {
            if let Some(cell) = order.get_mut(*place) {
                *cell = sorted;
            }
        }
        let cells = days.len().saturating_mul(order.len());
        if MOST_CELLS < cells {
            let what = format_args!("{}: {} days of {} names", self.file, days.len(), order.len());
            return Err(DataFileError::input(what, "read fewer names or days"));
        }
        let mut columns = [const { Vec::new() }; 5];
        for column in &mut columns {
            column.resize(cells, f64::NAN);
        }
        self.read.sort_by_key(|(day, place, _)| (*day, *place));
        let mut before = None;
        for (day, place, row) in &self.read {
            if before == Some((day, place)) {
                let code = self.codes.iter().find(|(_, own)| *own == place);
                let code = code.map_or("", |(code, _)| code);
                return Err(DataFileError::input(
                    format_args!("{}: {code} has two rows on {}", self.file, day.reveal()),
                    "remove one of them",
                ));
            }
            before = Some((day, place));
            let session = days.binary_search(day).unwrap_or_default();
            let cell = session * order.len() + order.get(*place).copied().unwrap_or_default();
            for (column, value) in columns.iter_mut().zip(row) {
                if let Some(cell) = column.get_mut(cell) {
                    *cell = *value;
                }
            }
        }
        let [open, high, low, close, volume] = columns;
        Ok(BarTable {
            codes: self.codes.into_keys().collect(),
            days,
            open,
            high,
            low,
            close,
            volume,
        })
    }
}

/// Prices times factor and shares over factor; NaN where a cell is empty.
fn adjusted(row: &TableRow<'_>) -> Result<Cells, DataFileError> {
    let cell = |column| row.float(column).map(|value| value.unwrap_or(f64::NAN));
    let has_factor = row.layout.has(Column::Factor);
    let factor = if has_factor { cell(Column::Factor)? } else { 1.0 };
    Ok([
        cell(Column::Open)? * factor,
        cell(Column::High)? * factor,
        cell(Column::Low)? * factor,
        cell(Column::Close)? * factor,
        cell(Column::Volume)? / factor,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "date,symbol,open,high,low,close,volume,factor\n";

    fn read(text: &str, until: Option<&str>) -> Result<BarTable, DataFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bars.csv");
        std::fs::write(&path, text).unwrap();
        BarTable::read(&path, until.map(|day| TradeDate::parse(day).unwrap()))
    }

    #[test]
    fn names_of_any_market_are_sorted_and_adjusted() {
        let rows =
            "2020-01-03,MSFT,10,12,9,11,100,0.5\n2020-01-02,MSFT,8,8,8,8,50,0.5\n2020-01-03,A,1,2,1,2,7,1\n";
        let table = read(&format!("{HEADER}{rows}"), None).unwrap();
        assert_eq!(table.codes, ["A", "MSFT"]);
        let days: Vec<String> = table.days.iter().map(|day| day.reveal()).collect();
        assert_eq!(days, ["2020-01-02", "2020-01-03"]);
        let bits = |cells: &[f64]| cells.iter().map(|cell| cell.to_bits()).collect::<Vec<u64>>();
        assert!(table.open[0].is_nan());
        assert_eq!(bits(&table.open[1..]), bits(&[4.0, 1.0, 5.0]));
        assert_eq!(bits(&table.volume[1..]), bits(&[100.0, 7.0, 200.0]));
        let until = read(&format!("{HEADER}{rows}"), Some("2020-01-02")).unwrap();
        assert_eq!(until.days.len(), 1);
    }

    #[test]
    fn what_is_no_table_of_bars_is_refused_by_name() {
        for (text, part) in [
            (String::new(), "is empty"),
            (HEADER.to_owned(), "is empty"),
            (
                "date,symbol,open\n".to_owned(),
                "columns high, low, close, volume are missing",
            ),
            (
                format!("{HEADER}2020-01-03,A,much,2,1,2,7,1\n"),
                "which is no number",
            ),
            (
                format!("{HEADER}2020-01-03,,1,2,1,2,7,1\n"),
                "the symbol is missing",
            ),
            (format!("{HEADER}soon,A,1,2,1,2,7,1\n"), "soon"),
            (
                format!("{HEADER}2020-01-03,A,1,2,1,2,7,1\n2020-01-03,A,1,2,1,2,7,1\n"),
                "A has two rows on 2020-01-03",
            ),
        ] {
            let error = read(&text, None).unwrap_err().to_string();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
