//! How sure a mean is, from contrasts of its own series.
//!
//! A mean over days is judged by how much slow cosine waves of the same series move: the equal-weighted cosine estimate of the
//! long-run variance (Müller 2007; Lazarus, Lewis, Stock and Watson 2018), with Student's t. Waves that are orthogonal to the
//! mean are independent of it where days are, so that the size is exact for normal days however few there are, and slow waves
//! hold the dependence of neighbouring days. Nothing is drawn, and nobody else's series matters.

use crate::moments::{Moments, count, is_rounding};
use crate::split_mix::whole;
use crate::student_t::student_t_quantile;
use crate::{
    Confidence, DailyTable, Interval, Sample, StatsError, TRADING_DAYS_PER_YEAR, Undefined,
    student_t_two_sided_p,
};

/// Mean of a series, of days or of windows, with orthonormal contrasts of it: one such list a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanContrasts {
    /// Values of the series.
    count: usize,
    seeds: Vec<SeedContrasts>,
    /// Variances of the mean that no contrast of the mean over seeds holds.
    beside: Vec<VariancePart>,
}

#[derive(Debug, Clone, PartialEq)]
struct SeedContrasts {
    mean: f64,
    contrasts: Vec<f64>,
}

/// A variance of the mean, and the degrees of freedom it is estimated with.
#[derive(Debug, Clone, Copy, PartialEq)]
struct VariancePart {
    variance: f64,
    freedom: f64,
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of Student's t.
    pub freedom: f64,
}

/// The mean over seeds as what rotations turn: its level and contrasts, of one scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turned {
    pub(crate) level: f64,
    pub(crate) contrasts: Vec<f64>,
}

/// Cosine waves by which the mean over so many days is judged: `0.6 days^(2/3)`, at least one. Few waves widen intervals, many
/// read faster dependence as noise; of the sizes that come of it docs/leaderboard.md#true-sizes has the table.
#[must_use]
pub fn contrasts_of_days(days: usize) -> usize {
    let root = libm::cbrt(count(days));
    whole(0.6 * root * root).clamp(1, days.saturating_sub(1).max(1))
}

impl MeanContrasts {
    /// A mean over days and seeds: one column a seed, on the same days.
    ///
    /// What seeds differ by beyond the noise of their own days widens the mean (two-way clustering; Cameron, Gelbach and
    /// Miller 2011), with as many degrees of freedom as there are seeds but one.
    ///
    /// # Errors
    /// [`Undefined::TooFewDays`] below two days.
    pub fn of_days(seeds: &DailyTable) -> Result<Self, Undefined> {
        let days = seeds.days();
        if days < 2 {
            return Err(Undefined::TooFewDays { days, need_days: 2 });
        }
        Ok(Self::of_columns(seeds, contrasts_of_days(days)))
    }

