//! Several means together: what the largest of many t values comes to where nobody is better.
//!
//! Where the true means are the null, level and contrasts of normal days have one covariance and no direction of their own: turned
//! at random, all columns alike, they are as likely as they were (Langsrud 2005). So the share of random turns whose largest t
//! reaches the observed one is the p-value, exact for any dependence between columns and for any number of them; each turn is
//! studentised anew.

use crate::contrasts::{MeanContrasts, Turned};
use crate::moments::{count, is_rounding};
use crate::{Confidence, SplitMix64, StatsError, Undefined, normal_quantile};

/// Means of several agents over the same days or windows.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanTable {
    columns: Vec<MeanContrasts>,
}

/// Whether the best of several means is above what is expected of nobody.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestOfMany {
    /// The largest t.
    pub statistic: f64,
    /// Liberal p-value: means below their null are left out.
    pub p_lower: f64,
    /// The p-value to quote: means that are clearly below their null are left out (Hansen 2005).
    pub p_consistent: f64,
    /// Conservative p-value: of all means.
    pub p_upper: f64,
    /// The same of all means, not studentised (White 2000): those that vary most decide.
    pub p_of_largest_mean: f64,
}

/// Random directions in the space of a level and its contrasts.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotations {
    directions: Vec<Vec<f64>>,
}

impl Rotations {
    /// `replicates` directions for means of so many contrasts, drawn by `seed`.
    #[must_use]
    pub fn new(contrasts: usize, replicates: u32, seed: u64) -> Self {
        let direction = |replicate: u32| {
            let mut generator = SplitMix64::of_replicate(seed, replicate);
            let mut normal = || normal_quantile(generator.uniform().max(f64::EPSILON)).unwrap_or(0.0);
            let drawn: Vec<f64> = (0..=contrasts).map(|_| normal()).collect();
            let length = drawn.iter().map(|value| value * value).sum::<f64>().sqrt();
            drawn.into_iter().map(|value| value / length).collect()
        };
        Self {
            directions: (0..replicates).map(direction).collect(),
        }
    }

    pub(crate) fn directions(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.directions.iter().map(Vec::as_slice)
    }
}

impl Turned {
    /// The level after a turn.
    pub(crate) fn level_in(&self, direction: &[f64]) -> f64 {
        let own = std::iter::once(&self.level).chain(&self.contrasts);
        own.zip(direction).map(|(own, share)| own * share).sum()
    }

    pub(crate) fn square(&self) -> f64 {
        let contrasts: f64 = self.contrasts.iter().map(|value| value * value).sum();
        contrasts + self.level * self.level
    }

    /// The t of a level whose square and that of all contrasts add up to `square`; 0 where nothing varies.
    pub(crate) fn t(&self, level: f64, square: f64) -> f64 {
        let variance = (square - level * level).max(0.0) / count(self.contrasts.len().max(1));
        if is_rounding(variance.sqrt(), 0.0) {
            return 0.0;
        }
        level / variance.sqrt()
    }
}

/// One mean as it was observed, and what turns of it need.
struct Observed {
    turned: Turned,
    square: f64,
    t: f64,
}

impl Observed {
    fn of(column: &MeanContrasts, null: f64) -> Self {
        let turned = column.turned(null);
        Self {
            square: turned.square(),
            t: column.t_of_contrasts(null),
            turned,
        }
    }
}

impl MeanTable {
    /// A table of means over the same days or windows.
    ///
    /// # Errors
    /// [`StatsError::NoColumns`] of none; [`StatsError::Length`] where a column is over another number of them.
    pub fn new(columns: Vec<MeanContrasts>) -> Result<Self, StatsError> {
        let first = columns.first().ok_or(StatsError::NoColumns)?;
        let shape = (first.count(), first.contrasts());
        match columns
            .iter()
            .find(|column| (column.count(), column.contrasts()) != shape)
        {
            None => Ok(Self { columns }),
            Some(other) => Err(StatsError::Length {
                left: shape.0,
                right: other.count(),
            }),
        }
    }

