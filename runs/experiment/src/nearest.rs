//! What a misspelt word was meant to be.

/// So alike are two words of which one may be a slip for the other, from 0 to 1 (Jaro and Winkler).
const ALIKE: f64 = 0.8;

/// The known word that is most like this one, the first of several; none where no word is alike.
#[must_use]
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Capitals are a slip as any other.
    let small = word.to_ascii_lowercase();
    let alike = |known: &'k str| {
        let likeness = strsim::jaro_winkler(&small, &known.to_ascii_lowercase());
        (known, likeness)
    };
    let best = known
        .into_iter()
        .map(alike)
        .reduce(|best, other| if best.1 < other.1 { other } else { best });
    best.filter(|(_, alike)| ALIKE <= *alike).map(|(known, _)| known)
}

/// A question to be appended to an error about an unknown word; empty where no known word is alike.
#[must_use]
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

/// What a reader says of a text, and of an unknown key or value which of those that it expected was meant.
#[must_use]
pub fn with_nearest(message: &str) -> String {
    let of_label = message.split_once(": it is one of ");
    if let Some((unknown, known)) = of_label.filter(|(unknown, _)| unknown.starts_with("unknown ")) {
        let word = unknown.split('"').nth(1).unwrap_or_default();
        return format!("{message}{}", did_you_mean(word, known.split(", ")));
    }
    let is_unknown = message.starts_with("unknown field `") || message.starts_with("unknown variant `");
    // The unknown word and then each expected one stand in backticks.
    let mut words = message.split('`').skip(1).step_by(2);
    let meant = words
        .next()
        .filter(|_| is_unknown)
        .map_or_else(String::new, |word| did_you_mean(word, words));
    format!("{message}{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_and_a_stranger_is_not() {
        for (message, meant) in [
            (
                "unknown field `window`, expected one of `agents`, `windows`",
                "; did you mean `windows`?",
            ),
            (
                "unknown field `max_calls`, expected `max_tool_calls` or `schema_retries`",
                "; did you mean `max_tool_calls`?",
            ),
            ("unknown variant `Mcp`, expected `mcp`", "; did you mean `mcp`?"),
            (
                "unknown mask level \"Blind\": it is one of bright, blinded",
                "; did you mean `blinded`?",
            ),
            ("unknown field `colour`, expected one of `agents`, `windows`", ""),
            ("unknown field `x`, there are no fields", ""),
            ("missing field `name`", ""),
        ] {
            assert_eq!(with_nearest(message), format!("{message}{meant}"));
        }
    }
}
