//! The arena: what models say of each other's programs, and what that says of the models.
//!
//! A reviewer scores D1 and D2 of a submission; the score of a review is their mean. Reviews of one's own program are kept
//! and count in no rank.

use std::collections::{BTreeMap, BTreeSet};

/// Elo rating that everybody begins with.
const ELO_START: f64 = 1500.0;
/// What one game moves an Elo rating by, at most.
const ELO_STEP: f64 = 16.0;
/// Rating points of a tenfold strength.
const ELO_SCALE: f64 = 400.0;
/// Rounds of the fixed point of Bradley and Terry, at most.
const ITERATIONS_MAX: usize = 10_000;
/// Relative change of strengths at which the fixed point is reached.
const PRECISION: f64 = 1e-13;

/// One review of a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// The strategy document.
    pub strategy: String,
    /// The model that reviews.
    pub reviewer: String,
    /// The model whose program is reviewed.
    pub model: String,
    /// Fidelity, 1 to 10.
    pub d1: f64,
    /// Risk, 1 to 10.
    pub d2: f64,
}

impl Review {
    fn score(&self) -> f64 {
        f64::midpoint(self.d1, self.d2)
    }

    fn is_of_own(&self) -> bool {
        self.reviewer == self.model
    }
}

/// Reviews of some models' programs, each by strategy, reviewer and model once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arena {
    models: Vec<String>,
    /// Vendor of each model.
    vendors: BTreeMap<String, String>,
    reviews: Vec<Review>,
}

/// What the reviews say of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaRow {
    /// The model.
    pub model: String,
    /// Mean D1 by others.
    pub d1: Option<f64>,
    /// Mean D2 by others.
    pub d2: Option<f64>,
    /// Mean of both by others.
    pub peer: Option<f64>,
    /// Mean score by everybody, itself included.
    pub all: Option<f64>,
    /// Mean score that it gives itself.
    pub own: Option<f64>,
    /// `own` - `peer`.
    pub bias: Option<f64>,
    /// Mean score that it gives others.
    pub strictness: Option<f64>,
    /// Elo rating over all games in order of strategy, reviewer and pair.
    pub elo: f64,
    /// Rating after Bradley and Terry (1952), which depends on no order: 1500 + 400 log10 of the strength.
    pub bradley_terry: f64,
}

/// One comparison of two models by a third: 1 when the first is better, 0 when the second is, half for a tie.
struct Game<'a> {
    first: &'a str,
    second: &'a str,
    won: f64,
}

impl Arena {
    /// An arena of models with their vendors; a review of a model that is not among them does not count.
    #[must_use]
    pub fn new(models: Vec<(String, String)>, reviews: Vec<Review>) -> Self {
        let known: BTreeSet<&String> = models.iter().map(|(model, _)| model).collect();
        let counts = |review: &Review| known.contains(&review.model) && known.contains(&review.reviewer);
        Self {
            reviews: reviews.into_iter().filter(counts).collect(),
            models: models.iter().map(|(model, _)| model.clone()).collect(),
            vendors: models.into_iter().collect(),
        }
    }

    /// Mean over reviews; `None` of none.
    fn mean(&self, counts: impl Fn(&Review) -> bool, of: impl Fn(&Review) -> f64) -> Option<f64> {
        let scores: Vec<f64> = self
            .reviews
            .iter()
            .filter(|review| counts(review))
            .map(of)
            .collect();
        crate::indicators::mean(&scores)
    }

    /// A row a model, in the order given.
    #[must_use]
    pub fn rows(&self) -> Vec<ArenaRow> {
        let games = self.games();
        let (elo, strengths) = (self.elo(&games), self.strengths(&games));
        self.models
            .iter()
            .map(|model| {
                let by_others = |review: &Review| review.model == *model && !review.is_of_own();
                let (d1, d2) = (
                    self.mean(by_others, |review| review.d1),
                    self.mean(by_others, |review| review.d2),
                );
                let peer = d1.zip(d2).map(|(d1, d2)| f64::midpoint(d1, d2));
                let own = self.mean(
                    |review| review.model == *model && review.is_of_own(),
                    Review::score,
                );
                ArenaRow {
                    model: model.clone(),
                    d1,
                    d2,
                    peer,
                    all: self.mean(|review| review.model == *model, Review::score),
                    own,
                    bias: own.zip(peer).map(|(own, peer)| own - peer),
                    strictness: self.mean(
                        |review| review.reviewer == *model && !review.is_of_own(),
                        Review::score,
                    ),
                    elo: elo.get(model.as_str()).copied().unwrap_or(ELO_START),
                    bradley_terry: strengths.get(model.as_str()).map_or(ELO_START, |strength| {
                        ELO_START + ELO_SCALE * libm::log10(*strength)
                    }),
                }
            })
            .collect()
    }

