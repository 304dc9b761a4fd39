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
    series: BTreeMap<String, BTreeMap<String, Series>>,
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
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
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
pub enum PanelError {
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
    /// A bin is shorter than its start index.
    #[error("{file} has {n_bytes} bytes, less than its start index of {WORD_BYTES}")]
    BinTruncated {
        /// Path inside the directory.
        file: String,
        /// Bytes found.
        n_bytes: usize,
    },
    /// A bin does not hold whole numbers of four bytes.
    #[error("{file} has {n_bytes} bytes, not a multiple of {WORD_BYTES}")]
    BinLength {
        /// Path inside the directory.
        file: String,
        /// Bytes found.
        n_bytes: usize,
    },
    /// The start index of a bin is no index of the calendar.
    #[error("{file} starts at index {start}, not a whole number of a calendar of {n_days} days")]
    BinStart {
        /// Path inside the directory.
        file: String,
        /// The start index found.
        start: f32,
        /// Days of the calendar.
        n_days: usize,
    },
    /// A bin has values after the last day of the calendar.
    #[error("{file} runs from index {start} for {n_values} values, past a calendar of {n_days} days")]
    BinEnd {
        /// Path inside the directory.
        file: String,
        /// The start index.
        start: usize,
        /// Values found.
        n_values: usize,
        /// Days of the calendar.
        n_days: usize,
    },
}

impl PanelError {
    /// How to mend it.
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
            Self::BinTruncated { .. } | Self::BinLength { .. } => {
                "the file was cut short or is no bin: dump it again from its source"
            }
            Self::BinStart { .. } | Self::BinEnd { .. } => {
                "the bin was dumped against another calendar: dump bins and calendar together"
            }
        }
    }
}

