//! Which column of a file of rows is what.

pub(super) use super::column::Column;
use super::missing_columns::{CSI_300, is_index_file, missing_columns};
use super::units::{Entry, Unit, check_map};
use super::vendor_forms::VendorForm;
use crate::DataFileError;
use ktd_env::{Decimal, RawBar, Ticker, TickerError, TradeDate};
use std::collections::BTreeMap;
use std::path::Path;

const REQUIRED: [Column; 7] = [
    Column::Date,
    Column::Symbol,
    Column::Open,
    Column::High,
    Column::Low,
    Column::Close,
    Column::Volume,
];

/// The place of a column in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) head: String,
    pub(super) unit: Unit,
}

/// The columns a file has.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub(super) places: BTreeMap<Column, Place>,
    /// Columns that are read by nothing.
    pub(super) unknown: Vec<String>,
    /// The vendor's form; none for a long file.
    pub(super) form: Option<&'static VendorForm>,
    /// The stock of every row, where no column names it.
    pub(super) stock: Option<Ticker>,
    /// How many columns the header names.
    pub(super) width: usize,
}

impl Layout {
    /// The layout of a header line of a long file.
    pub(super) fn of<'h>(
        file: &str,
        header: impl IntoIterator<Item = &'h str>,
    ) -> Result<Self, DataFileError> {
        let header: Vec<&str> = header.into_iter().collect();
        let layout = Self::placed(file, header.iter().copied(), None, &[])?;
        layout.lack(file, &header, &REQUIRED)?;
        Ok(layout)
    }

    /// The layout of a source, which may be a vendor's, mapped by hand, and without codes where `stock` is the code that the file's
    /// name says.
    pub(super) fn of_source(
        file: &str,
        header: &[&str],
        stock: Option<Ticker>,
        map: &[Entry<'_>],
    ) -> Result<Self, DataFileError> {
        let form = VendorForm::of(header);
        let mut layout = Self::placed(file, header.iter().copied(), form, &[])?;
        if !layout.is_of_factors() && !map.is_empty() {
            check_map(map, file, header)?;
            layout = Self::placed(file, header.iter().copied(), form, map)?;
        }
        if !layout.has(Column::Symbol) {
            let adjusted = form.is_none() && header.contains(&"Date") && header.contains(&"Close");
            if adjusted && map.is_empty() {
                return Err(DataFileError::input(
                    format_args!(
                        "{file}: yfinance's columns without Adj Close, whose prices are adjusted and were never traded"
                    ),
                    "download again with auto_adjust=False; where prices are as traded, say so with --map date=Date",
                ));
            }
            layout.stock = stock;
        }
        let is_needed = |column: &Column| *column != Column::Symbol || layout.stock.is_none();
        let needed: &[Column] = if layout.is_of_factors() {
            REQUIRED.get(..2).unwrap_or_default()
        } else {
            &REQUIRED
        };
        layout.lack(
            file,
            header,
            &needed.iter().copied().filter(is_needed).collect::<Vec<_>>(),
        )?;
        Ok(layout)
    }

    /// The layout of a file of index levels, which may be a vendor's; its code may stand elsewhere.
    pub(super) fn of_levels(file: &str, header: &[&str]) -> Result<Self, DataFileError> {
        let layout = Self::placed(file, header.iter().copied(), VendorForm::of(header), &[])?;
        let needed = [Column::Date, Column::Open, Column::Close];
        let lacks: Vec<&str> = needed
            .into_iter()
            .filter(|column| !layout.has(*column))
            .map(Column::label)
            .collect();
        if lacks.is_empty() {
            return Ok(layout);
        }
        Err(DataFileError::input(
            format_args!("{file}: an index without a column of {}", lacks.join(", ")),
            "an index file has the columns date, symbol, open, close, or those of a vendor's table of bars",
        ))
    }

    /// The same with these columns alone.
    pub(super) fn only(mut self, columns: &[Column]) -> Self {
        self.places.retain(|column, _| columns.contains(column));
        self
    }

    fn placed<'h>(
        file: &str,
        header: impl IntoIterator<Item = &'h str>,
        form: Option<&'static VendorForm>,
        map: &[Entry<'_>],
    ) -> Result<Self, DataFileError> {
        let mut layout = Self {
            form,
            ..Self::default()
        };
        for (index, head) in header.into_iter().enumerate() {
            layout.width += 1;
            let mapped = map.iter().find(|(_, name, _)| *name == head);
            let known = match form {
                Some(form) => form.column(head),
                None => Column::of_name(&head.to_ascii_lowercase()).map(|column| (column, Unit::default())),
            };
            let known = known.filter(|(column, _)| map.iter().all(|(other, ..)| other != column));
            let Some((column, unit)) = mapped.map(|(column, _, unit)| (*column, *unit)).or(known) else {
                layout.unknown.extend((!head.is_empty()).then(|| head.to_owned()));
                continue;
            };
            let place = Place {
                index,
                head: head.to_owned(),
                unit,
            };
            match layout.places.get(&column) {
                // A nameless column is the index of a table, which is the date where no other column is.
                Some(_) if head.is_empty() => {}
                Some(other) if !other.head.is_empty() => {
                    return Err(DataFileError::input(
                        format_args!(
                            "{file}: two columns hold the {}: {:?} and {head:?}",
                            column.label(),
                            other.head
                        ),
                        "remove one of them, or give it another name",
                    ));
                }
                _ => {
                    layout.places.insert(column, place);
                }
            }
        }
        Ok(layout)
    }

    fn lack(&self, file: &str, header: &[&str], needed: &[Column]) -> Result<(), DataFileError> {
        let has = |column: &Column| self.has(*column);
        let missing: Vec<Column> = needed.iter().copied().filter(|column| !has(column)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(missing_columns(file, header, &missing))
    }

    /// Whether the file has this column.
    pub(super) fn has(&self, column: Column) -> bool {
        self.places.contains_key(&column)
    }

    /// Whether the file has factors, in whatever form.
    pub(super) fn has_factors(&self) -> bool {
        [Column::Factor, Column::FactorSince, Column::AdjustedClose]
            .into_iter()
            .any(|column| self.has(column))
    }

    /// Whether the file has factors and no price or volume.
    pub(super) fn is_of_factors(&self) -> bool {
        let has_bars = REQUIRED.iter().skip(2).any(|column| self.has(*column));
        self.has_factors() && !has_bars
    }

    /// The 0-based place of a column.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(&column).map(|place| place.index)
    }

    /// The unit of a column.
    pub(super) fn unit(&self, column: Column) -> Unit {
        self.places
            .get(&column)
            .map_or(Unit::default(), |place| place.unit)
    }
}