    /// Mean score that a vendor's reviewers give their vendor's other models, less what others give them; `None` without
    /// either.
    #[must_use]
    pub fn vendor_bias(&self, vendor: &str) -> Option<f64> {
        let is = |model: &str| self.vendors.get(model).is_some_and(|known| known == vendor);
        let inside = self.mean(
            |review| is(&review.reviewer) && is(&review.model) && !review.is_of_own(),
            Review::score,
        );
        let outside = self.mean(|review| !is(&review.reviewer) && is(&review.model), Review::score);
        inside.zip(outside).map(|(inside, outside)| inside - outside)
    }

    /// Games: every pair of models that a third has reviewed in one strategy, in order of strategy, reviewer and pair.
    fn games(&self) -> Vec<Game<'_>> {
        let scores: BTreeMap<(&str, &str, &str), f64> = self
            .reviews
            .iter()
            .map(|review| {
                (
                    (
                        review.strategy.as_str(),
                        review.reviewer.as_str(),
                        review.model.as_str(),
                    ),
                    review.score(),
                )
            })
            .collect();
        let strategies: BTreeSet<&str> = self
            .reviews
            .iter()
            .map(|review| review.strategy.as_str())
            .collect();
        let mut games = Vec::new();
        for strategy in strategies {
            for reviewer in &self.models {
                for (place, first) in self.models.iter().enumerate() {
                    for second in self.models.iter().skip(place + 1) {
                        let score = |model: &String| {
                            let own = scores
                                .get(&(strategy, reviewer.as_str(), model.as_str()))
                                .copied();
                            own.filter(|_| model != reviewer)
                        };
                        games.extend(score(first).zip(score(second)).map(|(one, other)| Game {
                            first,
                            second,
                            won: won(one, other),
                        }));
                    }
                }
            }
        }
        games
    }

    fn elo<'a>(&'a self, games: &[Game<'a>]) -> BTreeMap<&'a str, f64> {
        let mut ratings: BTreeMap<&str, f64> = self
            .models
            .iter()
            .map(|model| (model.as_str(), ELO_START))
            .collect();
        for game in games {
            let rating = |model: &str| ratings.get(model).copied().unwrap_or(ELO_START);
            let distance = (rating(game.second) - rating(game.first)) / ELO_SCALE;
            let expected = 1.0 / (1.0 + libm::pow(10.0, distance));
            let step = ELO_STEP * (game.won - expected);
            for (model, step) in [(game.first, step), (game.second, -step)] {
                if let Some(rating) = ratings.get_mut(model) {
                    *rating += step;
                }
            }
        }
        ratings
    }

    /// Strengths of geometric mean 1, after Bradley and Terry with one virtual drawn game a pair.
    fn strengths<'a>(&'a self, games: &[Game<'a>]) -> BTreeMap<&'a str, f64> {
        let mut table: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
        for first in &self.models {
            for second in self.models.iter().filter(|second| *second != first) {
                table.insert((first, second), (0.5, 1.0));
            }
        }
        for game in games {
            let sides = [
                ((game.first, game.second), game.won),
                ((game.second, game.first), 1.0 - game.won),
            ];
            for (pair, won) in sides {
                if let Some((wins, played)) = table.get_mut(&pair) {
                    *wins += won;
                    *played += 1.0;
                }
            }
        }
        let mut strengths: BTreeMap<&str, f64> =
            self.models.iter().map(|model| (model.as_str(), 1.0)).collect();
        for _ in 0..ITERATIONS_MAX {
            let next = next_strengths(&table, &strengths);
            let change = next
                .iter()
                .map(|(model, strength)| {
                    (strength / strengths.get(model).copied().unwrap_or(1.0) - 1.0).abs()
                })
                .fold(0.0, f64::max);
            strengths = next;
            if change < PRECISION {
                break;
            }
        }
        strengths
    }
}

const fn won(first: f64, second: f64) -> f64 {
    if first > second {
        1.0
    } else if first < second {
        0.0
    } else {
        0.5
    }
}

/// One round of the fixed point: wins over games weighted by the strength of both sides, scaled to geometric mean 1.
fn next_strengths<'a>(
    table: &BTreeMap<(&'a str, &'a str), (f64, f64)>,
    strengths: &BTreeMap<&'a str, f64>,
) -> BTreeMap<&'a str, f64> {
    let strength = |model: &str| strengths.get(model).copied().unwrap_or(1.0);
    let raw: BTreeMap<&str, f64> = strengths
        .keys()
        .map(|model| {
            let own = || table.iter().filter(|((first, _), _)| first == model);
            let wins: f64 = own().map(|(_, (wins, _))| wins).sum();
            let weight: f64 = own()
                .map(|((first, second), (_, played))| played / (strength(first) + strength(second)))
                .sum();
            (*model, if weight > 0.0 { wins / weight } else { 1.0 })
        })
        .collect();
    let logs: Vec<f64> = raw.values().map(|strength| libm::log(*strength)).collect();
    let scale = crate::indicators::mean(&logs).map_or(1.0, libm::exp);
    raw.into_iter()
        .map(|(model, strength)| (model, strength / scale))
        .collect()
}
