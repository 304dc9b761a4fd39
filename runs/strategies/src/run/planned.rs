//! What an experiment would ask, before anybody is asked.

use super::config::StrategyExperiment;
use crate::error::StrategyError;
use ktd_agents::Usage;
use ktd_client::AskedModel;
use std::path::Path;

/// Tokens of a build: of the request, and of the reply.
const BUILD_TOKENS: (u64, u64) = (10_000, 4_000);
/// Tokens of a patch.
const PATCH_TOKENS: (u64, u64) = (9_000, 4_000);

/// What an experiment asks for at most, if every iteration is used.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyPlan {
    /// Submissions of each model, by its id and seed: requests, tokens in, tokens out, US dollars where prices are known.
    pub models: Vec<PlannedModel>,
}

/// What one model with one seed is asked for at most.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedModel {
    /// Its id.
    pub id: String,
    /// The seed.
    pub seed: u64,
    /// Submissions.
    pub submissions: usize,
    /// Requests.
    pub requests: u64,
    /// Tokens of the requests, about.
    pub input_tokens: u64,
    /// Tokens of the replies, about.
    pub output_tokens: u64,
    /// About what they cost, in US dollars.
    pub dollars: Option<f64>,
}

/// The plan of an experiment whose file lies in `base`.
///
/// # Errors
/// [`StrategyError`] as for a run.
pub fn plan_experiment(experiment: &StrategyExperiment, base: &Path) -> Result<StrategyPlan, StrategyError> {
    let submissions = experiment.strategies(base)?.len();
    let (models, _) = experiment.asking().models(base)?;
    let planned = models
        .iter()
        .map(|model| planned(model, submissions, experiment.iterations));
    Ok(StrategyPlan {
        models: planned.collect(),
    })
}

fn planned(model: &AskedModel, submissions: usize, iterations: usize) -> PlannedModel {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let (builds, patches) = (count(submissions), count(submissions * iterations));
    let input = builds * BUILD_TOKENS.0 + patches * PATCH_TOKENS.0;
    let output = builds * BUILD_TOKENS.1 + patches * PATCH_TOKENS.1;
    let usage = Usage {
        uncached_input: input,
        visible_output: output,
        ..Usage::default()
    };
    let cost = model.payer.tariff.basis().cost(&usage);
    PlannedModel {
        id: model.id().to_owned(),
        seed: model.seed,
        submissions,
        requests: builds + patches,
        input_tokens: input,
        output_tokens: output,
        dollars: cost.map(|priced| priced.amount.to_usd()),
    }
}
