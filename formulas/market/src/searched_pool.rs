//! The pool that a search leaves, as far as others read it.

use ktd_io::FileError;
use ktd_io::whole_file::parse_json;
use serde::Deserialize;
use std::path::Path;

/// The file of a pool below the folder of its search.
pub const POOL_FILE: &str = "pool.json";

/// Pool of a search: what evaluations, judges and agents read of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SearchedPool {
    /// Its formulas.
    pub formulas: Vec<PoolFormula>,
    /// How many expressions the search tried.
    pub tried: Option<usize>,
    /// The last day that the search chose it by.
    pub read_until: Option<String>,
    /// The model that found it, where one did.
    pub model: Option<PoolModel>,
}

/// A formula of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PoolFormula {
    /// Its name, unique in its pool.
    pub id: String,
    /// Its text.
    pub expression: String,
    /// Whether its values are multiplied by -1; searches always say.
    #[serde(default)]
    pub is_turned: Option<bool>,
}

/// The model behind a pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PoolModel {
    /// Its vendor's name.
    #[serde(default)]
    pub model: Option<String>,
    /// The last day of its training data, or `unknown`.
    pub known_until: String,
}

impl SearchedPool {
    /// The pool of bytes that were read from `path`.
    ///
    /// # Errors
    /// [`FileError`] for what is no pool.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FileError> {
        parse_json(path, bytes)
    }
}
