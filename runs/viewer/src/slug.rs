//! Names of episodes and experiments in addresses: one path component of harmless letters each.

use ktd_io::sha256::sha256_hex;
use std::collections::BTreeSet;

/// Hexadecimal digits that tell names apart which read the same.
const DIGITS: usize = 8;
/// Letters of a name; a file of the exported site may have 255.
const LETTERS: usize = 160;

/// A name of which every letter stands for itself in an address and a file name.
pub(crate) fn plain(name: &str) -> String {
    let letters = name.chars().take(LETTERS).map(|letter| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => letter,
        _ => '-',
    });
    let name: String = letters.collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() {
        "-".to_owned()
    } else {
        name.to_owned()
    }
}

/// The name, or one that ends with digits of what it stands for where the name is taken. It does not hang on what else was
/// found beside, but for those that read the same.
pub(crate) fn unique(taken: &mut BTreeSet<String>, name: &str, stands_for: &str) -> String {
    let plain = plain(name);
    let hash = sha256_hex(stands_for.as_bytes());
    let candidates =
        (DIGITS..=hash.len()).filter_map(|digits| Some(format!("{plain}.{}", hash.get(..digits)?)));
    let free = std::iter::once(plain.clone())
        .chain(candidates)
        .find(|name| !taken.contains(name));
    let slug = free.unwrap_or(plain);
    taken.insert(slug.clone());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_component() {
        assert_eq!(plain("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(plain(".."), "-");
        assert_eq!(plain("a b\"<股>"), "a-b-----".get(..7).unwrap());
        assert_eq!(plain("momentum__short__s1"), "momentum__short__s1");
        assert_eq!(plain(&"x".repeat(999)).len(), LETTERS);
    }

    #[test]
    fn names_that_read_the_same_are_told_apart() {
        let mut taken = BTreeSet::new();
        assert_eq!(unique(&mut taken, "a b", "one"), "a-b");
        let second = unique(&mut taken, "a-b", "two");
        assert_ne!(second, "a-b");
        assert!(second.starts_with("a-b."));
    }
}
