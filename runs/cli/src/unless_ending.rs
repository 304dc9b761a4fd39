//! Ending the writing of whole folders when a signal asks for it.

use super::run::runtime;
use super::signals::told_to_end;
use crate::CliError;
use ktd_io::whole_folder::end_unfinished;

/// What `work` gives, which writes whole folders: where a signal asks this process to end, nothing of an unfinished one stays.
///
/// # Errors
/// [`CliError`] of the work, also where a signal ended it.
pub(super) fn unless_ending<T>(work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let runtime = runtime()?;
    runtime.spawn(async {
        if told_to_end().await.is_ok() {
            end_unfinished();
        }
    });
    let done = work();
    runtime.shutdown_background();
    done
}
