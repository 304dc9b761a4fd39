//! Frames of zstd that hold lines: packed, and counted without being unpacked.
//!
//! A long conversation repeats itself in every request, so a frame of many records is a small part of as many frames of
//! one. A finished store is a single frame: many readers stop after the first.

use std::io::Write;

/// The level of frames that are written: zstd's own.
pub const DEFAULT_LEVEL: i32 = 3;
/// The level of frames that are made fast, to be held.
pub const FAST_LEVEL: i32 = 1;
/// 2^24 = 16 MiB: repetitions within so many bytes are found, far more than one step repeats, and every decoder takes it
/// without being asked to. A wider one is not unpacked.
pub(crate) const WINDOW_LOG: u32 = 24;
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// One frame of some lines, with a checksum.
///
/// # Errors
/// [`std::io::Error`] when they cannot be packed.
pub fn pack(lines: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    let mut encoder = packer(Vec::new(), level)?;
    encoder.set_pledged_src_size(u64::try_from(lines.len()).ok())?;
    encoder.write_all(lines)?;
    encoder.finish()
}

/// The same of lines that are not all held.
pub(crate) fn packer<W: Write>(to: W, level: i32) -> std::io::Result<zstd::Encoder<'static, W>> {
    let mut encoder = zstd::Encoder::new(to, level)?;
    encoder.include_checksum(true)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(WINDOW_LOG)?;
    Ok(encoder)
}

/// The whole frames that some bytes begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WholeFrames {
    /// How many.
    pub count: usize,
    /// Their bytes. What follows is torn, or its block headers were changed.
    pub bytes: usize,
    /// Whether another frame stands somewhere after them: only the last frame of a file can be torn.
    pub has_later: bool,
}

impl WholeFrames {
    /// The frames of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut whole = Self::default();
        let rest = |from: usize| bytes.get(from..).filter(|rest| !rest.is_empty());
        while let Some(size) = rest(whole.bytes).and_then(first_frame) {
            whole.count += 1;
            whole.bytes += size;
        }
        whole.has_later = (whole.bytes + 1..bytes.len())
            .filter_map(rest)
            .any(|rest| rest.starts_with(&MAGIC) && first_frame(rest).is_some());
        whole
    }
}

/// The size of the frame that some bytes begin with.
fn first_frame(bytes: &[u8]) -> Option<usize> {
    zstd::zstd_safe::find_frame_compressed_size(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_repeats_itself_is_kept_once() {
        let line = "a request of a long conversation, ".repeat(3_000);
        let one = pack(line.as_bytes(), DEFAULT_LEVEL).unwrap().len();
        let lines = format!("{line}1\n{line}2\n{line}3\n");
        let packed = pack(lines.as_bytes(), DEFAULT_LEVEL).unwrap();
        assert!(packed.len() < 2 * one + 200, "{} of {one}", packed.len());
        let whole = WholeFrames::of(&packed);
        assert_eq!((whole.count, whole.bytes), (1, packed.len()));
        let torn = packed.split_last().unwrap().1;
        let frames = WholeFrames::of(&[&packed, torn].concat());
        assert_eq!((frames.bytes, frames.has_later), (packed.len(), false));
        let damaged = [&packed[1..], &packed].concat();
        assert_eq!(
            WholeFrames::of(&damaged),
            WholeFrames {
                has_later: true,
                ..WholeFrames::default()
            }
        );
    }
}
