//! A memory of the future.

/// A memory of what happened, by real code and real day.
pub trait Foresight: Send + Sync {
    /// The return of `code` (such as `SH600519`) over the step whose label is `date` (`YYYY-MM-DD`), as a fraction;
    /// `None` when it is not remembered.
    fn next_return(&self, code: &str, date: &str) -> Option<f64>;

    /// The trading day before the one whose label is `date` (`YYYY-MM-DD`), in the same form; `None` when it is not
    /// remembered.
    fn day_before(&self, _date: &str) -> Option<String> {
        None
    }
}
