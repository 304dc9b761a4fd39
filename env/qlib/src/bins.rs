//! Qlib's data directory, parsed from the text and bytes of its files (rules R1, R2).

use chrono::NaiveDate;
use std::collections::BTreeMap;
use thiserror::Error;

/// Bytes of a number in a bin.
const WORD_BYTES: usize = 4;

/// A Qlib data directory in memory: calendars, spans of the instruments, and the series read.
#[derive(Debug, Clone)]
pub struct QlibPanel {
    calendar: Vec<NaiveDate>,
    trade_calendar: Vec<NaiveDate>,
    spans: BTreeMap<String, Vec<Span>>,
    series: BTreeMap<String, BTreeMap<String, FieldSeries>>,
}

/// Days on which an instrument belongs to the universe, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First day.
    pub start: NaiveDate,
    /// Last day.
    pub end: NaiveDate,
}

/// The values of one field of one instrument, from a day of the calendar onward.
///
/// The default is a field without values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldSeries {
    start: usize,
    values: Vec<f32>,
}

/// A feature file as it lies on the disk: `features/SYMBOL/FIELD.day.bin`, names in lower case.
#[derive(Debug, Clone)]
pub struct FeatureFile {
    /// Name of the folder: the instrument in lower case.
    pub symbol: String,
    /// Name of the file before `.day.bin`.
    pub field: String,
    /// Little-endian `f32` words: the start index, then the values.
    pub bytes: Vec<u8>,
}

/// A file of a Qlib data directory that cannot be read as one.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum QlibDataError {
    /// A line has no date where one belongs.
    #[error("{file} line {line}: `{text}` is no date")]
    Date {
        /// Path inside the directory.
        file: String,
        /// Line, from one.
        line: usize,
        /// What stood there.
        text: String,
    },
    /// A calendar has no day.
    #[error("{file} has no day")]
    EmptyCalendar {
        /// Path inside the directory.
        file: String,
    },
    /// A calendar does not ascend.
    #[error("{file} line {line}: {day} does not come after the day before it")]
    CalendarOrder {
        /// Path inside the directory.
        file: String,
        /// Line, from one.
        line: usize,
        /// The day at fault.
        day: NaiveDate,
    },
    /// The calendar with future days does not begin with the calendar of the data.
    #[error("calendars/day_future.txt does not begin with the {n_days} days of calendars/day.txt")]
    FutureCalendar {
        /// Days of the data's calendar.
        n_days: usize,
    },
    /// A line of the instruments is not `symbol TAB start TAB end`.
    #[error("{file} line {line}: {n_columns} columns, not symbol, start and end")]
    InstrumentColumns {
        /// Path inside the directory.
        file: String,
        /// Line, from one.
        line: usize,
        /// Columns found.
        n_columns: usize,
    },
    /// A bin cannot be read.
    #[error("{file} {fault}")]
    Bin {
        /// Path inside the directory.
        file: String,
        /// What is wrong with its bytes.
        fault: BinFault,
    },
}

/// Bytes of a bin that are no series of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum BinFault {
    /// Shorter than the start index.
    #[error("has {n_bytes} bytes, less than its start index of {WORD_BYTES}")]
    Truncated {
        /// Bytes found.
        n_bytes: usize,
    },
    /// No whole numbers of four bytes.
    #[error("has {n_bytes} bytes, not a multiple of {WORD_BYTES}")]
    Length {
        /// Bytes found.
        n_bytes: usize,
    },
    /// The start index is no index of the calendar.
    #[error("starts at index {start}, not a whole number of a calendar of {n_days} days")]
    Start {
        /// The start index found.
        start: f32,
        /// Days of the calendar.
        n_days: usize,
    },
    /// Values after the last day of the calendar.
    #[error("runs from index {start} for {n_values} values, past a calendar of {n_days} days")]
    End {
        /// The start index.
        start: usize,
        /// Values found.
        n_values: usize,
        /// Days of the calendar.
        n_days: usize,
    },
}

