//! Scores of stocks by day, predicted elsewhere: a file with the columns `date`, `code` and `score`.

use crate::DataFileError;
use crate::columns::{Column, Layout, Place, read_ticker};
use crate::table_rows::{TableFile, TableRow};
use crate::units::Unit;
use ktd_env::{DayIndex, Market, NameId};
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of a score file.
const COLUMNS: [(Column, &str); 3] = [
    (Column::Date, "date"),
    (Column::Symbol, "code"),
    (Column::Score, "score"),
];

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
            table: Self {
                days: BTreeMap::new(),
            },
        };
        let file = TableFile::open(path)?;
        let layout = layout(&file)?;
        file.read(&layout, |row| rows.add(row))?;
        if rows.table.days.is_empty() {
            return Err(DataFileError::input(
                format_args!("{}: no score", path.display()),
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
    table: ScoreTable,
}

/// The columns of a score file, which have these names alone.
fn layout(file: &TableFile) -> Result<Layout, DataFileError> {
    let (heads, mut layout) = (file.heads(), Layout::default());
    for (column, name) in COLUMNS {
        let index = heads.iter().position(|head| *head == name).ok_or_else(|| {
            DataFileError::input(
                format_args!("{}: no column `{name}`", file.name()),
                "name the columns `date`, `code` and `score`",
            )
        })?;
        layout.places.insert(
            column,
            Place {
                index,
                head: name.to_owned(),
                unit: Unit::default(),
            },
        );
    }
    Ok(layout)
}

impl Rows<'_> {
    fn add(&mut self, row: &TableRow<'_>) -> Result<(), DataFileError> {
        let fail = |what: String, hint: &str| Err(row.fail(what).with_hint(hint));
        let (date, code) = (row.day()?, row.text(Column::Symbol));
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
        let score = row.number(Column::Score).ok().flatten();
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
