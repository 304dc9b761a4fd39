//! The pinned packages of the environment.

use crate::source::hex_sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Versions of `CPython` 3 that the packages are pinned for.
pub const PYTHON_MINORS: std::ops::RangeInclusive<u32> = 11..=13;

/// A set of pinned packages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackageSet {
    /// With the last pandas 2, which takes what most models still write.
    #[default]
    Pandas2,
    /// With pandas 3.
    Pandas3,
}

/// A package of a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedPackage<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its version.
    pub version: &'t str,
    /// For which interpreters, where not for all.
    pub marker: Option<&'t str>,
    /// How many files may stand for it.
    pub hashes: usize,
}

impl PackageSet {
    /// Both sets.
    pub const ALL: [Self; 2] = [Self::Pandas2, Self::Pandas3];

    /// Its name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pandas2 => "pandas2",
            Self::Pandas3 => "pandas3",
        }
    }

    /// Its lock file: every package with the hashes of the files that it may come from.
    #[must_use]
    pub const fn lock(self) -> &'static str {
        match self {
            Self::Pandas2 => include_str!("../locks/requirements-pandas2.lock"),
            Self::Pandas3 => include_str!("../locks/requirements-pandas3.lock"),
        }
    }

    /// The hash of its lock file.
    #[must_use]
    pub fn lock_sha256(self) -> String {
        hex_sha256(self.lock().as_bytes())
    }

    /// The packages of its lock file.
    #[must_use]
    pub fn packages(self) -> Vec<LockedPackage<'static>> {
        let mut packages: Vec<LockedPackage<'static>> = Vec::new();
        for line in self.lock().lines() {
            if line.trim_start().starts_with("--hash=sha256:") {
                if let Some(package) = packages.last_mut() {
                    package.hashes += 1;
                }
            } else if let Some((name, rest)) = line.split_once("==") {
                let pin = rest.trim_end_matches(['\\', ' ']);
                let (version, marker) = match pin.split_once(" ; ") {
                    Some((version, marker)) => (version, Some(marker)),
                    None => (pin, None),
                };
                packages.push(LockedPackage {
                    name,
                    version,
                    marker,
                    hashes: 0,
                });
            }
        }
        packages
    }
}

/// The hash of what is installed: of the file list of every package, by the name of its folder. It does not depend on the
/// order in which they are found.
#[must_use]
pub fn installed_sha256(records: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<String> = records
        .iter()
        .map(|(folder, record)| format!("{folder} {}\n", hex_sha256(record)))
        .collect();
    lines.sort();
    let mut text = String::new();
    for line in lines {
        // Writing to a string cannot fail.
        write!(text, "{line}").ok();
    }
    hex_sha256(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_by_hashes() {
        for set in PackageSet::ALL {
            let packages = set.packages();
            let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
            for name in ["numpy", "pandas", "scipy", "ta-lib", "python-dateutil", "tzdata"] {
                assert!(names.contains(&name), "{name}");
            }
            assert!(packages.iter().all(|package| 0 < package.hashes), "{packages:?}");
            let pins = set.lock().lines().filter(|line| line.contains("--hash=")).count();
            assert_eq!(pins, packages.iter().map(|package| package.hashes).sum::<usize>());
        }
        let pandas = |set: PackageSet| {
            let packages = set.packages();
            packages
                .iter()
                .find(|package| package.name == "pandas")
                .unwrap()
                .version
        };
        assert_eq!(
            (pandas(PackageSet::Pandas2), pandas(PackageSet::Pandas3)),
            ("2.3.3", "3.1.1")
        );
    }

    #[test]
    fn what_is_installed_has_one_hash_in_any_order() {
        let a = ("numpy.dist-info".to_owned(), b"x".to_vec());
        let b = ("pandas.dist-info".to_owned(), b"y".to_vec());
        let both = installed_sha256(&[a.clone(), b.clone()]);
        assert_eq!(both, installed_sha256(&[b.clone(), a.clone()]));
        assert_ne!(both, installed_sha256(&[a, (b.0, b"z".to_vec())]));
    }
}