impl BinFault {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Truncated { .. } | Self::Length { .. } => {
                "the file was cut short or is no bin: dump it again from its source"
            }
            Self::Start { .. } | Self::End { .. } => {
                "the bin was dumped against another calendar: dump bins and calendar together"
            }
        }
    }
}

impl QlibDataError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Date { .. } => "dates are written as 2024-01-31",
            Self::EmptyCalendar { .. } | Self::CalendarOrder { .. } => {
                "a calendar has one trading day a line, ascending, each once"
            }
            Self::FutureCalendar { .. } => {
                "write the days of calendars/day.txt first, then at least one trading day after them"
            }
            Self::InstrumentColumns { .. } => "separate symbol, first day and last day by tabs",
            Self::Bin { fault, .. } => fault.hint(),
        }
    }
}

impl QlibPanel {
    /// Reads a directory from `calendars/day.txt`, `calendars/day_future.txt` if there is one,
    /// `instruments/all.txt` and the feature files that the run needs.
    ///
    /// # Errors
    /// [`QlibDataError`] for the first file at fault.
    pub fn parse(
        day_text: &str,
        future_text: Option<&str>,
        instruments_text: &str,
        features: impl IntoIterator<Item = FeatureFile>,
    ) -> Result<Self, QlibDataError> {
        let calendar = parse_calendar("calendars/day.txt", day_text)?;
        let trade_calendar = match future_text {
            Some(text) => parse_calendar("calendars/day_future.txt", text)?,
            None => calendar.clone(),
        };
        if !trade_calendar.starts_with(&calendar) {
            return Err(QlibDataError::FutureCalendar {
                n_days: calendar.len(),
            });
        }
        let spans = parse_instruments("instruments/all.txt", instruments_text)?;
        let mut series: BTreeMap<String, BTreeMap<String, FieldSeries>> = BTreeMap::new();
        for feature in features {
            let parsed =
                FieldSeries::parse(&feature.bytes, calendar.len()).map_err(|fault| QlibDataError::Bin {
                    file: format!("features/{}/{}.day.bin", feature.symbol, feature.field),
                    fault,
                })?;
            series
                .entry(feature.symbol)
                .or_default()
                .insert(feature.field, parsed);
        }
        Ok(Self {
            calendar,
            trade_calendar,
            spans,
            series,
        })
    }

    /// Days of the data.
    #[must_use]
    pub fn calendar(&self) -> &[NaiveDate] {
        &self.calendar
    }

    /// Days of the data, then the known trading days after them.
    #[must_use]
    pub fn trade_calendar(&self) -> &[NaiveDate] {
        &self.trade_calendar
    }

    /// The instruments of the universe with their spans, by symbol.
    pub fn instruments(&self) -> impl Iterator<Item = (&str, &[Span])> {
        self.spans
            .iter()
            .map(|(symbol, spans)| (symbol.as_str(), spans.as_slice()))
    }

    /// The series of a field, or `None` when the directory has no such bin: every value is then missing.
    #[must_use]
    pub fn series(&self, symbol: &str, field: &str) -> Option<&FieldSeries> {
        self.series
            .get(&symbol.to_lowercase())?
            .get(&field.to_lowercase())
    }
}

impl FieldSeries {
    /// Reads a bin: little-endian `f32` words, the start index into a calendar of `n_days`, then the values.
    ///
    /// # Errors
    /// [`BinFault`] when the bytes are cut short or belong to another calendar.
    pub fn parse(bytes: &[u8], n_days: usize) -> Result<Self, BinFault> {
        let n_bytes = bytes.len();
        if n_bytes < WORD_BYTES {
            return Err(BinFault::Truncated { n_bytes });
        }
        let (words, rest) = bytes.as_chunks::<WORD_BYTES>();
        if !rest.is_empty() {
            return Err(BinFault::Length { n_bytes });
        }
        let mut numbers = words.iter().map(|word| f32::from_le_bytes(*word));
        let head = numbers.next().unwrap_or(f32::NAN);
        let values: Vec<f32> = numbers.collect();
        // Without values a series may start on the day after the last.
        let first_without_place = if values.is_empty() { n_days + 1 } else { n_days };
        let start = start_index(head)
            .filter(|start| *start < first_without_place)
            .ok_or(BinFault::Start { start: head, n_days })?;
        if n_days < start + values.len() {
            return Err(BinFault::End {
                start,
                n_values: values.len(),
                n_days,
            });
        }
        Ok(Self { start, values })
    }

