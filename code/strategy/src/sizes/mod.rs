//! How often a report is wrong about reviewers, models and programs of which everything is known.
//!
//! What is planted is judged by the very functions that a report calls. Generators share no constant with what is tested.

mod arenas;
mod bias;
mod complexity;
mod fidelity;
mod flags;
mod ratings;
mod trials;

use crate::indicators::count;
use ktd_env::KeyedStream;
use std::fmt::Debug;

/// A conclusion of a report on what is planted.
#[derive(Debug)]
pub struct StrategySizeDesign {
    /// What is concluded.
    pub conclusion: &'static str,
    /// What is planted, in words.
    pub planted: String,
    /// Why its errors are not claimed; none where they are.
    pub not_claimed: Option<&'static str>,
    truth: Box<dyn PlantedTruth>,
}

/// What draws of one design came to, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrategySizes {
    /// 95 % bounds that hold the truth; none of a conclusion without bounds.
    pub coverage: Option<f64>,
    /// Draws in which an effect is named that is not there; none where one is planted.
    pub size: Option<f64>,
    /// Draws in which the planted effect is named; none where there is none.
    pub power: Option<f64>,
}

/// What is planted.
trait PlantedTruth: Debug + Send + Sync {
    /// Whether there is an effect to be named.
    fn has_effect(&self) -> bool;

    /// The true value that bounds should hold; none of a conclusion without bounds. It is asked for once.
    fn truth(&self, _seed: u64) -> Option<f64> {
        None
    }

    /// What one draw shows.
    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect;
}

/// What one draw shows: bounds, and whether an effect is named.
#[derive(Debug, Clone, Copy, Default)]
struct SeenEffect {
    bounds: Option<(f64, f64)>,
    is_named: bool,
}

impl SeenEffect {
    /// Bounds, which name an effect where they lie on one side of what there is without one.
    fn of_bounds(bounds: Option<(f64, f64)>, without: f64) -> Self {
        Self {
            bounds,
            is_named: bounds.is_some_and(|(low, high)| without < low || high < without),
        }
    }

    /// A verdict without bounds.
    const fn of_verdict(is_named: bool) -> Self {
        Self {
            bounds: None,
            is_named,
        }
    }
}

impl StrategySizeDesign {
    /// Reviewers' flags and biases, ratings, D1 and its bounds, the correlation with complexity, ratios of real bars.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let parts = [
            flags::designs(),
            bias::designs(),
            ratings::designs(),
            fidelity::designs(),
            complexity::designs(),
            trials::designs(),
        ];
        parts.into_iter().flatten().collect()
    }

    fn new(conclusion: &'static str, planted: impl Into<String>, truth: impl PlantedTruth + 'static) -> Self {
        Self {
            conclusion,
            planted: planted.into(),
            not_claimed: None,
            truth: Box::new(truth),
        }
    }

    fn not_claimed(self, why: &'static str) -> Self {
        Self {
            not_claimed: Some(why),
            ..self
        }
    }

    /// What so many draws come to, by `seed`.
    #[must_use]
    pub fn sizes(&self, draws: u32, seed: u64) -> StrategySizes {
        let truth = self.truth.truth(seed);
        let purpose = format!("sizes/{}/{}", self.conclusion, self.planted);
        let (mut bounded, mut held, mut named) = (0_usize, 0_usize, 0_usize);
        for draw in 0..draws {
            let mut stream = KeyedStream::for_purpose(seed, &format!("{purpose}/{draw}"));
            let seen = self.truth.seen(&mut stream);
            named += usize::from(seen.is_named);
            if let Some(((low, high), truth)) = seen.bounds.zip(truth) {
                bounded += 1;
                held += usize::from(low - ROUNDING <= truth && truth <= high + ROUNDING);
            }
        }
        let named = count(named) / f64::from(draws.max(1));
        let has_effect = self.truth.has_effect();
        StrategySizes {
            coverage: (0 < bounded).then(|| count(held) / count(bounded)),
            size: (!has_effect).then_some(named),
            power: has_effect.then_some(named),
        }
    }
}

/// What sums of the same numbers in another order may differ by.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a share of draws may lie from this size in one of ten thousand designs.
    fn reach(size: f64, draws: u32) -> f64 {
        3.72 * (size * (1.0 - size) / f64::from(draws)).sqrt()
    }

    /// A few draws of every design but those that count all orders of twelve for each: what is claimed is within its bands as far as so
    /// few can tell. `ktd sizes --of strategy-code` draws hundreds of all.
    #[test]
    fn what_is_planted_is_concluded_as_often_as_it_is_said() {
        const DRAWS: u32 = 40;
        let mut designs = StrategySizeDesign::all();
        designs.retain(|design| {
            design.conclusion != "complexity, exact p" || !design.planted.ends_with("12 strategies")
        });
        let mut wrong = Vec::new();
        for design in designs {
            let found = design.sizes(DRAWS, 33);
            let is_wrong = |share: Option<f64>, most: f64| {
                share.is_some_and(|share| most + reach(most, DRAWS) < share) && design.not_claimed.is_none()
            };
            if is_wrong(found.size, 0.06) || is_wrong(found.coverage.map(|held| 1.0 - held), 0.07) {
                wrong.push(format!("{}: {}: {found:?}", design.conclusion, design.planted));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
