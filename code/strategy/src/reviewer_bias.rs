//! What a reviewer gives some models' programs above what others give them, on its own scale.
//!
//! The quality of a program is what others give it, each less its lenience. How the reviewer's scores for programs of third models go
//! with their quality (a line whose slope is corrected for the noise of the others) says what it would give the programs that it may
//! favour. So who is lenient, or uses half of the scale, has no bias by it, and who gives the same to all has none.

use crate::indicators::{count, mean};
use crate::jackknife::jackknife_reach;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Programs of third models below which a scale is not known.
const COMPARED_MIN: usize = 3;
/// Rounds in which lenience and quality are told apart, at most.
const ROUNDS_MAX: usize = 200;
/// Change of a lenience, in marks, at which they are.
const PRECISION: f64 = 1e-7;

/// Marks of 10 that are given above what is to be expected.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewerBias {
    /// Their mean over documents.
    pub mean: f64,
    /// 95 % bounds by leaving one document out at a time; none below two documents.
    pub bounds: Option<(f64, f64)>,
    /// Documents with such a program.
    pub documents: usize,
}

/// A program as one reviewer and others see it.
#[derive(Debug, Clone)]
pub(crate) struct SeenProgram<'a> {
    /// The document.
    pub(crate) document: &'a str,
    /// The score that the reviewer gives it.
    pub(crate) score: f64,
    /// Scores by others, by their places.
    pub(crate) others: Vec<(usize, f64)>,
    /// Whether the reviewer may favour it; else it is of a third model.
    pub(crate) is_favoured: bool,
}

/// The bias of some reviewers together, by the programs that each sees; none where no program that they may favour can be compared.
pub(crate) fn bias_of(reviewers: &[Vec<SeenProgram<'_>>]) -> Option<ReviewerBias> {
    let seen = || reviewers.iter().flatten();
    let favoured = seen().filter(|program| program.is_favoured);
    let documents: BTreeSet<&str> = favoured.map(|program| program.document).collect();
    let centre = |out: Option<&str>| {
        let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for programs in reviewers {
            let left = programs.iter().filter(|program| Some(program.document) != out);
            for (document, above) in above(&left.collect::<Vec<_>>()).unwrap_or_default() {
                found.entry(document).or_default().push(above);
            }
        }
        let means: Vec<f64> = found.values().filter_map(|own| mean(own)).collect();
        Some((mean(&means)?, means.len()))
    };
    let (estimate, number) = centre(None)?;
    let left = documents.iter().map(|document| Some(centre(Some(document))?.0));
    let left: Option<Vec<f64>> = left.collect();
    let reach = left.and_then(|left| jackknife_reach(&left));
    Some(ReviewerBias {
        mean: estimate,
        bounds: reach.map(|reach| (estimate - reach, estimate + reach)),
        documents: number,
    })
}

/// Of each program that a reviewer may favour, its document and what it is given above what is to be expected; none where the
/// reviewer's scale is not known.
fn above<'a>(programs: &[&SeenProgram<'a>]) -> Option<Vec<(&'a str, f64)>> {
    let (qualities, noise) = qualities(programs)?;
    let with_quality = || programs.iter().zip(&qualities);
    let third = with_quality().filter(|(program, _)| !program.is_favoured);
    let (scores, known): (Vec<f64>, Vec<f64>) =
        third.map(|(program, quality)| (program.score, *quality)).unzip();
    if known.len() < COMPARED_MIN {
        return None;
    }
    let (score_mean, quality_mean) = (mean(&scores)?, mean(&known)?);
    let product = |first: f64, second: f64| (first - quality_mean) * second;
    let pairs = known.iter().zip(&scores);
    let shared: f64 = pairs
        .map(|(quality, score)| product(*quality, score - score_mean))
        .sum();
    let own: f64 = known
        .iter()
        .map(|quality| product(*quality, quality - quality_mean))
        .sum();
    // What others disagree in is no difference of quality.
    let true_spread = own - noise * count(known.len() - 1);
    if true_spread <= 0.0 {
        return None;
    }
    let expected = |quality: f64| score_mean + shared / true_spread * (quality - quality_mean);
    let favoured = with_quality().filter(|(program, _)| program.is_favoured);
    Some(
        favoured
            .map(|(program, quality)| (program.document, program.score - expected(*quality)))
            .collect(),
    )
}

/// The quality of each program by the scores of others, each less its lenience, and the variance that their noise gives a quality; none
/// where a program has no other's score.
fn qualities(programs: &[&SeenProgram<'_>]) -> Option<(Vec<f64>, f64)> {
    let others = programs.iter().flat_map(|program| &program.others);
    let places = others.clone().map(|(place, _)| place + 1).max()?;
    let mut lenience = vec![0.0; places];
    let of = |lenience: &[f64], (place, score): &(usize, f64)| {
        score - lenience.get(*place).copied().unwrap_or_default()
    };
    let mut known: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let found = programs.iter().map(|program| {
            let scores: Vec<f64> = program.others.iter().map(|own| of(&lenience, own)).collect();
            mean(&scores)
        });
        known = found.collect::<Option<_>>()?;
        let mut sums = vec![(0.0, 0_usize); places];
        for (program, quality) in programs.iter().zip(&known) {
            for (place, score) in &program.others {
                if let Some((sum, number)) = sums.get_mut(*place) {
                    *sum += score - quality;
                    *number += 1;
                }
            }
        }
        let next: Vec<f64> = sums
            .into_iter()
            .map(|(sum, number)| sum / count(number.max(1)))
            .collect();
        let changes = next.iter().zip(&lenience).map(|(next, now)| (next - now).abs());
        let change = changes.fold(0.0, f64::max);
        lenience = next;
        if change < PRECISION {
            break;
        }
    }
    let scored = programs.iter().zip(&known);
    let squares = scored.flat_map(|(program, quality)| {
        let left = program.others.iter().map(|own| of(&lenience, own) - quality);
        left.map(|left| left * left).collect::<Vec<_>>()
    });
    let squares: f64 = squares.sum();
    let scores = others.count();
    let judges: BTreeSet<usize> = programs
        .iter()
        .flat_map(|own| own.others.iter().map(|(place, _)| *place))
        .collect();
    let freedom = (scores + 1).saturating_sub(programs.len() + judges.len());
    let of_score = if freedom == 0 {
        0.0
    } else {
        squares / count(freedom)
    };
    Some((known, of_score * count(programs.len()) / count(scores)))
}

/// The document of a strategy that stands with its seed.
pub(crate) fn document_of(strategy: &str) -> &str {
    strategy
        .split_once(' ')
        .map_or(strategy, |(document, _)| document)
}
