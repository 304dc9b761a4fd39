//! Panel files: one read, one check, one market.

use crate::DataFileError;
use ktd_env::Market;
use ktd_io::whole_file::{read_bounded, starts_with};
use std::path::Path;

/// The bytes a panel file starts with.
pub(crate) const MAGIC: &[u8] = b"KTDPANEL";

/// Whether a file starts as a panel does.
///
/// # Errors
/// [`DataFileError`] when it cannot be read.
pub fn is_panel(path: &Path) -> Result<bool, DataFileError> {
    Ok(starts_with(path, MAGIC)?)
}

/// Loads a panel file.
///
/// # Errors
/// [`DataFileError`] when the file cannot be read or is no whole panel of this program's format.
pub fn load_panel(path: &Path) -> Result<Market, DataFileError> {
    let bytes = read_bounded(path, u64::MAX).map_err(|error| {
        let is_missing = error.is_missing();
        let error = DataFileError::from(error);
        if is_missing {
            error.with_hint("make one with `ktd data import SRC --out PANEL` or `ktd data synth --out PANEL`")
        } else {
            error
        }
    })?;
    Market::from_bytes(&bytes).map_err(|error| {
        DataFileError::invalid(format_args!("{}: {error}", path.display())).with_hint(error.hint())
    })
}

/// The content hash as 64 hexadecimal digits.
#[must_use]
pub fn hash_text(hash: [u8; 32]) -> String {
    use std::fmt::Write;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_panel_is_refused_with_a_mend() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.ktdp");
        let missing = load_panel(&path).unwrap_err();
        assert!(missing.hint().contains("ktd data import"), "{missing}");
        std::fs::write(&path, b"date,symbol\n").unwrap();
        assert!(
            load_panel(&path)
                .unwrap_err()
                .to_string()
                .contains("not a ktd panel")
        );
        std::fs::write(&path, b"KTDPANEL").unwrap();
        assert!(load_panel(&path).is_err());
    }

    #[test]
    fn hashes_are_hexadecimal() {
        let mut hash = [0; 32];
        hash[0] = 0xAB;
        assert!(hash_text(hash).starts_with("ab00"));
        assert_eq!(hash_text(hash).len(), 64);
    }
}
