//! The pools of a study.

use crate::FormulaStudyError;
use crate::alpha_study::PoolSource;
use crate::formula_file::{FormulaLine, check_lines, read_formulas};
use crate::formula_set::{BuiltInSet, SetOfFormulas};
use ktd_env::TradeDate;
use ktd_expressions::FormulaRole;
use ktd_io::whole_file::{parse_json, read_bounded};
use serde::Deserialize;
use std::path::Path;

/// The most that the file of a mined pool may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 28;

/// A pool with its checked formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyPool {
    /// Its name.
    pub id: String,
    /// Its formulas, and those that were refused.
    pub set: SetOfFormulas,
    /// How many expressions the search that made it tried, where one did.
    pub tried: Option<usize>,
    /// The last day that whoever made it may know of, or `unknown`; none where nobody is known to have.
    pub known_until: Option<String>,
    /// The last day that a search chose it by, or `unknown`; none where no search is known.
    pub read_until: Option<String>,
}

/// What a search leaves of its pool.
#[derive(Debug, Deserialize)]
struct MinedPool {
    formulas: Vec<FormulaLine>,
    #[serde(default)]
    tried: Option<usize>,
    #[serde(default)]
    read_until: Option<String>,
    #[serde(default)]
    model: Option<MinedModel>,
}

/// The model behind a pool.
#[derive(Debug, Deserialize)]
struct MinedModel {
    known_until: String,
}

/// The word for a model whose last known day nobody states.
pub(crate) const UNKNOWN: &str = "unknown";

/// A pool before its formulas are checked.
#[derive(Debug, Default)]
struct PoolLines {
    lines: Vec<FormulaLine>,
    tried: Option<usize>,
    known_until: Option<String>,
    read_until: Option<String>,
}

impl StudyPool {
    /// The last day that counts against a split: that whoever made the pool may know of, and on test days also the last that
    /// a search chose it by. Every search has read train and valid days.
    pub(crate) fn known_on(&self, is_test: bool) -> Option<&String> {
        let read = self.read_until.as_ref().filter(|_| is_test);
        // The word `unknown` sorts after every day.
        read.max(self.known_until.as_ref())
    }

    /// Reads a pool and checks its formulas against the fields there are.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for an unknown set, a file that holds no formula, or a pool of which every formula is refused.
    pub fn read(source: &PoolSource, fields: &[String]) -> Result<Self, FormulaStudyError> {
        let PoolLines {
            mut lines,
            tried,
            known_until,
            read_until,
        } = lines(source)?;
        let known_until = source.known_until.clone().or(known_until);
        let is_day = |day: &String| day == UNKNOWN || TradeDate::parse(day).is_ok();
        if let Some(day) = known_until.as_ref().filter(|day| !is_day(day)) {
            return Err(FormulaStudyError::input(
                format_args!("pool {:?}: known_until is {day:?}", source.id),
                "write a day as 2024-06-30, or \"unknown\"",
            ));
        }
        if let Some(day) = read_until.as_ref().filter(|day| !is_day(day)) {
            return Err(FormulaStudyError::input(
                format_args!("pool {:?}: the search's read_until is {day:?}", source.id),
                "restore the search's pool.json, or search again",
            ));
        }
        if let Some(pool) = &source.pool {
            lines.retain(|line| line.pool.as_ref() == Some(pool));
        }
        // Pools of a file become one here, in which an id stands once.
        for line in &mut lines {
            line.pool = None;
        }
        check_lines(&format_args!("pool {:?}", source.id), &lines)?;
        lines.truncate(source.first.unwrap_or(usize::MAX));
        if lines.is_empty() {
            return Err(FormulaStudyError::input(
                format_args!("pool {:?} has no formula", source.id),
                "correct its keys `pool` and `first`, or remove it",
            ));
        }
        let set = SetOfFormulas::check(lines, fields, FormulaRole::Alpha);
        match set.refused.first().filter(|_| set.checked.is_empty()) {
            Some(refused) => Err(FormulaStudyError::input(
                format_args!(
                    "every formula of pool {:?} is refused; {}: {}",
                    source.id, refused.line.id, refused.error
                ),
                refused.error.hint.clone(),
            )),
            None => Ok(Self {
                id: source.id.clone(),
                set,
                tried,
                known_until,
                read_until,
            }),
        }
    }
}

