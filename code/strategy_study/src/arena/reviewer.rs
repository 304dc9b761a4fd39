//! One reviewer: what it is shown, and what it says.

use super::program::ReviewedProgram;
use super::review::ReviewAsking;
use crate::run::{ArenaKeys, ReviewText, StrategyWorld, SubmissionFound};
use futures::StreamExt;
use ktd_strategy_code::{ControlKind, ReviewEvent, ReviewsFound, review_order};
use ktd_study::{Hands, StudyError, UnitId};
use serde::Serialize;
use std::collections::BTreeSet;

/// Models with a program below which nothing is compared.
const AUTHORS_MIN: usize = 2;

/// What decides the reviews of one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewUnit {
    reviewer: String,
    /// It orders programs, draws bounds, and is sent to vendors that take one.
    seed: u64,
    review: ReviewText,
    temperature: f64,
    /// How many times it gets each planted program.
    repetitions: u64,
    /// The submissions.
    pub(crate) of: Vec<UnitId>,
}

impl ReviewUnit {
    pub(crate) fn new(reviewer: &str, seed: u64, keys: &ArenaKeys, of: Vec<UnitId>) -> Self {
        Self {
            reviewer: reviewer.to_owned(),
            seed,
            review: keys.review,
            temperature: keys.temperature,
            repetitions: keys.repetitions,
            of,
        }
    }

    /// The most reviews that it is asked for: planted programs are among them.
    pub(crate) fn reviews(&self) -> u64 {
        let planted = u64::try_from(ControlKind::ALL.len()).unwrap_or(u64::MAX);
        let submissions = u64::try_from(self.of.len()).unwrap_or(u64::MAX);
        submissions.saturating_add(planted.saturating_mul(self.repetitions))
    }
}

/// Has a model review the ranked programs of all submissions and the planted ones.
pub(crate) async fn run_reviews<E: Serialize + From<ReviewEvent>>(
    world: &StrategyWorld,
    (unit, submissions): (&ReviewUnit, &[SubmissionFound]),
    hands: &mut Hands<'_, E>,
) -> Result<ReviewsFound, StudyError> {
    let models: BTreeSet<&String> = submissions.iter().map(|own| &own.rows.model).collect();
    let mut programs = Vec::new();
    for found in submissions {
        programs.extend(ReviewedProgram::ranked(world, found)?);
    }
    let authors: BTreeSet<&String> = programs
        .iter()
        .filter_map(|program| program.key.model.as_ref())
        .collect();
    let (authors, models) = (authors.len(), models.len());
    if authors < AUTHORS_MIN {
        return Ok(ReviewsFound {
            reviewer: unit.reviewer.clone(),
            events: Vec::new(),
            programs: Vec::new(),
            tokens: 0,
            not_applicable: Some(format!(
                "{authors} of {models} models have a program under review; an arena compares at least {AUTHORS_MIN}"
            )),
        });
    }
    for repetition in 1..=unit.repetitions {
        programs.extend(ControlKind::ALL.map(|kind| ReviewedProgram::planted(kind, repetition)));
    }
    let events = all_reviews(unit, &programs, (hands, world.experiment.parallel)).await?;
    for event in &events {
        hands.event(&event.clone().into())?;
    }
    Ok(ReviewsFound {
        reviewer: unit.reviewer.clone(),
        events,
        programs: programs.into_iter().map(|program| program.key).collect(),
        tokens: hands.asked()?.spending()?.tokens.all(),
        not_applicable: None,
    })
}

/// The reviews by step. A review that was begun is led to its end even when another is stopped, so that nothing that was sent
/// is lost.
async fn all_reviews<E: Serialize>(
    unit: &ReviewUnit,
    programs: &[ReviewedProgram],
    (hands, parallel): (&Hands<'_, E>, usize),
) -> Result<Vec<ReviewEvent>, StudyError> {
    let asking = ReviewAsking {
        record: hands.asked()?,
        review: unit.review,
        seed: unit.seed,
    };
    let order = review_order(programs.len(), unit.seed, &unit.reviewer);
    let in_order = order.iter().filter_map(|place| programs.get(*place));
    let asked = in_order.zip(1..).map(|(program, step)| {
        let asking = &asking;
        async move {
            let event = asking.review(step, program).await;
            hands.advance(1);
            event
        }
    });
    let events: Vec<_> = futures::stream::iter(asked).buffered(parallel).collect().await;
    // Whatever stopped others is an error of its own.
    let events: Result<Vec<Option<ReviewEvent>>, _> = events.into_iter().collect();
    Ok(events?.into_iter().flatten().collect())
}
