//! Ending in order when a signal asks for it.

use crate::CliError;
use crate::output::Console;

/// `work`, or nothing of it when a signal asks this process to end. The work is dropped then, and with it whatever it
/// started.
///
/// # Errors
/// [`CliError`] when a signal came, or the system lets nobody wait for one.
pub(super) async fn unless_told_to_end<W: Future>(work: W) -> Result<W::Output, CliError> {
    let told =
        told_to_end().map_err(|error| CliError::invalid(format_args!("cannot wait for signals: {error}")))?;
    tokio::select! {
        done = work => Ok(done),
        () = told => Err(by_signal(CONTINUES)),
    }
}

/// What a command says that does not stop at the beginning when it is given again.
pub(super) const CONTINUES: &str = "run the same command again: it continues where it stopped";

fn by_signal(hint: &str) -> CliError {
    CliError::stopped("ended by a signal").with_hint(hint)
}

/// Ends the process, and says that a signal asked for it.
pub(super) fn end_by_signal(console: Console, hint: &str) -> ! {
    console.failure(&by_signal(hint));
    #[expect(clippy::exit, reason = "nothing else ends a computation that is under way")]
    std::process::exit(by_signal(hint).exit_code().into());
}

/// What is done once a signal asks this process to end. From this call on, and not from when it is first waited for, no
/// signal ends the process by itself.
///
/// # Errors
/// [`std::io::Error`] when the system lets nobody wait for a signal.
#[cfg(unix)]
pub(super) fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(super) fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}
