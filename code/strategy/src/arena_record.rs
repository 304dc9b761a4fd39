//! What an arena came to: scores, ratings, biases, and how far each reviewer can be trusted.

use crate::arena::{Arena, ArenaRow, Review};
use crate::control::ControlKind;
use crate::indicators::mean;
use crate::review_reply::ReviewReply;
use crate::reviewer_bias::ReviewerBias;
use crate::reviewer_flags::{ReviewerFlags, ReviewerState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which program is reviewed, by what its text hashes to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramKey {
    /// The document.
    pub strategy: String,
    /// Who wrote it; none for a planted one.
    pub model: Option<String>,
    /// The seed of the submission; which repetition of a planted one it is, from 1.
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
    /// The seed of the submission; which repetition of a planted one it is, from 1.
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
    /// Mean score of the planted program that is right.
    pub clean: Option<f64>,
    /// Mean score of the same with a rule turned round.
    pub flipped: Option<f64>,
    /// Mean score of the turned one with a plea.
    pub plea: Option<f64>,
    /// What these say of it.
    pub flags: ReviewerFlags,
    /// Whether its marks count: it is sound, and only then.
    pub counts: bool,
}

/// What the models of one maker give each other's programs above what others give them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakerRow {
    /// Who made them.
    pub maker: String,
    /// On each one's own scale.
    pub bias: Option<ReviewerBias>,
    /// As published: lenience counts in it as bias.
    pub published: Option<f64>,
}

/// What an arena came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArenaRecord {
    /// The models, in the order of the experiment.
    pub models: Vec<ArenaRow>,
    /// By maker: what its models give each other's programs above what others give them.
    pub maker_bias: Vec<MakerRow>,
    /// Krippendorff's alpha of D1 and of D2 among the reviewers that count.
    pub alpha: [Option<f64>; 2],
    /// By pair of reviewers: Kendall's tau-b of the scores that both gave to the same programs of others.
    pub agreement: Vec<(String, String, Option<f64>)>,
    /// Its mean over pairs of reviewers that count.
    pub mean_agreement: Option<f64>,
    /// The reviewers.
    pub reviewers: Vec<ReviewerRow>,
    /// The marks of all reviewers, also of those that do not count.
    pub scores: Vec<ReviewScore>,
}

impl ArenaRecord {
    /// What these answers say of models, each with who made it.
    #[must_use]
    pub fn of(models: Vec<(String, String)>, answers: &[ReviewsFound]) -> Self {
        let scores: Vec<ReviewScore> = answers.iter().flat_map(scores).collect();
        let makers: BTreeSet<String> = models.iter().map(|(_, maker)| maker.clone()).collect();
        let reviewers: Vec<ReviewerRow> = answers.iter().map(reviewer_row).collect();
        let set_aside = reviewers.iter().filter(|own| !own.counts);
        let set_aside: BTreeSet<String> = set_aside.map(|own| own.reviewer.clone()).collect();
        let reviews = scores.iter().map(review).collect();
        let arena = Arena::new(models, reviews).without(set_aside.clone());
        let mut models = arena.rows();
        for (row, bounds) in models
            .iter_mut()
            .zip(arena.bradley_terry_bounds().unwrap_or_default())
        {
            row.bradley_terry_bounds = row.peer.map(|_| bounds);
        }
        let agreement = agreement(&arena, &reviewers);
        let known = agreement
            .iter()
            .filter(|(first, second, _)| !set_aside.contains(first) && !set_aside.contains(second));
        let known: Vec<f64> = known.filter_map(|(_, _, tau)| *tau).collect();
        let bias = |maker: String| MakerRow {
            bias: arena.maker_bias(&maker),
            published: arena.published_maker_bias(&maker),
            maker,
        };
        Self {
            models,
            maker_bias: makers.into_iter().map(bias).collect(),
            alpha: arena.alpha(),
            mean_agreement: mean(&known),
            agreement,
            reviewers,
            scores,
        }
    }

