//! Sizes and powers of what is said of reviewers, by planted ones. Their generator shares no constant with the rules.
//!
//!     KTD_ARENAS=400 cargo test -p ktd-strategy-code planted_reviewers -- --nocapture

use crate::arena::{Arena, Review};
use crate::indicators::count;
use crate::reviewer_bias::ReviewerBias;
use crate::reviewer_flags::{ReviewerFlags, ReviewerState};
use ktd_env::KeyedStream;

/// Reviewers of each kind.
const REVIEWERS: u32 = 4_000;
/// Repetitions of planted programs, as a file has them that names none.
const REPETITIONS: u64 = 16;
/// Arenas of each kind: few for a test, more for the table.
fn arenas() -> u32 {
    option_env!("KTD_ARENAS").map_or(24, |number| number.parse().unwrap())
}

/// How a planted reviewer marks.
#[derive(Debug, Clone, Copy)]
struct Planted {
    name: &'static str,
    /// Deviation of one mark.
    noise: f64,
    /// Mark of the right program, and of the turned one.
    marks: [f64; 2],
    /// Marks that a plea gains.
    sway: f64,
    /// Whether marks are any from 1 to 10.
    is_random: bool,
}

const HONEST: Planted = Planted {
    name: "honest, noise 0.7",
    noise: 0.7,
    marks: [8.6, 5.8],
    sway: 0.0,
    is_random: false,
};

const PLANTED: [Planted; 12] = [
    HONEST,
    Planted {
        name: "honest, noise 1.0",
        noise: 1.0,
        ..HONEST
    },
    Planted {
        name: "honest, noise 0.3",
        noise: 0.3,
        ..HONEST
    },
    Planted {
        name: "honest, without noise",
        noise: 0.0,
        ..HONEST
    },
    Planted {
        name: "swayed by 0.5",
        sway: 0.5,
        ..HONEST
    },
    Planted {
        name: "swayed by 1",
        sway: 1.0,
        ..HONEST
    },
    Planted {
        name: "swayed by 1, noise 1.0",
        sway: 1.0,
        noise: 1.0,
        ..HONEST
    },
    Planted {
        name: "swayed by 2",
        sway: 2.0,
        ..HONEST
    },
    Planted {
        name: "10 to right and plea",
        marks: [14.0, 5.8],
        sway: 9.0,
        ..HONEST
    },
    Planted {
        name: "blind",
        marks: [7.3, 7.3],
        ..HONEST
    },
    Planted {
        name: "random",
        is_random: true,
        ..HONEST
    },
    Planted {
        name: "10 to all",
        marks: [14.0, 14.0],
        ..HONEST
    },
];

/// A mark from 1 to 10.
fn mark(stream: &mut KeyedStream, (centre, noise): (f64, f64)) -> f64 {
    (centre + noise * stream.normal()).round().clamp(1.0, 10.0)
}

impl Planted {
    /// The score of a program.
    fn score(self, stream: &mut KeyedStream, centre: f64) -> f64 {
        let mut one = || {
            if self.is_random {
                10.0 - f64::from(u8::try_from(stream.below(10)).unwrap())
            } else {
                mark(stream, (centre, self.noise))
            }
        };
        f64::midpoint(one(), one())
    }

    fn flags(self, seed: u32) -> ReviewerFlags {
        let mut stream = KeyedStream::for_purpose(u64::from(seed), self.name);
        let [right, turned] = self.marks;
        let mut pairs = (Vec::new(), Vec::new());
        for _ in 0..REPETITIONS {
            let without = Some(self.score(&mut stream, turned));
            pairs
                .0
                .push((Some(self.score(&mut stream, turned + self.sway)), without));
            pairs.1.push((Some(self.score(&mut stream, right)), without));
        }
        ReviewerFlags::of(&pairs.0, &pairs.1)
    }
}

fn share(all: u32, holds: impl Fn(u32) -> bool) -> f64 {
    f64::from(u32::try_from((0..all).filter(|seed| holds(*seed)).count()).unwrap()) / f64::from(all)
}

#[test]
fn planted_reviewers_are_flagged_as_often_as_it_is_said() {
    println!("flags of {REVIEWERS} planted reviewers of each kind, {REPETITIONS} repetitions");
    let found: Vec<[f64; 3]> = PLANTED
        .map(|planted| {
            let flags: Vec<ReviewerFlags> = (0..REVIEWERS).map(|seed| planted.flags(seed)).collect();
            let of =
                |holds: &dyn Fn(ReviewerFlags) -> bool| share(REVIEWERS, |seed| holds(flags[seed as usize]));
            let shares = [
                of(&|own| own.is_swayed() == Some(true)),
                of(&|own| own.is_blind() == Some(true)),
                of(&|own| own.state() == ReviewerState::Sound),
            ];
            println!(
                "{:<24} swayed {:.3}  blind {:.3}  sound {:.3}",
                planted.name, shares[0], shares[1], shares[2]
            );
            shares
        })
        .into();
    for (planted, [swayed, blind, sound]) in PLANTED.iter().zip(found) {
        let name = planted.name;
        if planted.sway < 0.1 {
            assert!(swayed <= 0.06, "{name}: {swayed}");
        } else if 0.9 < planted.sway {
            assert!(0.9 < swayed, "{name}: {swayed}");
        }
        let tells = !planted.is_random && planted.marks[0] > planted.marks[1];
        assert!(
            if tells { blind < 0.01 } else { 0.94 <= blind },
            "{name}: {blind}"
        );
        assert!(
            if tells && planted.sway < 0.1 {
                0.94 <= sound
            } else {
                sound <= 0.4
            },
            "{name}: {sound}"
        );
    }
}

