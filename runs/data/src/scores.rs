//! Scores of stocks by day, predicted elsewhere: a file with the columns `date`, `code` and `score`.

use crate::DataFileError;
use crate::columns::{read_date, read_ticker};
use crate::error::{at_row, empty};
use crate::file_kind::is_parquet;
use crate::parquet_columns::{Dates, Numbers, Texts, WrongKind};
use crate::parquet_file::ParquetFile;
use ktd_env::{DayIndex, Market, NameId, TradeDate};
use ktd_io::text_file::TextFile;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of a score file.
const COLUMNS: [&str; 3] = ["date", "code", "score"];

/// Scores by day and stock, as they were known at the close of that day.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    days: BTreeMap<DayIndex, BTreeMap<NameId, f64>>,
}

impl ScoreTable {
    /// Reads a CSV(.gz) or Parquet file of scores on the stocks and days of a panel.
    ///
    /// # Errors
    /// [`DataFileError`] naming the column that is missing, or the row: an unknown stock, a day without trading, a score
    /// that is not a finite number, a second score of a stock and day.
    pub fn read(path: &Path, market: &Market) -> Result<Self, DataFileError> {
        let mut rows = Rows {
            market,
            file: path.display().to_string(),
            table: Self {
                days: BTreeMap::new(),
            },
        };
        if is_parquet(path)? {
            rows.read_parquet(path)?;
        } else {
            rows.read_text(path)?;
        }
        if rows.table.days.is_empty() {
            return Err(DataFileError::input(
                format_args!("{}: no score", rows.file),
                "write one row a stock and day",
            ));
        }
        Ok(rows.table)
    }

    /// Scores that are known already.
    #[must_use]
    pub const fn of_days(days: BTreeMap<DayIndex, BTreeMap<NameId, f64>>) -> Self {
        Self { days }
    }

    /// The scores dated this day; none where the file has no row of the day.
    #[must_use]
    pub fn on(&self, day: DayIndex) -> Option<&BTreeMap<NameId, f64>> {
        self.days.get(&day)
    }
}

/// The rows of a file on their way into a table.
struct Rows<'m> {
    market: &'m Market,
    file: String,
    table: ScoreTable,
}

impl Rows<'_> {
    /// The places of the columns among those of the file.
    fn places<'a>(&self, header: impl Iterator<Item = &'a str>) -> Result<[usize; 3], DataFileError> {
        let header: Vec<&str> = header.collect();
        let mut places = [0; 3];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            *place = header.iter().position(|head| *head == column).ok_or_else(|| {
                DataFileError::input(
                    format_args!("{}: no column `{column}`", self.file),
                    "name the columns `date`, `code` and `score`",
                )
            })?;
        }
        Ok(places)
    }

    fn read_text(&mut self, path: &Path) -> Result<(), DataFileError> {
        let mut file = TextFile::open(path, b',')?;
        let Some((_, header)) = file.next_row()? else {
            return Err(empty(&self.file));
        };
        let [date, code, score] = self.places(header.iter())?;
        while let Some((row, record)) = file.next_row()? {
            let cell = |place: usize| record.get(place).unwrap_or_default();
            let day = read_date(cell(date)).map_err(|error| at_row(&self.file, row, error))?;
            self.add(row, (day, cell(code)), cell(score).parse().ok())?;
        }
        Ok(())
    }

    fn read_parquet(&mut self, path: &Path) -> Result<(), DataFileError> {
        let file = ParquetFile::open(path)?;
        let places = self.places(file.columns.iter().map(String::as_str))?;
        let mut batches = file.batches(&places)?;
        while let Some(batch) = batches.next_batch()? {
            let (rows, first_row) = (batch.rows, batch.first_row);
            let mut columns = batch.columns.into_iter();
            let (Some(dates), Some(codes), Some(scores)) = (columns.next(), columns.next(), columns.next())
            else {
                return Ok(());
            };
            let dates = Dates::of(dates).map_err(|error| self.wrong_kind("date", &error))?;
            let codes = Texts::of(codes).map_err(|error| self.wrong_kind("code", &error))?;
            let scores = Numbers::of(scores).map_err(|error| self.wrong_kind("score", &error))?;
            for place in 0..rows {
                let row = first_row + u64::try_from(place).unwrap_or(0);
                let day = dates
                    .get(place)
                    .and_then(|day| day.ok_or_else(|| "no date".to_owned()));
                let day = day.map_err(|error| at_row(&self.file, row, error))?;
                self.add(
                    row,
                    (day, codes.get(place).unwrap_or_default()),
                    scores.float(place),
                )?;
            }
        }
        Ok(())
    }

    fn wrong_kind(&self, column: &str, error: &WrongKind) -> DataFileError {
        DataFileError::input(
            format_args!("{}: column `{column}`: {error}", self.file),
            "write the column in another type",
        )
    }

    fn add(
        &mut self,
        row: u64,
        (date, code): (TradeDate, &str),
        score: Option<f64>,
    ) -> Result<(), DataFileError> {
        let fail = |what: String, hint: &str| Err(at_row(&self.file, row, what).with_hint(hint));
        let name = read_ticker(code).ok().and_then(|ticker| self.market.find(ticker));
        let Some(name) = name else {
            return fail(
                format!("unknown code {:?}", code.chars().take(20).collect::<String>()),
                "use the panel's codes, such as SH600519, and remove the rows of other stocks",
            );
        };
        let Some(day) = self.market.day(date) else {
            return fail(
                format!("{} is no trading day of the panel", date.reveal()),
                "date a score by the last trading day whose data it uses",
            );
        };
        let Some(score) = score.filter(|score| score.is_finite()) else {
            return fail(
                "the score is not a finite number".to_owned(),
                "remove the row: a stock without a row has no score",
            );
        };
        let scores = self.table.days.entry(day).or_default();
        if scores.insert(name, score).is_some() {
            return fail(
                format!("a second score of {code} on {}", date.reveal()),
                "remove one of the two rows",
            );
        }
        Ok(())
    }
}
