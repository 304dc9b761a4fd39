//! Where the submissions of an experiment start that continues another one: its ranked versions, with what reviewers said.

use crate::arena::{ReviewEvent, read_arena, read_reviews};
use crate::error::StrategyError;
use crate::run::{
    PeerWeakness, RESULT, ReviewedStart, StartingVersions, StrategyExperiment, SubmissionResult, folder_of,
};
use crate::strategy_id::StrategyId;
use crate::strategy_source::StrategySource;
use ktd_io::whole_file::{parse_json, read_bounded, read_if_exists};
use std::path::Path;

/// The most that a file of a submission may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 26;
/// Characters of one reviewer's words.
const WORDS_MAX: usize = 1_000;
/// Characters of all reviewers' words.
const ALL_WORDS_MAX: usize = 4_000;

/// The versions that the submissions of an experiment start with; its file lies in `base`. None where it continues no other
/// experiment, and for a submission of which the other experiment has no ranked version.
///
/// # Errors
/// [`StrategyError`] where no arena was held in the other experiment, and for a record that cannot be read.
pub fn starting_versions(
    experiment: &StrategyExperiment,
    base: &Path,
) -> Result<StartingVersions, StrategyError> {
    let mut starts = StartingVersions::default();
    let Some(other) = &experiment.continues else {
        return Ok(starts);
    };
    let folder = base.join(other);
    let record = read_arena(&folder)?.ok_or_else(|| {
        StrategyError::input(
            format_args!(
                "`continues`: {}: the folder holds no finished arena",
                folder.display()
            ),
            "name the folder of results of another experiment, after `ktd strategy-code arena`",
        )
    })?;
    let reviews = read_reviews(&folder, &record)?;
    let strategies: Vec<StrategyId> = experiment
        .strategies(base)?
        .iter()
        .map(StrategySource::id)
        .collect();
    for agent in &experiment.agents {
        for strategy in &strategies {
            for seed in &experiment.seeds {
                let which = (agent.id.as_str(), strategy.label(), *seed);
                if let Some(start) = start(&folder, &reviews, which)? {
                    starts = starts.with(which, start);
                }
            }
        }
    }
    Ok(starts)
}

fn start(
    folder: &Path,
    reviews: &[(String, Vec<ReviewEvent>)],
    (model, strategy, seed): (&str, &str, u64),
) -> Result<Option<ReviewedStart>, StrategyError> {
    let own = folder_of(folder, model, strategy, seed);
    let path = own.join(RESULT);
    let Some(bytes) = read_if_exists(&path)? else {
        return Ok(None);
    };
    let result: SubmissionResult = parse_json(&path, &bytes)?;
    let Some(iteration) = result.rows.ranked else {
        return Ok(None);
    };
    let version = own.join("versions").join(iteration.to_string());
    let read = |name: &str| -> Result<String, StrategyError> {
        let path = version.join(name);
        let bytes = read_bounded(&path, FILE_LIMIT_BYTES)?;
        String::from_utf8(bytes).map_err(|error| StrategyError::damaged(&path, error.to_string()))
    };
    Ok(Some(ReviewedStart {
        card: read("card.json")?,
        source: read("strategy.py")?,
        weaknesses: weaknesses(reviews, (model, strategy, seed)),
    }))
}

/// What reviewers other than its author call the weaknesses of a program, in the order of the reviewers, cut where it is long.
fn weaknesses(
    reviews: &[(String, Vec<ReviewEvent>)],
    (model, strategy, seed): (&str, &str, u64),
) -> Vec<PeerWeakness> {
    let mut left = ALL_WORDS_MAX;
    let mut found = Vec::new();
    for (reviewer, events) in reviews.iter().filter(|(reviewer, _)| reviewer != model) {
        let is_of = |event: &&ReviewEvent| {
            (event.model.as_deref(), event.strategy.as_str(), event.seed) == (Some(model), strategy, seed)
        };
        for event in events.iter().filter(is_of) {
            let words: String = event.weaknesses.chars().take(WORDS_MAX.min(left)).collect();
            left -= words.chars().count();
            if !words.is_empty() {
                found.push(PeerWeakness {
                    reviewer: reviewer.clone(),
                    words,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(model: Option<&str>, strategy: &str, weaknesses: &str) -> ReviewEvent {
        ReviewEvent {
            step: 1,
            strategy: strategy.to_owned(),
            seed: 1,
            model: model.map(str::to_owned),
            control: None,
            d1: Some(5),
            d2: Some(5),
            strengths: String::new(),
            weaknesses: weaknesses.to_owned(),
            repairs: 0,
            asked: 1,
            problem: None,
            lost: None,
        }
    }

    #[test]
    fn words_of_others_about_this_program_are_kept_and_cut() {
        let by = |reviewer: &str, events: Vec<ReviewEvent>| (reviewer.to_owned(), events);
        let long = "x".repeat(3_000);
        let mut reviews = vec![
            by("a", vec![event(Some("a"), "S01", "my own")]),
            by(
                "b",
                vec![
                    event(Some("a"), "S01", "no stop"),
                    event(Some("a"), "S02", "of another document"),
                    event(Some("b"), "S01", "of another model"),
                    event(None, "S01", "of a planted program"),
                ],
            ),
            by("c", vec![event(Some("a"), "S01", "")]),
        ];
        let found = weaknesses(&reviews, ("a", "S01", 1));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].reviewer.as_str(), found[0].words.as_str()),
            ("b", "no stop")
        );
        reviews.extend((0..6).map(|place| by(&format!("d{place}"), vec![event(Some("a"), "S01", &long)])));
        let found = weaknesses(&reviews, ("a", "S01", 1));
        let lengths: Vec<usize> = found.iter().map(|own| own.words.len()).collect();
        assert_eq!(lengths, [7, 1_000, 1_000, 1_000, 993]);
        assert_eq!(weaknesses(&reviews, ("a", "S01", 2)), []);
    }
}
