//! A key of a file that is one number, or a list of them.

use serde::Deserializer;
use serde::de::{Error, SeqAccess, Visitor};
use std::fmt;

/// Reads one number as a list of one.
///
/// # Errors
/// The deserialiser's, for anything but a number that is not negative, or a list of such.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    deserializer.deserialize_any(OneOrMore)
}

struct OneOrMore;

impl<'de> Visitor<'de> for OneOrMore {
    type Value = Vec<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a list of numbers")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        let number = usize::try_from(value);
        number
            .map(|number| vec![number])
            .map_err(|_| E::custom(format!("{value} is no number of stocks")))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        let number = usize::try_from(value);
        number
            .map(|number| vec![number])
            .map_err(|_| E::custom(format!("{value} is no number of stocks")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(numbers)
    }
}
