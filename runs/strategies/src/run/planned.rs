//! What an experiment would ask, before anybody is asked.

use super::config::StrategyExperiment;
use super::reviewed_start::StartingVersions;
use crate::error::StrategyError;
use crate::strategy_id::StrategyId;
use crate::strategy_source::StrategySource;
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

/// The plan of an experiment whose file lies in `base`: a submission that starts with a version is asked for no build.
///
/// # Errors
/// [`StrategyError`] as for a run.
pub fn plan_experiment(
    (experiment, starts): (&StrategyExperiment, &StartingVersions),
    base: &Path,
) -> Result<StrategyPlan, StrategyError> {
    let strategies = experiment.strategies(base)?;
    let (models, _) = experiment.asking().models(base)?;
    let planned = models.iter().map(|model| {
        let ids = strategies.iter().map(StrategySource::id);
        let begins = |id: &StrategyId| starts.of((model.id(), id.label(), model.seed)).is_none();
        let builds = ids.filter(begins).count();
        planned(model, (strategies.len(), builds), experiment.iterations)
    });
    Ok(StrategyPlan {
        models: planned.collect(),
    })
}

fn planned(model: &AskedModel, (submissions, builds): (usize, usize), iterations: usize) -> PlannedModel {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let (builds, patches) = (count(builds), count(submissions * iterations));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{ReviewedStart, fixture};

    #[test]
    fn no_build_is_planned_for_a_submission_that_starts_with_a_version() {
        let experiment = fixture::experiment("strategies = [\"S01\", \"S02\"]\niterations = 2");
        let start = ReviewedStart {
            card: String::new(),
            source: String::new(),
            weaknesses: Vec::new(),
        };
        let starts = StartingVersions::default().with(("one", "S01", 1), start);
        let requests = |starts: &StartingVersions| {
            let plan = plan_experiment((&experiment, starts), Path::new("")).unwrap();
            plan.models
                .iter()
                .map(|model| (model.submissions, model.requests))
                .collect::<Vec<_>>()
        };
        assert_eq!(requests(&StartingVersions::default()), [(2, 6), (2, 6)]);
        assert_eq!(requests(&starts), [(2, 5), (2, 6)]);
    }
}
