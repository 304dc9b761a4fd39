//! What must be equal before rows are compared, agent by agent.

use super::record::Comparability;
use super::score::ScoredEpisode;
use ktd_experiment::amount::Picodollars;
use ktd_stats::moments::count;
use std::collections::BTreeSet;

/// Values of one setting in one run.
type RunValues = BTreeSet<String>;

/// The comparability of an agent's runs.
pub(super) fn comparability(scores: &[&ScoredEpisode]) -> Comparability {
    let mut mixed = Vec::new();
    let one = |text: String| BTreeSet::from([text]);
    let mut setting = |name: &str, of: &dyn Fn(&ScoredEpisode) -> RunValues| -> Vec<String> {
        let runs: Vec<RunValues> = scores.iter().map(|score| of(score)).collect();
        if differ(&runs) {
            mixed.push(name.to_owned());
        }
        let all: RunValues = runs.into_iter().flatten().collect();
        all.into_iter().collect()
    };
    let thinking = setting("thinking", &|score| {
        one(score.bundle.header.provider.thinking.label().to_owned())
    });
    let temperature = setting("temperature", &|score| score.sent.temperatures.clone());
    let max_output_tokens = setting("max_output_tokens", &|score| score.sent.max_output_tokens.clone());
    let max_tool_calls = setting("max_tool_calls", &|score| {
        one(score.bundle.header.session.max_tool_calls.to_string())
    });
    let schema_retries = setting("schema_retries", &|score| {
        one(score.bundle.header.session.schema_retries.to_string())
    });
    let served_models = setting("served_models", &|score| score.served_models.clone());
    let force = setting("force", &|score| {
        one(score.bundle.header.provider.force.label().to_owned())
    });
    let per_step = |score: &ScoredEpisode| score.summary.per_step;
    let tokens: Vec<Option<u64>> = scores.iter().map(|score| Some(per_step(score)?.tokens)).collect();
    let costs = scores.iter().map(|score| {
        let steps = u64::try_from(score.days.len()).unwrap_or(u64::MAX);
        let paid = score.summary.money.cost?.paid_picodollars;
        Some(Picodollars(paid.0.checked_div(steps)?).to_usd())
    });
    let costs: Vec<Option<f64>> = costs.collect();
    let known_of_some = |figures: &[bool]| figures.contains(&true) && figures.contains(&false);
    if known_of_some(&tokens.iter().map(Option::is_some).collect::<Vec<_>>()) {
        mixed.push("tokens_per_step".to_owned());
    }
    if known_of_some(&costs.iter().map(Option::is_some).collect::<Vec<_>>()) {
        mixed.push("paid_usd_per_step".to_owned());
    }
    Comparability {
        thinking,
        temperature,
        max_output_tokens,
        max_tool_calls,
        schema_retries,
        served_models,
        force,
        tokens_per_step: mean_tokens(&tokens),
        paid_usd_per_step: mean(&costs),
        mixed,
    }
}

/// Whether two runs have other values.
fn differ(runs: &[RunValues]) -> bool {
    runs.iter()
        .zip(runs.iter().skip(1))
        .any(|(one, other)| one != other)
}

/// The mean where every run has a figure.
fn mean(figures: &[Option<f64>]) -> Option<f64> {
    let sum: Option<f64> = figures.iter().copied().sum();
    sum.filter(|_| !figures.is_empty())
        .map(|sum| sum / count(figures.len()))
}

/// The same of tokens, cut off.
fn mean_tokens(figures: &[Option<u64>]) -> Option<u64> {
    let sum = figures
        .iter()
        .try_fold(0_u64, |sum, figure| Some(sum.saturating_add((*figure)?)))?;
    sum.checked_div(u64::try_from(figures.len()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_differ_when_one_has_another_value_and_means_need_every_run() {
        let run = |values: &[&str]| {
            values
                .iter()
                .map(|value| (*value).to_owned())
                .collect::<RunValues>()
        };
        assert!(!differ(&[run(&["0.5"]), run(&["0.5"])]));
        // Both values in each run, as where thinking pins the temperature, are no difference of runs.
        assert!(!differ(&[run(&["0.5", "not sent"]), run(&["0.5", "not sent"])]));
        assert!(differ(&[run(&["m-1"]), run(&["m-1"]), run(&["m-1", "m-2"])]));
        assert!(!differ(&[run(&["0.5"])]) && !differ(&[]));
        assert_eq!(mean(&[Some(2.0), Some(4.0)]), Some(3.0));
        assert_eq!(mean(&[Some(2.0), None]), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean_tokens(&[Some(3), Some(4)]), Some(3));
        assert_eq!((mean_tokens(&[Some(3), None]), mean_tokens(&[])), (None, None));
    }
}
