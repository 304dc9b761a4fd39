//! The arena: what models say of each other's programs, and what that says of the models.
//!
//! A reviewer scores D1 and D2 of a submission; the score of a review is their mean. Reviews of one's own program are kept
//! and count in no rank, nor do those of a reviewer that planted programs do not show to be sound.

use crate::bradley_terry::PairedGames;
use crate::jackknife::jackknife_reach_from;
use crate::ordinal_alpha::ordinal_alpha;
use crate::reviewer_bias::{ReviewerBias, SeenProgram, bias_of, document_of};
use ktd_env::KeyedStream;
use ktd_stats::{Sample, kendall_tau};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Elo rating that everybody begins with.
const ELO_START: f64 = 1500.0;
/// What one game moves an Elo rating by, at most.
const ELO_STEP: f64 = 16.0;
/// Rating points of a tenfold strength.
const ELO_SCALE: f64 = 400.0;

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
    /// The mean of both marks.
    pub(crate) fn score(&self) -> f64 {
        f64::midpoint(self.d1, self.d2)
    }

    /// The document, which all seeds of a strategy share.
    pub(crate) fn document(&self) -> &str {
        document_of(&self.strategy)
    }

    fn is_of_own(&self) -> bool {
        self.reviewer == self.model
    }
}

/// Reviews of some models' programs, each by strategy, reviewer and model once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arena {
    models: Vec<String>,
    /// Who made each model.
    makers: BTreeMap<String, String>,
    /// Reviewers whose marks count in no mean and no rank.
    set_aside: BTreeSet<String>,
    reviews: Vec<Review>,
}

/// What the reviews say of one model; its ratings say nothing where no other model reviewed a program of it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArenaRow {
    /// The model.
    pub model: String,
    /// Who made it: the vendor that serves it, where its agent names no maker.
    pub maker: String,
    /// Mean D1 by others.
    pub d1: Option<f64>,
    /// Mean D2 by others.
    pub d2: Option<f64>,
    /// Mean of both by others.
    pub peer: Option<f64>,
    /// Mean score by every reviewer that counts, itself included.
    pub all: Option<f64>,
    /// Mean score that it gives itself.
    pub own: Option<f64>,
    /// What it gives its own programs above what others give them, on its scale.
    pub bias: Option<ReviewerBias>,
    /// `own` - `peer`, as published: lenience counts in it as bias.
    pub published_bias: Option<f64>,
    /// Mean score that it gives others.
    pub strictness: Option<f64>,
    /// Elo rating over all games in order of strategy, reviewer and pair.
    pub elo: f64,
    /// Rating after Bradley and Terry (1952), which depends on no order: 1500 + 400 log10 of the strength.
    pub bradley_terry: f64,
    /// 95 % bounds of the latter, by leaving one document out at a time, once they are made.
    pub bradley_terry_bounds: Option<(f64, f64)>,
}

/// One comparison of two models by a third: 1 when the first is better, 0 when the second is, half for a tie.
#[derive(Debug, Clone, Copy)]
struct Game<'a> {
    strategy: &'a str,
    first: &'a str,
    second: &'a str,
    won: f64,
}

impl Arena {
    /// An arena of models, each with who made it; a review of a model that is not among them does not count.
    #[must_use]
    pub fn new(models: Vec<(String, String)>, reviews: Vec<Review>) -> Self {
        let known: BTreeSet<&String> = models.iter().map(|(model, _)| model).collect();
        let counts = |review: &Review| known.contains(&review.model) && known.contains(&review.reviewer);
        Self {
            reviews: reviews.into_iter().filter(counts).collect(),
            models: models.iter().map(|(model, _)| model.clone()).collect(),
            makers: models.into_iter().collect(),
            set_aside: BTreeSet::new(),
        }
    }

    /// The same where marks of these reviewers count in no mean, no rank and no measure of another's bias.
    #[must_use]
    pub fn without(self, set_aside: BTreeSet<String>) -> Self {
        Self { set_aside, ..self }
    }