/// One row of a source.
#[derive(Debug)]
pub(super) struct SourceRow<'r> {
    /// The file as messages name it.
    pub(super) file: &'r str,
    /// 1-based row of its file.
    pub(super) row: u64,
    pub(super) ticker: Ticker,
    pub(super) date: TradeDate,
    pub(super) bar: RawBar,
    /// ST flag, where the file has them.
    pub(super) st: Option<bool>,
    pub(super) listed: Option<TradeDate>,
    pub(super) sector: Option<&'r str>,
    /// Cash dividend of the row's day, CNY a share before tax.
    pub(super) dividend: Option<Decimal>,
    /// Close x factor, yuan, where the file has that instead of a factor.
    pub(super) adjusted_close: Option<Decimal>,
}

/// Takes the rows of a source one by one.
pub(super) type RowSink<'s> = dyn FnMut(&SourceRow<'_>) -> Result<(), DataFileError> + 's;

/// Reads a code in the spellings data vendors use: `SH600519`, `sh.600519`, `600519.SH`, `600519.XSHG`, `600519.SS`, and `600519`,
/// which is a stock's and no index's.
pub(super) fn read_ticker(text: &str) -> Result<Ticker, TickerError> {
    if text == CSI_300 {
        return Err(TickerError::NoBoard {
            text: text.to_owned(),
        });
    }
    Ticker::parse(text).or_else(|error| {
        let (exchange, digits) = spelled(text, exchange_of);
        Ticker::parse(&format!("{exchange}{digits}")).map_err(|turned| match turned {
            TickerError::NoBoard { .. } => turned,
            _ if text.parse::<f64>().is_ok_and(f64::is_finite) => TickerError::Number {
                text: text.to_owned(),
            },
            TickerError::Malformed { .. } | TickerError::Number { .. } => error,
        })
    })
}

/// The code of an index as panels have it, `SH000300`, from the spellings of a stock's and from `000300`, which is an index's here;
/// any other text as it is.
pub(super) fn index_code(text: &str) -> String {
    let of_bare = |digits: &str| match digits.as_bytes() {
        [b'0', b'0', b'0', ..] => "SH",
        [b'3', b'9', b'9', ..] => "SZ",
        _ => "",
    };
    let (exchange, digits) = spelled(text, of_bare);
    let is_code = matches!(exchange.as_str(), "SH" | "SZ" | "BJ")
        && digits.len() == 6
        && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_code {
        format!("{exchange}{digits}")
    } else {
        text.to_owned()
    }
}

/// Exchange and digits of a code in vendors' spellings; of bare digits the exchange is found otherwise.
fn spelled(text: &str, exchange_of: impl Fn(&str) -> &'static str) -> (String, String) {
    let upper = text.to_ascii_uppercase();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (exchange, digits) = match upper.split_once('.') {
        Some((digits, exchange)) if is_number(digits) => (exchange, digits),
        Some(parts) => parts,
        None if is_number(&upper) => (exchange_of(&upper), upper.as_str()),
        None => match (upper.get(..2), upper.get(2..)) {
            (Some(exchange), Some(digits)) if is_number(digits) => (exchange, digits),
            _ => ("", upper.as_str()),
        },
    };
    let exchange = match exchange {
        "XSHG" | "SS" => "SH",
        "XSHE" => "SZ",
        "XBSE" | "BJSE" | "BSE" => "BJ",
        other => other,
    };
    (exchange.to_owned(), digits.to_owned())
}

