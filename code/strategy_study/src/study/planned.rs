//! What an experiment would ask, before anybody is asked.

use super::continued::starting_versions;
use crate::arena::reviews;
use crate::error::StrategyError;
use crate::run::StrategyExperiment;
use crate::strategy_id::StrategyId;
use crate::strategy_source::StrategySource;
use ktd_agents::Usage;
use ktd_client::AskedModel;
use std::path::Path;

/// Tokens of a build: of the request, and of the reply.
const BUILD_TOKENS: (u64, u64) = (10_000, 4_000);
/// Tokens of a patch.
const PATCH_TOKENS: (u64, u64) = (9_000, 4_000);

/// Tokens of a review.
const REVIEW_TOKENS: (u64, u64) = (6_000, 400);

/// What an experiment asks for at most, if every iteration is used.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyPlan {
    /// Submissions of each model, by its id and seed: requests, tokens in, tokens out, US dollars where prices are known.
    pub models: Vec<PlannedModel>,
    /// Reviews, each of which may be asked for twice, by the id of the reviewer.
    pub reviewers: Vec<PlannedModel>,
}

/// What one model with one seed is asked for at most.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedModel {
    /// Its id.
    pub id: String,
    /// The seed.
    pub seed: u64,
    /// Submissions, or reviews.
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

/// The plan of an experiment whose file lies in `base`: a submission that starts with a version is asked for no build.
///
/// # Errors
/// [`StrategyError`] as for a run.
pub fn plan_experiment(experiment: &StrategyExperiment, base: &Path) -> Result<StrategyPlan, StrategyError> {
    let strategies = experiment.strategies(base)?;
    let starts = starting_versions(experiment, base)?;
    let (models, _) = experiment.asking().models(base)?;
    let (writers, reviewers) = models.split_at(experiment.seeds.len() * experiment.agents.len());
    let of_writer = |model: &AskedModel| {
        let ids = strategies.iter().map(StrategySource::id);
        let begins = |id: &StrategyId| starts.of((model.id(), id.label(), model.seed)).is_none();
        let builds = count(ids.filter(begins).count());
        let patches = count(strategies.len() * experiment.iterations);
        let tokens = |build: u64, patch: u64| builds * build + patches * patch;
        let tokens = (
            tokens(BUILD_TOKENS.0, PATCH_TOKENS.0),
            tokens(BUILD_TOKENS.1, PATCH_TOKENS.1),
        );
        planned(model, (strategies.len(), builds + patches), tokens)
    };
    let wanted = experiment.arena.as_ref();
    let wanted = wanted.map_or_else(|| Ok(Vec::new()), |arena| arena.reviewers(&experiment.agents))?;
    let is_wanted = |model: &&AskedModel| wanted.iter().any(|agent| agent.id == model.id());
    let of_reviewer = |model: &AskedModel| {
        let own = reviews(writers.len() * strategies.len());
        let tokens = (count(own) * REVIEW_TOKENS.0, count(own) * REVIEW_TOKENS.1);
        planned(model, (own, 2 * count(own)), tokens)
    };
    Ok(StrategyPlan {
        models: writers.iter().map(of_writer).collect(),
        reviewers: reviewers.iter().filter(is_wanted).map(of_reviewer).collect(),
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn planned(
    model: &AskedModel,
    (submissions, requests): (usize, u64),
    (input, output): (u64, u64),
) -> PlannedModel {
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
        requests,
        input_tokens: input,
        output_tokens: output,
        dollars: cost.map(|priced| priced.amount.to_usd()),
    }
}
