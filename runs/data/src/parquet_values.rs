//! The values of a Parquet column by what its schema says they are.

use num_bigint::BigInt;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

/// What the values of a column are: its physical type, read through its annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A column without a value, whatever its physical type.
    Missing,
    /// Booleans, integers, floating-point numbers and bytes as they are stored.
    Plain,
    /// Integers without a sign.
    Unsigned,
    /// Decimals: whole numbers of 10^-`scale`.
    Decimal { scale: usize },
    /// Numbers of two bytes.
    Half,
    /// Days since 1970-01-01.
    Days,
    /// Instants, so many a day; `utc` when they count from a midnight of UTC and not from one of the market.
    Instants { per_day: i64, utc: bool },
    /// Anything else, by its name in the schema.
    Other(String),
}

const MILLIS_PER_DAY: i64 = 86_400_000;
const MICROS_PER_DAY: i64 = 1_000 * MILLIS_PER_DAY;
const NANOS_PER_DAY: i64 = 1_000 * MICROS_PER_DAY;

impl Kind {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        // An instant of twelve bytes is known by its physical type alone.
        if column.physical_type() == Physical::INT96 {
            return Self::Plain;
        }
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Unknown), _) => Self::Missing,
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Self::Unsigned,
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => Self::decimal(column),
            (Some(LogicalType::Float16), _) => Self::Half,
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Self::Days,
            (Some(LogicalType::Timestamp(timestamp)), _) => Self::Instants {
                per_day: match timestamp.unit {
                    TimeUnit::MILLIS => MILLIS_PER_DAY,
                    TimeUnit::MICROS => MICROS_PER_DAY,
                    TimeUnit::NANOS => NANOS_PER_DAY,
                },
                utc: timestamp.is_adjusted_to_u_t_c,
            },
            (None, ConvertedType::TIMESTAMP_MILLIS) => Self::Instants {
                per_day: MILLIS_PER_DAY,
                utc: true,
            },
            (None, ConvertedType::TIMESTAMP_MICROS) => Self::Instants {
                per_day: MICROS_PER_DAY,
                utc: true,
            },
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Self::Unsigned,
            (Some(LogicalType::Integer(_)), _)
            | (
                Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) | None,
                ConvertedType::NONE
                | ConvertedType::UTF8
                | ConvertedType::ENUM
                | ConvertedType::JSON
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Self::Plain,
            (Some(logical), _) => Self::Other(format!("{logical:?}")),
            (None, converted) => Self::Other(converted.to_string()),
        }
    }

    fn decimal(column: &ColumnDescriptor) -> Self {
        usize::try_from(column.type_scale()).map_or_else(
            |_| Self::Other(format!("DECIMAL of scale {}", column.type_scale())),
            |scale| Self::Decimal { scale },
        )
    }

    /// The next `rows` values of a column of this kind; fewer where its row group ends.
    pub(super) fn read(&self, reader: &mut ColumnReader, rows: usize) -> Result<Values, ParquetError> {
        if let Self::Other(kind) = self {
            return Ok(Values::Other {
                kind: kind.clone(),
                rows,
            });
        }
        match reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, rows).map(Values::Flags),
            ColumnReader::Int32ColumnReader(reader) => {
                let is_unsigned = *self == Self::Unsigned;
                let widen = |value: i32| {
                    if is_unsigned {
                        i64::from(value.cast_unsigned())
                    } else {
                        i64::from(value)
                    }
                };
                Ok(self.integers(&map(read(reader, rows)?, widen)))
            }
            ColumnReader::Int64ColumnReader(reader) => Ok(self.integers(&read(reader, rows)?)),
            ColumnReader::Int96ColumnReader(reader) => {
                Ok(Values::Days(map(read(reader, rows)?, |instant| day_of(&instant))))
            }
            ColumnReader::FloatColumnReader(reader) => read(reader, rows).map(Values::Narrow),
            ColumnReader::DoubleColumnReader(reader) => read(reader, rows).map(Values::Wide),
            ColumnReader::ByteArrayColumnReader(reader) => self.bytes(read(reader, rows)?),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                let values: Vec<Option<FixedLenByteArray>> = read(reader, rows)?;
                self.bytes(map(values, ByteArray::from))
            }
        }
    }

    fn integers(&self, values: &[Option<i64>]) -> Values {
        match self {
            Self::Days => Values::Days(values.to_vec()),
            Self::Instants { per_day, utc } => {
                // A third of a day: the market's clocks are eight hours ahead of UTC.
                let ahead = if *utc { per_day / 3 } else { 0 };
                let day = |value: i64| value.saturating_add(ahead).div_euclid(*per_day);
                Values::Days(values.iter().map(|value| value.map(day)).collect())
            }
            Self::Decimal { scale } => {
                let text = |value: i64| decimal_text(&BigInt::from(value), *scale);
                Values::Texts(values.iter().map(|value| value.map(text)).collect())
            }
            Self::Missing => Values::Texts(vec![None; values.len()]),
            Self::Unsigned => Values::Integers(values.iter().map(|value| value.map(without_sign)).collect()),
            Self::Plain | Self::Half | Self::Other(_) => {
                Values::Integers(values.iter().map(|value| value.map(i128::from)).collect())
            }
        }
    }

    fn bytes(&self, values: Vec<Option<ByteArray>>) -> Result<Values, ParquetError> {
        if let Self::Decimal { scale } = self {
            let text = |value: ByteArray| decimal_text(&BigInt::from_signed_bytes_be(value.data()), *scale);
            return Ok(Values::Texts(map(values, text)));
        }
        if *self == Self::Half {
            return Ok(Values::Wide(map(values, |value| half(value.data()))));
        }
        for value in values.iter().flatten() {
            value.as_utf8()?;
        }
        Ok(Values::Texts(values))
    }
}

