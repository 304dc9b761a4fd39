//! Planted deviations from a reference, and the mean D1 of a model whose programs have them.

use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use crate::indicators::{count, mean};
use crate::likeness::RunLikeness;
use crate::mean_fidelity::{DrawnFidelity, MeanFidelity};
use ktd_env::KeyedStream;

/// Draws of scenarios and long run, as a study has them.
const DRAWS: usize = 5;
/// Bars that a holding lasts, fewest and most.
const BARS_HELD: (f64, f64) = (6.0, 40.0);
/// Holdings of a draw of bars, fewest and most.
const HOLDINGS: (f64, f64) = (12.0, 50.0);

/// Why bounds miss where next to nothing is wrong.
const SELDOM: &str = "what five draws seldom show has bounds that are too narrow";

/// How programs of one document deviate: chances of each holding.
#[derive(Debug, Clone, Copy)]
struct PlantedDeviation {
    /// It is not there.
    missed: f64,
    /// It is one bar late.
    late: f64,
    /// There is another one besides, where the reference has none.
    spurious: f64,
}

/// A model whose submissions, a document each, deviate by turns in these ways; none stands for one that is not valid.
#[derive(Debug, Clone)]
struct PlantedModel {
    documents: usize,
    by_turns: Vec<Option<PlantedDeviation>>,
}

/// Models of which the first may be better than the others, who are equal, and the nearest is named.
#[derive(Debug, Clone)]
struct PlantedNearest {
    models: usize,
    first: PlantedModel,
    others: PlantedModel,
    is_better: bool,
}

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let way = |missed, late, spurious| {
        Some(PlantedDeviation {
            missed,
            late,
            spurious,
        })
    };
    let counted = |documents: usize| {
        if documents == 1 {
            "1 document".to_owned()
        } else {
            format!("{documents} documents")
        }
    };
    let of = |name: &str, documents: usize, by_turns| {
        let planted = format!("{name}; {}", counted(documents));
        StrategySizeDesign::new("mean D1", planted, PlantedModel::new(documents, by_turns))
    };
    let nearest = |name: &str, models: usize, documents: usize, (first, others): (f64, f64)| {
        let model = |late| PlantedModel::new(documents, vec![way(0.0, late, 0.1)]);
        let truth = PlantedNearest {
            models,
            first: model(first),
            others: model(others),
            is_better: first < others,
        };
        let planted = format!("{models} models, {name}; {}", counted(documents));
        StrategySizeDesign::new("models apart in D1", planted, truth)
    };
    let mixed = || {
        vec![
            way(0.2, 0.0, 0.0),
            way(0.0, 0.5, 0.0),
            way(0.0, 0.0, 0.3),
            way(0.1, 0.2, 0.1),
            None,
        ]
    };
    vec![
        of("a fifth of holdings missed", 1, vec![way(0.2, 0.0, 0.0)]),
        of("half of holdings late", 1, vec![way(0.0, 0.5, 0.0)]),
        of("three in ten besides", 1, vec![way(0.0, 0.0, 0.3)]),
        of("missed, late and besides", 1, vec![way(0.1, 0.2, 0.1)]),
        of("by turns each, and one not valid", 5, mixed()),
        of("by turns each, and one not valid", 12, mixed()),
        of("one holding in fifty missed", 1, vec![way(0.02, 0.0, 0.0)]).not_claimed(SELDOM),
        of("one holding in 500 missed", 1, vec![way(0.002, 0.0, 0.0)]).not_claimed(SELDOM),
        nearest("equal", 2, 1, (0.3, 0.3)),
        nearest("equal", 2, 12, (0.3, 0.3)),
        nearest("equal", 6, 12, (0.3, 0.3)),
        nearest("one late in 3 of 10, the other in 5", 2, 12, (0.3, 0.5)),
        nearest("one late in 3 of 10, the others in 7", 6, 12, (0.3, 0.7)),
    ]
}

impl PlantedDeviation {
    /// What one holding of so many bars adds, the deviations being of these sizes.
    fn likeness(bars: f64, (kept, late, spurious): (f64, f64, f64), besides: f64) -> [f64; 4] {
        let late = late * kept;
        [
            2.0 * kept + 2.0 * spurious,
            // An act that is one bar late counts four fifths.
            2.0 * (kept - 0.2 * late),
            kept * bars - late,
            bars + late + spurious * besides,
        ]
    }

