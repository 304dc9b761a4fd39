//! Ending in order when a signal asks for it.

use crate::CliError;

/// `work`, or nothing of it when a signal asks this process to end. The work is dropped then, and with it whatever it
/// started.
///
/// # Errors
/// [`CliError`] when a signal came, or the system lets nobody wait for one.
pub(super) async fn unless_told_to_end<W: Future>(work: W) -> Result<W::Output, CliError> {
    tokio::select! {
        done = work => Ok(done),
        told = told_to_end() => Err(match told {
            Ok(()) => CliError::difference("ended by a signal")
                .with_hint("run the same command again: it continues where it stopped"),
            Err(error) => CliError::invalid(format_args!("cannot wait for signals: {error}")),
        }),
    }
}

#[cfg(unix)]
pub(super) async fn told_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) async fn told_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