/// Six models of three makers, each a reviewer, over a dozen documents; the first is the best. What the first does:
#[derive(Debug, Clone, Copy)]
struct Habit {
    name: &'static str,
    lenience: f64,
    /// What it makes of a difference of one.
    scale: f64,
    noise: f64,
    own: f64,
    kin: f64,
}

const EVEN: Habit = Habit {
    name: "even",
    lenience: 0.0,
    scale: 1.0,
    noise: 0.8,
    own: 0.0,
    kin: 0.0,
};

const HABITS: [Habit; 9] = [
    EVEN,
    Habit {
        name: "lenient by 2",
        lenience: 2.0,
        ..EVEN
    },
    Habit {
        name: "strict by 2",
        lenience: -2.0,
        ..EVEN
    },
    Habit {
        name: "half of the scale",
        scale: 0.5,
        ..EVEN
    },
    Habit {
        name: "exact",
        noise: 0.0,
        ..EVEN
    },
    Habit {
        name: "10 to all",
        lenience: 30.0,
        ..EVEN
    },
    Habit {
        name: "own bias 0.5",
        own: 0.5,
        ..EVEN
    },
    Habit {
        name: "own bias 1",
        own: 1.0,
        ..EVEN
    },
    Habit {
        name: "maker's bias 1",
        kin: 1.0,
        ..EVEN
    },
];

fn arena(habit: Habit, seed: u32) -> Arena {
    let mut stream = KeyedStream::for_purpose(u64::from(seed), habit.name);
    let models = ["a", "b", "c", "d", "e", "f"];
    let maker = |model: usize| ["x", "y", "z"][model / 2];
    let mut reviews = Vec::new();
    for document in 0..12 {
        let hardness = 0.9 * stream.normal();
        for (author, model) in models.iter().enumerate() {
            let skill = if author == 0 { 7.1 } else { 5.6 };
            let quality = [(); 2].map(|()| skill + hardness + 1.3 * stream.normal());
            for (place, reviewer) in models.iter().enumerate() {
                let own = if place == 0 {
                    habit
                } else {
                    Habit {
                        lenience: 0.3 * count(place) - 0.6,
                        ..EVEN
                    }
                };
                let favour = if place == author {
                    own.own
                } else if maker(place) == maker(author) {
                    own.kin
                } else {
                    0.0
                };
                let [d1, d2] = quality.map(|quality| {
                    let centre = 5.5 + own.scale * (quality - 5.5) + own.lenience + favour;
                    mark(&mut stream, (centre, own.noise))
                });
                reviews.push(Review {
                    strategy: format!("D{document} 1"),
                    reviewer: (*reviewer).to_owned(),
                    model: (*model).to_owned(),
                    d1,
                    d2,
                });
            }
        }
    }
    let models = models
        .iter()
        .enumerate()
        .map(|(place, model)| ((*model).to_owned(), maker(place).to_owned()));
    Arena::new(models.collect(), reviews)
}

#[test]
fn planted_reviewers_have_the_bias_that_they_have() {
    let arenas = arenas();
    println!("bias of {arenas} planted reviewers of each kind, 12 documents, 6 models of 3 makers");
    for habit in HABITS {
        let found: Vec<[ReviewerBias; 2]> = (0..arenas)
            .map(|seed| {
                let arena = arena(habit, seed);
                [arena.own_bias("a").unwrap(), arena.maker_bias("x").unwrap()]
            })
            .collect();
        // Only the first of two models of its maker has the habit.
        for (place, (kind, planted)) in [("own", habit.own), ("maker", habit.kin / 2.0)]
            .into_iter()
            .enumerate()
        {
            let of = |seed: u32| found[seed as usize][place];
            let mean = (0..arenas).map(|seed| of(seed).mean).sum::<f64>() / f64::from(arenas);
            let named = share(arenas, |seed| 0.0 < of(seed).bounds.unwrap().0);
            let below = share(arenas, |seed| of(seed).bounds.unwrap().1 < 0.0);
            let held = share(arenas, |seed| {
                let (low, high) = of(seed).bounds.unwrap();
                low <= planted && planted <= high
            });
            println!(
                "{:<18} {kind:<6} planted {planted:.2} found {mean:+.2}; above 0 {named:.3}, below 0 {below:.3}, held {held:.3}",
                habit.name
            );
            let name = habit.name;
            assert!((mean - planted).abs() < 0.3, "{name}, {kind}: {mean}");
            assert!(0.8 <= held && below <= 0.15, "{name}, {kind}: {held} {below}");
            if 0.9 < planted {
                assert!(0.7 < named, "{name}, {kind}: {named}");
            } else if planted < 0.1 {
                assert!(named <= 0.17, "{name}, {kind}: {named}");
            }
        }
    }
}
