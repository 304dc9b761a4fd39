//! The cells of a table that a job gave back.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt::{Formatter, Result as Written};

/// A cell of a table. Of what is written, the first kind that it can be.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCellValue {
    /// Nothing.
    Missing,
    /// True or false.
    Flag(bool),
    /// A whole number of 64 bits.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A text, foreign like all of it: escaped wherever it is shown.
    Text(String),
}

/// Takes a cell as it is written: millions are read, and trying kind after kind would make an error of each that it is not.
struct CellVisitor;

impl Visitor<'_> for CellVisitor {
    type Value = TableCellValue;

    fn expecting(&self, text: &mut Formatter<'_>) -> Written {
        text.write_str("a number, a text, true, false or null")
    }

    fn visit_unit<E: Error>(self) -> Result<TableCellValue, E> {
        Ok(TableCellValue::Missing)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<TableCellValue, E> {
        Ok(TableCellValue::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<TableCellValue, E> {
        Ok(TableCellValue::Whole(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a whole number beyond 64 bits with a sign is a float, as Python's own readers take it"
    )]
    fn visit_u64<E: Error>(self, number: u64) -> Result<TableCellValue, E> {
        Ok(i64::try_from(number).map_or(TableCellValue::Number(number as f64), TableCellValue::Whole))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<TableCellValue, E> {
        Ok(TableCellValue::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TableCellValue, E> {
        Ok(TableCellValue::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for TableCellValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}
