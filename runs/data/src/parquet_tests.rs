//! Parquet files of every kind that is read, written by column.

use super::columns::{Column, SourceRow, read_flag};
use super::index_levels::read_index;
use super::parquet_columns::{Dates, Flags, Numbers, Texts};
use super::parquet_file::{Batch, ParquetFile};
use super::parquet_rows::ParquetRows;
use super::parquet_values::Values;
use super::source::Source;
use ktd_env::{Decimal, DecimalError, TradeDate};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A column as it is stored.
#[derive(Clone)]
enum Stored {
    Flags(Vec<Option<bool>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Int96(Vec<Option<Int96>>),
    Float(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bytes(Vec<Option<ByteArray>>),
    Fixed(Vec<Option<FixedLenByteArray>>),
}

impl Stored {
    fn texts(texts: &[&str]) -> Self {
        Self::Bytes(texts.iter().map(|text| Some(ByteArray::from(*text))).collect())
    }

    fn write(&self, writer: &mut SerializedColumnWriter<'_>) {
        fn put<T: DataType>(writer: &mut SerializedColumnWriter<'_>, values: &[Option<T::T>]) {
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let values: Vec<T::T> = values.iter().flatten().cloned().collect();
            let writer = writer.typed::<T>();
            writer.write_batch(&values, Some(&levels), None).unwrap();
        }
        match self {
            Self::Flags(values) => put::<BoolType>(writer, values),
            Self::Int32(values) => put::<Int32Type>(writer, values),
            Self::Int64(values) => put::<Int64Type>(writer, values),
            Self::Int96(values) => put::<Int96Type>(writer, values),
            Self::Float(values) => put::<FloatType>(writer, values),
            Self::Double(values) => put::<DoubleType>(writer, values),
            Self::Bytes(values) => put::<ByteArrayType>(writer, values),
            Self::Fixed(values) => put::<FixedLenByteArrayType>(writer, values),
        }
    }
}

/// Writes a file of these fields, one row group after the other.
fn write(path: &Path, fields: &str, properties: WriterPropertiesBuilder, groups: &[Vec<Stored>]) {
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}")).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
    for group in groups {
        let mut group_writer = writer.next_row_group().unwrap();
        for column in group {
            let mut column_writer = group_writer.next_column().unwrap().unwrap();
            column.write(&mut column_writer);
            column_writer.close().unwrap();
        }
        group_writer.close().unwrap();
    }
    writer.close().unwrap();
}

/// The values of a file of one column.
fn one_column(field: &str, stored: Stored) -> Values {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.parquet");
    write(&path, field, WriterProperties::builder(), &[vec![stored]]);
    let mut batches = ParquetFile::open(&path).unwrap().batches(&[0]).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    assert!(batches.next_batch().unwrap().is_none());
    batch.columns.into_iter().next().unwrap()
}

fn new_year_2020() -> TradeDate {
    TradeDate::parse("2020-01-01").unwrap()
}

/// Days from 1970-01-01 to 2020-01-01.
const DAYS: i32 = 18_262;

#[test]
fn every_kind_of_date_is_a_day() {
    let days = i64::from(DAYS);
    let mut julian = Int96::new();
    // The last nanosecond of the day.
    julian.set_data(0x4e94_91ff, 0x4e94, 2_440_588 + 18_262);
    let zoned = |hours: i64| Stored::Int64(vec![Some((days * 24 + hours) * 3_600_000_000), None]);
    let cases = [
        ("optional int32 d (DATE);", Stored::Int32(vec![Some(DAYS), None])),
        (
            "optional int64 d (TIMESTAMP(MILLIS,false));",
            Stored::Int64(vec![Some(days * 86_400_000), None]),
        ),
        ("optional int64 d (TIMESTAMP(MICROS,false));", zoned(15)),
        (
            "optional int64 d (TIMESTAMP(NANOS,false));",
            Stored::Int64(vec![Some(days * 86_400_000_000_000), None]),
        ),
        // Midnight in UTC, the market's close and its midnight, which is still the day before in UTC.
        ("optional int64 d (TIMESTAMP(MICROS,true));", zoned(0)),
        ("optional int64 d (TIMESTAMP(MICROS,true));", zoned(7)),
        ("optional int64 d (TIMESTAMP(MICROS,true));", zoned(-8)),
        ("optional int64 d (TIMESTAMP_MICROS);", zoned(0)),
        ("optional int96 d;", Stored::Int96(vec![Some(julian), None])),
        ("optional binary d (STRING);", Stored::texts(&["2020-01-01", " "])),
        ("optional binary d;", Stored::texts(&["2020-01-01 00:00:00", ""])),
        ("optional int32 d;", Stored::Int32(vec![Some(20_200_101), None])),
        (
            "optional int64 d (INTEGER(64,false));",
            Stored::Int64(vec![Some(20_200_101), None]),
        ),
    ];
    for (field, stored) in cases {
        let dates = Dates::of(one_column(field, stored)).unwrap();
        assert_eq!(dates.get(0), Ok(Some(new_year_2020())), "{field}");
        assert_eq!(dates.get(1), Ok(None), "{field}");
    }
    let far = Stored::Int32(vec![Some(i32::MAX)]);
    let far = Dates::of(one_column("optional int32 d (DATE);", far)).unwrap();
    assert!(far.get(0).unwrap_err().contains("outside the calendar"));
    let soon = Dates::of(one_column(
        "optional binary d (STRING);",
        Stored::texts(&["soon"]),
    ));
    assert!(soon.unwrap().get(0).unwrap_err().contains("\"soon\""));
}

fn fixed(bytes: &[u8]) -> Stored {
    Stored::Fixed(vec![Some(FixedLenByteArray::from(bytes.to_vec())), None])
}

#[test]
fn every_kind_of_number_is_exact() {
    // 1250 hundredths, in 2 and in 20 bytes; half precision holds 12.5 as 0x4a40.
    let mut wide = [0; 20];
    wide[18..].copy_from_slice(&1250_u16.to_be_bytes());
    let cases = [
        ("optional double n;", Stored::Double(vec![Some(12.5), None])),
        ("optional float n;", Stored::Float(vec![Some(12.5), None])),
        (
            "optional fixed_len_byte_array(2) n (FLOAT16);",
            fixed(&[0x40, 0x4a]),
        ),
        (
            "optional int32 n (DECIMAL(9,2));",
            Stored::Int32(vec![Some(1250), None]),
        ),
        (
            "optional int64 n (DECIMAL(18,2));",
            Stored::Int64(vec![Some(1250), None]),
        ),
        (
            "optional fixed_len_byte_array(2) n (DECIMAL(4,2));",
            fixed(&1250_u16.to_be_bytes()),
        ),
        (
            "optional fixed_len_byte_array(20) n (DECIMAL(40,2));",
            fixed(&wide),
        ),
        (
            "optional binary n (DECIMAL(9,2));",
            Stored::Bytes(vec![Some(ByteArray::from(1250_u16.to_be_bytes().to_vec())), None]),
        ),
        ("optional binary n (STRING);", Stored::texts(&["12.50", ""])),
    ];
    for (field, stored) in cases {
        let numbers = Numbers::of(one_column(field, stored)).unwrap();
        let value = Decimal::parse("12.5").unwrap();
        assert_eq!(numbers.decimal(0), Ok(Some(value)), "{field}");
        assert_eq!(numbers.float(0), Ok(Some(12.5)), "{field}");
        assert_eq!(numbers.decimal(1), Ok(None), "{field}");
        assert_eq!(numbers.float(1), Ok(None), "{field}");
    }
    let small = Stored::Int32(vec![Some(-5)]);
    let small = Texts::of(one_column("optional int32 n (DECIMAL(9,2));", small)).unwrap();
    assert_eq!(small.get(0), Some("-0.05"));
}

#[test]
fn integers_keep_their_width_and_sign() {
    let written = |field: &str, stored: Stored| {
        let texts = Texts::of(one_column(field, stored)).unwrap();
        texts.get(0).map(str::to_owned)
    };
    let int32 = |value| Stored::Int32(vec![Some(value)]);
    let int64 = |value| Stored::Int64(vec![Some(value)]);
    let cases = [
        ("required int32 n;", int32(-7), "-7"),
        ("required int32 n (INTEGER(8,true));", int32(-7), "-7"),
        ("required int32 n (INTEGER(32,false));", int32(-1), "4294967295"),
        ("required int64 n;", int64(i64::MIN), "-9223372036854775808"),
        (
            "required int64 n (INTEGER(64,false));",
            int64(-1),
            "18446744073709551615",
        ),
        ("required double n;", Stored::Double(vec![Some(45.0)]), "45.0"),
        ("required boolean n;", Stored::Flags(vec![Some(true)]), "true"),
    ];
    for (field, stored, expected) in cases {
        assert_eq!(written(field, stored).as_deref(), Some(expected), "{field}");
    }
}

#[test]
fn numbers_that_are_no_price_are_told_apart() {
    let wrong = |text: &str| text.to_owned();
    let malformed = |text| Err(DecimalError::Malformed { text: wrong(text) });
    let negative = |text| Err(DecimalError::Negative { text: wrong(text) });
    let doubles = [f64::NAN, f64::INFINITY, -1.5, 1e300].map(Some).to_vec();
    let numbers = Numbers::of(one_column("required double n;", Stored::Double(doubles))).unwrap();
    assert_eq!(numbers.decimal(0), malformed("NaN"));
    assert_eq!(numbers.decimal(1), malformed("inf"));
    assert_eq!(numbers.decimal(2), negative("-1.5"));
    let text = wrong("1e300");
    assert_eq!(numbers.decimal(3), Err(DecimalError::TooPrecise { text }));
    let texts = Stored::texts(&["-1.5", "dear"]);
    let numbers = Numbers::of(one_column("required binary n (STRING);", texts)).unwrap();
    assert_eq!(numbers.decimal(0), negative("-1.5"));
    assert_eq!(numbers.decimal(1), malformed("dear"));
    assert_eq!(numbers.float(0), Ok(Some(-1.5)));
    assert_eq!(numbers.float(1), Err("dear"));
}

#[test]
fn every_kind_of_flag_is_read_and_an_unknown_word_is_an_error() {
    let cases = [
        (
            "optional boolean f;",
            Stored::Flags(vec![Some(true), Some(false), None]),
        ),
        ("optional int32 f;", Stored::Int32(vec![Some(1), Some(0), None])),
        (
            "optional double f;",
            Stored::Double(vec![Some(1.0), Some(0.0), Some(f64::NAN)]),
        ),
        (
            "optional float f;",
            Stored::Float(vec![Some(1.0), Some(-0.0), None]),
        ),
        ("optional binary f (STRING);", Stored::texts(&["True", "no", ""])),
    ];
    for (field, stored) in cases {
        let flags = Flags::of(one_column(field, stored)).unwrap();
        let found: Vec<_> = (0..3).map(|place| flags.get(place)).collect();
        assert_eq!(found, [Ok(true), Ok(false), Ok(false)], "{field}");
    }
    let unknown = Stored::texts(&["perhaps"]);
    let unknown = Flags::of(one_column("optional binary f (STRING);", unknown)).unwrap();
    assert_eq!(unknown.get(0), Err("perhaps"));
}

#[test]
fn a_column_of_another_kind_is_named() {
    let days = || one_column("required int32 d (DATE);", Stored::Int32(vec![Some(DAYS)]));
    let error = Numbers::of(days()).unwrap_err().to_string();
    assert_eq!(error, "the values are dates, but numbers are needed");
    assert!(Texts::of(days()).is_err() && Flags::of(days()).is_err());
    let time = Stored::Int32(vec![Some(1)]);
    let error = Dates::of(one_column("required int32 d (TIME(MILLIS,true));", time)).unwrap_err();
    assert!(error.to_string().contains("Time"), "{error}");
    let error = Dates::of(one_column(
        "required double d;",
        Stored::Double(vec![Some(20_200_101.0)]),
    ));
    assert!(error.is_err());
}

const LONG: &str = "optional int32 date (DATE); optional binary symbol (STRING); optional double open; \
    optional double high; optional double low; optional double close; optional int64 volume; \
    optional boolean suspended; optional binary sector (STRING);";

/// Rows of a long file: row `r` closes at `r / 100`, but every 11th has no close.
fn long_rows(rows: std::ops::Range<i32>) -> Vec<Stored> {
    let close = |row: i32| (row % 11 != 0).then(|| f64::from(row) / 100.0);
    let prices = || Stored::Double(rows.clone().map(close).collect());
    let text = |text: &str| Stored::Bytes(rows.clone().map(|_| Some(ByteArray::from(text))).collect());
    vec![
        Stored::Int32(rows.clone().map(|row| Some(row % 9_000)).collect()),
        text("SH600519"),
        prices(),
        prices(),
        prices(),
        prices(),
        Stored::Int64(rows.clone().map(|row| Some(i64::from(row))).collect()),
        Stored::Flags(rows.clone().map(|row| Some(row % 5 == 0)).collect()),
        text(" Banks "),
    ]
}

/// Row, close, whether it is suspended, sector.
type Row = (u64, String, bool, Option<String>);

/// Every row that a long file gives, or the error that ends it.
fn read_long(path: &Path) -> Result<Vec<Row>, String> {
    let mut found = Vec::new();
    let rows = ParquetRows::open(path, &[]).map_err(|error| error.to_string())?;
    rows.read(&mut |row| {
        let close = row.bar.close.map_or_else(String::new, |close| close.to_string());
        let sector = row.sector.map(str::to_owned);
        found.push((row.row, close, row.bar.suspended, sector));
        Ok(())
    })
    .map_err(|error| error.to_string())?;
    Ok(found)
}

fn in_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    (folder, path)
}

