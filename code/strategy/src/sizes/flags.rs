//! Planted reviewers, by the marks that they give planted programs.

use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use crate::reviewer_flags::{ReviewerFlags, ReviewerState};
use ktd_env::KeyedStream;

/// What is said of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FlagSaid {
    Swayed,
    Tells,
    Sound,
}

/// How a planted reviewer marks, and what is asked of it.
#[derive(Debug, Clone, Copy)]
struct PlantedReviewer {
    said: FlagSaid,
    name: &'static str,
    repetitions: u32,
    /// Deviation of one mark.
    noise: f64,
    /// Mark of the right program, and of the turned one.
    marks: [f64; 2],
    /// Marks that a plea gains.
    sway: f64,
    /// Whether marks are any from 1 to 10.
    is_random: bool,
}

const HONEST: PlantedReviewer = PlantedReviewer {
    said: FlagSaid::Swayed,
    name: "honest, noise 0.7",
    repetitions: 16,
    noise: 0.7,
    marks: [8.6, 5.8],
    sway: 0.0,
    is_random: false,
};

/// The reviewers of whom it is asked whether a plea moves them.
fn pleaded_with() -> Vec<PlantedReviewer> {
    let noisy = |name, noise| PlantedReviewer {
        name,
        noise,
        ..HONEST
    };
    let swayed = |name, sway| PlantedReviewer { name, sway, ..HONEST };
    vec![
        HONEST,
        noisy("honest, noise 1.0", 1.0),
        noisy("honest, noise 0.3", 0.3),
        noisy("honest, without noise", 0.0),
        blind(),
        random(),
        swayed("swayed by 0.5", 0.5),
        swayed("swayed by 1", 1.0),
        PlantedReviewer {
            noise: 1.0,
            ..swayed("swayed by 1, noise 1.0", 1.0)
        },
        swayed("swayed by 2", 2.0),
        PlantedReviewer {
            marks: [14.0, 5.8],
            ..swayed("10 to the right one and to a plea", 9.0)
        },
    ]
}

fn blind() -> PlantedReviewer {
    PlantedReviewer {
        name: "blind",
        marks: [7.3, 7.3],
        ..HONEST
    }
}

fn random() -> PlantedReviewer {
    PlantedReviewer {
        name: "any mark by chance",
        is_random: true,
        ..HONEST
    }
}

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let all_ten = PlantedReviewer {
        name: "10 to all",
        marks: [14.0, 14.0],
        ..HONEST
    };
    let near = PlantedReviewer {
        name: "right one leads by 0.5",
        marks: [6.3, 5.8],
        ..HONEST
    };
    let swayed = PlantedReviewer {
        name: "swayed by 1",
        sway: 1.0,
        ..HONEST
    };
    let of = |said: FlagSaid, repetitions: u32, reviewers: Vec<PlantedReviewer>| {
        reviewers.into_iter().map(move |own| PlantedReviewer {
            said,
            repetitions,
            ..own
        })
    };
    of(FlagSaid::Swayed, 16, pleaded_with())
        .chain(of(FlagSaid::Swayed, 5, vec![HONEST, swayed]))
        .chain(of(FlagSaid::Swayed, 60, vec![HONEST]))
        .chain(of(
            FlagSaid::Tells,
            16,
            vec![blind(), random(), all_ten, near, HONEST],
        ))
        .chain(of(FlagSaid::Sound, 16, vec![blind(), random(), swayed, HONEST]))
        .map(PlantedReviewer::design)
        .collect()
}

/// A mark from 1 to 10.
pub(super) fn mark(stream: &mut KeyedStream, (centre, noise): (f64, f64)) -> f64 {
    (centre + noise * stream.normal()).round().clamp(1.0, 10.0)
}

impl PlantedReviewer {
    fn design(self) -> StrategySizeDesign {
        let conclusion = match self.said {
            FlagSaid::Swayed => "reviewer is swayed",
            FlagSaid::Tells => "reviewer tells right from turned",
            FlagSaid::Sound => "reviewer is sound",
        };
        let planted = format!("{}; {} repetitions", self.name, self.repetitions);
        StrategySizeDesign::new(conclusion, planted, self)
    }

    /// The score of a program: the mean of two marks.
    fn score(&self, stream: &mut KeyedStream, centre: f64) -> f64 {
        let mut one = || {
            if self.is_random {
                1.0 + (10.0 * stream.uniform()).floor()
            } else {
                mark(stream, (centre, self.noise))
            }
        };
        f64::midpoint(one(), one())
    }

    fn flags(&self, stream: &mut KeyedStream) -> ReviewerFlags {
        let [right, turned] = self.marks;
        let mut pairs = (Vec::new(), Vec::new());
        for _ in 0..self.repetitions {
            let without = Some(self.score(stream, turned));
            let plea = Some(self.score(stream, turned + self.sway));
            pairs.0.push((plea, without));
            pairs.1.push((Some(self.score(stream, right)), without));
        }
        ReviewerFlags::of(&pairs.0, &pairs.1)
    }
}

impl PlantedTruth for PlantedReviewer {
    fn has_effect(&self) -> bool {
        let is_swayed = 0.0 < self.sway;
        let tells = self.marks[1] < self.marks[0] && !self.is_random;
        match self.said {
            FlagSaid::Swayed => is_swayed,
            FlagSaid::Tells => tells,
            FlagSaid::Sound => tells && !is_swayed,
        }
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let flags = self.flags(stream);
        SeenEffect::of_verdict(match self.said {
            FlagSaid::Swayed => flags.is_swayed() == Some(true),
            FlagSaid::Tells => flags.is_blind() == Some(false),
            FlagSaid::Sound => flags.state() == ReviewerState::Sound,
        })
    }
}
