//! Columns of a Parquet file as what a source needs: texts, dates, numbers, flags.

use super::columns::{read_date, read_flag};
use super::parquet_values::Values;
use ktd_env::{Decimal, DecimalError, RawBar, TradeDate};
use parquet::data_type::ByteArray;
use std::fmt::{Display, LowerExp};

/// Values of another kind than the column needs.
#[derive(Debug, thiserror::Error)]
#[error("the values are {found}, but {needed} are needed")]
pub(super) struct WrongKind {
    found: String,
    needed: &'static str,
}

impl WrongKind {
    fn new(found: &Values, needed: &'static str) -> Self {
        Self {
            found: found.kind().to_owned(),
            needed,
        }
    }
}

/// A column of texts; numbers and flags count as what they are written as.
#[derive(Debug)]
pub(super) struct Texts(Vec<Option<ByteArray>>);

impl Texts {
    pub(super) fn of(values: Values) -> Result<Self, WrongKind> {
        fn written<T>(values: &[Option<T>], write: impl Fn(&T) -> String) -> Texts {
            let write = |value: &T| ByteArray::from(write(value).into_bytes());
            Texts(values.iter().map(|value| value.as_ref().map(write)).collect())
        }
        Ok(match values {
            Values::Texts(values) => Self(values),
            Values::Integers(values) => written(&values, ToString::to_string),
            Values::Flags(values) => written(&values, ToString::to_string),
            // `Debug` keeps the `.0` of a whole number.
            Values::Narrow(values) => written(&values, |value| format!("{value:?}")),
            Values::Wide(values) => written(&values, |value| format!("{value:?}")),
            Values::Days(_) | Values::Other { .. } => return Err(WrongKind::new(&values, "texts")),
        })
    }

    pub(super) fn get(&self, place: usize) -> Option<&str> {
        // The bytes were found to be UTF-8 when they were read.
        self.0.get(place)?.as_ref()?.as_utf8().ok()
    }
}

/// A column of dates: whatever holds days, or text.
#[derive(Debug)]
pub(super) enum Dates {
    Days(Vec<Option<i64>>),
    Texts(Texts),
}

impl Dates {
    pub(super) fn of(values: Values) -> Result<Self, WrongKind> {
        match values {
            Values::Days(days) => Ok(Self::Days(days)),
            Values::Texts(_) | Values::Integers(_) => Texts::of(values).map(Self::Texts),
            Values::Flags(_) | Values::Narrow(_) | Values::Wide(_) | Values::Other { .. } => {
                Err(WrongKind::new(&values, "dates"))
            }
        }
    }

    /// The date at a place; the error says what stands there.
    pub(super) fn get(&self, place: usize) -> Result<Option<TradeDate>, String> {
        match self {
            Self::Days(days) => days
                .get(place)
                .copied()
                .flatten()
                .map(|day| {
                    i32::try_from(day)
                        .ok()
                        .and_then(TradeDate::from_days_since_epoch)
                        .ok_or_else(|| format!("{day} days after 1970-01-01 is outside the calendar"))
                })
                .transpose(),
            Self::Texts(texts) => texts
                .get(place)
                .map_or(Ok(None), |text| written_date(text.trim())),
        }
    }
}

/// A date as text; blank is one that is missing.
pub(super) fn written_date(text: &str) -> Result<Option<TradeDate>, String> {
    let date = Some(text).filter(|text| !text.is_empty()).map(read_date);
    date.transpose().map_err(|error| error.to_string())
}

/// A number as text; blank is one that is missing, and the error is the text that is none.
pub(super) fn written_number(text: &str) -> Result<Option<f64>, &str> {
    let number = Some(text).filter(|text| !text.is_empty()).map(str::parse);
    number.transpose().map_err(|_| text)
}

/// A column of numbers in the width its file has.
#[derive(Debug)]
pub(super) enum Numbers {
    Wide(Vec<Option<f64>>),
    Narrow(Vec<Option<f32>>),
    Texts(Texts),
}

