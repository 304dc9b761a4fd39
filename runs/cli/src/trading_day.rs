//! Days as arguments.

use ktd_env::TradeDate;

/// A day as an argument gives it.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn read_day(text: &str) -> Result<TradeDate, String> {
    TradeDate::parse(text).map_err(|error| error.to_string())
}
