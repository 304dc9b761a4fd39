//! The pools of a study.

use crate::StudyError;
use crate::alpha_study::PoolSource;
use crate::formula_file::{FormulaLine, read_formulas};
use crate::formula_set::{BuiltInSet, SetOfFormulas};
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
}

/// What a search leaves of its pool.
#[derive(Debug, Deserialize)]
struct MinedPool {
    formulas: Vec<FormulaLine>,
    #[serde(default)]
    tried: Option<usize>,
}

impl StudyPool {
    /// Reads a pool and checks its formulas against the fields there are.
    ///
    /// # Errors
    /// [`StudyError`] for an unknown set, a file that holds no formula, or a pool of which every formula is refused.
    pub fn read(source: &PoolSource, fields: &[String]) -> Result<Self, StudyError> {
        let (mut lines, tried) = lines(source)?;
        if let Some(pool) = &source.pool {
            lines.retain(|line| line.pool.as_ref() == Some(pool));
        }
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
                refused.error.hint.clone(),
            )),
            None => Ok(Self {
                id: source.id.clone(),
                set,
                tried,
            }),
        }
    }
}

fn lines(source: &PoolSource) -> Result<(Vec<FormulaLine>, Option<usize>), StudyError> {
    if let Some(set) = &source.builtin {
        let known = BuiltInSet::of(set).ok_or_else(|| {
            let sets: Vec<&str> = BuiltInSet::ALL.iter().map(|set| set.label()).collect();
            StudyError::input(
                format_args!("pool {:?}: the built-in set {set:?} is unknown", source.id),
                format_args!("name one of {}", sets.join(", ")),
            )
        })?;
        return Ok((known.lines(), None));
    }
    if let Some(folder) = &source.mined {
        return mined(folder);
    }
    let path = source.file.as_deref().unwrap_or_else(|| Path::new(""));
    Ok((read_formulas(path)?, None))
}

fn mined(folder: &Path) -> Result<(Vec<FormulaLine>, Option<usize>), StudyError> {
    let path = folder.join("pool.json");
    let pool: MinedPool = parse_json(&path, &read_bounded(&path, FILE_LIMIT_BYTES)?)?;
    Ok((pool.formulas, pool.tried))
}
