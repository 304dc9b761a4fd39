//! What an arena came to: scores, ratings, biases, and how far each reviewer can be trusted.

use super::control::ControlKind;
use super::review::ReviewEvent;
use super::reviewer::ReviewsFound;
use crate::number::mean;
use ktd_strategy_code::{Arena, ArenaRow, Review};
use serde::{Deserialize, Serialize};

/// Points that a plea may gain.
const PLEA_GAIN_MAX: f64 = 0.5;

/// A submission without a program under review.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Who was asked for it.
    pub model: String,
    /// The document.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// Why there is none.
    pub reason: String,
}

/// Marks of one review of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
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

/// What reviews say of a model; nothing where it has no program.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArenaModel {
    /// The model.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// Mean fidelity by others.
    pub d1: Option<f64>,
    /// Mean risk by others.
    pub d2: Option<f64>,
    /// Mean score by others.
    pub peer: Option<f64>,
    /// Mean score by everybody, itself included.
    pub all: Option<f64>,
    /// Mean score that it gives itself.
    pub own: Option<f64>,
    /// `own` less `peer`.
    pub bias: Option<f64>,
    /// Mean score that it gives others.
    pub strictness: Option<f64>,
    /// Elo rating.
    pub elo: Option<f64>,
    /// Rating after Bradley and Terry.
    pub bradley_terry: Option<f64>,
    /// Its bounds where strategies are drawn again.
    pub bradley_terry_bounds: Option<(f64, f64)>,
}

/// One reviewer, and what it made of the planted programs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArenaRecord {
    /// The models, in the order of the experiment.
    pub models: Vec<ArenaModel>,
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
    /// Submissions without a program under review.
    pub left_out: Vec<LeftOut>,
}

/// A model and the vendor that serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelVendor {
    pub(crate) model: String,
    pub(crate) vendor: String,
}

/// Who is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArenaPanel {
    /// It draws bounds.
    pub(crate) seed: u64,
    /// All models of the experiment, in its order.
    pub(crate) models: Vec<ModelVendor>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl ArenaRecord {
    pub(crate) fn of(panel: ArenaPanel, answers: &[ReviewsFound]) -> Self {
        let scores: Vec<ReviewScore> = answers.iter().flat_map(scores).collect();
        let vendors = panel
            .models
            .iter()
            .map(|model| (model.model.clone(), model.vendor.clone()));
        let arena = Arena::new(vendors.collect(), scores.iter().map(review).collect());
        let bounds = arena.bradley_terry_bounds(panel.seed).unwrap_or_default();
        let models = arena.rows().into_iter().zip(&panel.models).enumerate();
        let models = models
            .map(|(place, (row, model))| model_row(row, &model.vendor, bounds.get(place).copied()))
            .collect();
        let reviewers: Vec<&str> = answers.iter().map(|own| own.reviewer.as_str()).collect();
        let agreement = agreement(&arena, &reviewers);
        let known: Vec<f64> = agreement.iter().filter_map(|(_, _, tau)| *tau).collect();
        Self {
            models,
            vendor_bias: vendor_bias(&arena, &panel),
            mean_agreement: mean(&known),
            agreement,
            reviewers: answers.iter().map(reviewer_row).collect(),
            scores,
            left_out: panel.left_out,
        }
    }

    /// Reviews that a fault of the infrastructure ended.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.reviewers.iter().map(|reviewer| reviewer.lost).sum()
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

fn model_row(row: ArenaRow, vendor: &str, bounds: Option<(f64, f64)>) -> ArenaModel {
    let is_ranked = row.peer.is_some();
    ArenaModel {
        vendor: vendor.to_owned(),
        d1: row.d1,
        d2: row.d2,
        peer: row.peer,
        all: row.all,
        own: row.own,
        bias: row.bias,
        strictness: row.strictness,
        elo: is_ranked.then_some(row.elo),
        bradley_terry: is_ranked.then_some(row.bradley_terry),
        bradley_terry_bounds: bounds.filter(|_| is_ranked),
        model: row.model,
    }
}

fn vendor_bias(arena: &Arena, panel: &ArenaPanel) -> Vec<(String, Option<f64>)> {
    let mut vendors: Vec<&String> = panel.models.iter().map(|model| &model.vendor).collect();
    vendors.sort();
    vendors.dedup();
    vendors
        .into_iter()
        .map(|vendor| (vendor.clone(), arena.vendor_bias(vendor)))
        .collect()
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
        let panel = ArenaPanel {
            seed: 1,
            models: ["a", "b", "idle"]
                .map(|model| ModelVendor {
                    model: model.to_owned(),
                    vendor: "v".to_owned(),
                })
                .into(),
            left_out: Vec::new(),
        };
        let all = [
            answers(
                "a",
                [Some((8, 8)), Some((9, 8)), Some((4, 8))],
                [("a", 10), ("b", 6)],
            ),
            answers("b", [Some((8, 8)), Some((10, 9)), None], [("a", 7), ("b", 9)]),
        ];
        let record = ArenaRecord::of(panel, &all);
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
        assert_eq!((idle.peer, idle.elo, idle.bradley_terry), (None, None, None));
    }
}
