//! Ending the writing of whole folders when a signal asks for it.

use super::runtime::runtime;
use super::signals::{end_by_signal, told_to_end};
use crate::CliError;
use crate::output::Console;
use crate::progress::TickBar;
use ktd_io::whole_folder::end_unfinished;
use std::sync::Arc;

/// What `work` gives, which writes whole folders: where a signal asks this process to end, nothing of an unfinished one stays.
///
/// # Errors
/// [`CliError`] of the work, also where a signal ended it.
pub(super) fn unless_ending<T>(work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    when_told(end_unfinished, work)?
}

/// What `work` gives, of which nothing is kept before its end: where a signal asks this process to end, says how far the bar is
/// and what to type then.
///
/// # Errors
/// [`CliError`] where the system has no room for a thread.
pub(super) fn unless_interrupted<T>(
    bar: &Arc<TickBar>,
    console: Console,
    work: impl FnOnce() -> T,
) -> Result<T, CliError> {
    let told = Arc::clone(bar);
    let done = when_told(
        move || {
            told.interrupted();
            end_by_signal(console, "run the same command again: it begins anew");
        },
        work,
    );
    bar.finish();
    done
}

/// What `work` gives; `end` is done beside it once a signal asks this process to end.
fn when_told<T>(end: impl FnOnce() + Send + 'static, work: impl FnOnce() -> T) -> Result<T, CliError> {
    let runtime = runtime()?;
    // Before the work begins to write: a signal that nobody waits for would leave what is written by then.
    let told = {
        let _entered = runtime.enter();
        told_to_end()
    };
    if let Ok(told) = told {
        runtime.spawn(async move {
            told.await;
            end();
        });
    }
    let done = work();
    runtime.shutdown_background();
    Ok(done)
}