    fn counts(&self, reviewer: &str) -> bool {
        !self.set_aside.contains(reviewer)
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
        let (elo, strengths) = (self.elo(&games), self.played(&games).strengths());
        self.models
            .iter()
            .zip(strengths)
            .map(|(model, strength)| {
                let counted = |review: &Review| review.model == *model && self.counts(&review.reviewer);
                let by_others = |review: &Review| counted(review) && !review.is_of_own();
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
                    maker: self.makers.get(model).cloned().unwrap_or_default(),
                    d1,
                    d2,
                    peer,
                    all: self.mean(counted, Review::score),
                    own,
                    bias: self.own_bias(model),
                    published_bias: own.zip(peer).map(|(own, peer)| own - peer),
                    strictness: self.mean(
                        |review| review.reviewer == *model && !review.is_of_own(),
                        Review::score,
                    ),
                    elo: elo.get(model.as_str()).copied().unwrap_or(ELO_START),
                    bradley_terry: rating(strength),
                    bradley_terry_bounds: None,
                }
            })
            .collect()
    }

    /// What a model gives its own programs above what others give them.
    pub(crate) fn own_bias(&self, model: &str) -> Option<ReviewerBias> {
        bias_of(&[self.seen(model, |author| author == model)])
    }

    /// What the models of one maker give each other's programs above what models of other makers give them; none where no program
    /// of theirs can be compared. Reviewers that are set aside have no part in it.
    #[must_use]
    pub fn maker_bias(&self, maker: &str) -> Option<ReviewerBias> {
        let is_kin = |model: &str| self.makers.get(model).is_some_and(|own| own == maker);
        let kin = self
            .models
            .iter()
            .filter(|model| is_kin(model) && self.counts(model));
        let seen = kin.map(|reviewer| self.seen(reviewer, |author| author != reviewer && is_kin(author)));
        bias_of(&seen.collect::<Vec<_>>())
    }

    /// The published figure beside it: the mean score that a maker's models give its other models, less what others give them.
    #[must_use]
    pub fn published_maker_bias(&self, maker: &str) -> Option<f64> {
        let is_kin = |model: &str| self.makers.get(model).is_some_and(|own| own == maker);
        let counted = |review: &Review| self.counts(&review.reviewer) && is_kin(&review.model);
        let inside = self.mean(
            |review| counted(review) && is_kin(&review.reviewer) && !review.is_of_own(),
            Review::score,
        );
        let outside = self.mean(
            |review| counted(review) && !is_kin(&review.reviewer),
            Review::score,
        );
        inside.zip(outside).map(|(inside, outside)| inside - outside)
    }

    /// Whether two models are of one maker. Where all are, each stands for itself.
    fn are_kin(&self, first: &str, second: &str) -> bool {
        let makers: BTreeSet<&String> = self.makers.values().collect();
        first == second || (1 < makers.len() && self.makers.get(first) == self.makers.get(second))
    }

    /// The programs that a reviewer may favour and those of other makers, each with the scores by reviewers that are neither of the
    /// reviewer's maker nor of the program's.
    fn seen(&self, reviewer: &str, favours: impl Fn(&str) -> bool) -> Vec<SeenProgram<'_>> {
        let mut others: BTreeMap<(&str, &str), Vec<(usize, f64)>> = BTreeMap::new();
        let counted = self.reviews.iter().filter(|review| self.counts(&review.reviewer));
        for review in counted {
            let (other, author) = (review.reviewer.as_str(), review.model.as_str());
            let place = self.models.iter().position(|model| model == other);
            if let Some(place) =
                place.filter(|_| !self.are_kin(other, reviewer) && !self.are_kin(other, author))
            {
                let own = others.entry((&review.strategy, author)).or_default();
                own.push((place, review.score()));
            }
        }
        let own = self.reviews.iter().filter(|review| review.reviewer == reviewer);
        let seen = own.filter_map(|review| {
            let is_favoured = favours(&review.model);
            let takes_part = is_favoured || !self.are_kin(reviewer, &review.model);
            Some(SeenProgram {
                document: review.document(),
                score: review.score(),
                others: others
                    .get(&(review.strategy.as_str(), review.model.as_str()))?
                    .clone(),
                is_favoured,
            })
            .filter(|_| takes_part)
        });
        seen.collect()
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
            for reviewer in self.models.iter().filter(|own| self.counts(own)) {
                for (place, first) in self.models.iter().enumerate() {
                    for second in self.models.iter().skip(place + 1) {
                        let score = |model: &String| {
                            let own = scores
                                .get(&(strategy, reviewer.as_str(), model.as_str()))
                                .copied();
                            own.filter(|_| model != reviewer)
                        };
                        games.extend(score(first).zip(score(second)).map(|(one, other)| Game {
                            strategy,
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

    /// Games of every pair of models, in their order.
    fn played(&self, games: &[Game<'_>]) -> PairedGames {
        let place = |model: &str| self.models.iter().position(|known| known == model);
        let mut played = PairedGames::new(self.models.len());
        for game in games {
            if let Some((first, second)) = place(game.first).zip(place(game.second)) {
                played.add(first, second, game.won);
            }
        }
        played
    }

    /// The ratings after Bradley and Terry, in the order of the models.
    pub(crate) fn ratings(&self) -> Vec<f64> {
        let strengths = self.played(&self.games()).strengths();
        strengths.into_iter().map(rating).collect()
    }

    /// 95 % bounds of the ratings after Bradley and Terry, in the order of the models: each document is left out once, with all seeds
    /// of it; `None` below two documents. They are no narrower than so many games allow: of few documents all may be won, which are
    /// alike with any of them left out.
    #[must_use]
    pub fn bradley_terry_bounds(&self) -> Option<Vec<(f64, f64)>> {
        let games = self.games();
        let documents: BTreeSet<&str> = games.iter().map(|game| document_of(game.strategy)).collect();
        let mut left: Vec<Vec<f64>> = vec![Vec::with_capacity(documents.len()); self.models.len()];
        for out in documents {
            let others = games.iter().filter(|game| document_of(game.strategy) != out);
            let others: Vec<Game<'_>> = others.copied().collect();
            for (own, strength) in left.iter_mut().zip(self.played(&others).strengths()) {
                own.push(rating(strength));
            }
        }
        let all = self.played(&games);
        let strengths = all.strengths();
        let least = all.log_variances(&strengths);
        let bounds = strengths.into_iter().zip(left).zip(least);
        let bounds = bounds.map(|((strength, left), least)| {
            let points = ELO_SCALE / std::f64::consts::LN_10;
            let reach = jackknife_reach_from(&left, least * points * points)?;
            Some((rating(strength) - reach, rating(strength) + reach))
        });
        bounds.collect()
    }

    /// Krippendorff's alpha of D1 and of D2 over programs of others, among the reviewers that count.
    #[must_use]
    pub fn alpha(&self) -> [Option<f64>; 2] {
        let marks: [fn(&Review) -> f64; 2] = [|review| review.d1, |review| review.d2];
        marks.map(|mark| {
            let mut units: BTreeMap<(&str, &str), Vec<u8>> = BTreeMap::new();
            let counted = self
                .reviews
                .iter()
                .filter(|review| !review.is_of_own() && self.counts(&review.reviewer));
            for review in counted {
                let mark = (0..=u8::MAX).find(|whole| mark(review) <= f64::from(*whole));
                units
                    .entry((&review.strategy, &review.model))
                    .or_default()
                    .extend(mark);
            }
            ordinal_alpha(&units.into_values().collect::<Vec<_>>())
        })
    }

    /// Agreement of two reviewers: Kendall's tau-b of the scores that both gave to the same submissions; `None` below two
    /// of them, and where one gave all the same score. Reviews of one's own program do not count.
    #[must_use]
    pub fn agreement(&self, first: &str, second: &str) -> Option<f64> {
        let scores = |reviewer: &str| -> BTreeMap<(&str, &str), f64> {
            let counts = |review: &&Review| review.reviewer == reviewer && !review.is_of_own();
            let own = self.reviews.iter().filter(counts);
            own.map(|review| ((review.strategy.as_str(), review.model.as_str()), review.score()))
                .collect()
        };
        let other = scores(second);
        let (left, right): (Vec<f64>, Vec<f64>) = scores(first)
            .into_iter()
            .filter_map(|(key, score)| Some((score, *other.get(&key)?)))
            .unzip();
        let left = Sample::new("scores", &left).ok()?;
        kendall_tau(&left, &Sample::new("scores", &right).ok()?)
            .ok()?
            .ok()
    }
}

/// Places of so many programs in the order in which a reviewer gets them, drawn from a seed.
#[must_use]
pub fn review_order(programs: usize, seed: u64, reviewer: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..programs).collect();
    KeyedStream::for_purpose(seed, &format!("arena/order/{reviewer}")).shuffle(&mut order);
    order
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

/// Rating of a strength.
fn rating(strength: f64) -> f64 {
    ELO_START + ELO_SCALE * libm::log10(strength)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena(scores: &[(&str, &str, &str, f64)]) -> Arena {
        let models = ["a", "b", "c"].map(|model| (model.to_owned(), "v".to_owned()));
        let reviews = scores.iter().map(|(strategy, reviewer, model, score)| Review {
            strategy: (*strategy).to_owned(),
            reviewer: (*reviewer).to_owned(),
            model: (*model).to_owned(),
            d1: *score,
            d2: *score,
        });
        Arena::new(models.into(), reviews.collect())
    }

    #[test]
    fn bounds_need_two_documents_and_hold_the_rating() {
        let of_one = [
            ("S01 1", "c", "a", 8.0),
            ("S01 1", "c", "b", 5.0),
            ("S01 2", "c", "a", 4.0),
            ("S01 2", "c", "b", 5.0),
        ];
        assert_eq!(arena(&of_one).bradley_terry_bounds(), None);
        let of_three = [
            ("S01", "c", "a", 8.0),
            ("S01", "c", "b", 5.0),
            ("S02", "c", "a", 4.0),
            ("S02", "c", "b", 6.0),
            ("S03", "c", "a", 7.0),
            ("S03", "c", "b", 6.0),
        ];
        let arena = arena(&of_three);
        let bounds = arena.bradley_terry_bounds().unwrap();
        for (row, (low, high)) in arena.rows().iter().zip(&bounds) {
            assert!(
                *low <= row.bradley_terry && row.bradley_terry <= *high,
                "{row:?}: {low} to {high}"
            );
        }
        assert!(bounds[0].0 < 1500.0 && 1500.0 < bounds[0].1, "{bounds:?}");
    }

    #[test]
    fn agreement_is_of_scores_for_the_same_programs() {
        let arena = arena(&[
            ("S01", "a", "c", 8.0),
            ("S02", "a", "c", 5.0),
            ("S03", "a", "c", 1.0),
            ("S01", "b", "c", 9.0),
            ("S02", "b", "c", 2.0),
        ]);
        assert_eq!(arena.agreement("a", "b"), Some(1.0));
        assert_eq!(arena.agreement("a", "c"), None);
    }
}