/// The exchange on which a bare code is a stock's.
fn exchange_of(digits: &str) -> &'static str {
    match digits.as_bytes() {
        [b'0' | b'3', ..] => "SZ",
        [b'4' | b'8', ..] | [b'9', b'2', ..] => "BJ",
        _ => "SH",
    }
}

/// The code that the name of a file says: `600519.csv`, `sh600519.csv.gz`, `600519.SS.csv`, `600519_daily.csv`; none where it is an
/// index.
pub(super) fn code_of_file(path: &Path) -> Option<Ticker> {
    if is_index_file(path) {
        return None;
    }
    let mut name = path.file_name()?.to_str()?;
    for ending in [".gz", ".csv", ".txt", ".parquet"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    let first = name.split(['_', '-', ' ']).next().unwrap_or(name);
    read_ticker(name).or_else(|_| read_ticker(first)).ok()
}

/// Reads a date, with or without a time of midnight and an offset behind it; Excel writes 2024/1/2.
pub(super) fn read_date(text: &str) -> Result<TradeDate, ktd_env::DateError> {
    let midnight = |mark: &str| text.split_once(mark);
    let day = match midnight(" 00:00:00").or_else(|| midnight("T00:00:00")) {
        Some((day, "" | "+08:00" | "+0800")) => day,
        _ => text,
    };
    let excel = day.strip_suffix(" 0:00").unwrap_or(day);
    match excel.split('/').collect::<Vec<_>>().as_slice() {
        [year, month, day] => TradeDate::parse(&format!("{year}-{month:0>2}-{day:0>2}")),
        _ => TradeDate::parse(day),
    }
}

/// Reads a flag; blank is no.
pub(super) fn read_flag(text: &str) -> Option<bool> {
    const NO: [&str; 8] = ["", "0", "0.0", "false", "f", "no", "n", "off"];
    const YES: [&str; 7] = ["1", "1.0", "true", "t", "yes", "y", "on"];
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is_one_of(&NO), is_one_of(&YES)) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_spellings_of_codes() {
        for (text, code) in [
            (
                "SH600519 sh600519 600519.SH 600519.sh sh.600519 600519.XSHG 600519.SS 600519",
                "SH600519",
            ),
            ("000001.XSHE sz.000001 000001.SZ 000001", "SZ000001"),
            ("920047 430047.BJ bj.920047", "BJ"),
        ] {
            for text in text.split(' ') {
                assert!(read_ticker(text).unwrap().reveal().starts_with(code), "{text}");
            }
        }
        for text in ["AAPL", "SH510300", "510300.SH", "510300", "000300", ".", ""] {
            assert!(read_ticker(text).is_err(), "{text}");
        }
        for text in ["60051", "1", "00700", "1.0", "600519.0"] {
            let error = read_ticker(text).unwrap_err();
            assert!(matches!(error, TickerError::Number { .. }), "{text}: {error}");
        }
        for text in "SH000300 sh000300 sh.000300 000300.SH 000300.XSHG 000300.SS 000300".split(' ') {
            assert_eq!(index_code(text), "SH000300", "{text}");
        }
        assert_eq!(index_code("399001"), "SZ399001");
        for text in ["H00300", "H00300.CSI", "000300.CSI", "mine", "1"] {
            assert_eq!(index_code(text), text);
        }
        for name in [
            "600519.csv",
            "sh600519.csv.gz",
            "600519.SS.csv",
            "d/600519.XSHG.parquet",
            "600519_daily_raw.csv",
        ] {
            assert_eq!(
                code_of_file(Path::new(name)),
                Ticker::parse("SH600519").ok(),
                "{name}"
            );
        }
        for name in [
            "members.csv",
            "sh000300.csv",
            "000300.SH.csv",
            "sz.399001.csv",
            "000300.csv",
        ] {
            assert_eq!(code_of_file(Path::new(name)), None, "{name}");
        }
        let number = code_of_file(Path::new("000001.csv"));
        assert_eq!(number, Ticker::parse("SZ000001").ok());
    }

    #[test]
    fn dates_of_excel_are_dates() {
        let date = TradeDate::parse("2024-01-02").unwrap();
        for text in ["2024/1/2", "2024/01/02", "2024/1/2 0:00", "2024-01-02 00:00:00"] {
            assert_eq!(read_date(text), Ok(date), "{text}");
        }
        for text in ["1/2/2024", "2024/1/32", "2024/1", "2024/1/2/3", "24/1/2"] {
            assert!(read_date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_layout_names_what_it_misses_and_what_it_ignores() {
        let missing = Layout::of("f.csv", ["date", "symbol", "open", "close"]).unwrap_err();
        assert!(missing.to_string().contains("high, low, volume"), "{missing}");
        let layout = Layout::of(
            "f.csv",
            ["Date", "symbol", "open", "high", "low", "close", "volume", "mood"],
        )
        .unwrap();
        assert_eq!(layout.unknown, ["mood"]);
        assert_eq!(layout.place(Column::Close), Some(5));
        let twice = Layout::of("f.csv", ["date", "trade_date"]).unwrap_err();
        assert!(
            twice
                .to_string()
                .ends_with("two columns hold the date: \"date\" and \"trade_date\""),
            "{twice}"
        );
    }
}