impl QlibPanel {
    /// Reads a directory from `calendars/day.txt`, `calendars/day_future.txt` if there is one,
    /// `instruments/all.txt` and the feature files that the run needs.
    ///
    /// # Errors
    /// [`PanelError`] for the first file at fault.
    pub fn parse(
        day_text: &str,
        future_text: Option<&str>,
        instruments_text: &str,
        features: impl IntoIterator<Item = FeatureFile>,
    ) -> Result<Self, PanelError> {
        let calendar = parse_calendar("calendars/day.txt", day_text)?;
        let trade_calendar = match future_text {
            Some(text) => parse_calendar("calendars/day_future.txt", text)?,
            None => calendar.clone(),
        };
        if !trade_calendar.starts_with(&calendar) {
            return Err(PanelError::FutureCalendar {
                n_days: calendar.len(),
            });
        }
        let spans = parse_instruments("instruments/all.txt", instruments_text)?;
        let mut series: BTreeMap<String, BTreeMap<String, Series>> = BTreeMap::new();
        for feature in features {
            let parsed = parse_bin(&feature, calendar.len())?;
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
    pub fn series(&self, symbol: &str, field: &str) -> Option<&Series> {
        self.series
            .get(&symbol.to_lowercase())?
            .get(&field.to_lowercase())
    }
}

impl Series {
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
fn parse_instruments(file: &str, text: &str) -> Result<BTreeMap<String, Vec<Span>>, PanelError> {
    let mut spans: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [symbol, start, end, ..] = columns.as_slice() else {
            let (file, n_columns) = (file.to_owned(), columns.len());
            return Err(PanelError::InstrumentColumns {
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

fn parse_calendar(file: &str, text: &str) -> Result<Vec<NaiveDate>, PanelError> {
    let mut days: Vec<NaiveDate> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let day = parse_date(file, index + 1, line)?;
        if days.last().is_some_and(|last| day <= *last) {
            return Err(PanelError::CalendarOrder {
                file: file.to_owned(),
                line: index + 1,
                day,
            });
        }
        days.push(day);
    }
    if days.is_empty() {
        return Err(PanelError::EmptyCalendar {
            file: file.to_owned(),
        });
    }
    Ok(days)
}

fn parse_date(file: &str, line: usize, text: &str) -> Result<NaiveDate, PanelError> {
    let trimmed = text.trim();
    // Some dumps write midnight after the day.
    let day = trimmed.strip_suffix(" 00:00:00").unwrap_or(trimmed);
    NaiveDate::parse_from_str(day, "%Y-%m-%d").map_err(|_| PanelError::Date {
        file: file.to_owned(),
        line,
        text: trimmed.to_owned(),
    })
}

fn parse_bin(feature: &FeatureFile, n_days: usize) -> Result<Series, PanelError> {
    let file = || format!("features/{}/{}.day.bin", feature.symbol, feature.field);
    let n_bytes = feature.bytes.len();
    if n_bytes < WORD_BYTES {
        return Err(PanelError::BinTruncated {
            file: file(),
            n_bytes,
        });
    }
    let (words, rest) = feature.bytes.as_chunks::<WORD_BYTES>();
    if !rest.is_empty() {
        return Err(PanelError::BinLength {
            file: file(),
            n_bytes,
        });
    }
    let mut numbers = words.iter().map(|word| f32::from_le_bytes(*word));
    let start = numbers.next().unwrap_or(f32::NAN);
    let values: Vec<f32> = numbers.collect();
    let start = start_index(start, n_days).ok_or_else(|| PanelError::BinStart {
        file: file(),
        start,
        n_days,
    })?;
    if n_days < start + values.len() {
        return Err(PanelError::BinEnd {
            file: file(),
            start,
            n_values: values.len(),
            n_days,
        });
    }
    Ok(Series { start, values })
}

/// The start index of a bin is written as `f32`, exact below 2^24 days.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, not negative and small before the cast"
)]
fn start_index(start: f32, n_days: usize) -> Option<usize> {
    let exact = start.fract().abs() <= 0.0 && (0.0..16_777_216.0).contains(&start);
    if !exact {
        return None;
    }
    let index = start as usize;
    (index < n_days).then_some(index)
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

    fn parse_one(bytes: &[u8]) -> Result<QlibPanel, PanelError> {
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
        let file = || "features/sh600000/close.day.bin".to_owned();
        assert_eq!(
            parse_one(&[0, 0]).unwrap_err(),
            PanelError::BinTruncated {
                file: file(),
                n_bytes: 2
            }
        );
        assert_eq!(
            parse_one(&[0; 6]).unwrap_err(),
            PanelError::BinLength {
                file: file(),
                n_bytes: 6
            }
        );
        for start in [0.5, -1.0, 3.0, 1e9] {
            let error = parse_one(&words(&[start, 1.0])).unwrap_err();
            assert_eq!(
                error,
                PanelError::BinStart {
                    file: file(),
                    start,
                    n_days: 3
                }
            );
        }
        assert!(matches!(
            parse_one(&words(&[f32::NAN, 1.0])),
            Err(PanelError::BinStart { .. })
        ));
        let error = parse_one(&words(&[2.0, 1.0, 1.0])).unwrap_err();
        assert_eq!(
            error,
            PanelError::BinEnd {
                file: file(),
                start: 2,
                n_values: 2,
                n_days: 3
            }
        );
        assert!(error.hint().contains("another calendar"));
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
        assert!(matches!(error, PanelError::CalendarOrder { line: 2, .. }));
        assert!(matches!(
            parse("\n", None, INSTRUMENTS),
            Err(PanelError::EmptyCalendar { .. })
        ));
        let error = parse(DAYS, Some("2024-01-02\n2024-01-04\n"), INSTRUMENTS).unwrap_err();
        assert_eq!(error, PanelError::FutureCalendar { n_days: 3 });
        let error = parse(DAYS, None, "SH600000 2024-01-02 2024-01-03\n").unwrap_err();
        assert!(matches!(
            error,
            PanelError::InstrumentColumns {
                line: 1,
                n_columns: 1,
                ..
            }
        ));
        let error = parse(DAYS, None, "SH600000\t2024-01-02\tlater\n").unwrap_err();
        assert!(matches!(error, PanelError::Date { line: 1, .. }));
    }
}
