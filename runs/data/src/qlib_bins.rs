//! Qlib's `.bin` directories: `calendars/`, `instruments/`, `features/`.
//!
//! A bin is little-endian 32-bit floats; the first is the start index into the calendar, then come values, NaN where
//! missing. Rows outside an instrument's spans are dropped, as Qlib does.

use super::columns::{RowSink, SourceRow, read_ticker};
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{DataError, DateSpan, Decimal, RawBar, SourceLocation, Ticker, TradeDate};
use ktd_qlib::FieldSeries;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A Qlib data directory, its calendar and instruments read.
#[derive(Debug)]
pub(super) struct QlibBins {
    root: PathBuf,
    /// The trading days of `calendars/day.txt`.
    pub(super) calendar: Vec<TradeDate>,
    instruments: BTreeMap<Ticker, Vec<DateSpan>>,
    /// Index series listed among the instruments; they are no stocks.
    pub(super) skipped_indices: Vec<String>,
    pub(super) has_factors: bool,
    pub(super) has_amounts: bool,
    /// Fields that are read by nothing.
    pub(super) unknown_fields: Vec<String>,
}

const KNOWN_FIELDS: [&str; 8] = [
    "open", "high", "low", "close", "volume", "amount", "factor", "change",
];

/// Whether a directory looks like Qlib's.
pub(super) fn is_qlib_directory(path: &Path) -> bool {
    path.join("features").is_dir() && path.join("calendars").is_dir()
}

impl QlibBins {
    pub(super) fn open(root: &Path) -> Result<Self, DataFileError> {
        if !is_qlib_directory(root) {
            return Err(DataFileError::invalid(format_args!(
                "{} is a directory, but not one of Qlib's",
                root.display()
            ))
            .with_hint("a Qlib directory has calendars/, instruments/ and features/ in it"));
        }
        let calendar = read_calendar(&root.join("calendars").join("day.txt"))?;
        let mut bins = Self {
            root: root.to_owned(),
            calendar,
            instruments: BTreeMap::new(),
            skipped_indices: Vec::new(),
            has_factors: false,
            has_amounts: false,
            unknown_fields: Vec::new(),
        };
        bins.read_instruments()?;
        bins.list_fields()?;
        Ok(bins)
    }

