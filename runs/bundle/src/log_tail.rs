//! The end of a log that grows: enough to know how far an episode is.

use ktd_io::FileError;
use ktd_io::whole_file::open_regular;
use serde_json::Value;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that are read: some steps' events.
const TAIL_BYTES: u64 = 64 << 10;

/// How far an unfinished episode is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogTail {
    /// The last step whose close is recorded; 0 before the first.
    pub closed_step: usize,
    /// The last step that any event is of.
    pub step: usize,
}

impl LogTail {
    /// The tail of a log; a missing one is empty.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be read.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let mut file = match open_regular(path) {
            Err(fault) if fault.is_missing() => return Ok(Self::default()),
            file => file?,
        };
        let size = file.metadata().map_err(FileError::io("read", path))?.len();
        let start = size.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(start))
            .map_err(FileError::io("read", path))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES)
            .read_to_end(&mut bytes)
            .map_err(FileError::io("read", path))?;
        Ok(Self::of(&bytes, 0 < start))
    }

    /// What whole lines say; the first one is none where the bytes begin inside it.
    fn of(bytes: &[u8], begins_inside: bool) -> Self {
        let mut tail = Self::default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = bytes
            .get(..whole)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n');
        for line in lines.skip(usize::from(begins_inside)) {
            let event = serde_json::from_slice::<Value>(line).unwrap_or_default();
            let step = event.pointer("/body/step").and_then(Value::as_u64);
            let Some(step) = step.and_then(|step| usize::try_from(step).ok()) else {
                continue;
            };
            tail.step = tail.step.max(step);
            if event.pointer("/body/kind").and_then(Value::as_str) == Some("step_end") {
                tail.closed_step = tail.closed_step.max(step);
            }
        }
        tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_says_how_far_an_episode_is() {
        let line =
            |kind: &str, step: usize| format!("{{\"body\":{{\"kind\":\"{kind}\",\"step\":{step}}}}}\n");
        let text = [line("step_end", 11), line("step_begin", 12), line("turn", 12)].concat();
        let expected = LogTail {
            closed_step: 11,
            step: 12,
        };
        assert_eq!(LogTail::of(text.as_bytes(), false), expected);
        let torn = format!("{text}{{\"body\":{{\"kind\":\"step_end\",\"step\":12");
        assert_eq!(LogTail::of(torn.as_bytes(), false), expected);
        assert_eq!(
            LogTail::of(text.get(5..).unwrap().as_bytes(), true).closed_step,
            0
        );
        assert_eq!(LogTail::of(b"", false), LogTail::default());
    }
}