/// Integers without a sign are stored in the bits of signed ones.
fn without_sign(value: i64) -> i128 {
    i128::from(value.cast_unsigned())
}

/// Reads whole rows: a value, or `None` where it is null.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut levels = Vec::new();
    let mut values = Vec::with_capacity(rows);
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let spread = levels
        .into_iter()
        .map(|level| if level == 0 { None } else { values.next() });
    Ok(spread.collect())
}

fn map<A, B>(values: Vec<Option<A>>, of: impl Fn(A) -> B) -> Vec<Option<B>> {
    values.into_iter().map(|value| value.map(&of)).collect()
}

/// The day of an instant of twelve bytes: nanoseconds, then the Julian day.
fn day_of(instant: &Int96) -> i64 {
    instant.to_seconds().div_euclid(86_400)
}

/// A half-precision number, exactly.
fn half(bytes: &[u8]) -> f64 {
    let bits = u16::from_le_bytes(bytes.try_into().unwrap_or_default());
    let (exponent, fraction) = (bits >> 10 & 0x1f, bits & 0x3ff);
    let size = match exponent {
        // Below 2^-14 the steps are 2^-24.
        0 => f32::from(fraction) / 16_777_216.0,
        // Infinity and what is not a number.
        31 => f32::from_bits(0x7f80_0000 | u32::from(fraction) << 13),
        _ => f32::from_bits((u32::from(exponent) + 112) << 23 | u32::from(fraction) << 13),
    };
    f64::from(if bits >> 15 == 0 { size } else { -size })
}

/// A decimal as text, with all digits of its scale.
fn decimal_text(value: &BigInt, scale: usize) -> ByteArray {
    let digits = value.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value.sign() == num_bigint::Sign::Minus {
        "-"
    } else {
        ""
    };
    let point = if scale == 0 { "" } else { "." };
    ByteArray::from(format!("{sign}{whole}{point}{fraction}").into_bytes())
}

/// Some rows of one column, in the width that the file has.
#[derive(Debug)]
pub(super) enum Values {
    Flags(Vec<Option<bool>>),
    Integers(Vec<Option<i128>>),
    Narrow(Vec<Option<f32>>),
    Wide(Vec<Option<f64>>),
    /// Days since 1970-01-01.
    Days(Vec<Option<i64>>),
    /// Valid UTF-8; decimals are here too, for they are exact as text.
    Texts(Vec<Option<ByteArray>>),
    /// Values of a kind that no column of ours has.
    Other {
        kind: String,
        rows: usize,
    },
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Flags(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Wide(values) => values.len(),
            Self::Days(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Other { rows, .. } => *rows,
        }
    }

    /// What the values are, for messages.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Flags(_) => "booleans",
            Self::Integers(_) => "integers",
            Self::Narrow(_) | Self::Wide(_) => "floating-point numbers",
            Self::Days(_) => "dates",
            Self::Texts(_) => "texts",
            Self::Other { kind, .. } => kind,
        }
    }
}