    /// `instruments/all.txt`, or every list where there is none; repeated rows are several spans.
    fn read_instruments(&mut self) -> Result<(), DataFileError> {
        let directory = self.root.join("instruments");
        let all = directory.join("all.txt");
        let lists = if all.is_file() {
            vec![all]
        } else {
            sorted_entries(&directory)?
                .into_iter()
                .filter(|path| path.extension().is_some_and(|ext| ext == "txt"))
                .collect()
        };
        if lists.is_empty() {
            return Err(
                DataFileError::invalid(format_args!("{} lists no instruments", directory.display()))
                    .with_hint("Qlib writes instruments/all.txt: code, start and end, separated by tabs"),
            );
        }
        for list in lists {
            for (row, code, span) in read_spans(&list)? {
                match read_ticker(&code) {
                    Ok(ticker) => self.instruments.entry(ticker).or_default().push(span),
                    Err(_) if is_index_code(&code) => self.skipped_indices.push(code),
                    Err(source) => {
                        let file = list.display().to_string();
                        return Err(DataError::Ticker {
                            place: SourceLocation { file, row },
                            source,
                        }
                        .into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks which fields any instrument has.
    fn list_fields(&mut self) -> Result<(), DataFileError> {
        for ticker in self.instruments.keys() {
            let directory = self.directory(ticker.reveal());
            if !directory.is_dir() {
                continue;
            }
            for path in sorted_entries(&directory)? {
                let name = path
                    .file_name()
                    .and_then(|name| name.to_str())
                    .unwrap_or_default();
                let Some(field) = name.strip_suffix(".day.bin") else {
                    continue;
                };
                match field {
                    "factor" => self.has_factors = true,
                    "amount" => self.has_amounts = true,
                    _ if KNOWN_FIELDS.contains(&field) => {}
                    _ if self.unknown_fields.iter().any(|known| known == field) => {}
                    _ => self.unknown_fields.push(field.to_owned()),
                }
            }
        }
        Ok(())
    }

    fn directory(&self, code: &str) -> PathBuf {
        self.root.join("features").join(code.to_ascii_lowercase())
    }

    /// How many instruments are listed.
    pub(super) fn instrument_count(&self) -> u64 {
        u64::try_from(self.instruments.len()).unwrap_or(0)
    }

    /// The last day of a name's last span: where its rows end.
    pub(super) fn last_rows(&self) -> impl Iterator<Item = (Ticker, TradeDate)> + '_ {
        self.instruments
            .iter()
            .filter_map(|(ticker, spans)| Some((*ticker, spans.iter().map(|span| span.end).max()?)))
    }

    pub(super) fn read(
        &self,
        sink: &mut RowSink<'_>,
        mut done: impl FnMut(u64),
    ) -> Result<(), DataFileError> {
        for (ticker, spans) in &self.instruments {
            self.read_name(*ticker, spans, sink)?;
            done(1);
        }
        Ok(())
    }

    fn read_name(
        &self,
        ticker: Ticker,
        spans: &[DateSpan],
        sink: &mut RowSink<'_>,
    ) -> Result<(), DataFileError> {
        let directory = self.directory(ticker.reveal());
        let series = |field: &str| read_series(&directory, field, self.calendar.len());
        let (open, high, low, close) = (series("open")?, series("high")?, series("low")?, series("close")?);
        let (volume, factor) = (series("volume")?, series("factor")?);
        let (amount, change) = (series("amount")?, series("change")?);
        let file = directory.display().to_string();
        for (day, date) in self.calendar.iter().enumerate() {
            if !spans.iter().any(|span| span.contains(*date)) || close.known(day).is_none() {
                continue;
            }
            // The line of calendars/day.txt: a bin has no rows of its own.
            let row = u64::try_from(day).unwrap_or(0) + 1;
            let price = |series: &FieldSeries, column: &'static str| decimal(series, day, &file, row, column);
            let bar = RawBar {
                open: price(&open, "open")?,
                high: price(&high, "high")?,
                low: price(&low, "low")?,
                close: price(&close, "close")?,
                volume: price(&volume, "volume")?,
                amount_cny: amount.known(day).map(f64::from),
                factor: price(&factor, "factor")?,
                change_percent: change.known(day).map(|ratio| f64::from(ratio) * 100.0),
                suspended: false,
            };
            sink(&SourceRow {
                file: &file,
                row,
                ticker,
                date: *date,
                bar,
                st: None,
                listed: None,
                sector: None,
                dividend: None,
                adjusted_close: None,
            })?;
        }
        Ok(())
    }
}

/// Reads a bin; a missing file is a series without values.
fn read_series(directory: &Path, field: &str, days: usize) -> Result<FieldSeries, DataFileError> {
    let path = directory.join(format!("{field}.day.bin"));
    let Some(bytes) = ktd_io::whole_file::read_if_exists(&path)? else {
        return Ok(FieldSeries::default());
    };
    FieldSeries::parse(&bytes, days).map_err(|fault| {
        DataFileError::invalid(format_args!("{} {fault}", path.display())).with_hint(fault.hint())
    })
}

/// A value as an exact decimal; of an instrument's file, for what is said of a value that is none.
fn decimal(
    series: &FieldSeries,
    day: usize,
    file: &str,
    row: u64,
    column: &'static str,
) -> Result<Option<Decimal>, DataError> {
    let Some(value) = series.known(day) else {
        return Ok(None);
    };
    if value < 0.0 && column == "open" {
        return Ok(Some(Decimal::ZERO));
    }
    Decimal::from_f32(value).map(Some).ok_or_else(|| {
        let place = SourceLocation {
            file: file.to_owned(),
            row,
        };
        let value = value.to_string();
        if column == "volume" {
            DataError::Quantity { place, column, value }
        } else {
            DataError::Price { place, column, value }
        }
    })
}

/// Index codes that Qlib keeps among its instruments.
fn is_index_code(code: &str) -> bool {
    let code = code.to_ascii_uppercase();
    code.starts_with("SH000") || code.starts_with("SZ399")
}

fn sorted_entries(directory: &Path) -> Result<Vec<PathBuf>, DataFileError> {
    let entries = std::fs::read_dir(directory).map_err(DataFileError::io("read", directory))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(DataFileError::io("read", directory))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// One date a line, ascending.
pub(super) fn read_calendar(path: &Path) -> Result<Vec<TradeDate>, DataFileError> {
    let name = path.display().to_string();
    let text = std::io::read_to_string(ktd_io::text_file::open_text(path)?)
        .map_err(DataFileError::io("read", path))?;
    let mut days: Vec<TradeDate> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let row = u64::try_from(line).unwrap_or(0) + 1;
        let day = text.split(',').next().unwrap_or_default().trim();
        if day.is_empty() || (row == 1 && day.chars().all(char::is_alphabetic)) {
            continue;
        }
        let day = super::columns::read_date(day).map_err(|error| at_row(&name, row, error))?;
        if days.last().is_some_and(|last| *last >= day) {
            return Err(at_row(
                &name,
                row,
                format_args!("{} does not come after the day before it", day.reveal()),
            )
            .with_hint("sort the calendar and keep each day once"));
        }
        days.push(day);
    }
    if days.is_empty() {
        return Err(DataFileError::input(
            format_args!("{name}: no days"),
            "write one trading day a line, as 2024-04-01",
        ));
    }
    Ok(days)
}

/// Qlib's instrument lists: code, start and end, separated by tabs, without a header.
pub(super) fn read_spans(path: &Path) -> Result<Vec<(u64, String, DateSpan)>, DataFileError> {
    let mut file = ktd_io::text_file::TextFile::open(path, b'\t')?;
    let mut spans = Vec::new();
    loop {
        let name = file.name();
        let Some((row, record)) = file.next_row()? else {
            return Ok(spans);
        };
        let (Some(code), Some(start), Some(end)) = (record.get(0), record.get(1), record.get(2)) else {
            return Err(at_row(&name, row, "not code, start and end, separated by tabs"));
        };
        let date = |text: &str| super::columns::read_date(text).map_err(|error| at_row(&name, row, error));
        let span = DateSpan {
            start: date(start)?,
            end: date(end)?,
        };
        if span.end < span.start {
            return Err(at_row(&name, row, "the span ends before it starts"));
        }
        spans.push((row, code.to_owned(), span));
    }
}

/// Opening and closing levels of one instrument, unadjusted.
pub(super) fn read_levels(root: &Path, code: &str) -> Result<BTreeMap<TradeDate, (f64, f64)>, DataFileError> {
    let calendar = read_calendar(&root.join("calendars").join("day.txt"))?;
    let directory = root.join("features").join(code.to_ascii_lowercase());
    if !directory.is_dir() {
        return Err(
            DataFileError::invalid(format_args!("{} does not exist", directory.display()))
                .with_hint("name an instrument of the directory: --index DIR:SH000300"),
        );
    }
    let series = |field| read_series(&directory, field, calendar.len());
    let (open, close, factor) = (series("open")?, series("close")?, series("factor")?);
    let level = |series: &FieldSeries, day| {
        let factor = f64::from(factor.known(day).unwrap_or(1.0));
        series
            .known(day)
            .map_or(f64::NAN, |value| f64::from(value) / factor)
    };
    Ok(calendar
        .iter()
        .enumerate()
        .filter(|(day, _)| close.known(*day).is_some())
        .map(|(day, date)| (*date, (level(&open, day), level(&close, day))))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(words: &[f32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn directory(close: &[u8], instruments: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        write(
            "calendars/day.txt",
            b"2024-01-02\n2024-01-03\n2024-01-04\n2024-01-05\n",
        );
        write("instruments/all.txt", instruments.as_bytes());
        write("features/sh600000/close.day.bin", close);
        root
    }

    fn closes(root: &Path) -> Result<Vec<(String, String)>, DataFileError> {
        let mut rows = Vec::new();
        QlibBins::open(root)?.read(
            &mut |row| {
                rows.push((row.date.reveal(), row.bar.close.unwrap().to_string()));
                Ok(())
            },
            |_| {},
        )?;
        Ok(rows)
    }

    #[test]
    fn rows_outside_the_spans_and_nan_are_no_rows() {
        let spans = "SH600000\t2024-01-02\t2024-01-03\nsh600000\t2024-01-05\t2024-01-05\nSH000300\t2024-01-02\t2024-01-05\n";
        let root = directory(&bin(&[1.0, 10.1, 10.2, f32::NAN]), spans);
        assert_eq!(
            closes(root.path()).unwrap(),
            [("2024-01-03".to_owned(), "10.1".to_owned())]
        );
        let root = directory(&bin(&[0.0, 9.9, 10.1, 10.2, 10.3]), spans);
        let days: Vec<String> = closes(root.path())
            .unwrap()
            .into_iter()
            .map(|row| row.0)
            .collect();
        assert_eq!(days, ["2024-01-02", "2024-01-03", "2024-01-05"]);
    }

    #[test]
    fn damaged_bins_are_refused_by_name() {
        let spans = "SH600000\t2024-01-02\t2024-01-05\n";
        let whole = bin(&[0.0, 9.9, 10.1, 10.2, 10.3]);
        for bytes in [
            &whole[..whole.len() - 1],
            &[],
            &bin(&[1.0, 1.0, 1.0, 1.0, 1.0]),
            &bin(&[-1.0, 1.0]),
        ] {
            let root = directory(bytes, spans);
            let failure = closes(root.path()).unwrap_err();
            assert!(failure.to_string().contains("close.day.bin"), "{failure}");
        }
        let root = directory(&bin(&[0.0, -1.0]), spans);
        assert!(
            closes(root.path())
                .unwrap_err()
                .to_string()
                .contains("close is -1")
        );
        let root = directory(&bin(&[0.0, f32::INFINITY]), spans);
        assert!(closes(root.path()).is_err());
    }

    #[test]
    fn funds_are_refused_and_indices_are_set_aside() {
        let root = directory(&bin(&[0.0, 1.0]), "SH510300\t2024-01-02\t2024-01-05\n");
        assert!(
            closes(root.path())
                .unwrap_err()
                .to_string()
                .contains("all.txt, row 1")
        );
    }
}
