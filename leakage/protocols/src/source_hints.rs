//! Patterns in source code that often read tomorrow.

/// A line that holds such a pattern: a hint where to look, never a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceHint {
    /// 1-based line.
    pub line: usize,
    /// The pattern.
    pub pattern: &'static str,
    /// What it may do.
    pub meaning: &'static str,
}

/// Patterns without blanks, and what they may do.
const PATTERNS: [(&str, &str); 13] = [
    (".shift(-", "a value of a later row"),
    (".shift(periods=-", "a value of a later row"),
    (".diff(-", "a difference with a later row"),
    (".pct_change(-", "a change to a later row"),
    ("Ref(-", "a value of a later row"),
    ("center=True", "a window around the row: half of it lies later"),
    ("bfill", "gaps are filled by later values"),
    ("backfill", "gaps are filled by later values"),
    (
        ".interpolate(",
        "gaps are filled between earlier and later values",
    ),
    (
        "[::-1]",
        "rows backwards: what accumulates then comes from the end",
    ),
    (".fit(", "a fit: on the rows of the training span alone?"),
    (".fit_transform(", "a fit on all rows that it is given"),
    ("filtfilt(", "a filter forwards and backwards"),
];

/// The lines of a source that hold a pattern, in their order; what stands behind a `#` is a comment.
#[must_use]
pub fn source_hints(source: &str) -> Vec<SourceHint> {
    let mut hints = Vec::new();
    for (place, line) in source.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        let code: String = code.chars().filter(|letter| !letter.is_whitespace()).collect();
        hints.extend(PATTERNS.iter().filter(|(pattern, _)| code.contains(pattern)).map(
            |(pattern, meaning)| SourceHint {
                line: place + 1,
                pattern,
                meaning,
            },
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_with_their_lines_and_comments_are_not() {
        let source = "\
import pandas as pd
x = close.shift( -1 )
y = close.rolling(5, center = True).mean()
z = close.shift(1)  # not .shift(-1)
w = close[::-1].cumsum()[::-1]
scaler.fit_transform(frame)
";
        let found: Vec<(usize, &str)> = source_hints(source)
            .iter()
            .map(|hint| (hint.line, hint.pattern))
            .collect();
        assert_eq!(
            found,
            [
                (2, ".shift(-"),
                (3, "center=True"),
                (5, "[::-1]"),
                (6, ".fit_transform(")
            ]
        );
        assert!(source_hints("").is_empty());
        // Without blanks in it, or it would never be found.
        assert!(
            PATTERNS
                .iter()
                .all(|(pattern, _)| !pattern.contains(char::is_whitespace))
        );
    }
}
