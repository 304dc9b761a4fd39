//! How scores are read: pools, models that found their formulas, and a human ranking. It may change without a request.

use super::human::{HumanScore, read_human};
use crate::FormulaStudyError;
use crate::alpha_study::PoolSource;
use crate::study_pool::StudyPool;
use ktd_io::whole_file::{parse_json, read_if_exists};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What decides how scores are read: judges, pools, the models that found them, people.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeReading {
    /// Judges in the order of the file.
    pub(super) judges: Vec<String>,
    pub(super) pools: Vec<ReadingPool>,
    /// Canonical forms that no model is shown, with the code of the reason.
    pub(super) unshown: Vec<(String, String)>,
    pub(super) human: Option<Vec<HumanScore>>,
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingPool {
    pub(super) id: String,
    /// Names of the models that found it.
    pub(super) miners: Vec<String>,
    pub(super) alphas: Vec<ReadingAlpha>,
}

/// An alpha of a pool, by its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadingAlpha {
    pub(super) id: String,
    pub(super) formula: String,
}

impl JudgeReading {
    pub(super) fn new(
        judges: Vec<String>,
        sources: &[PoolSource],
        (pools, unshown): (&[StudyPool], &[(String, &'static str)]),
        human: Option<&Path>,
    ) -> Result<Self, FormulaStudyError> {
        let mut read = Vec::with_capacity(pools.len());
        for (source, pool) in sources.iter().zip(pools) {
            let alphas = pool.set.checked.iter().map(|(line, checked)| ReadingAlpha {
                id: line.id.clone(),
                formula: checked.canonical().to_owned(),
            });
            read.push(ReadingPool {
                id: pool.id.clone(),
                miners: miners(source)?,
                alphas: alphas.collect(),
            });
        }
        Ok(Self {
            judges,
            human: human.map(|path| read_human(path, &read)).transpose()?,
            pools: read,
            unshown: unshown
                .iter()
                .map(|(formula, code)| (formula.clone(), (*code).to_owned()))
                .collect(),
        })
    }

    /// Whether a model has found formulas of one of the pools.
    pub(super) fn is_miner(&self, model: &str) -> bool {
        let mut miners = self.pools.iter().flat_map(|pool| &pool.miners);
        miners.any(|miner| miner == model)
    }
}

/// What a mined pool says of the model that found it.
#[derive(Debug, Default, Deserialize)]
struct MinedBy {
    model: Option<MinerName>,
}

#[derive(Debug, Deserialize)]
struct MinerName {
    model: String,
}

/// The models behind a mined pool; none of another one.
fn miners(source: &PoolSource) -> Result<Vec<String>, FormulaStudyError> {
    let Some(folder) = &source.mined else {
        return Ok(Vec::new());
    };
    let path = folder.join("pool.json");
    let pool = read_if_exists(&path)?.map(|bytes| parse_json::<MinedBy>(&path, &bytes));
    let model = pool.transpose()?.unwrap_or_default().model;
    Ok(model.into_iter().map(|model| model.model).collect())
}
