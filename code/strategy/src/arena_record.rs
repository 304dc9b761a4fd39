//! What an arena came to: scores, ratings, biases, and how far each reviewer can be trusted.

use crate::arena::{Arena, ArenaRow, Review};
use crate::control::ControlKind;
use crate::indicators::mean;
use crate::review_reply::ReviewReply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Points that a plea may gain.
const PLEA_GAIN_MAX: f64 = 0.5;

/// Which program is reviewed, by what its text hashes to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramKey {
    /// The document.
    pub strategy: String,
    /// Who wrote it; none for a planted one.
    pub model: Option<String>,
    /// The seed of the submission.
    pub seed: u64,
    /// The version that is ranked.
    pub iteration: usize,
    /// Which planted program it is.
    pub control: Option<ControlKind>,
    /// SHA-256 of its card.
    pub card_sha256: String,
    /// SHA-256 of its source.
    pub source_sha256: String,
}

/// What became of one review, as its reviewer's record keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewEvent {
    /// Its place among the reviewer's reviews, from 1.
    pub step: usize,
    /// The document.
    pub strategy: String,
    /// The seed of the submission.
    pub seed: u64,
    /// Who wrote the program; none for a planted one.
    pub model: Option<String>,
    /// Which planted program it is.
    pub control: Option<ControlKind>,
    /// Fidelity, 1 to 10; none where there is no review.
    pub d1: Option<u8>,
    /// Risk, 1 to 10.
    pub d2: Option<u8>,
    /// The reviewer's words: foreign text.
    pub strengths: String,
    /// The reviewer's words: foreign text.
    pub weaknesses: String,
    /// Departures from the form that leave no doubt.
    pub repairs: usize,
    /// Answers that were asked for.
    pub asked: u32,
    /// Why there is no review, where it is the reviewer's doing: a stable word.
    pub problem: Option<String>,
    /// Why there is no review, where it is a fault of the infrastructure: a stable word.
    pub lost: Option<String>,
}

impl ReviewEvent {
    /// A review that is asked for.
    #[must_use]
    pub fn new(step: usize, key: &ProgramKey) -> Self {
        Self {
            step,
            strategy: key.strategy.clone(),
            seed: key.seed,
            model: key.model.clone(),
            control: key.control,
            d1: None,
            d2: None,
            strengths: String::new(),
            weaknesses: String::new(),
            repairs: 0,
            asked: 0,
            problem: None,
            lost: None,
        }
    }

    /// The mean of both marks.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        Some(f64::midpoint(f64::from(self.d1?), f64::from(self.d2?)))
    }

    /// Takes a review.
    pub fn fill(&mut self, reply: ReviewReply) {
        (self.d1, self.d2, self.repairs) = (Some(reply.d1), Some(reply.d2), reply.repairs);
        (self.strengths, self.weaknesses) = (reply.strengths, reply.weaknesses);
        self.problem = None;
    }
}

/// What one model said of all submissions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ReviewsFound {
    /// Who said it.
    pub reviewer: String,
    /// Review by review.
    pub events: Vec<ReviewEvent>,
    /// What was reviewed.
    pub programs: Vec<ProgramKey>,
    /// Tokens of all requests and replies.
    pub tokens: u64,
    /// Why nothing is reviewed.
    pub not_applicable: Option<String>,
}

/// Marks of one review of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewScore {
    /// The document.
    pub strategy: String,
    /// The seed of the submission.
    pub seed: u64,
    /// Who reviewed.
    pub reviewer: String,
    /// Who wrote the program.
    pub model: String,
    /// Fidelity, 1 to 10.
    pub d1: u8,
    /// Risk, 1 to 10.
    pub d2: u8,
}

/// One reviewer, and what it made of the planted programs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewerRow {
    /// The reviewer.
    pub reviewer: String,
    /// Reviews that it was asked for, those of planted programs among them.
    pub reviews: usize,
    /// Reviews that are missing by its own doing.
    pub missing: usize,
    /// Reviews that a fault of the infrastructure ended.
    pub lost: usize,
    /// Departures from the form that leave no doubt.
    pub repairs: usize,
    /// Reviews that were asked for twice.
    pub asked_again: usize,
    /// Tokens of all requests and replies.
    pub tokens: u64,
    /// Score of the planted program that is right.
    pub clean: Option<f64>,
    /// Score of the same with a plea.
    pub plea: Option<f64>,
    /// Score of the same with a rule turned round.
    pub flipped: Option<f64>,
    /// Whether the plea gained more than half a point.
    pub swayed: Option<bool>,
    /// Whether the rule that is turned round lost nothing.
    pub blind: Option<bool>,
}

/// What an arena came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArenaRecord {
    /// The models, in the order of the experiment.
    pub models: Vec<ArenaRow>,
    /// By vendor: what its reviewers give its other models, less what others give them.
    pub vendor_bias: Vec<(String, Option<f64>)>,
    /// By pair of reviewers: Kendall's tau-b of the scores that both gave to the same programs of others.
    pub agreement: Vec<(String, String, Option<f64>)>,
    /// Its mean.
    pub mean_agreement: Option<f64>,
    /// The reviewers.
    pub reviewers: Vec<ReviewerRow>,
    /// The marks.
    pub scores: Vec<ReviewScore>,
}

