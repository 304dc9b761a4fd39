//! Which program this is: the hashes of its sources, and the commit that its builder named.
//!
//! Knows: nothing of ours. Never knows: what the hashes stand in. An edit anywhere builds it again, and so whoever knows it:
//! that are crates at the very edge, which hand the hashes to those below.

/// SHA-256 over all sources that this program is built from.
pub const SOURCE_SHA256: &str = env!("KTD_SOURCE_SHA256");

/// SHA-256 over the sources that decide what masks show, how they are probed and how probes are judged.
pub const MASK_SOURCE_SHA256: &str = env!("KTD_MASK_SOURCE_SHA256");

/// Digits of a commit's name.
const COMMIT_DIGITS: usize = 40;

/// The commit that whoever built the program named in `KTD_COMMIT`, which is for clean checkouts alone: the hash of the
/// sources shows whether that is so.
#[must_use]
pub fn commit() -> Option<&'static str> {
    option_env!("KTD_COMMIT").filter(|name| is_commit(name))
}

fn is_commit(name: &str) -> bool {
    name.len() == COMMIT_DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit())
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
    }
}
