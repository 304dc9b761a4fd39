//! The asynchronous runtime of a command.

use crate::CliError;

/// The asynchronous runtime of a command.
///
/// # Errors
/// [`CliError`] when the system gives no threads.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::invalid(format_args!("cannot start threads: {error}")))
}
