//! Words of a step's text that all of its readers share.

/// Source of the message that opens a step, as the texts of probes have it.
pub(crate) const STATE: &str = "state";

/// Trading days that no panel spans: a text that tells of more is not one of ours.
pub(crate) const MOST_DAYS: i64 = 20_000;

/// Trading days since the window's first, of a label such as `day_+3` or `day_-1`.
pub(crate) fn day_label(text: &str) -> Option<i64> {
    let number = text.strip_prefix("day_")?;
    let days = number.strip_prefix('+').unwrap_or(number).parse().ok()?;
    (-MOST_DAYS..=MOST_DAYS).contains(&days).then_some(days)
}
