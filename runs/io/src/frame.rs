//! Frames of zstd that hold lines: packed, and counted without being unpacked.
//!
//! A long conversation repeats itself in every request, so a frame of many records is a small part of as many frames of
//! one. A finished store is a single frame: many readers stop after the first.

use crate::FileError;
use crate::whole_file::{IfExists, new_file, rename, temporary_name};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The level of frames that are written: zstd's own.
pub const DEFAULT_LEVEL: i32 = 3;
/// The level of frames that are made fast, to be held.
pub const FAST_LEVEL: i32 = 1;
/// 2^24 = 16 MiB: repetitions within so many bytes are found, far more than one step repeats, and every decoder takes it
/// without being asked to. A wider one is not unpacked.
pub(crate) const WINDOW_LOG: u32 = 24;
const MAGIC: u32 = 0xfd2f_b528;

/// One frame of some lines, with a checksum.
///
/// # Errors
/// [`std::io::Error`] when they cannot be packed.
pub fn pack(lines: &[u8], level: i32) -> io::Result<Vec<u8>> {
    let mut encoder = packer(Vec::new(), level)?;
    encoder.set_pledged_src_size(u64::try_from(lines.len()).ok())?;
    encoder.write_all(lines)?;
    encoder.finish()
}

/// The same of lines that are not all held.
pub(crate) fn packer<W: Write>(target: W, level: i32) -> io::Result<zstd::Encoder<'static, W>> {
    let mut encoder = zstd::Encoder::new(target, level)?;
    encoder.include_checksum(true)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(WINDOW_LOG)?;
    Ok(encoder)
}

/// Writes a whole file or nothing: one frame of what `write` writes, of which no more is held than what repetitions are
/// looked for in. Where its `unpacked_bytes` are known before, it is the frame that [`pack`] makes of them.
///
/// # Errors
/// What `write` returns, and [`FileError::Io`]; the old content stands then.
pub fn pack_file<E: From<FileError>>(
    path: &Path,
    unpacked_bytes: Option<u64>,
    write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), FileError>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = || FileError::io("compress", path);
    let temporary = temporary_name(path, IfExists::Replace);
    let pack = || {
        let file = new_file(&temporary).map_err(failed())?;
        let mut encoder = packer(file, DEFAULT_LEVEL).map_err(failed())?;
        let pledged = encoder.set_pledged_src_size(unpacked_bytes);
        pledged.map_err(failed())?;
        Ok::<_, FileError>(encoder)
    };
    let packed = pack().map_err(E::from).and_then(|mut encoder| {
        write(&mut |bytes| encoder.write_all(bytes).map_err(failed()))?;
        encoder.finish().map_err(failed())?;
        Ok(rename(&temporary, path)?)
    });
    if packed.is_err() {
        std::fs::remove_file(&temporary).ok();
    }
    packed
}

/// The whole frames that a file begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WholeFrames {
    /// How many.
    pub count: usize,
    /// Their bytes. What follows is torn, or its block headers were changed.
    pub bytes: u64,
    /// Bytes after them.
    pub torn_bytes: u64,
    /// Whether another frame stands somewhere in these: only the last frame of a file can be torn.
    pub has_later: bool,
}

impl WholeFrames {
    /// The frames of a file, whose blocks are passed over unread.
    ///
    /// # Errors
    /// [`std::io::Error`] when it cannot be read.
    pub fn of(file: &mut (impl Read + Seek)) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        let mut whole = Self::default();
        while let Some(end) = frame_end(file, whole.bytes, size)? {
            whole.count += 1;
            whole.bytes = end;
        }
        whole.torn_bytes = size - whole.bytes;
        whole.has_later = 0 < whole.torn_bytes && has_frame_after(file, whole.bytes, size)?;
        Ok(whole)
    }
}

