//! What an experiment would ask, and cost at most: nobody is asked for it.

use super::config::FactorCodeConfig;
use super::world::FactorCodeSources;
use ktd_agents::Usage;
use ktd_experiment::amount::Picodollars;
use ktd_study::StudyError;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde::Serialize;
use std::path::Path;

/// Tokens of a first request.
const TOKENS_IN: u64 = 1_100;
/// Tokens of an answer.
const TOKENS_OUT: u64 = 600;
/// Tokens of a feedback.
const FEEDBACK_TOKENS: u64 = 200;

/// What one agent would be asked, in all its bundles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorCodeEstimate {
    /// The agent.
    pub agent: String,
    /// Its model.
    pub model: String,
    /// Bundles.
    pub bundles: u64,
    /// Requests where every task is right at once.
    pub requests: u64,
    /// Their tokens.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// What they cost; none without a price.
    pub cost_picodollars: Option<Picodollars>,
    /// Requests where every task takes all rounds.
    pub most_requests: u64,
    /// What those cost where every answer is as long as it may be; none without a price.
    pub most_cost_picodollars: Option<Picodollars>,
}

impl FactorCodeConfig {
    /// What each agent would be asked. `base` is where relative paths start.
    ///
    /// # Errors
    /// [`StudyError`] for unknown tasks, and agents that cannot be asked.
    pub fn estimate(&self, base: &Path) -> Result<Vec<FactorCodeEstimate>, StudyError> {
        let sources = FactorCodeSources::read(self, base)?;
        let tasks = u64::try_from(sources.tasks.as_slice().len()).unwrap_or(u64::MAX);
        let bundles = u64::try_from(self.styles.len() * self.seeds.len()).unwrap_or(u64::MAX);
        let requests = tasks * self.samples * bundles;
        let (models, _) = self.asking().models(base)?;
        let agents = models.iter().take(self.agents.len());
        let estimates = agents.map(|model| {
            let basis = model.payer.tariff.basis();
            let times = |one: Picodollars| Picodollars(one.0.saturating_mul(requests));
            let each = |tokens_in: u64, tokens_out: u64| basis.most(tokens_in, Some(tokens_out)).map(times);
            let usual = basis.cost(&Usage {
                uncached_input: TOKENS_IN,
                visible_output: TOKENS_OUT,
                ..Usage::default()
            });
            let longest = model.agent.max_output_tokens().map_or(TOKENS_OUT, u64::from);
            let rounds = 0..u64::from(self.rounds);
            let most = rounds.map(|round| each(TOKENS_IN + round * (longest + FEEDBACK_TOKENS), longest));
            FactorCodeEstimate {
                agent: model.id().to_owned(),
                model: model.agent.model_name().to_owned(),
                bundles,
                requests,
                tokens_in: requests * TOKENS_IN,
                tokens_out: requests * TOKENS_OUT,
                cost_picodollars: usual.map(|priced| times(priced.amount)),
                most_requests: requests * u64::from(self.rounds),
                most_cost_picodollars: most
                    .collect::<Option<Vec<_>>>()
                    .map(|all| all.into_iter().fold(Picodollars::ZERO, Picodollars::plus)),
            }
        });
        Ok(estimates.collect())
    }
}

/// Estimates as a table.
#[must_use]
pub fn estimate_table(estimates: &[FactorCodeEstimate]) -> TableData {
    let heads = [
        ("agent", Left),
        ("model", Left),
        ("bundles", Right),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
        ("cost", Right),
        ("at most requests", Right),
        ("at most cost", Right),
    ];
    let count = |value: u64| TableCell::Count(usize::try_from(value).unwrap_or(usize::MAX));
    let money = |value: Option<Picodollars>| match value {
        Some(amount) => TableCell::Dollars(amount.to_usd()),
        None => TableCell::Missing("the model has no price".to_owned()),
    };
    let rows = estimates.iter().map(|estimate| {
        vec![
            TableCell::Text(estimate.agent.clone()),
            TableCell::Text(estimate.model.clone()),
            count(estimate.bundles),
            count(estimate.requests),
            count(estimate.tokens_in),
            count(estimate.tokens_out),
            money(estimate.cost_picodollars),
            count(estimate.most_requests),
            money(estimate.most_cost_picodollars),
        ]
    });
    TableData::new("What would be asked", heads)
        .with_rows(rows)
        .with_note(format!(
            "{TOKENS_IN} tokens in and {TOKENS_OUT} out for each task, of one round; at most: all rounds, answers as long as they may be"
        ))
}