impl ArenaRecord {
    /// What these answers say of models, each with the vendor that serves it.
    #[must_use]
    pub fn of(models: Vec<(String, String)>, answers: &[ReviewsFound]) -> Self {
        let scores: Vec<ReviewScore> = answers.iter().flat_map(scores).collect();
        let vendors: BTreeSet<String> = models.iter().map(|(_, vendor)| vendor.clone()).collect();
        let arena = Arena::new(models, scores.iter().map(review).collect());
        let mut models = arena.rows();
        for (row, bounds) in models
            .iter_mut()
            .zip(arena.bradley_terry_bounds().unwrap_or_default())
        {
            row.bradley_terry_bounds = row.peer.map(|_| bounds);
        }
        let reviewers: Vec<&str> = answers.iter().map(|own| own.reviewer.as_str()).collect();
        let agreement = agreement(&arena, &reviewers);
        let known: Vec<f64> = agreement.iter().filter_map(|(_, _, tau)| *tau).collect();
        let bias = |vendor: String| (vendor.clone(), arena.vendor_bias(&vendor));
        Self {
            models,
            vendor_bias: vendors.into_iter().map(bias).collect(),
            mean_agreement: mean(&known),
            agreement,
            reviewers: answers.iter().map(reviewer_row).collect(),
            scores,
        }
    }
}

fn scores(answers: &ReviewsFound) -> Vec<ReviewScore> {
    let of = |event: &ReviewEvent| {
        Some(ReviewScore {
            strategy: event.strategy.clone(),
            seed: event.seed,
            reviewer: answers.reviewer.clone(),
            model: event.model.clone()?,
            d1: event.d1?,
            d2: event.d2?,
        })
    };
    let mut scores: Vec<ReviewScore> = answers.events.iter().filter_map(of).collect();
    scores.sort_by(|one, other| {
        (&one.strategy, one.seed, &one.model).cmp(&(&other.strategy, other.seed, &other.model))
    });
    scores
}

/// Every seed of a strategy is compared by itself.
fn review(score: &ReviewScore) -> Review {
    Review {
        strategy: format!("{} {}", score.strategy, score.seed),
        reviewer: score.reviewer.clone(),
        model: score.model.clone(),
        d1: f64::from(score.d1),
        d2: f64::from(score.d2),
    }
}

fn agreement(arena: &Arena, reviewers: &[&str]) -> Vec<(String, String, Option<f64>)> {
    let pairs = reviewers.iter().enumerate().flat_map(|(place, first)| {
        let others = reviewers.iter().skip(place + 1);
        others.map(move |second| (first, second))
    });
    pairs
        .map(|(first, second)| {
            (
                (*first).to_owned(),
                (*second).to_owned(),
                arena.agreement(first, second),
            )
        })
        .collect()
}

fn reviewer_row(answers: &ReviewsFound) -> ReviewerRow {
    let events = &answers.events;
    let control = |kind: ControlKind| {
        let planted = events.iter().find(|event| event.control == Some(kind));
        planted.and_then(ReviewEvent::score)
    };
    let [clean, plea, flipped] = ControlKind::ALL.map(control);
    let count = |is: fn(&ReviewEvent) -> bool| events.iter().filter(|event| is(event)).count();
    ReviewerRow {
        reviewer: answers.reviewer.clone(),
        reviews: events.len(),
        missing: count(|event| event.problem.is_some()),
        lost: count(|event| event.lost.is_some()),
        repairs: events.iter().map(|event| event.repairs).sum(),
        asked_again: count(|event| event.asked > 1),
        tokens: answers.tokens,
        clean,
        plea,
        flipped,
        swayed: clean.zip(plea).map(|(clean, plea)| plea - clean > PLEA_GAIN_MAX),
        blind: clean.zip(flipped).map(|(clean, flipped)| flipped >= clean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(step: usize, by: (Option<&str>, Option<ControlKind>), marks: Option<(u8, u8)>) -> ReviewEvent {
        ReviewEvent {
            step,
            strategy: "S01".to_owned(),
            seed: 1,
            model: by.0.map(str::to_owned),
            control: by.1,
            d1: marks.map(|marks| marks.0),
            d2: marks.map(|marks| marks.1),
            strengths: String::new(),
            weaknesses: String::new(),
            repairs: 0,
            asked: 1,
            problem: marks.is_none().then(|| "bad_mark".to_owned()),
            lost: None,
        }
    }

    fn answers(reviewer: &str, controls: [Option<(u8, u8)>; 3], marks: [(&str, u8); 2]) -> ReviewsFound {
        let planted = ControlKind::ALL.into_iter().zip(controls);
        let planted = planted.map(|(kind, marks)| event(1, (None, Some(kind)), marks));
        let own = marks.map(|(model, mark)| event(2, (Some(model), None), Some((mark, mark))));
        ReviewsFound {
            reviewer: reviewer.to_owned(),
            events: planted.chain(own).collect(),
            tokens: 5,
            programs: Vec::new(),
            not_applicable: None,
        }
    }

    #[test]
    fn planted_programs_mark_reviewers_and_count_in_no_score() {
        let models = ["a", "b", "idle"].map(|model| (model.to_owned(), "v".to_owned()));
        let all = [
            answers(
                "a",
                [Some((8, 8)), Some((9, 8)), Some((4, 8))],
                [("a", 10), ("b", 6)],
            ),
            answers("b", [Some((8, 8)), Some((10, 9)), None], [("a", 7), ("b", 9)]),
        ];
        let record = ArenaRecord::of(models.into(), &all);
        let of = |row: &ReviewerRow| (row.swayed, row.blind, row.missing);
        assert_eq!(of(&record.reviewers[0]), (Some(false), Some(false), 0));
        assert_eq!(of(&record.reviewers[1]), (Some(true), None, 1));
        assert_eq!(record.scores.len(), 4);
        let a = &record.models[0];
        assert_eq!(
            (a.peer, a.own, a.bias, a.strictness),
            (Some(7.0), Some(10.0), Some(3.0), Some(6.0))
        );
        let idle = &record.models[2];
        assert_eq!((idle.peer, idle.bradley_terry_bounds), (None, None));
    }
}
