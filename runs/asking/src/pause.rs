//! A gap in long work, in which others are listened to.

use std::task::Poll;

/// Lets others be polled once.
pub async fn pause() {
    let mut was_polled = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
