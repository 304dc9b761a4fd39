//! Files of JSON lines, packed where their name ends in `.zst`, written whole or not at all.

use crate::CertifyError;
use ktd_io::whole_file::{open_regular, owner_alone};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const COMPRESSION_LEVEL: i32 = 3;
/// A line longer than this is no probe: a whole episode is below a megabyte.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Bytes on their way to a file.
struct Hashed<W> {
    to: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a file whole, a line a value: to a temporary name, then renamed. SHA-256 of its bytes.
///
/// # Errors
/// [`CertifyError::File`]; the old content stands then.
pub(super) fn write<T: Serialize>(
    path: &Path,
    values: impl IntoIterator<Item = T>,
) -> Result<String, CertifyError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(CertifyError::io("make the directory", parent))?;
    }
    let temporary = temporary(path);
    let open = owner_alone(path)
        .create(true)
        .truncate(true)
        .write(true)
        .open(&temporary);
    let hash = open
        .and_then(|file| fill(file, is_packed(path), values))
        .map_err(CertifyError::io("write", path))?;
    std::fs::rename(&temporary, path).map_err(CertifyError::io("write", path))?;
    Ok(hash)
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".writing");
    path.with_file_name(name)
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

fn fill<T: Serialize>(
    file: impl Write,
    is_packed: bool,
    values: impl IntoIterator<Item = T>,
) -> io::Result<String> {
    let mut file = Hashed {
        to: BufWriter::new(file),
        hash: Sha256::new(),
    };
    let mut file = if is_packed {
        let mut packer = zstd::stream::write::Encoder::new(file, COMPRESSION_LEVEL)?;
        packer.include_checksum(true)?;
        put(&mut packer, values)?;
        packer.finish()?
    } else {
        put(&mut file, values)?;
        file
    };
    file.flush()?;
    Ok(hex(file.hash))
}

/// A line a value.
fn put<T: Serialize>(to: &mut impl Write, values: impl IntoIterator<Item = T>) -> io::Result<()> {
    for value in values {
        serde_json::to_writer(&mut *to, &value)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

fn hex(hash: Sha256) -> String {
    let digest: [u8; 32] = hash.finalize().into();
    ktd_masking::hex(&digest)
}

/// Reads a file of lines.
///
/// # Errors
/// [`CertifyError::File`], or [`CertifyError::File`] naming the line that is torn or no such value.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, CertifyError> {
    let file = open_regular(path)?;
    let reader: Box<dyn BufRead> = if is_packed(path) {
        let unpacked = zstd::stream::read::Decoder::new(file)
            .map_err(|error| CertifyError::damaged(path, error.to_string()))?;
        Box::new(BufReader::new(unpacked))
    } else {
        Box::new(BufReader::new(file))
    };
    parse(path, reader)
}

fn parse<T: DeserializeOwned>(path: &Path, mut reader: Box<dyn BufRead>) -> Result<Vec<T>, CertifyError> {
    let (mut values, mut line) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let wrong = |what: String| CertifyError::damaged(path, format!("line {}: {what}", values.len() + 1));
        let count = reader
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
            .map_err(|error| wrong(error.to_string()))?;
        if count == 0 {
            return Ok(values);
        }
        if line.last() != Some(&b'\n') {
            return Err(wrong("it is cut short: it has no line end".to_owned()));
        }
        values.push(serde_json::from_slice(&line).map_err(|error| wrong(error.to_string()))?);
    }
}

/// SHA-256 of a file's bytes.
///
/// # Errors
/// [`CertifyError::File`].
pub(super) fn hash_file(path: &Path) -> Result<String, CertifyError> {
    let mut file = open_regular(path)?;
    let mut hashed = Hashed {
        to: io::sink(),
        hash: Sha256::new(),
    };
    io::copy(&mut file, &mut hashed).map_err(CertifyError::io("read", path))?;
    Ok(hex(hashed.hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.jsonl.zst"] {
            let path = folder.path().join(name);
            let written = write(&path, [1, 2, 3]).unwrap();
            assert_eq!(read::<u32>(&path).unwrap(), [1, 2, 3]);
            assert_eq!(hash_file(&path).unwrap(), written);
        }
    }

    #[test]
    fn a_torn_file_names_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for (text, part) in [
            ("1\n2", "line 2: it is cut short"),
            ("1\nx\n", "line 2: expected value"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read::<u32>(&path).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let packed = folder.path().join("a.jsonl.zst");
        write(&packed, 0..1000).unwrap();
        let whole = std::fs::read(&packed).unwrap();
        std::fs::write(&packed, &whole[..whole.len() / 2]).unwrap();
        assert!(read::<u32>(&packed).is_err());
    }
}
