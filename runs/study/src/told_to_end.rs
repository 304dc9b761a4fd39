//! The end of a unit that the process was told to end before it.

use crate::StudyError;
use futures::future::{Either, select};
use std::pin::pin;
use tokio::sync::watch;

/// What a unit comes to, unless the process is told to end before: then it is dropped, with whatever it started.
pub(crate) async fn unless_told_to_end<F>(
    running: impl Future<Output = Result<F, StudyError>>,
    told: &watch::Receiver<bool>,
) -> Result<F, StudyError> {
    let mut told = told.clone();
    let told = pin!(async move {
        // Nobody can tell when the other end is gone.
        if told.wait_for(|told| *told).await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    match select(pin!(running), told).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Err(StudyError::stopped(
            "ended by a signal",
            "run the same command again: it continues where it stopped",
        )),
    }
}
