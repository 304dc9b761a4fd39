//! The records of a store in order, from both of its parts.

use super::store::open_part;
use crate::RecordError;
use ktd_io::frame::WholeFrames;
use ktd_io::line_file::{LineKind, LineReader};
use std::path::Path;

/// How far the two parts of a store are whole; what follows is torn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Records.
    pub(super) records: u64,
    /// Bytes of whole frames in the compressed part.
    pub(super) compressed_bytes: u64,
    /// Bytes of whole lines in the open part.
    pub(super) open_bytes: u64,
    /// Bytes after them in both.
    pub(super) torn_bytes: u64,
}

/// Hands over the lines of a store whose compressed part was read from `path`, and whose open part was read beside it, each
/// with the number that the next record has. `take` gives the number that the line has, or what is wrong with it; a record
/// before the next one was taken already, for a kill can leave it in both parts.
///
/// # Errors
/// [`RecordError::File`] for a part that holds too much, for a line that is refused or is out of order, and for a torn frame
/// whose records do not stand in the open part: without them replies would be lost.
pub(super) fn each_record(
    path: &Path,
    (compressed, open): (&[u8], &[u8]),
    mut take: impl FnMut(u64, &[u8]) -> Result<u64, String>,
) -> Result<Extent, RecordError> {
    let mut extent = Extent::default();
    let whole = WholeFrames::of(compressed);
    if whole.has_later {
        let what = format!(
            "the frame at byte {}: it is damaged, and others follow it",
            whole.bytes
        );
        return Err(RecordError::damaged(path, what));
    }
    let frames = compressed.get(..whole.bytes).unwrap_or_default();
    let mut lines = LineKind::Exchanges.lines(path, frames)?;
    add_lines(path, &mut lines, &mut extent.records, &mut take)?;
    lines.check_whole()?;
    extent.compressed_bytes = length(frames);
    let torn = length(compressed) - extent.compressed_bytes;
    let (closed, beside) = (extent.records, open_part(path));
    let mut lines = LineKind::Exchanges.lines(&beside, open)?;
    add_lines(&beside, &mut lines, &mut extent.records, &mut take)?;
    // Killed after the frame and before the cut, all of it stands in the compressed part already.
    if closed < extent.records {
        extent.open_bytes = lines.whole_bytes();
    } else if 0 < torn {
        let what = format!("its last {torn} bytes are no whole frame: it is damaged, cut short or added to");
        return Err(RecordError::damaged(path, what));
    }
    extent.torn_bytes = torn + lines.torn_bytes();
    Ok(extent)
}

/// Hands over lines of which the first is record `next`, which becomes the number after the last.
///
/// # Errors
/// As [`each_record`].
pub(super) fn add_lines(
    path: &Path,
    lines: &mut LineReader<'_>,
    next: &mut u64,
    take: &mut impl FnMut(u64, &[u8]) -> Result<u64, String>,
) -> Result<(), RecordError> {
    while let Some(line) = lines.next_line()? {
        let damaged = |what: String| RecordError::damaged(path, format!("after record {next}: {what}"));
        let number = take(*next, line).map_err(damaged)?;
        if *next < number {
            return Err(damaged(format!("the next record is number {number}")));
        }
        *next += u64::from(number == *next);
    }
    Ok(())
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
