//! Ending the writing of whole folders when a signal asks for it.

use super::runtime::runtime;
use super::signals::told_to_end;
use crate::CliError;
use ktd_io::whole_folder::end_unfinished;

/// What `work` gives, which writes whole folders: where a signal asks this process to end, nothing of an unfinished one stays.
///
/// # Errors
/// [`CliError`] of the work, also where a signal ended it.
pub(super) fn unless_ending<T>(work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let runtime = runtime()?;
    // Before the work begins to write: a signal that nobody waits for would leave what is written by then.
    let told = {
        let _entered = runtime.enter();
        told_to_end()
    };
    if let Ok(told) = told {
        runtime.spawn(async {
            told.await;
            end_unfinished();
        });
    }
    let done = work();
    runtime.shutdown_background();
    done
}