/// Where the frame that begins at a place ends (RFC 8878, section 3.1.1); `None` where no whole one begins there.
fn frame_end(file: &mut (impl Read + Seek), start: u64, size: u64) -> io::Result<Option<u64>> {
    const CHECKSUM_BYTES: u64 = 4;
    let Some([a, b, c, d, descriptor]) = read_at(file, start, size)? else {
        return Ok(None);
    };
    if u32::from_le_bytes([a, b, c, d]) != MAGIC {
        return Ok(None);
    }
    let is_single_segment = u64::from(descriptor >> 5 & 1);
    let content_size_bytes = match descriptor >> 6 {
        0 => is_single_segment,
        log => 1 << log,
    };
    let dictionary_bytes = match descriptor & 3 {
        3 => 4,
        bytes => u64::from(bytes),
    };
    let mut place = start + 5 + (1 - is_single_segment) + dictionary_bytes + content_size_bytes;
    loop {
        let Some([a, b, c]) = read_at(file, place, size)? else {
            return Ok(None);
        };
        let block = u32::from_le_bytes([a, b, c, 0]);
        place += 3 + match block >> 1 & 3 {
            1 => 1,
            3 => return Ok(None),
            _ => u64::from(block >> 3),
        };
        if block & 1 == 1 {
            break;
        }
    }
    let end = place + u64::from(descriptor >> 2 & 1) * CHECKSUM_BYTES;
    Ok((end <= size).then_some(end))
}

/// Bytes at a place; `None` where the file ends before them.
fn read_at<const BYTES: usize>(
    file: &mut (impl Read + Seek),
    place: u64,
    size: u64,
) -> io::Result<Option<[u8; BYTES]>> {
    let length = u64::try_from(BYTES).unwrap_or(u64::MAX);
    if size < place.saturating_add(length) {
        return Ok(None);
    }
    let mut bytes = [0; BYTES];
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// Whether a whole frame begins anywhere after a place.
fn has_frame_after(file: &mut (impl Read + Seek), place: u64, size: u64) -> io::Result<bool> {
    let (mut read, mut last, mut byte) = (place + 1, 0_u32, [0]);
    file.seek(SeekFrom::Start(read))?;
    while file.read(&mut byte)? == 1 {
        read += 1;
        last = last >> 8 | u32::from(byte[0]) << 24;
        if last == MAGIC && place + 5 <= read {
            if frame_end(file, read - 4, size)?.is_some() {
                return Ok(true);
            }
            file.seek(SeekFrom::Start(read))?;
        }
    }
    Ok(false)
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
        let whole = |bytes: &[u8]| WholeFrames::of(&mut io::Cursor::new(bytes)).unwrap();
        let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap();
        let found = whole(&packed);
        assert_eq!((found.count, found.bytes), (1, size(&packed)));
        let torn = packed.split_last().unwrap().1;
        let found = whole(&[&packed, torn].concat());
        assert_eq!(
            (found.count, found.bytes, found.torn_bytes),
            (1, size(&packed), size(torn))
        );
        assert!(!found.has_later);
        let found = whole(&[&packed[1..], &packed].concat());
        assert!(found.bytes == 0 && found.has_later);
        // Every form of a frame's head, and blocks of one repeated byte.
        for size in [0, 1, 255, 256, 65_791, 65_792, 1 << 20] {
            for frame in [
                zstd::encode_all(&vec![7; size][..], 1).unwrap(),
                pack(&vec![7; size], 1).unwrap(),
            ] {
                let found = whole(&[&frame[..], &frame].concat());
                assert_eq!((found.count, found.torn_bytes), (2, 0), "{size}");
            }
        }
    }

    #[test]
    fn a_file_is_the_frame_of_its_lines_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.zst");
        let lines: Vec<String> = (0..30_000)
            .map(|place| format!("{place} {}\n", "ab".repeat(place % 700)))
            .collect();
        let text = lines.concat();
        let size = u64::try_from(text.len()).unwrap();
        pack_file::<FileError>(&path, Some(size), |write| {
            lines.iter().try_for_each(|line| write(line.as_bytes()))
        })
        .unwrap();
        assert_eq!(
            std::fs::read(&path).unwrap(),
            pack(text.as_bytes(), DEFAULT_LEVEL).unwrap()
        );
        // What is too short was not meant.
        assert!(pack_file::<FileError>(&path, Some(size + 1), |write| write(text.as_bytes())).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
