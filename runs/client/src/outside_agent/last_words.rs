//! How a program ended, and the last that it said of it.

use std::process::ExitStatus;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What is kept of standard error: its end.
const ERROR_BYTES: usize = 1 << 14;

/// Its exit code, in words.
pub(super) fn status_text(status: ExitStatus) -> String {
    status
        .code()
        .map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Reads a stream to its end, passes it on, and keeps the last bytes.
pub(super) async fn keep_end(
    stream: &mut (impl AsyncRead + Unpin),
    shown: &mut (impl AsyncWrite + Unpin),
    kept: &mut Vec<u8>,
) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let read = buffer.get(..count).unwrap_or_default();
        // A terminal that is gone loses what is said, and keeps nobody from saying it.
        shown.write_all(read).await.ok();
        shown.flush().await.ok();
        kept.extend(read);
        if 2 * ERROR_BYTES < kept.len() {
            kept.drain(..kept.len() - ERROR_BYTES);
        }
    }
}

/// The last line with a letter in it, shortened.
pub(super) fn last_line(said: &[u8]) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(said);
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.unwrap_or_default().chars().take(SHOWN).collect()
}