    /// The means.
    #[must_use]
    pub fn columns(&self) -> &[MeanContrasts] {
        &self.columns
    }

    /// Contrasts of each mean, which its rotations need.
    #[must_use]
    pub fn contrasts(&self) -> usize {
        self.columns.first().map_or(0, MeanContrasts::contrasts)
    }

    /// How many standard errors to either side hold all true means at once, at this confidence: of a single mean Student's point, of
    /// many the point of the largest t over turns of what their days vary by. None where too few turns were drawn for it.
    #[must_use]
    pub fn widest_t(&self, confidence: Confidence, rotations: &Rotations) -> Option<f64> {
        let columns: Vec<Turned> = self
            .columns
            .iter()
            .map(|column| column.turned(column.mean()))
            .collect();
        let squares: Vec<f64> = columns.iter().map(Turned::square).collect();
        let largest = rotations.directions().map(|direction| {
            let each = columns.iter().zip(&squares);
            let t = each.map(|(turned, square)| turned.t(turned.level_in(direction), *square).abs());
            t.fold(0.0, f64::max)
        });
        let mut largest: Vec<f64> = largest.collect();
        largest.sort_unstable_by(f64::total_cmp);
        let allowed = 2.0 * confidence.lower() * (count(largest.len()) + 1.0) - 1.0;
        let above = crate::split_mix::whole(allowed.max(0.0));
        largest.get(largest.len().checked_sub(above + 1)?).copied()
    }

    /// Tests that no mean is above its null, `nulls` by column.
    ///
    /// # Errors
    /// [`StatsError::Length`] unless there is a null for each column. Within: [`Undefined::TooFewDays`] below three days, where
    /// the threshold of what is clearly below has no value.
    pub fn best_of_many(
        &self,
        nulls: &[f64],
        rotations: &Rotations,
    ) -> Result<Result<BestOfMany, Undefined>, StatsError> {
        if nulls.len() != self.columns.len() {
            return Err(StatsError::Length {
                left: nulls.len(),
                right: self.columns.len(),
            });
        }
        let days = self.columns.first().map_or(0, MeanContrasts::count);
        if days < 3 {
            return Ok(Err(Undefined::TooFewDays { days, need_days: 3 }));
        }
        let columns: Vec<Observed> = self
            .columns
            .iter()
            .zip(nulls)
            .map(|(column, null)| Observed::of(column, *null))
            .collect();
        let clearly_below = -(2.0 * libm::log(libm::log(count(days)))).sqrt();
        let statistic = columns.iter().map(|column| column.t).fold(0.0, f64::max);
        let largest = columns
            .iter()
            .map(|column| column.turned.level)
            .fold(0.0, f64::max);
        let mut reached = [0_usize; 4];
        for direction in rotations.directions() {
            let mut best = [0.0_f64; 4];
            for column in &columns {
                let level = column.turned.level_in(direction);
                let now = column.turned.t(level, column.square);
                let counts = [0.0 <= column.t, clearly_below <= column.t, true];
                for (best, _) in best.iter_mut().zip(counts).filter(|(_, counts)| *counts) {
                    *best = best.max(now);
                }
                best[3] = best[3].max(level);
            }
            let observed = [statistic, statistic, statistic, largest];
            for ((reached, best), observed) in reached.iter_mut().zip(best).zip(observed) {
                *reached += usize::from(observed <= best);
            }
        }
        // The observed direction is one of those that could have been drawn.
        let drawn = count(rotations.directions().len()) + 1.0;
        let [p_lower, p_consistent, p_upper, p_of_largest_mean] =
            reached.map(|reached| (count(reached) + 1.0) / drawn);
        Ok(Ok(BestOfMany {
            statistic,
            p_lower,
            p_consistent,
            p_upper,
            p_of_largest_mean,
        }))
    }
}