fn lines(source: &PoolSource) -> Result<PoolLines, FormulaStudyError> {
    if let Some(set) = &source.builtin {
        let known = BuiltInSet::of(set).ok_or_else(|| {
            let sets: Vec<&str> = BuiltInSet::ALL.iter().map(|set| set.label()).collect();
            FormulaStudyError::input(
                format_args!("pool {:?}: the built-in set {set:?} is unknown", source.id),
                format_args!("name one of {}", sets.join(", ")),
            )
        })?;
        return Ok(PoolLines {
            lines: known.lines(),
            ..PoolLines::default()
        });
    }
    if let Some(folder) = &source.mined {
        return mined(folder);
    }
    let path = source.file.as_deref().unwrap_or_else(|| Path::new(""));
    Ok(PoolLines {
        lines: read_formulas(path)?,
        ..PoolLines::default()
    })
}

fn mined(folder: &Path) -> Result<PoolLines, FormulaStudyError> {
    let path = folder.join("pool.json");
    let pool: MinedPool = parse_json(&path, &read_bounded(&path, FILE_LIMIT_BYTES)?)?;
    Ok(PoolLines {
        known_until: pool.model.map(|model| model.known_until),
        read_until: Some(pool.read_until.unwrap_or_else(|| UNKNOWN.to_owned())),
        tried: pool.tried,
        lines: pool.formulas,
    })
}

#[cfg(test)]
mod tests {
    use super::StudyPool;
    use crate::alpha_study::PoolSource;

    fn read(file: &str, text: &str, pool: Option<&str>) -> Result<StudyPool, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        ktd_io::whole_file::write_whole(&path, text.as_bytes()).unwrap();
        let source = PoolSource {
            id: "mine".to_owned(),
            builtin: None,
            file: (file != "pool.json").then_some(path),
            pool: pool.map(str::to_owned),
            mined: (file == "pool.json").then(|| folder.path().to_owned()),
            first: None,
            known_until: None,
        };
        StudyPool::read(&source, &["close".to_owned()]).map_err(|error| error.to_string())
    }

    #[test]
    fn days_that_chose_a_pool_count_against_test_days_and_an_unknown_one_against_all() {
        for (made, on_train, on_test) in [
            (r#","read_until":"2022-12-30""#, None, "2022-12-30"),
            ("", None, "unknown"),
            (
                r#","read_until":"2022-12-30","model":{"known_until":"2021-06-30"}"#,
                Some("2021-06-30"),
                "2022-12-30",
            ),
            (
                r#","read_until":"2022-12-30","model":{"known_until":"unknown"}"#,
                Some("unknown"),
                "unknown",
            ),
        ] {
            let text = format!(r#"{{"formulas":[{{"id":"a","expression":"$close"}}]{made}}}"#);
            let pool = read("pool.json", &text, None).unwrap();
            assert_eq!(pool.known_on(false).map(String::as_str), on_train, "{made}");
            assert_eq!(pool.known_on(true).map(String::as_str), Some(on_test), "{made}");
        }
        let text = r#"{"formulas":[{"id":"a","expression":"$close"}],"read_until":"soon"}"#;
        assert!(
            read("pool.json", text, None)
                .unwrap_err()
                .contains("read_until is \"soon\"")
        );
    }

    #[test]
    fn an_id_stands_once_in_a_pool_whatever_holds_it() {
        let file = "id,expression,pool\na,$close,p\na,$close,q\n";
        let error = read("mine.csv", file, None).unwrap_err();
        assert!(error.contains("the id \"a\" stands twice"), "{error}");
        assert_eq!(read("mine.csv", file, Some("q")).unwrap().set.checked.len(), 1);
        let mined = |id: &str| {
            format!(
                r#"{{"formulas":[{{"id":"a","expression":"$close"}},{{"id":"{id}","expression":"$close"}}],"tried":7}}"#
            )
        };
        assert_eq!(read("pool.json", &mined("b"), None).unwrap().tried, Some(7));
        for (id, part) in [("a", "stands twice"), ("", "formula 2 has no id")] {
            let error = read("pool.json", &mined(id), None).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
