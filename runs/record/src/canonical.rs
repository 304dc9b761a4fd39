//! Canonical JSON (RFC 8785) of a value that was read: what a request's key is the hash of.
//!
//! The library sorts text that is rendered already and allocates for every token; on a request of 20 kB that is the
//! largest cost of sending it. It writes the numbers here, whose rules are hard; the rest is order.

use serde_json::{Map, Value};
use std::io::{Error, Write};

/// Integers up to here are written with all of their digits in canonical JSON too, which knows binary64 alone.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// Appends the canonical JSON of `value`.
///
/// # Errors
/// Those of the library, for a number that is none in canonical JSON.
pub(super) fn write_canonical(value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(serde_json::to_writer(out, value)?),
        Value::Number(number) => {
            let magnitude = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            if magnitude.is_some_and(|magnitude| magnitude <= EXACT_INTEGER_MAX) {
                return Ok(serde_json::to_writer(out, value)?);
            }
            out.write_all(&serde_json_canonicalizer::to_vec(value)?)
        }
        Value::Array(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                separate(place, out);
                write_canonical(item, out)?;
            }
            out.push(b']');
            Ok(())
        }
        Value::Object(members) => write_object(members, out),
    }
}

/// Members in the order of their keys' UTF-16 units.
fn write_object(members: &Map<String, Value>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    out.push(b'{');
    for (place, (key, value)) in members.into_iter().enumerate() {
        separate(place, out);
        serde_json::to_writer(&mut *out, key)?;
        out.push(b':');
        write_canonical(value, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn separate(place: usize, out: &mut Vec<u8>) {
    if 0 < place {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any JSON, with numbers and keys at the edges of the format's rules.
    fn json() -> impl Strategy<Value = Value> {
        let number = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (EXACT_INTEGER_MAX - 2..=EXACT_INTEGER_MAX + 2).prop_map(Value::from),
            (-4_i32..4).prop_map(|number| Value::from(f64::from(number) / 2.0)),
        ];
        let text = prop_oneof![
            "\\PC{0,8}",
            any::<String>(),
            "[\u{e000}-\u{10ffff}\"\\\\/\u{0}-\u{1f}\u{7f}]{0,4}"
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number,
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((text.clone(), inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_the_library_writes(value in json()) {
            let mut written = Vec::new();
            write_canonical(&value, &mut written).unwrap();
            let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
            prop_assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8(expected).unwrap());
        }
    }
}
