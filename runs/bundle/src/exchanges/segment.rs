//! Compressed segments of the store: zstd frames of many lines.
//!
//! A long conversation repeats itself in every request, so a frame of many records is a small part of as many frames of
//! one. A finished store is a single frame: many readers stop after the first.

use std::io::{Read, Write};

const COMPRESSION_LEVEL: i32 = 3;
/// 2^24 = 16 MiB: repetitions within so many bytes are found, far more than one step repeats, and every decoder takes it
/// without being asked to.
pub(super) const WINDOW_LOG: u32 = 24;
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The most that a store may hold when it is decompressed, bytes: 4 GiB, a hundred times a long episode's.
pub(crate) const STORE_LIMIT_BYTES: u64 = 4 << 30;

/// One frame of some lines, with a checksum.
pub(super) fn compress(lines: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(WINDOW_LOG)?;
    encoder.set_pledged_src_size(u64::try_from(lines.len()).ok())?;
    encoder.write_all(lines)?;
    encoder.finish()
}

/// The lines of one frame, unless it is damaged or holds more than `limit_bytes`.
pub(super) fn decompress(frame: &[u8], limit_bytes: u64) -> Result<Vec<u8>, String> {
    let read = || {
        let mut decoder = zstd::Decoder::new(frame)?.single_frame();
        decoder.window_log_max(WINDOW_LOG)?;
        let mut lines = Vec::new();
        decoder
            .take(limit_bytes.saturating_add(1))
            .read_to_end(&mut lines)?;
        Ok(lines)
    };
    let lines = read().map_err(|error: std::io::Error| error.to_string())?;
    if u64::try_from(lines.len()).is_ok_and(|length| length <= limit_bytes) {
        Ok(lines)
    } else {
        Err(format!("it holds more than {limit_bytes} bytes"))
    }
}

/// The first frame of some bytes, unless it is torn or its block headers were changed.
pub(super) fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    let size = zstd::zstd_safe::find_frame_compressed_size(bytes).ok()?;
    bytes.get(..size)
}

/// Whether a whole frame stands somewhere after the first byte: only the last frame of a store can be torn, and cutting
/// off a damaged one in its middle would throw away replies that were paid for.
pub(super) fn has_later_frame(bytes: &[u8]) -> bool {
    (1..bytes.len())
        .filter_map(|start| bytes.get(start..))
        .filter(|rest| rest.starts_with(&MAGIC))
        .any(|rest| first_frame(rest).is_some_and(|frame| decompress(frame, STORE_LIMIT_BYTES).is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_repeats_itself_is_kept_once() {
        let line = "a request of a long conversation, ".repeat(3_000);
        let one = compress(line.as_bytes()).unwrap().len();
        let lines = format!("{line}1\n{line}2\n{line}3\n");
        let packed = compress(lines.as_bytes()).unwrap();
        assert!(packed.len() < 2 * one + 200, "{} of {one}", packed.len());
        assert_eq!(decompress(&packed, STORE_LIMIT_BYTES).unwrap(), lines.as_bytes());
        assert_eq!(first_frame(&packed), Some(packed.as_slice()));
    }

    #[test]
    fn a_frame_is_never_read_beyond_its_bound() {
        let packed = compress(&vec![b'x'; 100_000]).unwrap();
        assert!(packed.len() < 1_000);
        assert!(decompress(&packed, 99_999).is_err());
        assert!(decompress(&packed, 100_000).is_ok());
    }
}