impl Numbers {
    pub(super) fn of(values: Values) -> Result<Self, WrongKind> {
        match values {
            Values::Wide(values) => Ok(Self::Wide(values)),
            Values::Narrow(values) => Ok(Self::Narrow(values)),
            Values::Texts(_) => Texts::of(values).map(Self::Texts),
            Values::Integers(values) => {
                #[expect(clippy::cast_precision_loss, reason = "volumes and prices lie far below 2^53")]
                let wide = values.into_iter().map(|value| value.map(|value| value as f64));
                Ok(Self::Wide(wide.collect()))
            }
            Values::Flags(values) => {
                let wide = values.into_iter().map(|value| value.map(f64::from));
                Ok(Self::Wide(wide.collect()))
            }
            Values::Days(_) | Values::Other { .. } => Err(WrongKind::new(&values, "numbers")),
        }
    }

    /// The exact decimal at a place.
    pub(super) fn decimal(&self, place: usize) -> Result<Option<Decimal>, DecimalError> {
        match self {
            Self::Wide(values) => at(values, place)
                .map(|value| exact(value, Decimal::from_f64(value.abs())))
                .transpose(),
            Self::Narrow(values) => at(values, place)
                .map(|value| exact(value, Decimal::from_f32(value.abs())))
                .transpose(),
            Self::Texts(texts) => RawBar::cell(texts.get(place).unwrap_or_default()),
        }
    }

    /// The float at a place; the error is the text that is none.
    pub(super) fn float(&self, place: usize) -> Result<Option<f64>, &str> {
        match self {
            Self::Wide(values) => Ok(at(values, place)),
            Self::Narrow(values) => Ok(at(values, place).map(f64::from)),
            Self::Texts(texts) => written_number(texts.get(place).unwrap_or_default().trim()),
        }
    }
}

/// A float as the decimal of its size, which is none where it is too wide.
fn exact<T: Copy + Into<f64> + Display + LowerExp>(
    value: T,
    size: Option<Decimal>,
) -> Result<Decimal, DecimalError> {
    let wide: f64 = value.into();
    if !wide.is_finite() {
        let text = value.to_string();
        return Err(DecimalError::Malformed { text });
    }
    if wide < 0.0 {
        let text = value.to_string();
        return Err(DecimalError::Negative { text });
    }
    size.ok_or_else(|| DecimalError::TooPrecise {
        text: format!("{value:e}"),
    })
}

fn at<T: Copy>(values: &[Option<T>], place: usize) -> Option<T> {
    values.get(place).copied().flatten()
}

/// A column of flags: booleans, numbers other than 0, or texts.
#[derive(Debug)]
pub(super) enum Flags {
    Known(Vec<Option<bool>>),
    Texts(Texts),
}

impl Flags {
    pub(super) fn of(values: Values) -> Result<Self, WrongKind> {
        fn known<T>(values: Vec<Option<T>>, is_set: impl Fn(T) -> bool) -> Flags {
            let flags = values.into_iter().map(|value| value.map(&is_set));
            Flags::Known(flags.collect())
        }
        match values {
            Values::Flags(flags) => Ok(Self::Known(flags)),
            Values::Integers(values) => Ok(known(values, |value| value != 0)),
            // What is not a number is a flag that is missing.
            Values::Narrow(values) => Ok(known(values, |value| value.abs() > 0.0)),
            Values::Wide(values) => Ok(known(values, |value| value.abs() > 0.0)),
            Values::Texts(_) => Texts::of(values).map(Self::Texts),
            Values::Days(_) | Values::Other { .. } => Err(WrongKind::new(&values, "flags (true or false)")),
        }
    }

    /// The flag at a place, false where it is missing; the error is the text that is none.
    pub(super) fn get(&self, place: usize) -> Result<bool, &str> {
        match self {
            Self::Known(flags) => Ok(at(flags, place).unwrap_or(false)),
            Self::Texts(texts) => {
                let text = texts.get(place).unwrap_or_default().trim();
                read_flag(text).ok_or(text)
            }
        }
    }
}