    /// D1 over endless draws.
    fn truth(&self) -> f64 {
        let bars = f64::midpoint(BARS_HELD.0, BARS_HELD.1);
        let sizes = (1.0 - self.missed, self.late, self.spurious);
        let [acts, shared_acts, shared, all] = Self::likeness(bars, sizes, bars);
        (2.0 * shared_acts / (2.0 + acts)).min(shared / all)
    }

    fn drawn(&self, stream: &mut KeyedStream) -> RunLikeness {
        let mut found = RunLikeness::default();
        for _ in 0..whole(stream, HOLDINGS) {
            let bars = count(whole(stream, BARS_HELD));
            let besides = count(whole(stream, BARS_HELD));
            let mut is = |chance: f64| f64::from(u8::from(stream.uniform() < chance));
            let sizes = (1.0 - is(self.missed), is(self.late), is(self.spurious));
            let [acts, shared_acts, shared, all] = Self::likeness(bars, sizes, besides);
            found = found.and(&RunLikeness {
                reference_acts: 2,
                acts: (0..=4).find(|number| acts <= count(*number)).unwrap_or(0),
                shared_acts,
                shared_exposure: shared,
                exposure: all,
            });
        }
        found
    }
}

/// A whole number from the fewest to the most, each as likely.
fn whole(stream: &mut KeyedStream, (fewest, most): (f64, f64)) -> usize {
    let number = (fewest + (most - fewest + 1.0) * stream.uniform()).floor();
    (0..=100).find(|whole| number <= count(*whole)).unwrap_or(0)
}

impl PlantedModel {
    fn new(documents: usize, by_turns: Vec<Option<PlantedDeviation>>) -> Self {
        Self { documents, by_turns }
    }

    fn drawn(&self, stream: &mut KeyedStream) -> Option<MeanFidelity> {
        let submissions = self.submissions().map(|own| {
            let own = own?;
            let draws: Vec<RunLikeness> = (0..DRAWS).map(|_| own.drawn(stream)).collect();
            let without = (0..DRAWS).map(|out| Some(RunLikeness::of_draws(&draws, Some(out))?.fidelity()));
            Some(DrawnFidelity {
                score: RunLikeness::of_draws(&draws, None)?.fidelity(),
                without: without.collect::<Option<_>>()?,
            })
        });
        MeanFidelity::of(&submissions.collect::<Vec<_>>())
    }

    fn submissions(&self) -> impl Iterator<Item = Option<PlantedDeviation>> {
        self.by_turns.iter().copied().cycle().take(self.documents)
    }
}

impl PlantedTruth for PlantedModel {
    fn has_effect(&self) -> bool {
        true
    }

    fn truth(&self, _seed: u64) -> Option<f64> {
        let each: Vec<f64> = self
            .submissions()
            .map(|own| own.map_or(0.0, |own| own.truth()))
            .collect();
        mean(&each)
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let bounds = self.drawn(stream).and_then(|found| found.bounds);
        SeenEffect::of_bounds(bounds, 1.0)
    }
}

impl PlantedTruth for PlantedNearest {
    fn has_effect(&self) -> bool {
        self.is_better
    }

    /// Whether any two that are equal are told apart; where the first is better, whether it is from all others.
    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let mut drawn = vec![self.first.drawn(stream)];
        drawn.extend((1..self.models).map(|_| self.others.drawn(stream)));
        let pairs = self.models * (self.models - 1) / 2;
        let found: Vec<MeanFidelity> = drawn.into_iter().flatten().collect();
        let mut apart = found.iter().enumerate().flat_map(|(place, own)| {
            let later = found.iter().skip(place + 1);
            later.map(move |other| (place, own.is_apart(other, pairs)))
        });
        SeenEffect::of_verdict(if self.is_better {
            apart.filter(|(place, _)| *place == 0).all(|(_, apart)| apart)
        } else {
            apart.any(|(_, apart)| apart)
        })
    }
}
