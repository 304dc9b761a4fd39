//! The closed tree of everything the harness may say to a model.

use crate::quantity::{Count, Rank};
use ktd_env::exchange::TargetWeight;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A masked value, ready to be shown to a model.
///
/// There is no `From<String>`, no `Deserialize` and no public field: run-time text enters only through the
/// crate-private `shown`, which [`crate::Mask`] calls after it has masked what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Integer(i64),
    /// Finite by construction; rounded where it was made.
    Number(f64),
    Label(&'static str),
    Shown(String),
    List(Vec<Payload>),
    Map(Vec<(&'static str, Payload)>),
}

impl Payload {
    /// Nothing to show (missing data): JSON `null`.
    #[must_use]
    pub const fn null() -> Self {
        Self(Node::Null)
    }

    /// A yes or no.
    #[must_use]
    pub const fn bool(value: bool) -> Self {
        Self(Node::Bool(value))
    }

    /// Text fixed at compile time.
    #[must_use]
    pub const fn label(text: &'static str) -> Self {
        Self(Node::Label(text))
    }

    /// A sequence.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self(Node::List(items.into_iter().collect()))
    }

    /// An object; keys keep the order given.
    #[must_use]
    pub fn map(entries: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        Self(Node::Map(entries.into_iter().collect()))
    }

    /// A table in column form: the column names once, then one list a row. Cheaper in tokens than objects.
    #[must_use]
    pub fn table(columns: &[&'static str], rows: impl IntoIterator<Item = Vec<Self>>) -> Self {
        Self::map([
            (
                "columns",
                Self::list(columns.iter().map(|column| Self::label(column))),
            ),
            ("rows", Self::list(rows.into_iter().map(Self::list))),
        ])
    }

    /// A table without the columns that are empty in every row; without rows an empty list.
    #[must_use]
    pub fn sparse_table(columns: &[&'static str], rows: impl IntoIterator<Item = Vec<Self>>) -> Self {
        let rows: Vec<Vec<Self>> = rows.into_iter().collect();
        if rows.is_empty() {
            return Self::list([]);
        }
        let is_told = |place: usize| {
            rows.iter()
                .any(|row| row.get(place).is_some_and(|cell| !cell.is_empty()))
        };
        let told: Vec<bool> = (0..columns.len()).map(is_told).collect();
        let columns: Vec<&'static str> = columns
            .iter()
            .zip(&told)
            .filter(|(_, told)| **told)
            .map(|(column, _)| *column)
            .collect();
        let kept = |row: Vec<Self>| -> Vec<Self> {
            let cells = row.into_iter().zip(&told).filter(|(_, told)| **told);
            cells.map(|(cell, _)| cell).collect()
        };
        Self::table(&columns, rows.into_iter().map(kept))
    }

    /// An object without the keys whose values are empty.
    #[must_use]
    pub fn sparse_map(entries: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        Self::map(entries.into_iter().filter(|(_, value)| !value.is_empty()))
    }

    /// Whether it says nothing: `null`, or a list or an object without anything in it.
    const fn is_empty(&self) -> bool {
        match &self.0 {
            Node::Null => true,
            Node::List(items) => items.is_empty(),
            Node::Map(entries) => entries.is_empty(),
            Node::Bool(_) | Node::Integer(_) | Node::Number(_) | Node::Label(_) | Node::Shown(_) => false,
        }
    }

    /// `value`, or `null`.
    #[must_use]
    pub fn optional(value: Option<impl Into<Self>>) -> Self {
        value.map_or_else(Self::null, Into::into)
    }

    /// A target weight as a model wrote it, which is its own number and tells nothing of the market.
    #[must_use]
    pub fn echoed_weight(weight: TargetWeight) -> Self {
        const DECIMALS: u32 = 6;
        Self::number(f64::from(weight.millionths()) / 1e6, DECIMALS)
    }

    /// Text that masking has made fit to be shown. The only door for run-time text.
    pub(crate) fn shown(text: String) -> Self {
        Self(Node::Shown(text))
    }

    /// A whole number that masking has made fit to be shown.
    pub(crate) const fn integer(value: i64) -> Self {
        Self(Node::Integer(value))
    }

    /// `value` rounded to `decimals`; `null` when it is not finite.
    pub(crate) fn number(value: f64, decimals: u32) -> Self {
        if !value.is_finite() {
            return Self::null();
        }
        // A product of tens is exact up to 10^22, on every machine.
        let scale: f64 = (0..decimals).map(|_| 10.0).product();
        let scaled = (value * scale).round();
        let rounded = if scaled.is_finite() { scaled / scale } else { value };
        // Adding zero turns -0.0 into 0.0, so that equal values have equal bytes.
        Self(Node::Number(rounded + 0.0))
    }

    /// The compact JSON text, which is what a model sees.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A closed tree of strings, finite numbers and static keys cannot fail to serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The text to put inside a sentence: labels and shown text bare, everything else as JSON.
    #[must_use]
    pub fn to_inline(&self) -> String {
        match &self.0 {
            Node::Label(text) => (*text).to_owned(),
            Node::Shown(text) => text.clone(),
            Node::Null
            | Node::Bool(_)
            | Node::Integer(_)
            | Node::Number(_)
            | Node::List(_)
            | Node::Map(_) => self.to_json(),
        }
    }
}

impl From<Count> for Payload {
    fn from(count: Count) -> Self {
        Self::integer(i64::from(count.get()))
    }
}

impl From<Rank> for Payload {
    fn from(rank: Rank) -> Self {
        Self::integer(i64::from(rank.get()))
    }
}

/// A number without a fraction, which is written without a point: fewer tokens, and prose reads better.
#[expect(clippy::cast_possible_truncation, reason = "the magnitude is checked before")]
fn whole(value: f64) -> Option<i64> {
    const EXACT_BELOW: f64 = 1e15;
    (value.abs() < EXACT_BELOW && value.trunc().total_cmp(&value).is_eq()).then_some(value as i64)
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Node::Null => serializer.serialize_unit(),
            Node::Bool(value) => serializer.serialize_bool(*value),
            Node::Integer(value) => serializer.serialize_i64(*value),
            Node::Number(value) => match whole(*value) {
                Some(whole) => serializer.serialize_i64(whole),
                None => serializer.serialize_f64(*value),
            },
            Node::Label(text) => serializer.serialize_str(text),
            Node::Shown(text) => serializer.serialize_str(text),
            Node::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Node::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_and_keys_are_left_out() {
        let row = |id: &'static str, code: Payload| vec![Payload::label(id), Payload::list([]), code];
        let columns = ["id", "flags", "code"];
        let table = Payload::sparse_table(
            &columns,
            [row("a", Payload::null()), row("b", Payload::label("lot"))],
        );
        assert_eq!(
            table.to_json(),
            r#"{"columns":["id","code"],"rows":[["a",null],["b","lot"]]}"#
        );
        assert_eq!(Payload::sparse_table(&columns, []).to_json(), "[]");
        let map = Payload::sparse_map([
            ("none", Payload::null()),
            ("nothing", Payload::sparse_table(&columns, [])),
            ("zero", Count::of(0).into()),
            ("no", Payload::bool(false)),
        ]);
        assert_eq!(map.to_json(), r#"{"zero":0,"no":false}"#);
    }
}
