//! Golden sets: answers that independent implementations gave. Small ones of our own lie in the repository, larger ones
//! outside it; a test compares with all of them.

use crate::need::{Need, root_of};
use crate::workspace_root;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Sets of which a larger part, or all, lies outside the repository.
pub const OUTSIDE_SETS: [&str; 10] = [
    "alpha_qt",
    "alphaeval",
    "attribution",
    "expressions",
    "ktd",
    "leakage",
    "providers",
    "qlib",
    "sandbox",
    "systradebench",
];

/// The folder of the sets outside the repository, there or not: `KTD_GOLDEN`, by default `../shared/golden`.
#[must_use]
pub fn golden_root() -> PathBuf {
    root_of("KTD_GOLDEN", "../shared/golden")
}

/// The folder of a set outside the repository; `None` where it is absent.
#[must_use]
pub fn outside(set: &'static str) -> Option<PathBuf> {
    Need::Golden(set).is_met().then(|| golden_root().join(set))
}

/// The folders of a set: the repository's own small cases, and those outside it where they are there.
#[must_use]
pub fn folders(set: &'static str) -> Vec<PathBuf> {
    let own = workspace_root().join("tests/golden").join(set);
    assert!(own.is_dir(), "no cases of our own at {}", own.display());
    [Some(own), outside(set)].into_iter().flatten().collect()
}

/// The path of a golden file as it lies there, as it is or with `.gz` behind its name.
#[must_use]
pub fn file(path: &Path) -> PathBuf {
    if path.is_file() {
        return path.to_owned();
    }
    let mut zipped = path.as_os_str().to_owned();
    zipped.push(".gz");
    PathBuf::from(zipped)
}

/// Opens a golden file, unpacked where it is gzipped.
#[must_use]
pub fn open(path: &Path) -> Box<dyn Read> {
    let path = file(path);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(GzDecoder::new(file))
    } else {
        Box::new(file)
    }
}

/// The text of a golden file.
#[must_use]
pub fn text(path: &Path) -> String {
    let mut text = String::new();
    open(path).read_to_string(&mut text).unwrap();
    text
}

/// The document of a golden file.
#[must_use]
pub fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A number of a document.
#[must_use]
#[track_caller]
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// All numbers of a list, those of lists inside it in their order.
#[must_use]
#[track_caller]
pub fn numbers(list: &Value) -> Vec<f64> {
    let of = |item: &Value| {
        if item.is_array() {
            numbers(item)
        } else {
            vec![number(item)]
        }
    };
    list.as_array().unwrap().iter().flat_map(of).collect()
}

/// The numbers of a list, not a number where it has `null` or the word for it.
#[must_use]
#[track_caller]
pub fn numbers_or_nan(list: &Value) -> Vec<f64> {
    let of = |item: &Value| item.as_f64().unwrap_or(f64::NAN);
    list.as_array().unwrap().iter().map(of).collect()
}

/// A count of a document.
#[must_use]
#[track_caller]
pub fn whole(value: &Value) -> usize {
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count.unwrap_or_else(|| panic!("{value} is no count"))
}

/// The counts of a list.
#[must_use]
#[track_caller]
pub fn wholes(list: &Value) -> Vec<usize> {
    list.as_array().unwrap().iter().map(whole).collect()
}

/// Fails the test unless both agree within `tolerance`.
#[track_caller]
pub fn near(place: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{place}: {found:e}, expected {expected:e}"
    );
}

/// Fails the test unless both agree within `tolerance` of the larger of 1 and the expected value.
#[track_caller]
pub fn near_of(place: &str, found: f64, expected: f64, tolerance: f64) {
    near(place, found, expected, tolerance * expected.abs().max(1.0));
}
