//! One run of a submission: what is asked of it, and the data that it gets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What a job is to give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// A column of numbers, a row for each row of the data.
    Series,
    /// Named tables of cells.
    Tables,
    /// The syntax tree of the source, which is parsed and never executed.
    Facts,
}

impl JobKind {
    /// Its name on the wire and in records.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Series => "series",
            Self::Tables => "tables",
            Self::Facts => "facts",
        }
    }
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnValues {
    /// Floating-point numbers, missing ones as NaN.
    F64(Vec<f64>),
    /// Whole numbers.
    I64(Vec<i64>),
    /// Times, as nanoseconds since 1970.
    Time(Vec<i64>),
    /// Texts.
    Text(Vec<String>),
}

impl ColumnValues {
    /// How many there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::I64(values) | Self::Time(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct JobColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: ColumnValues,
}

/// The data of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum JobData {
    /// None: the program computes from nothing.
    #[default]
    Nothing,
    /// One data frame.
    Frame(Vec<JobColumn>),
    /// A data frame a symbol, in this order.
    Frames(Vec<(String, Vec<JobColumn>)>),
}

impl JobData {
    /// The rows that a series must have: those of the one frame.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Frame(columns) => columns.first().map_or(0, |column| column.values.rows()),
            Self::Nothing | Self::Frames(_) => 0,
        }
    }
}

/// One run of a submission's source.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxJob {
    /// What it is run for, for the record.
    pub purpose: String,
    /// What it gives back.
    pub kind: JobKind,
    /// The seed of Python's and of numpy's random numbers.
    pub seed: u32,
    /// The function or class that is called; without one the source runs as a script, and what it prints is the result.
    pub entry: Option<String>,
    /// Arguments that are no data: for tables `init`, `method` and `arguments`, and the names of the `tables`.
    pub config: Value,
    /// What the entry is called with.
    pub data: JobData,
    /// Whether calls and turns of loops are counted, which slows it down.
    pub is_counted: bool,
}

impl BoxJob {
    /// A run of the source as a script, without data.
    #[must_use]
    pub fn script(purpose: impl Into<String>) -> Self {
        Self {
            purpose: purpose.into(),
            kind: JobKind::Tables,
            seed: 0,
            entry: None,
            config: Value::Null,
            data: JobData::Nothing,
            is_counted: false,
        }
    }

    /// The syntax tree of the source.
    #[must_use]
    pub fn facts(purpose: impl Into<String>) -> Self {
        Self {
            kind: JobKind::Facts,
            ..Self::script(purpose)
        }
    }
}

/// The order in which the jobs of a box are run: drawn by a key, so that the ordinal of a job, which it can learn from its
/// process number, says nothing of what it is run for.
#[must_use]
pub fn keyed_order(key: &str, jobs: usize) -> Vec<usize> {
    let drawn: BTreeMap<[u8; 32], usize> = (0..jobs)
        .map(|job| (Sha256::digest(format!("order of jobs\n{key}\n{job}")).into(), job))
        .collect();
    drawn.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_holds_every_job_once_and_goes_by_its_key() {
        let order = keyed_order("a", 100);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        assert_ne!(order, keyed_order("b", 100));
        assert_eq!(order, keyed_order("a", 100));
    }
}
