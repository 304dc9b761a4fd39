//! Runs of digits in folded text, with what stands around them.

/// Digits that no other digit touches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) digits: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

impl Run<'_> {
    /// Whether the digits stand in a decimal number (`600519.25`, `0.600519`). A comma makes no number of them: the
    /// groups of a grouped number have three digits, and lists of codes are set with commas.
    pub(super) fn is_decimal_part(&self) -> bool {
        let digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
        let mut after = self.after.chars();
        let fraction_follows = after.next() == Some('.') && digit(after.next());
        let mut before = self.before.chars().rev();
        let fraction_of = before.next() == Some('.') && digit(before.next());
        fraction_follows || fraction_of
    }

    /// The number, when it has at most so many digits.
    pub(super) fn number(&self, digits_max: usize) -> Option<u32> {
        (self.digits.len() <= digits_max)
            .then(|| self.digits.parse().ok())
            .flatten()
    }
}

/// All runs, in their order.
pub(super) fn digit_runs(text: &str) -> Vec<Run<'_>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
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
            after: text.get(end..).unwrap_or_default(),
        });
        at = end;
    }
    runs
}
