//! Long files as text: prices and factors are taken exactly as written.

use super::columns::{Column, Layout, RowSink, SourceRow, read_date, read_flag, read_ticker};
use crate::DataFileError;
use crate::error::empty;
use csv::StringRecord;
use ktd_env::{DataError, Decimal, DecimalError, RawBar, SourceLocation};
use ktd_io::text_file::TextFile;
use std::path::Path;

/// A CSV or CSV.gz long file, its header read.
#[derive(Debug)]
pub(super) struct CsvRows {
    file: TextFile,
    pub(super) layout: Layout,
}

impl CsvRows {
    pub(super) fn open(path: &Path) -> Result<Self, DataFileError> {
        let mut file = TextFile::open(path, b',')?;
        let name = file.name();
        let header = file
            .next_row()?
            .map(|(_, header)| header.clone())
            .ok_or_else(|| empty(&name))?;
        let layout = Layout::of(&name, &header)?;
        Ok(Self { file, layout })
    }

    pub(super) fn read(mut self, sink: &mut RowSink<'_>) -> Result<(), DataFileError> {
        let name = self.file.name();
        let columns = self.layout.width();
        while let Some((row, record)) = self.file.next_row()? {
            if record.len() != columns {
                return Err(crate::error::at_row(
                    &name,
                    row,
                    format_args!("{} cells, but the header has {columns}", record.len()),
                )
                .with_hint("the file may be cut short"));
            }
            let cells = Cells {
                file: &name,
                row,
                record,
                layout: &self.layout,
            };
            sink(&cells.source_row()?)?;
        }
        Ok(())
    }
}

struct Cells<'c> {
    file: &'c str,
    row: u64,
    record: &'c StringRecord,
    layout: &'c Layout,
}

impl<'c> Cells<'c> {
    fn text(&self, column: Column) -> &'c str {
        self.layout
            .place(column)
            .and_then(|place| self.record.get(place))
            .unwrap_or_default()
    }

    fn place(&self) -> SourceLocation {
        SourceLocation {
            file: self.file.to_owned(),
            row: self.row,
        }
    }

    fn fail(&self, message: impl std::fmt::Display) -> DataFileError {
        crate::error::at_row(self.file, self.row, message)
    }

    fn source_row(&self) -> Result<SourceRow<'c>, DataFileError> {
        let ticker = read_ticker(self.text(Column::Symbol)).map_err(|source| DataError::Ticker {
            place: self.place(),
            source,
        })?;
        let date = read_date(self.text(Column::Date)).map_err(|error| self.fail(error))?;
        let listed = self.text(Column::Listed);
        let sector = self.text(Column::Sector);
        Ok(SourceRow {
            file: self.file,
            row: self.row,
            ticker,
            date,
            bar: self.bar()?,
            st: if self.layout.has(Column::St) {
                Some(self.flag(Column::St)?)
            } else {
                None
            },
            listed: if listed.is_empty() {
                None
            } else {
                Some(read_date(listed).map_err(|error| self.fail(format_args!("listed: {error}")))?)
            },
            sector: Some(sector).filter(|sector| !sector.is_empty()),
            dividend: self.price(Column::Dividend)?,
        })
    }

    fn bar(&self) -> Result<RawBar, DataFileError> {
        let ratio = self.float(Column::ChangeRatio)?.map(|ratio| ratio * 100.0);
        Ok(RawBar {
            open: self.price(Column::Open)?,
            high: self.price(Column::High)?,
            low: self.price(Column::Low)?,
            close: self.price(Column::Close)?,
            volume: self.price(Column::Volume)?,
            amount_cny: self.float(Column::Amount)?,
            factor: self.price(Column::Factor)?,
            change_percent: self.float(Column::ChangePercent)?.or(ratio),
            suspended: self.flag(Column::Suspended)?,
        })
    }

    /// An exact decimal. An open below zero counts as one that is not there (docs/spec/exchange.md#prices).
    fn price(&self, column: Column) -> Result<Option<Decimal>, DataError> {
        let text = self.text(column);
        match RawBar::cell(text) {
            Ok(value) => Ok(value),
            Err(DecimalError::Negative { .. }) if column == Column::Open => Ok(Some(Decimal::ZERO)),
            Err(DecimalError::Negative { .. }) if column == Column::Volume => Err(DataError::Quantity {
                place: self.place(),
                column: column.label(),
                value: text.to_owned(),
            }),
            Err(DecimalError::Negative { .. }) => Err(DataError::Price {
                place: self.place(),
                column: column.label(),
                value: text.to_owned(),
            }),
            Err(source) => Err(DataError::Number {
                place: self.place(),
                column: column.label(),
                source,
            }),
        }
    }

    fn float(&self, column: Column) -> Result<Option<f64>, DataFileError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let value: f64 = text
            .parse()
            .map_err(|_| self.fail(format_args!("{}: {text:?} is not a number", column.label())))?;
        Ok(Some(value))
    }

    fn flag(&self, column: Column) -> Result<bool, DataFileError> {
        let text = self.text(column);
        read_flag(text).ok_or_else(|| {
            self.fail(format_args!("{}: {text:?} is neither 0 nor 1", column.label()))
                .with_hint("write 0, 1, true or false")
        })
    }
}