#[test]
fn row_groups_batches_pages_and_encodings_give_the_same_rows() {
    // The first group is longer than a batch, the second is empty.
    let groups = [long_rows(1..20_001), long_rows(1..1), long_rows(20_001..20_101)];
    let builder = WriterProperties::builder;
    let writers = [
        builder(),
        builder()
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(512),
        builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::BYTE_STREAM_SPLIT)
            .set_column_encoding("symbol".into(), Encoding::DELTA_BYTE_ARRAY)
            .set_column_encoding("sector".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .set_column_encoding("volume".into(), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding("suspended".into(), Encoding::RLE),
        builder().set_compression(Compression::SNAPPY),
        builder()
            .set_compression(Compression::ZSTD(parquet::basic::ZstdLevel::default()))
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_data_page_row_count_limit(333),
    ];
    for writer in writers {
        let (_folder, path) = in_folder();
        write(&path, LONG, writer, &groups);
        assert_eq!(ParquetRows::open(&path, &[]).unwrap().rows, 20_100);
        let rows = read_long(&path).unwrap();
        assert_eq!(rows.len(), 20_100);
        for (expected, (row, close, suspended, sector)) in (1_u32..).zip(rows) {
            assert_eq!(row, u64::from(expected));
            let written = Decimal::parse(&format!("{}.{:02}", expected / 100, expected % 100)).unwrap();
            let written = if expected % 11 == 0 {
                String::new()
            } else {
                written.to_string()
            };
            assert_eq!(close, written, "row {row}");
            assert_eq!(suspended, expected % 5 == 0, "row {row}");
            assert_eq!(sector.as_deref(), Some("Banks"));
        }
    }
}

/// Columns that a row has, and its type in a file that has types.
const EVERY: [(&str, &str); 17] = [
    ("date", "int32 date (DATE)"),
    ("symbol", "binary symbol (STRING)"),
    ("open", "double open"),
    ("high", "double high"),
    ("low", "double low"),
    ("close", "double close"),
    ("volume", "double volume"),
    ("amount", "double amount"),
    ("factor", "double factor"),
    ("factor_since", "double factor_since"),
    ("adj_close", "double adj_close"),
    ("change", "double change"),
    ("dividend", "double dividend"),
    ("suspended", "boolean suspended"),
    ("st", "boolean st"),
    ("listed", "int32 listed (DATE)"),
    ("sector", "binary sector (STRING)"),
];

/// What each row of a source says.
fn said(path: &Path) -> Vec<String> {
    let mut said = Vec::new();
    let mut keep = |row: &SourceRow<'_>| {
        let days = (row.date.reveal(), row.listed.map(TradeDate::reveal));
        let prices = (row.bar, row.dividend, row.adjusted_close);
        said.push(format!(
            "{} {days:?} {prices:?} {:?} {:?}",
            row.ticker.reveal(),
            row.st,
            row.sector
        ));
        Ok(())
    };
    let source = Source::open(path, &[]).unwrap();
    source.read(&mut (), &mut keep).unwrap();
    said
}

