//! Planted favour of reviewers for their own programs, and for those of their makers' other models.

use super::arenas::{EVEN, PlantedArena, ReviewHabit};
use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use ktd_env::KeyedStream;

/// A habit of the first reviewer, and whose bias is looked at.
#[derive(Debug, Clone, Copy)]
struct PlantedBias {
    arena: PlantedArena,
    is_of_maker: bool,
}

/// Marks that end at 10 or at 1 are no longer a line over the quality of programs.
const CUT_OFF: &str = "marks end at 10 and at 1";

fn habits() -> [(&'static str, ReviewHabit); 9] {
    let lenient = |lenience| ReviewHabit { lenience, ..EVEN };
    let of_own = |own| ReviewHabit { own, ..EVEN };
    [
        ("even", EVEN),
        ("lenient by 2", lenient(2.0)),
        ("strict by 2", lenient(-2.0)),
        ("half of the scale", ReviewHabit { scale: 0.5, ..EVEN }),
        ("exact", ReviewHabit { noise: 0.0, ..EVEN }),
        ("10 to all", lenient(30.0)),
        ("0.5 to its own", of_own(0.5)),
        ("1 to its own", of_own(1.0)),
        ("1 to its maker's other model", ReviewHabit { kin: 1.0, ..EVEN }),
    ]
}

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let arena = |documents, habit| PlantedArena {
        models: 6,
        documents,
        lead: 1.5,
        habit,
    };
    let of = |is_of_maker: bool, documents: usize, (name, habit): (&'static str, ReviewHabit)| {
        let conclusion = if is_of_maker { "maker's bias" } else { "own bias" };
        let truth = PlantedBias {
            arena: arena(documents, habit),
            is_of_maker,
        };
        let planted = format!("{name}; {documents} documents");
        let design = StrategySizeDesign::new(conclusion, planted, truth);
        if (1.0..9.0).contains(&habit.lenience.abs()) {
            design.not_claimed(CUT_OFF)
        } else {
            design
        }
    };
    let mut all: Vec<StrategySizeDesign> = habits().map(|habit| of(false, 12, habit)).into();
    all.extend([4, 6, 8].map(|documents| of(false, documents, ("even", EVEN))));
    all.extend(habits().into_iter().map(|habit| of(true, 12, habit)));
    all.extend([4, 6, 8].map(|documents| of(true, documents, ("even", EVEN))));
    all
}

impl PlantedBias {
    /// Only the first of two models of its maker has the habit.
    fn planted(&self) -> f64 {
        if self.is_of_maker {
            self.arena.habit.kin / 2.0
        } else {
            self.arena.habit.own
        }
    }
}

impl PlantedTruth for PlantedBias {
    fn has_effect(&self) -> bool {
        0.0 < self.planted()
    }

    fn truth(&self, _seed: u64) -> Option<f64> {
        Some(self.planted())
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let arena = self.arena.drawn(stream);
        let found = if self.is_of_maker {
            arena.maker_bias("v0")
        } else {
            arena.own_bias("m0")
        };
        SeenEffect::of_bounds(found.and_then(|found| found.bounds), 0.0)
    }
}