    /// Place in the calendar of the first value.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The values from the start on, NaN where missing.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The value on a day of the calendar, where there is one that is a number.
    #[must_use]
    pub fn known(&self, day: usize) -> Option<f32> {
        let value = self.at(day);
        (!value.is_nan()).then_some(value)
    }

    /// The value on a day of the calendar, `NaN` where there is none.
    #[must_use]
    pub fn at(&self, day: usize) -> f32 {
        day.checked_sub(self.start)
            .and_then(|offset| self.values.get(offset))
            .copied()
            .unwrap_or(f32::NAN)
    }
}

/// Symbols and spans of the universe. Repeated symbols have several spans.
fn parse_instruments(file: &str, text: &str) -> Result<BTreeMap<String, Vec<Span>>, QlibDataError> {
    let mut spans: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [symbol, start, end, ..] = columns.as_slice() else {
            let (file, n_columns) = (file.to_owned(), columns.len());
            return Err(QlibDataError::InstrumentColumns {
                file,
                line: index + 1,
                n_columns,
            });
        };
        let start = parse_date(file, index + 1, start)?;
        let end = parse_date(file, index + 1, end)?;
        spans
            .entry(symbol.trim().to_owned())
            .or_default()
            .push(Span { start, end });
    }
    Ok(spans)
}

fn parse_calendar(file: &str, text: &str) -> Result<Vec<NaiveDate>, QlibDataError> {
    let mut days: Vec<NaiveDate> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let day = parse_date(file, index + 1, line)?;
        if days.last().is_some_and(|last| day <= *last) {
            return Err(QlibDataError::CalendarOrder {
                file: file.to_owned(),
                line: index + 1,
                day,
            });
        }
        days.push(day);
    }
    if days.is_empty() {
        return Err(QlibDataError::EmptyCalendar {
            file: file.to_owned(),
        });
    }
    Ok(days)
}

fn parse_date(file: &str, line: usize, text: &str) -> Result<NaiveDate, QlibDataError> {
    let trimmed = text.trim();
    // Some dumps write midnight after the day.
    let day = trimmed.strip_suffix(" 00:00:00").unwrap_or(trimmed);
    NaiveDate::parse_from_str(day, "%Y-%m-%d").map_err(|_| QlibDataError::Date {
        file: file.to_owned(),
        line,
        text: trimmed.to_owned(),
    })
}