#[test]
fn a_row_says_the_same_as_text_and_as_parquet() {
    let rows = [
        "2020-01-01,SH600519,-1,10.5,9.9,10.25,1000,10200.5,1.5,,,0.02,0.5,0,0,2001-08-27,Banks",
        "2020-01-02,SH600519,10,10.5,9.9,10.25,0,,1.5,1.75,15.375,-0.5,,0,1,,",
        "2020-01-03,SH600519,,,,,,,,,,,,1,,,",
    ];
    let of_column = |place: usize| rows.map(|row| row.split(',').nth(place).unwrap());
    let stored = |(place, (_, kind)): (usize, &(&str, &str))| {
        let cells = of_column(place).into_iter();
        let date = |cell: &str| TradeDate::parse(cell).ok().map(TradeDate::days_since_epoch);
        match kind.split(' ').next().unwrap() {
            "int32" => Stored::Int32(cells.map(date).collect()),
            "double" => Stored::Double(cells.map(|cell| cell.parse().ok()).collect()),
            "boolean" => Stored::Flags(cells.map(read_flag).collect()),
            _ => Stored::texts(&of_column(place)),
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let [text, texts, typed] =
        ["text.csv", "texts.parquet", "typed.parquet"].map(|name| folder.path().join(name));
    let heads = EVERY.map(|(head, _)| head);
    std::fs::write(&text, format!("{}\n{}\n", heads.join(","), rows.join("\n"))).unwrap();
    let builder = WriterProperties::builder;
    let fields = heads.map(|head| format!("optional binary {head} (STRING);"));
    let columns = (0..heads.len()).map(|place| Stored::texts(&of_column(place)));
    write(&texts, &fields.concat(), builder(), &[columns.collect()]);
    let fields = EVERY.map(|(_, kind)| format!("optional {kind};"));
    let columns = EVERY.iter().enumerate().map(stored);
    write(&typed, &fields.concat(), builder(), &[columns.collect()]);
    let as_text = said(&text);
    assert!(as_text[0].contains("Banks"), "{as_text:?}");
    assert_eq!(said(&texts), as_text);
    assert_eq!(said(&typed), as_text);
}

#[test]
fn an_error_names_the_row() {
    let (_folder, path) = in_folder();
    let second = |place: usize, stored: Stored| {
        let mut rows = long_rows(3..4);
        rows[place] = stored;
        [long_rows(1..3), rows]
    };
    let cases = [
        (second(0, Stored::Int32(vec![None])), "the date is missing"),
        (second(1, Stored::texts(&["AAPL"])), "\"AAPL\""),
        (second(5, Stored::Double(vec![Some(-1.0)])), "close is -1"),
        (second(6, Stored::Int64(vec![Some(-1)])), "volume is -1"),
    ];
    for (groups, expected) in cases {
        write(&path, LONG, WriterProperties::builder(), &groups);
        let error = read_long(&path).unwrap_err();
        assert!(error.contains("row 3: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn nested_columns_are_passed_over_or_named() {
    let (_folder, path) = in_folder();
    let mut rows = long_rows(1..2);
    rows.insert(0, Stored::Int32(vec![Some(1)]));
    rows.insert(1, Stored::Int32(vec![Some(1)]));
    let fields = format!("required group extra {{ optional int32 a; optional int32 b; }} {LONG}");
    write(&path, &fields, WriterProperties::builder(), &[rows]);
    assert_eq!(ParquetRows::open(&path, &[]).unwrap().layout.unknown, ["extra"]);
    assert_eq!(read_long(&path).unwrap().len(), 1);

    let nested = LONG.replace(
        "optional double close;",
        "required group close { optional double a; }",
    );
    write(&path, &nested, WriterProperties::builder(), &[long_rows(1..2)]);
    let error = read_long(&path).unwrap_err();
    assert!(error.contains("column close is nested"), "{error}");
}

#[test]
fn a_damaged_file_is_told_by_its_last_whole_row() {
    let (_folder, path) = in_folder();
    let plain = WriterProperties::builder().set_dictionary_enabled(false);
    write(&path, LONG, plain, &[long_rows(1..101), long_rows(101..201)]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = read_long(&path).unwrap_err();
    assert!(error.contains("not readable as Parquet"), "{error}");

    // A code of the second group is no UTF-8.
    let mut codes = whole
        .windows(8)
        .enumerate()
        .filter(|(_, bytes)| *bytes == b"SH600519");
    let (in_second_group, _) = codes.nth(150).unwrap();
    let mut damaged = whole;
    damaged[in_second_group] = 0xff;
    std::fs::write(&path, damaged).unwrap();
    let error = read_long(&path).unwrap_err();
    assert!(error.contains("damaged after row 100"), "{error}");
}

#[test]
fn a_column_without_a_value_is_missing() {
    let batch_of =
        |field: &str, stored: Stored| Texts::of(one_column(field, stored)).unwrap().get(0).is_none();
    assert!(batch_of("optional int32 n (UNKNOWN);", Stored::Int32(vec![None])));
    assert!(batch_of("optional binary n (STRING);", Stored::Bytes(vec![None])));
}

const INDEX: &str = "optional int32 date (DATE); optional binary symbol (STRING); optional double open; \
    optional double close;";

#[test]
fn index_levels_are_read_and_checked() {
    let (_folder, path) = in_folder();
    let rows = |open: Option<f64>| {
        vec![
            Stored::Int32(vec![Some(DAYS), Some(DAYS + 1)]),
            Stored::texts(&["SH000300", "SH000300"]),
            Stored::Double(vec![Some(4_000.5), open]),
            Stored::Double(vec![Some(4_001.5), Some(4_002.5)]),
        ]
    };
    let argument = path.display().to_string();
    write(&path, INDEX, WriterProperties::builder(), &[rows(None)]);
    let (symbol, levels) = read_index(&argument).unwrap();
    assert_eq!(symbol, "SH000300");
    let (open, close) = levels[&new_year_2020()];
    assert_eq!(
        (open.to_bits(), close.to_bits()),
        (4_000.5_f64.to_bits(), 4_001.5_f64.to_bits())
    );
    assert!(levels.values().nth(1).unwrap().0.is_nan());

    write(&path, INDEX, WriterProperties::builder(), &[rows(Some(0.0))]);
    let error = read_index(&argument).unwrap_err().to_string();
    assert!(error.contains("row 2: 0 is no index level"), "{error}");

    let mut texts = rows(None);
    texts[2] = Stored::texts(&["4000.5", "high"]);
    let fields = INDEX.replace("double open", "binary open (STRING)");
    write(&path, &fields, WriterProperties::builder(), &[texts]);
    let error = read_index(&argument).unwrap_err().to_string();
    assert!(error.contains("row 2: \"high\" is no index level"), "{error}");
}

#[test]
fn only_the_columns_asked_for_are_read() {
    let (_folder, path) = in_folder();
    write(&path, LONG, WriterProperties::builder(), &[long_rows(1..3)]);
    let file = ParquetFile::open(&path).unwrap();
    let layout = super::columns::Layout::of(&file.name, file.columns.iter().map(String::as_str)).unwrap();
    let place = layout.place(Column::Volume).unwrap();
    let mut batches = file.batches(&[place]).unwrap();
    let Some(Batch {
        first_row: 1,
        rows: 2,
        columns,
    }) = batches.next_batch().unwrap()
    else {
        panic!("two rows in one batch")
    };
    assert!(matches!(columns.as_slice(), [Values::Integers(values)] if *values == [Some(1), Some(2)]));
}