    /// The annual Sharpe ratio of daily returns, as the mean of what each day makes of it: to first order in the mean and the
    /// deviation (Lo 2002; Ledoit and Wolf 2008): one list a seed, on the same days.
    ///
    /// # Errors
    /// As [`MeanContrasts::of_days`]; [`Undefined::ZeroVariance`] of returns that do not vary.
    pub fn of_sharpe(seeds: &[Sample<'_>]) -> Result<Self, Undefined> {
        let each: Vec<Vec<f64>> = seeds.iter().map(sharpe_by_day).collect::<Result<_, _>>()?;
        let columns: Vec<&[f64]> = each.iter().map(Vec::as_slice).collect();
        match DailyTable::new("Sharpe ratio by day", &columns) {
            Ok(table) => Self::of_days(&table),
            Err(_) => Err(Undefined::OutOfRange),
        }
    }

    /// A mean over windows, each with a figure of its own: Student's t over the windows, whatever they differ by.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] below two windows.
    pub fn of_windows(values: &Sample<'_>) -> Result<Self, Undefined> {
        let windows = values.values().len();
        let table = DailyTable::new("figures of windows", &[values.values()]).ok();
        match table.filter(|_| 1 < windows) {
            Some(table) => Ok(Self::of_columns(&table, windows - 1)),
            None => Err(Undefined::TooFew {
                items: "windows",
                count: windows,
                need: 2,
            }),
        }
    }

    fn of_columns(table: &DailyTable, contrasts: usize) -> Self {
        let days = count(table.days());
        let mut seeds: Vec<SeedContrasts> = table
            .means()
            .unwrap_or_default()
            .into_iter()
            .map(|mean| SeedContrasts {
                mean,
                contrasts: Vec::with_capacity(contrasts),
            })
            .collect();
        let scale = (2.0 / days).sqrt();
        for wave in 1..=contrasts {
            let mut sums = vec![0.0; seeds.len()];
            for (day, row) in table.rows().enumerate() {
                let turn = std::f64::consts::PI * count(wave) * (count(day) + 0.5) / days;
                let weight = scale * libm::cos(turn);
                for ((sum, value), seed) in sums.iter_mut().zip(row).zip(&seeds) {
                    *sum += weight * (value - seed.mean);
                }
            }
            for (seed, sum) in seeds.iter_mut().zip(sums) {
                seed.contrasts.push(sum);
            }
        }
        let mut made = Self {
            count: table.days(),
            seeds,
            beside: Vec::new(),
        };
        made.beside.extend(made.between_seeds());
        made
    }

    /// This mean less another of the same days or windows: seed by seed where both have as many, for they share what a seed
    /// draws.
    ///
    /// # Errors
    /// [`StatsError::Length`] for another number of days or windows.
    pub fn less(&self, other: &Self) -> Result<Self, StatsError> {
        if self.count != other.count {
            return Err(StatsError::Length {
                left: self.count,
                right: other.count,
            });
        }
        if self.seeds.len() == other.seeds.len() {
            let pairs = self.seeds.iter().zip(&other.seeds);
            let mut made = Self {
                count: self.count,
                seeds: pairs.map(|(own, other)| own.less(other)).collect(),
                beside: Vec::new(),
            };
            made.beside.extend(made.between_seeds());
            return Ok(made);
        }
        let beside = self.beside.iter().chain(&other.beside);
        Ok(Self {
            count: self.count,
            seeds: vec![self.over_seeds().less(&other.over_seeds())],
            beside: beside.copied().collect(),
        })
    }

    /// The mean over seeds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.over_seeds().mean
    }

    /// Contrasts of each seed.
    #[must_use]
    pub fn contrasts(&self) -> usize {
        self.seeds.first().map_or(0, |seed| seed.contrasts.len())
    }

    /// Days or windows.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The mean with its standard error.
    ///
    /// # Errors
    /// [`Undefined::ZeroVariance`] for a series that does not vary, [`Undefined::OutOfRange`] where arithmetic overflows.
    pub fn estimate(&self) -> Result<MeanEstimate, Undefined> {
        let whole = self.over_seeds();
        let own = VariancePart {
            variance: mean_square(&whole.contrasts) / count(self.count),
            freedom: count(whole.contrasts.len()),
        };
        let parts = || std::iter::once(&own).chain(&self.beside);
        let variance: f64 = parts().map(|part| part.variance).sum();
        let standard_error = Undefined::unless_finite(variance.sqrt())?;
        if is_rounding(standard_error * count(self.count).sqrt(), whole.mean) {
            return Err(Undefined::ZeroVariance);
        }
        // Satterthwaite (1946).
        let each = parts().map(|part| part.variance * part.variance / part.freedom);
        Ok(MeanEstimate {
            mean: whole.mean,
            standard_error,
            freedom: Undefined::unless_finite(variance * variance / each.sum::<f64>())?,
        })
    }

    pub(crate) fn turned(&self, null: f64) -> Turned {
        let whole = self.over_seeds();
        let scale = count(self.count);
        Turned {
            level: scale.sqrt() * (whole.mean - null),
            contrasts: whole.contrasts,
        }
    }

