//! How scores are read: pools, models that found their formulas, and a human ranking. It may change without a request.

use super::human::{HumanScore, read_human};
use super::reading_pool::{ReadingAlpha, ReadingPool};
use crate::study_pool::StudyPool;
use ktd_study::StudyError;
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

impl JudgeReading {
    pub(super) fn new(
        judges: Vec<String>,
        (pools, unshown): (&[StudyPool], &[(String, &'static str)]),
        human: Option<(&Path, Vec<u8>)>,
    ) -> Result<Self, StudyError> {
        let read = pools.iter().map(|pool| {
            let alphas = pool.set.checked.iter().map(|(line, checked)| ReadingAlpha {
                id: line.id.clone(),
                formula: checked.canonical().to_owned(),
            });
            ReadingPool {
                id: pool.id.clone(),
                miners: pool.miner.iter().cloned().collect(),
                alphas: alphas.collect(),
            }
        });
        let read: Vec<ReadingPool> = read.collect();
        let unshown = unshown
            .iter()
            .map(|(formula, code)| (formula.clone(), (*code).to_owned()));
        Ok(Self {
            judges,
            human: human
                .map(|(path, bytes)| read_human(path, bytes, &read))
                .transpose()?,
            pools: read,
            unshown: unshown.collect(),
        })
    }

    /// Whether a model has found formulas of one of the pools.
    pub(super) fn is_miner(&self, model: &str) -> bool {
        let mut miners = self.pools.iter().flat_map(|pool| &pool.miners);
        miners.any(|miner| miner == model)
    }
}