/// The start index of a bin: a whole number written as `f32`, which skips integers from 2^24 on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, not negative and small before the cast"
)]
fn start_index(start: f32) -> Option<usize> {
    let is_exact = start.fract().abs() <= 0.0 && (0.0..16_777_216.0).contains(&start);
    is_exact.then_some(start as usize)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const DAYS: &str = "2024-01-02\n2024-01-03\n2024-01-04\n";
    const INSTRUMENTS: &str = "SH600000\t2024-01-02\t2024-01-03\nSH600000\t2024-01-04\t2024-01-04\n";

    pub(crate) fn feature(symbol: &str, field: &str, words: &[f32]) -> FeatureFile {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        FeatureFile {
            symbol: symbol.to_owned(),
            field: field.to_owned(),
            bytes,
        }
    }

    fn parse_one(bytes: &[u8]) -> Result<QlibPanel, QlibDataError> {
        let feature = FeatureFile {
            symbol: "sh600000".to_owned(),
            field: "close".to_owned(),
            bytes: bytes.to_vec(),
        };
        QlibPanel::parse(DAYS, None, INSTRUMENTS, [feature])
    }

    fn words(values: &[f32]) -> Vec<u8> {
        feature("", "", values).bytes
    }

    #[test]
    fn values_start_at_their_index_and_are_missing_elsewhere() {
        let panel = parse_one(&words(&[1.0, 14.6, f32::NAN])).unwrap();
        let close = panel.series("SH600000", "close").unwrap();
        assert!(close.at(0).is_nan());
        assert_eq!(
            f64::from(close.at(1)).to_bits(),
            14.600_000_381_469_727_f64.to_bits()
        );
        assert!(close.at(2).is_nan());
        assert!(close.at(3).is_nan());
        assert!(panel.series("SH600000", "open").is_none());
        let (symbol, spans) = panel.instruments().next().unwrap();
        assert_eq!((symbol, spans.len()), ("SH600000", 2));
    }

    #[test]
    fn broken_bins_name_the_file_and_the_fault() {
        let refused = |fault| QlibDataError::Bin {
            file: "features/sh600000/close.day.bin".to_owned(),
            fault,
        };
        let error = |bytes: &[u8]| parse_one(bytes).unwrap_err();
        assert_eq!(error(&[0, 0]), refused(BinFault::Truncated { n_bytes: 2 }));
        assert_eq!(error(&[]), refused(BinFault::Truncated { n_bytes: 0 }));
        assert_eq!(error(&[0; 6]), refused(BinFault::Length { n_bytes: 6 }));
        for start in [0.5, -1.0, 3.0, 1e9] {
            let expected = refused(BinFault::Start { start, n_days: 3 });
            assert_eq!(error(&words(&[start, 1.0])), expected);
        }
        assert!(matches!(
            error(&words(&[f32::NAN, 1.0])),
            QlibDataError::Bin {
                fault: BinFault::Start { .. },
                ..
            }
        ));
        let error = error(&words(&[2.0, 1.0, 1.0]));
        let expected = BinFault::End {
            start: 2,
            n_values: 2,
            n_days: 3,
        };
        assert_eq!(error, refused(expected));
        assert!(error.hint().contains("another calendar"));
    }

    #[test]
    fn a_series_without_values_may_start_after_the_last_day() {
        assert!(parse_one(&words(&[3.0])).is_ok());
        assert!(parse_one(&words(&[4.0])).is_err());
    }

    #[test]
    fn a_start_index_is_a_whole_number_a_float_can_hold() {
        assert_eq!(start_index(0.0), Some(0));
        assert_eq!(start_index(412.0), Some(412));
        for head in [-1.0, 0.5, f32::NAN, 16_777_216.0, f32::INFINITY] {
            assert_eq!(start_index(head), None, "{head}");
        }
    }

    #[test]
    fn broken_text_names_the_line() {
        let parse = |day: &str, future, instruments| QlibPanel::parse(day, future, instruments, []);
        let error = parse("2024-01-02\n2024-13-03\n", None, INSTRUMENTS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "calendars/day.txt line 2: `2024-13-03` is no date"
        );
        let error = parse("2024-01-03\n2024-01-02\n", None, INSTRUMENTS).unwrap_err();
        assert!(matches!(error, QlibDataError::CalendarOrder { line: 2, .. }));
        assert!(matches!(
            parse("\n", None, INSTRUMENTS),
            Err(QlibDataError::EmptyCalendar { .. })
        ));
        let error = parse(DAYS, Some("2024-01-02\n2024-01-04\n"), INSTRUMENTS).unwrap_err();
        assert_eq!(error, QlibDataError::FutureCalendar { n_days: 3 });
        let error = parse(DAYS, None, "SH600000 2024-01-02 2024-01-03\n").unwrap_err();
        assert!(matches!(
            error,
            QlibDataError::InstrumentColumns {
                line: 1,
                n_columns: 1,
                ..
            }
        ));
        let error = parse(DAYS, None, "SH600000\t2024-01-02\tlater\n").unwrap_err();
        assert!(matches!(error, QlibDataError::Date { line: 1, .. }));
    }
}