    /// How far the mean lies from `null`, as a t of as many degrees of freedom as there are contrasts: where seeds widen it, the t
    /// of the same p-value; 0 of what does not vary.
    pub(crate) fn t_of_contrasts(&self, null: f64) -> f64 {
        let Ok(found) = self.estimate() else { return 0.0 };
        let t = found.t(null);
        if self.beside.is_empty() {
            return t;
        }
        let above = found.p_two_sided(null).map(|p| 1.0 - p.max(f64::EPSILON) / 2.0);
        let freedom = count(self.contrasts());
        let same = above.and_then(|above| student_t_quantile(above, freedom));
        same.map_or(0.0, |same| same.copysign(t))
    }

    fn over_seeds(&self) -> SeedContrasts {
        let seeds = count(self.seeds.len().max(1));
        let mut whole = SeedContrasts {
            mean: self.seeds.iter().map(|seed| seed.mean).sum::<f64>() / seeds,
            contrasts: vec![0.0; self.contrasts()],
        };
        for seed in &self.seeds {
            for (sum, contrast) in whole.contrasts.iter_mut().zip(&seed.contrasts) {
                *sum += contrast / seeds;
            }
        }
        whole
    }

    /// What the means of seeds vary by beyond what the noise of their own days explains; none where days explain all.
    fn between_seeds(&self) -> Option<VariancePart> {
        let seeds = count(self.seeds.len());
        let freedom = seeds - 1.0;
        if freedom < 1.0 {
            return None;
        }
        let whole = self.over_seeds();
        let off = |seed: &SeedContrasts| (seed.mean - whole.mean) * (seed.mean - whole.mean);
        let observed = self.seeds.iter().map(off).sum::<f64>() / freedom / seeds;
        let noise = |seed: &SeedContrasts| mean_square(&seed.less(&whole).contrasts);
        let noise = self.seeds.iter().map(noise).sum::<f64>() / freedom;
        let explained = noise / seeds / count(self.count);
        let variance = observed - explained;
        // What was observed is uncertain, and so is the part of it that days explain: between the degrees of freedom of the
        // whole and of the rest, as planted seeds bear out (docs/leaderboard.md#true-sizes).
        let freedom = freedom * (variance / observed);
        (0.0 < variance).then_some(VariancePart { variance, freedom })
    }
}

impl SeedContrasts {
    fn less(&self, other: &Self) -> Self {
        let pairs = self.contrasts.iter().zip(&other.contrasts);
        Self {
            mean: self.mean - other.mean,
            contrasts: pairs.map(|(own, other)| own - other).collect(),
        }
    }
}

impl MeanEstimate {
    /// How many standard errors the mean lies above `null`.
    #[must_use]
    pub fn t(&self, null: f64) -> f64 {
        (self.mean - null) / self.standard_error
    }

    /// Probability, where the true mean is `null`, that an estimate lies at least as far from it.
    ///
    /// # Errors
    /// [`StatsError`] for a `null` that is no number.
    pub fn p_two_sided(&self, null: f64) -> Result<f64, StatsError> {
        student_t_two_sided_p(self.t(null), self.freedom)
    }

    /// Student's interval.
    ///
    /// # Errors
    /// [`StatsError`] where the degrees of freedom are none.
    pub fn interval(&self, confidence: Confidence) -> Result<Interval, StatsError> {
        let reach = self.standard_error * student_t_quantile(confidence.upper(), self.freedom)?;
        Ok(Interval {
            lower: self.mean - reach,
            upper: self.mean + reach,
        })
    }
}

/// What each day makes of the annual Sharpe ratio of daily returns.
fn sharpe_by_day(returns: &Sample<'_>) -> Result<Vec<f64>, Undefined> {
    let values = returns.values();
    let moments = Moments::of(values).ok_or(Undefined::TooFewDays {
        days: values.len(),
        need_days: 2,
    })?;
    let ratio = moments.daily_ratio(Undefined::ZeroVariance)?;
    let (middle, days) = (moments.mean(), count(values.len()));
    // Of so many days, not one less: the squares then have the mean 1.
    let deviation = (moments.variance() * (days - 1.0) / days).sqrt();
    let of_day = |value: &f64| {
        let off = (value - middle) / deviation;
        TRADING_DAYS_PER_YEAR.sqrt() * (ratio + off - ratio / 2.0 * (off * off - 1.0))
    };
    Ok(values.iter().map(of_day).collect())
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / count(values.len().max(1))
}
