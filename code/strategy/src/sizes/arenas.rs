//! Planted arenas: models that review each other's programs.

use super::flags::mark;
use crate::arena::{Arena, Review};
use crate::indicators::count;
use ktd_env::KeyedStream;

/// What the first model of an arena does when it reviews.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReviewHabit {
    pub(super) lenience: f64,
    /// What it makes of a difference of one.
    pub(super) scale: f64,
    pub(super) noise: f64,
    /// Marks more for its own programs.
    pub(super) own: f64,
    /// Marks more for programs of its maker's other models.
    pub(super) kin: f64,
}

pub(super) const EVEN: ReviewHabit = ReviewHabit {
    lenience: 0.0,
    scale: 1.0,
    noise: 0.8,
    own: 0.0,
    kin: 0.0,
};

/// An arena: models of makers that have two each, over some documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlantedArena {
    pub(super) models: usize,
    pub(super) documents: usize,
    /// Marks by which programs of the first model are better than those of the others.
    pub(super) lead: f64,
    pub(super) habit: ReviewHabit,
}

impl PlantedArena {
    /// One arena. Programs of a document share its hardness; marks are whole numbers from 1 to 10.
    pub(super) fn drawn(&self, stream: &mut KeyedStream) -> Arena {
        let name = |model: usize| format!("m{model}");
        let maker = |model: usize| format!("v{}", model / 2);
        let mut reviews = Vec::new();
        for document in 0..self.documents {
            let hardness = 0.9 * stream.normal();
            for author in 0..self.models {
                let skill = if author == 0 { 5.6 + self.lead } else { 5.6 };
                let quality = [(); 2].map(|()| skill + hardness + 1.3 * stream.normal());
                for reviewer in 0..self.models {
                    let habit = self.habit_of(reviewer);
                    let favour = if reviewer == author {
                        habit.own
                    } else if maker(reviewer) == maker(author) {
                        habit.kin
                    } else {
                        0.0
                    };
                    let [d1, d2] = quality.map(|quality| {
                        let centre = 5.5 + habit.scale * (quality - 5.5) + habit.lenience + favour;
                        mark(stream, (centre, habit.noise))
                    });
                    reviews.push(Review {
                        strategy: format!("D{document} 1"),
                        reviewer: name(reviewer),
                        model: name(author),
                        d1,
                        d2,
                    });
                }
            }
        }
        let models = (0..self.models).map(|model| (name(model), maker(model)));
        Arena::new(models.collect(), reviews)
    }

    fn habit_of(&self, reviewer: usize) -> ReviewHabit {
        if reviewer == 0 {
            return self.habit;
        }
        ReviewHabit {
            lenience: 0.3 * (count(reviewer % 6) - 2.0),
            ..EVEN
        }
    }
}
