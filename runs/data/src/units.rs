//! Units of volumes and amounts, and the columns that `--map` names.

use super::column::Column;
use crate::DataFileError;
use ktd_env::Decimal;

/// A unit of a column: how many zeros turn it into what a panel holds, shares or yuan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) zeros: u8,
}

/// Fields with units, the word of each unit, its zeros, and what reports call it.
const UNITS: [(Column, &str, u8, &str); 6] = [
    (Column::Volume, "shares", 0, "shares"),
    (Column::Volume, "hands", 2, "hands of 100 shares"),
    (Column::Amount, "yuan", 0, "yuan"),
    (Column::Amount, "thousands", 3, "thousands of yuan"),
    (Column::Amount, "ten-thousands", 4, "ten-thousands of yuan"),
    (Column::Amount, "millions", 6, "millions of yuan"),
];

impl Unit {
    /// The units that a field can have.
    pub(super) fn of(field: Column) -> impl Iterator<Item = Self> + Clone {
        let own = UNITS.into_iter().filter(move |(column, ..)| *column == field);
        own.map(|(_, _, zeros, _)| Self { zeros })
    }

    /// The word of `--map` for it, and what reports call it; empty where a field has none.
    pub(super) fn names(self, field: Column) -> (&'static str, &'static str) {
        let found = UNITS
            .iter()
            .find(|(column, _, zeros, _)| (*column, *zeros) == (field, self.zeros));
        found.map_or(("", ""), |(_, word, _, label)| (*word, *label))
    }

    /// A number of this unit as shares or yuan; exact.
    pub(super) fn whole(self, number: Decimal) -> Option<Decimal> {
        number.shifted(self.zeros)
    }

    /// A number of this unit as shares or yuan, as exact as its digits let it.
    pub(super) fn whole_float(self, number: f64) -> f64 {
        if self.zeros == 0 {
            return number;
        }
        let exact = Decimal::from_f64(number).and_then(|number| self.whole(number));
        exact.map_or_else(
            || number * f64::from(10_u32.pow(u32::from(self.zeros))),
            Decimal::to_f64,
        )
    }
}

/// A column of a file: its field, its name and its unit.
pub(super) type Entry<'t> = (Column, &'t str, Unit);

/// The entries of `FIELD=COLUMN[:UNIT],...`; an error is what is wrong with one.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Result<Entry<'_>, String>> {
    text.split(',').map(|entry| {
        let parts = entry
            .split_once('=')
            .ok_or_else(|| format!("{entry:?} is not FIELD=COLUMN"))?;
        let field =
            Column::of_name(parts.0.trim()).ok_or_else(|| format!("{entry:?} names no field of a panel"))?;
        let unit = parts.1.rsplit_once(':').and_then(|(head, word)| {
            let found = UNITS.iter().find(|(_, known, ..)| *known == word.trim());
            found.map(|(column, _, zeros, _)| (head, *column, Unit { zeros: *zeros }))
        });
        match unit {
            None => Ok((field, parts.1.trim(), Unit::default())),
            Some((head, column, unit)) if column == field => Ok((field, head.trim(), unit)),
            Some(_) => Err(format!("{entry:?} has a unit that its field cannot have")),
        }
    })
}

const WRITE: &str = "write --map date=日期,volume=成交量:hands,amount=成交额:thousands; units of volume are shares and hands, of amount \
                     yuan, thousands, ten-thousands and millions";

/// The columns of `--map`, none without it.
///
/// # Errors
/// [`DataFileError`] for an entry that is none, and for a field that is named twice.
pub(super) fn read_map(text: Option<&str>) -> Result<Vec<Entry<'_>>, DataFileError> {
    let mut map: Vec<Entry<'_>> = Vec::new();
    for entry in text.into_iter().flat_map(entries) {
        let refused = |what: String| DataFileError::input(format_args!("--map: {what}"), WRITE);
        let entry = entry.map_err(refused)?;
        if map.iter().any(|known| known.0 == entry.0 || known.1 == entry.1) {
            return Err(refused(format!("{:?} stands in it for the second time", entry.1)));
        }
        map.push(entry);
    }
    Ok(map)
}

/// # Errors
/// [`DataFileError`] where a header lacks a column that is mapped.
pub(super) fn check_map(map: &[Entry<'_>], file: &str, header: &[&str]) -> Result<(), DataFileError> {
    let absent = map.iter().find(|(_, head, _)| !header.contains(head));
    absent.map_or(Ok(()), |(column, head, _)| {
        let field = column.label();
        let word = head.rsplit_once(':');
        let what = match word.filter(|(name, _)| header.contains(&name.trim())) {
            Some((name, word)) => {
                format!("--map: {word:?}, which stands behind {name:?}, is no unit of {field}")
            }
            None => format!("{file}: there is no column {head:?}, which --map names for {field}"),
        };
        Err(DataFileError::input(
            what,
            format_args!("its columns are {}; {WRITE}", header.join(", ")),
        ))
    })
}
