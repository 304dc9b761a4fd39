//! Runs of digits in folded text, with what stands around them.

/// Digits that no other digit touches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) digits: &'a str,
    pub(crate) before: &'a str,
    /// What stands between the run before, or the beginning, and this one.
    pub(crate) between: &'a str,
    pub(crate) after: &'a str,
}

impl Run<'_> {
    /// Whether the digits stand in a decimal number (`600519.25`, `0.600519`). A comma makes no number of them: the
    /// groups of a grouped number have three digits, and lists of codes are set with commas.
    pub(crate) fn is_decimal_part(&self) -> bool {
        let digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
        let mut after = self.after.chars();
        let fraction_follows = after.next() == Some('.') && digit(after.next());
        let mut before = self.before.chars().rev();
        let fraction_of = before.next() == Some('.') && digit(before.next());
        fraction_follows || fraction_of
    }

    /// The number, when it has at most so many digits.
    pub(crate) fn number(&self, digits_max: usize) -> Option<u32> {
        (self.digits.len() <= digits_max)
            .then(|| self.digits.parse().ok())
            .flatten()
    }
}

/// All runs, in their order.
pub(crate) fn digit_runs(text: &str) -> Vec<Run<'_>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let (mut at, mut last_end) = (0, 0);
    while at < bytes.len() {
        let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let end = (at..bytes.len())
            .find(|place| !is_digit(*place))
            .unwrap_or(bytes.len());
        runs.push(Run {
            digits: text.get(at..end).unwrap_or_default(),
            before: text.get(..at).unwrap_or_default(),
            between: text.get(last_end..at).unwrap_or_default(),
            after: text.get(end..).unwrap_or_default(),
        });
        (at, last_end) = (end, end);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_digits_knows_what_stands_before_it() {
        let between = |text: &'static str| -> Vec<(&str, &str)> {
            let runs = digit_runs(text).into_iter();
            runs.map(|run| (run.between, run.digits)).collect()
        };
        assert_eq!(between("a12.34-5 x"), [("a", "12"), (".", "34"), ("-", "5")]);
        assert!(between("none").is_empty() && between("").is_empty());
    }
}
