//! Files of JSON lines, packed where their name ends in `.zst`, written whole or not at all.

use crate::CertifyError;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, write_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Writes a file whole, a line a value. SHA-256 of its bytes.
///
/// # Errors
/// [`CertifyError::File`]; the old content stands then.
pub(super) fn write<T: Serialize>(
    path: &Path,
    values: impl IntoIterator<Item = T>,
) -> Result<String, CertifyError> {
    if let Some(parent) = path.parent() {
        create_directory(parent)?;
    }
    let bytes = line_bytes(path, values)?;
    write_whole(path, &bytes)?;
    Ok(sha256_hex(&bytes))
}

/// Reads a file of lines.
///
/// # Errors
/// [`CertifyError::File`], which names the line that is torn, too long or no such value.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, CertifyError> {
    Ok(LineKind::Probes.open(path)?.values()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.jsonl.zst"] {
            let path = folder.path().join("made").join(name);
            let written = write(&path, [1, 2, 3]).unwrap();
            assert_eq!(read::<u32>(&path).unwrap(), [1, 2, 3]);
            assert_eq!(ktd_io::sha256::sha256_file(&path).unwrap(), written);
        }
    }
}
