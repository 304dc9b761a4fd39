//! A key of a file that is one number, or a list of them.

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
enum OneOrMore {
    One(usize),
    More(Vec<usize>),
}

/// Reads one number as a list of one.
///
/// # Errors
/// The deserialiser's, for anything but a number that is not negative, or a list of such.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(number) => vec![number],
        OneOrMore::More(numbers) => numbers,
    })
}
