//! Planted models that are equal, or one of which is better, and their ratings after Bradley and Terry.

use super::arenas::{EVEN, PlantedArena};
use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use ktd_env::KeyedStream;

/// The rating of everybody where all are equal.
const EQUAL: f64 = 1500.0;
/// Documents by which the true rating of a model that is better is known to a few points.
const DOCUMENTS_OF_TRUTH: usize = 3_000;

/// An arena whose first model's rating is looked at.
#[derive(Debug, Clone, Copy)]
struct PlantedRating(PlantedArena);

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let of = |models, documents, lead: f64| {
        let truth = PlantedRating(PlantedArena {
            models,
            documents,
            lead,
            habit: EVEN,
        });
        let words = if 0.0 < lead {
            format!("one of {models} better by {lead} marks; {documents} documents")
        } else {
            format!("{models} equal; {documents} documents")
        };
        StrategySizeDesign::new("Bradley-Terry", words, truth)
    };
    let mut all = Vec::new();
    for models in [3, 6] {
        all.extend([2, 3, 4, 6, 12].map(|documents| of(models, documents, 0.0)));
        all.extend([4, 6, 12].map(|documents| of(models, documents, 1.5)));
    }
    all
}

impl PlantedTruth for PlantedRating {
    fn has_effect(&self) -> bool {
        0.0 < self.0.lead
    }

    /// The rating that very many documents come to.
    fn truth(&self, seed: u64) -> Option<f64> {
        if !self.has_effect() {
            return Some(EQUAL);
        }
        let many = PlantedArena {
            documents: DOCUMENTS_OF_TRUTH,
            ..self.0
        };
        let arena = many.drawn(&mut KeyedStream::for_purpose(seed, "sizes/ratings/truth"));
        arena.ratings().first().copied()
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let bounds = self.0.drawn(stream).bradley_terry_bounds();
        SeenEffect::of_bounds(bounds.and_then(|bounds| bounds.first().copied()), EQUAL)
    }
}
