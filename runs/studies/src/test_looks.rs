//! Who has looked at the test days of a study.

use crate::FormulaStudyError;
use ktd_io::whole_file::{json_bytes, parse_json, read_if_exists, write_whole};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A set of formulas that has seen the test days.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TestLook {
    formulas: String,
    panel: String,
    from: String,
    to: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TestLooks {
    looks: Vec<TestLook>,
}

/// The name of the file.
const FILE: &str = "test_looks.json";

/// Writes, before any test day is read, that a set of formulas sees them; how many sets have. The same set on the same days of
/// the same panel counts once. The caller holds the folder's lock.
pub(crate) fn count_look(
    folder: &Path,
    formulas: &str,
    panel: &str,
    (from, to): (&str, &str),
) -> Result<usize, FormulaStudyError> {
    let path = folder.join(FILE);
    let mut known = read_looks(&path)?;
    let look = TestLook {
        formulas: formulas.to_owned(),
        panel: panel.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    if !known.looks.contains(&look) {
        known.looks.push(look);
        write_whole(&path, &json_bytes(&path, &known)?)?;
    }
    Ok(known.looks.len())
}

/// How many sets have seen test days with a folder.
pub(crate) fn known_looks(folder: &Path) -> Result<usize, FormulaStudyError> {
    Ok(read_looks(&folder.join(FILE))?.looks.len())
}

fn read_looks(path: &Path) -> Result<TestLooks, FormulaStudyError> {
    match read_if_exists(path)? {
        Some(bytes) => Ok(parse_json(path, &bytes)?),
        None => Ok(TestLooks::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::{count_look, known_looks};

    #[test]
    fn another_set_is_another_look_and_the_same_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(known_looks(folder.path()).unwrap(), 0);
        let look = |formulas: &str| count_look(folder.path(), formulas, "p", ("a", "b")).unwrap();
        assert_eq!([look("one"), look("one"), look("two"), look("one")], [1, 1, 2, 2]);
        assert_eq!(known_looks(folder.path()).unwrap(), 2);
        ktd_io::whole_file::write_whole(&folder.path().join("test_looks.json"), b"{").unwrap();
        assert!(count_look(folder.path(), "one", "p", ("a", "b")).is_err());
    }
}
