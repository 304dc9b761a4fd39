//! The pools of a study.

use crate::keys::PoolSource;
use ktd_env::TradeDate;
use ktd_expressions::FormulaRole;
use ktd_formulas::{BuiltInSet, SetOfFormulas};
use ktd_formulas::{FormulaLine, check_lines, parse_formulas};
use ktd_formulas::{POOL_FILE, SearchedPool};
use ktd_study::{Opening, StudyError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A pool with its checked formulas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StudyPool {
    /// Its name.
    pub id: String,
    /// Its formulas, and those that were refused.
    pub set: SetOfFormulas,
    /// How many expressions were tried to get it, where that is known.
    pub tried: Option<usize>,
    /// Who says so.
    pub trials_from: TrialsSource,
    /// Who or what made it, where that is said.
    pub made_by: Option<String>,
    /// First and last day by which it was chosen, where that is declared.
    pub chosen_on: Option<[String; 2]>,
    /// The model that found it, where one did.
    pub miner: Option<String>,
    /// The last day that whoever made it may know of, or `unknown`; none where nobody is known to have.
    pub known_until: Option<String>,
    /// The last day that a search chose it by, or `unknown`; none where no search is known.
    pub read_until: Option<String>,
}

/// Who says how many expressions were tried for a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialsSource {
    /// A search of this program has counted.
    Counted,
    /// Whoever wrote the file of the study.
    Declared,
    /// Nobody.
    #[default]
    Unknown,
}

impl TrialsSource {
    /// Its word in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Declared => "declared",
            Self::Unknown => UNKNOWN,
        }
    }
}

/// The word for a model whose last known day nobody states.
pub(crate) const UNKNOWN: &str = "unknown";

/// The bytes of a file that a study names, which its folder keeps.
pub(crate) fn input(at: &Opening<'_>, path: &Path) -> Result<Vec<u8>, StudyError> {
    at.input(path)?.ok_or_else(|| {
        StudyError::input(
            format_args!("{}: there is no such file", at.base.join(path).display()),
            "correct the path in the file of the study: it starts from there",
        )
    })
}

/// What reads a file that a study names.
pub(crate) type ReadInput<'r> = &'r dyn Fn(&Path) -> Result<Vec<u8>, StudyError>;

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
    /// [`StudyError`] for an unknown set, a file that holds no formula, or a pool of which every formula is refused.
    pub(crate) fn read(
        source: &PoolSource,
        fields: &[String],
        read: ReadInput<'_>,
    ) -> Result<Self, StudyError> {
        let (lines, mut made) = lines(source, read)?;
        if source.known_until.is_some() {
            made.known_until.clone_from(&source.known_until);
        }
        if source.made_by.is_some() {
            made.made_by.clone_from(&source.made_by);
        }
        made.chosen_on.clone_from(&source.chosen_on);
        if source.tried.is_some() {
            (made.tried, made.trials_from) = (source.tried, TrialsSource::Declared);
        }
        for (key, day) in [
            ("known_until", &made.known_until),
            ("read_until", &made.read_until),
        ] {
            let is_day = |day: &&String| *day == UNKNOWN || TradeDate::parse(day).is_ok();
            if let Some(day) = day.as_ref().filter(|day| !is_day(day)) {
                return Err(StudyError::input(
                    format_args!("pool {:?}: {key} is {day:?}", source.id),
                    "write a day as 2024-06-30, or \"unknown\"; of a search restore its pool.json",
                ));
            }
        }
        // Pools of a file become one here, in which an id stands once.
        let own = lines
            .into_iter()
            .filter(|line| source.pool.is_none() || line.pool == source.pool);
        let mut lines: Vec<FormulaLine> = own.map(|line| FormulaLine { pool: None, ..line }).collect();
        check_lines(&format_args!("pool {:?}", source.id), &lines)?;
        lines.truncate(source.first.unwrap_or(usize::MAX));
        if lines.is_empty() {
            return Err(StudyError::input(
                format_args!("pool {:?} has no formula", source.id),
                "correct its keys `pool` and `first`, or remove it",
            ));
        }
        let set = SetOfFormulas::check(lines, fields, FormulaRole::Alpha);
        match set.refused.first().filter(|_| set.checked.is_empty()) {
            Some(refused) => Err(StudyError::input(
                format_args!(
                    "every formula of pool {:?} is refused; {}: {}",
                    source.id, refused.line.id, refused.error
                ),
                &refused.error.hint,
            )),
            None => Ok(Self {
                id: source.id.clone(),
                set,
                ..made
            }),
        }
    }
}

/// The formulas of a pool, and what is known of how it was made.
fn lines(source: &PoolSource, read: ReadInput<'_>) -> Result<(Vec<FormulaLine>, StudyPool), StudyError> {
    if let Some(set) = &source.builtin {
        let known = BuiltInSet::of(set).ok_or_else(|| {
            let sets = BuiltInSet::ALL.map(BuiltInSet::label);
            StudyError::input(
                format_args!("pool {:?}: the built-in set {set:?} is unknown", source.id),
                format_args!("name one of {}", sets.join(", ")),
            )
        })?;
        return Ok((known.lines(), StudyPool::default()));
    }
    let Some(folder) = &source.mined else {
        let path = source.file.as_deref().unwrap_or_else(|| Path::new(""));
        return Ok((parse_formulas(path, read(path)?)?, StudyPool::default()));
    };
    let path = folder.join(POOL_FILE);
    let pool = SearchedPool::parse(&path, &read(&path)?)?;
    let line = |formula: ktd_formulas::PoolFormula| FormulaLine {
        id: formula.id,
        expression: formula.expression,
        pool: None,
    };
    let miner = pool.model.as_ref().and_then(|model| model.model.clone());
    let counted = pool.tried.map(|_| TrialsSource::Counted);
    let made = StudyPool {
        known_until: pool.model.map(|model| model.known_until),
        made_by: Some(miner.clone().unwrap_or_else(|| "ktd alpha mine".to_owned())),
        miner,
        trials_from: counted.unwrap_or_default(),
        read_until: Some(pool.read_until.unwrap_or_else(|| UNKNOWN.to_owned())),
        tried: pool.tried,
        ..StudyPool::default()
    };
    Ok((pool.formulas.into_iter().map(line).collect(), made))
}

#[cfg(test)]
mod tests {
    use super::StudyPool;
    use crate::keys::PoolSource;
    use std::path::Path;

    fn read(file: &str, text: &str, pool: Option<&str>) -> Result<StudyPool, String> {
        let source = PoolSource {
            id: "mine".to_owned(),
            file: (file != "pool.json").then(|| file.into()),
            pool: pool.map(str::to_owned),
            mined: (file == "pool.json").then(|| ".".into()),
            ..PoolSource::default()
        };
        let bytes = |_: &Path| Ok(text.as_bytes().to_vec());
        StudyPool::read(&source, &["close".to_owned()], &bytes).map_err(|error| error.to_string())
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
