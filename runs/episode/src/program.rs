//! Which program this is, and whether it made a bundle.

use ktd_bundle::header::{Header, ProgramRecord};

/// SHA-256 over all sources that this program is built from.
pub const SOURCE_SHA256: &str = env!("KTD_SOURCE_SHA256");

/// SHA-256 over the sources that decide what masks show, how they are probed and how probes are judged.
pub const MASK_SOURCE_SHA256: &str = env!("KTD_MASK_SOURCE_SHA256");

/// Digits of a commit's name.
const COMMIT_DIGITS: usize = 40;

/// This program. Its commit is the one that whoever built it named in `KTD_COMMIT`, which is for clean checkouts alone: the
/// hash of the sources shows whether that is so.
#[must_use]
pub fn this_program() -> ProgramRecord {
    let commit = option_env!("KTD_COMMIT").filter(|name| is_commit(name));
    ProgramRecord {
        source_sha256: SOURCE_SHA256.to_owned(),
        commit: commit.map(str::to_owned),
    }
}

fn is_commit(name: &str) -> bool {
    name.len() == COMMIT_DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// What a reader of a replay must know first: that another program made the bundle, or that the bundle does not say.
#[must_use]
pub fn another_program(header: &Header) -> Option<String> {
    let (recorded, now) = (header.program.as_ref(), this_program());
    let Some(recorded) = recorded else {
        return Some(format!(
            "the bundle does not say which program made it; this one is {now}: what differs may be the program's"
        ));
    };
    (recorded.source_sha256 != now.source_sha256).then(|| {
        format!("made by another program ({recorded}); this one is {now}: what differs may be the program's")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_forty_hexadecimal_digits() {
        assert!(is_commit(&"0a".repeat(20)));
        for name in ["", "main", "0a0a0a0", "\u{e9}".repeat(20).as_str()] {
            assert!(!is_commit(name), "{name}");
        }
    }

    #[test]
    fn the_two_hashes_are_of_different_sources() {
        for hash in [SOURCE_SHA256, MASK_SOURCE_SHA256] {
            assert_eq!(hash.len(), 64);
        }
        assert_ne!(SOURCE_SHA256, MASK_SOURCE_SHA256);
        assert_eq!(this_program().source_sha256, SOURCE_SHA256);
    }
}