    /// The marks that count: of reviewers that are sound, for programs of others.
    pub fn counted(&self) -> impl Iterator<Item = &ReviewScore> {
        let counts = |reviewer: &str| {
            self.reviewers
                .iter()
                .any(|own| own.counts && own.reviewer == reviewer)
        };
        self.scores
            .iter()
            .filter(move |score| score.reviewer != score.model && counts(&score.reviewer))
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

fn agreement(arena: &Arena, reviewers: &[ReviewerRow]) -> Vec<(String, String, Option<f64>)> {
    let pairs = reviewers.iter().enumerate().flat_map(|(place, first)| {
        let others = reviewers.iter().skip(place + 1);
        others.map(move |second| (first, second))
    });
    pairs
        .map(|(first, second)| {
            (
                first.reviewer.clone(),
                second.reviewer.clone(),
                arena.agreement(&first.reviewer, &second.reviewer),
            )
        })
        .collect()
}

fn reviewer_row(answers: &ReviewsFound) -> ReviewerRow {
    let events = &answers.events;
    let planted = |kind: ControlKind| -> BTreeMap<u64, Option<f64>> {
        let own = events.iter().filter(|event| event.control == Some(kind));
        own.map(|event| (event.seed, event.score())).collect()
    };
    let [clean, flipped, plea] = ControlKind::ALL.map(planted);
    let pairs = |first: &BTreeMap<u64, Option<f64>>| -> Vec<(Option<f64>, Option<f64>)> {
        let twin = |repetition: &u64| flipped.get(repetition).copied().flatten();
        first
            .iter()
            .map(|(repetition, score)| (*score, twin(repetition)))
            .collect()
    };
    let flags = ReviewerFlags::of(&pairs(&plea), &pairs(&clean));
    let centre = |own: &BTreeMap<u64, Option<f64>>| {
        let scores: Vec<f64> = own.values().copied().flatten().collect();
        mean(&scores)
    };
    let count = |is: fn(&ReviewEvent) -> bool| events.iter().filter(|event| is(event)).count();
    ReviewerRow {
        reviewer: answers.reviewer.clone(),
        reviews: events.len(),
        missing: count(|event| event.problem.is_some()),
        lost: count(|event| event.lost.is_some()),
        repairs: events.iter().map(|event| event.repairs).sum(),
        asked_again: count(|event| event.asked > 1),
        tokens: answers.tokens,
        clean: centre(&clean),
        flipped: centre(&flipped),
        plea: centre(&plea),
        flags,
        counts: flags.state() == ReviewerState::Sound,
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

    const REPETITIONS: u64 = 6;

    /// Marks of the right program, of the turned one and of the plea, the same at every repetition, and of two models' programs.
    fn answers(reviewer: &str, planted: [Option<(u8, u8)>; 3], marks: [(&str, u8); 2]) -> ReviewsFound {
        let repeated = (1..=REPETITIONS).flat_map(|seed| {
            ControlKind::ALL
                .into_iter()
                .zip(planted)
                .map(move |(kind, marks)| ReviewEvent {
                    seed,
                    ..event(1, (None, Some(kind)), marks)
                })
        });
        let own = marks.map(|(model, mark)| event(2, (Some(model), None), Some((mark, mark))));
        ReviewsFound {
            reviewer: reviewer.to_owned(),
            events: repeated.chain(own).collect(),
            tokens: 5,
            programs: Vec::new(),
            not_applicable: None,
        }
    }

    #[test]
    fn who_is_swayed_or_blind_or_silent_counts_in_no_mean_and_is_shown() {
        let models = ["a", "b", "idle"].map(|model| (model.to_owned(), "v".to_owned()));
        let marks = |mark| Some((mark, mark));
        let all = [
            answers("a", [marks(8), marks(4), marks(4)], [("a", 10), ("b", 6)]),
            answers("b", [marks(10), marks(4), marks(10)], [("a", 2), ("b", 9)]),
            answers("idle", [marks(10), marks(10), marks(10)], [("a", 10), ("b", 10)]),
        ];
        let record = ArenaRecord::of(models.clone().into(), &all);
        let states = |record: &ArenaRecord| -> Vec<&str> {
            record
                .reviewers
                .iter()
                .map(|own| own.flags.state().label())
                .collect()
        };
        assert_eq!(states(&record), ["sound", "swayed", "blind"]);
        assert_eq!(record.scores.len(), 6);
        assert_eq!(record.counted().count(), 1);
        let peers: Vec<Option<f64>> = record.models.iter().map(|own| own.peer).collect();
        assert_eq!(peers, [None, Some(6.0), None]);
        assert_eq!(record.models[2].bradley_terry_bounds, None);
        let silent = [answers("a", [marks(8), marks(4), None], [("a", 10), ("b", 6)])];
        let record = ArenaRecord::of(models.into(), &silent);
        assert_eq!(states(&record), ["unknown"]);
        assert_eq!((record.counted().count(), record.reviewers[0].missing), (0, 6));
    }
}
