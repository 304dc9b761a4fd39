//! The chance that one of k samples passes each layer.

use crate::accuracy::AccuracyRules;
use crate::error::FactorCodeError;
use crate::rates::mean_pass_at_k;
use crate::verdict::{FactorVerdict, JudgeRule, LayersPassed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The chance that one of k samples passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassAtK {
    /// The k.
    pub k: u64,
    /// The round whose answers are the samples.
    pub round: u32,
    /// Tasks whose samples all have a verdict.
    pub tasks: usize,
    /// By rule and layer.
    pub shares: BTreeMap<String, BTreeMap<String, Option<f64>>>,
}

impl PassAtK {
    /// The chance over tasks, each with the last verdicts on its samples; tasks with a sample without one are left out.
    ///
    /// # Errors
    /// [`FactorCodeError`] for a k above the number of samples.
    pub fn of(
        (k, round): (u64, u32),
        tasks: &[Vec<Option<&FactorVerdict>>],
        rules: &AccuracyRules,
    ) -> Result<Self, FactorCodeError> {
        let whole = tasks
            .iter()
            .filter_map(|samples| samples.iter().copied().collect());
        let whole: Vec<Vec<&FactorVerdict>> = whole.collect();
        let mut shares = BTreeMap::new();
        for rule in JudgeRule::ALL {
            let mut layers = BTreeMap::new();
            for layer in LayersPassed::FUNNEL {
                let counts = whole.iter().map(|samples| {
                    let passes = |verdict: &&&FactorVerdict| layer <= verdict.passes(rule, rules);
                    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
                    (
                        number(samples.len()),
                        number(samples.iter().filter(passes).count()),
                    )
                });
                let counts: Vec<(u64, u64)> = counts.collect();
                layers.insert(layer.name().to_owned(), mean_pass_at_k(&counts, k)?);
            }
            shares.insert(rule.name().to_owned(), layers);
        }
        Ok(Self {
            k,
            round,
            tasks: whole.len(),
            shares,
        })
    }
}
