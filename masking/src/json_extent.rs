//! The size of a JSON text, measured without parsing it.

/// Depth and number of values of a text. Limits on them hold before anything is parsed: a parser's work and memory
/// are bounded by what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonExtent {
    /// The deepest nesting of brackets outside strings, in levels.
    pub depth: usize,
    /// At most so many values: brackets and commas outside strings.
    pub items: usize,
}

impl JsonExtent {
    /// Measures `json`, which need not be JSON.
    #[must_use]
    pub fn of(json: &[u8]) -> Self {
        let (mut level, mut extent) = (0_usize, Self::default());
        let (mut in_string, mut escaped) = (false, false);
        for byte in json {
            match (in_string, byte) {
                (true, _) if escaped => escaped = false,
                (true, b'\\') => escaped = true,
                (_, b'"') => in_string = !in_string,
                (false, b'{' | b'[') => {
                    level += 1;
                    extent.items += 1;
                    extent.depth = extent.depth.max(level);
                }
                (false, b'}' | b']') => level = level.saturating_sub(1),
                (false, b',') => extent.items += 1,
                _ => {}
            }
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_commas_in_strings_do_not_count() {
        let of = |text: &str| {
            let JsonExtent { depth, items } = JsonExtent::of(text.as_bytes());
            (depth, items)
        };
        assert_eq!(of(r#"{"a":"[[\"[,","b":[{}]}"#), (3, 4));
        assert_eq!(of(r#"{"a":"[[[\"[["}"#), (1, 1));
        assert_eq!(of(r#"{"a":[[1],[2]]}"#), (3, 5));
        assert_eq!(of("]]]"), (0, 0));
    }
}
