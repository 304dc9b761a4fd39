//! JSON that a text carries, scanned as it is read: the tables of a day would be thousands of small values.

use crate::pointer::Pointer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::fmt;

/// What looks at the texts of JSON.
pub(crate) trait TextScan {
    /// What it finds.
    type Found;

    /// Looks at a key, which stands at `pointer` with its value.
    fn key(&self, key: &str, pointer: Pointer<'_>) -> Option<Self::Found>;

    /// Looks at a text.
    fn text(&self, text: &str, pointer: Pointer<'_>) -> Option<Self::Found>;

    /// Looks at a number; `key` is the one that it stands under.
    fn number(&self, number: &Number, pointer: Pointer<'_>, key: Option<&str>) -> Option<Self::Found>;
}

/// The first thing found in the JSON value that `text` begins with, and how many bytes that value has; `None` when it
/// begins with none.
pub(crate) fn scan_carried<S: TextScan>(
    scan: &S,
    text: &str,
    pointer: Pointer<'_>,
) -> Option<(usize, Option<S::Found>)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let end = values.byte_offset();
    let mut found = None;
    let carried = Carried {
        scan,
        pointer,
        key: None,
        found: &mut found,
    };
    // Numbers and escapes are read here alone: what cannot be is no value.
    let mut value = serde_json::Deserializer::from_str(text.get(..end)?);
    carried.deserialize(&mut value).ok()?;
    Some((end, found))
}

struct Carried<'s, S: TextScan> {
    scan: &'s S,
    pointer: Pointer<'s>,
    key: Option<&'s str>,
    found: &'s mut Option<S::Found>,
}

impl<S: TextScan> Carried<'_, S> {
    fn number(self, number: &Number) {
        if self.found.is_none() {
            *self.found = self.scan.number(number, self.pointer, self.key);
        }
    }
}

impl<'de, S: TextScan> DeserializeSeed<'de> for Carried<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: TextScan> Visitor<'de> for Carried<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.number(&number.into());
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.number(&number.into());
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if let Some(number) = Number::from_f64(number) {
            self.number(&number);
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.found.is_none() {
            *self.found = self.scan.text(text, self.pointer);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut place = 0;
        loop {
            let item = Carried {
                scan: self.scan,
                pointer: Pointer::Place(&self.pointer, place),
                key: self.key,
                found: &mut *self.found,
            };
            if items.next_element_seed(item)?.is_none() {
                return Ok(());
            }
            place += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            let pointer = Pointer::Key(&self.pointer, &key);
            if self.found.is_none() {
                *self.found = self.scan.key(&key, pointer);
            }
            members.next_value_seed(Carried {
                scan: self.scan,
                pointer,
                key: Some(&key),
                found: &mut *self.found,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::cell::RefCell;

    /// Notes everything that it is shown, with its place.
    #[derive(Default)]
    struct Notes(RefCell<Vec<String>>);

    impl Notes {
        fn note(&self, kind: &str, pointer: Pointer<'_>, what: &str) -> Option<()> {
            self.0.borrow_mut().push(format!("{kind} {pointer} {what}"));
            None
        }

        /// The same of a value that was built.
        fn walk(&self, value: &Value, pointer: Pointer<'_>, key: Option<&str>) {
            match value {
                Value::Object(members) => {
                    for (key, value) in members {
                        let pointer = Pointer::Key(&pointer, key);
                        self.key(key, pointer);
                        self.walk(value, pointer, Some(key));
                    }
                }
                Value::Array(items) => {
                    for (place, item) in items.iter().enumerate() {
                        self.walk(item, Pointer::Place(&pointer, place), key);
                    }
                }
                Value::String(text) => drop(self.text(text, pointer)),
                Value::Number(number) => drop(self.number(number, pointer, key)),
                Value::Bool(_) | Value::Null => {}
            }
        }

        fn sorted(self) -> Vec<String> {
            let mut notes = self.0.into_inner();
            notes.sort();
            notes
        }
    }

    impl TextScan for Notes {
        type Found = ();

        fn key(&self, key: &str, pointer: Pointer<'_>) -> Option<()> {
            self.note("key", pointer, key)
        }

        fn text(&self, text: &str, pointer: Pointer<'_>) -> Option<()> {
            self.note("text", pointer, text)
        }

        fn number(&self, number: &Number, pointer: Pointer<'_>, key: Option<&str>) -> Option<()> {
            self.note("number", pointer, &format!("{number} {key:?}"))
        }
    }

    #[test]
    fn what_is_scanned_as_it_is_read_is_all_of_the_value() {
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let atoms = [
            "1",
            "-0",
            "-7",
            "1.50",
            "1e400",
            "-0.0",
            "18446744073709551615",
            "18446744073709551616",
            "true",
            "null",
            "\"x\"",
            "\"\\u8d35\\n\"",
            "\"\\ud800\"",
            "\"\u{0}\"",
            "{}",
            "[]",
            "nul",
            "\"open",
            "",
            "01",
        ];
        let mut texts = vec![deep(100), deep(126), deep(127), deep(128), deep(129), deep(5_000)];
        for left in atoms {
            for right in atoms {
                texts.push(format!("[{left},{right}] rest"));
                texts.push(format!("{{\"a\":{left},\"b\\u0041\":[{right}]}}{{}}"));
                texts.push(format!("{{\"a\":{{\"date\":[{left},{{\"c\":{right}}}]}}}}, [1]"));
            }
        }
        let mut read = 0;
        for text in texts {
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
            let value = values.next().and_then(Result::ok);
            let expected = value.map(|value| {
                let notes = Notes::default();
                notes.walk(&value, Pointer::Root, None);
                (values.byte_offset(), notes.sorted())
            });
            let notes = Notes::default();
            let scanned = scan_carried(&notes, &text, Pointer::Root);
            let scanned = scanned.map(|(end, found)| {
                assert_eq!(found, None);
                (end, notes.sorted())
            });
            assert_eq!(scanned, expected, "{text}");
            read += usize::from(expected.is_some());
        }
        assert!(300 < read, "{read}");
    }

    #[test]
    fn the_first_thing_found_is_told_with_its_place() {
        struct Leaks;
        impl TextScan for Leaks {
            type Found = String;

            fn key(&self, _: &str, _: Pointer<'_>) -> Option<String> {
                None
            }

            fn text(&self, text: &str, pointer: Pointer<'_>) -> Option<String> {
                text.contains("leak").then(|| pointer.to_string())
            }

            fn number(&self, _: &Number, _: Pointer<'_>, _: Option<&str>) -> Option<String> {
                None
            }
        }
        let text = r#"{"a":[{"b":"x"},{"c":"a leak"}],"d":"leak"} leak"#;
        let place = Some("/at/a/1/c".to_owned());
        let pointer = Pointer::Key(&Pointer::Root, "at");
        assert_eq!(scan_carried(&Leaks, text, pointer), Some((text.len() - 5, place)));
    }
}
