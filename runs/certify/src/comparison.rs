//! A certificate beside the one that its files give.

use super::certificate::Certificate;
use crate::CertifyError;
use ktd_io::whole_file::json_bytes;
use std::path::Path;

/// Compares a certificate with the one that its files give, and names the first line that differs.
pub(super) fn compare_certificates(
    path: &Path,
    recorded: &Certificate,
    made: &Certificate,
) -> Result<(), CertifyError> {
    let (recorded, made) = (json_bytes(path, recorded)?, json_bytes(path, made)?);
    if recorded == made {
        return Ok(());
    }
    let (recorded, made) = (String::from_utf8_lossy(&recorded), String::from_utf8_lossy(&made));
    let differs = recorded
        .lines()
        .zip(made.lines())
        .find(|(left, right)| left != right)
        .map_or_else(
            || "it is longer or shorter than what its files give".to_owned(),
            |(left, right)| format!("it says {:?}, but its files give {:?}", left.trim(), right.trim()),
        );
    Err(does_not_follow(path, differs))
}

pub(super) fn does_not_follow(path: &Path, what: String) -> CertifyError {
    CertifyError::Untrusted {
        path: path.to_owned(),
        what,
        hint: "it does not follow from what it says of itself, whoever signed it: rely on nothing in it",
    }
}
