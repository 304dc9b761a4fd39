//! Grids on which numbers are shown where a level of the ladder rounds them.

use ktd_env::factors::{Factor, Technical};

/// The distance of two shown numbers as a quotient, so that a multiple of it is the double nearest to its decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grain {
    of: f64,
    per: f64,
}

impl Grain {
    const fn new(of: f64, per: f64) -> Self {
        Self { of, per }
    }

    /// The nearest multiple; halves go away from zero.
    pub(crate) fn nearest(self, value: f64) -> f64 {
        // Adding zero turns -0.0 into 0.0.
        (value * self.per / self.of).round() * self.of / self.per + 0.0
    }
}

/// 0.001.
pub(crate) const THOUSANDTH: Grain = Grain::new(1.0, 1000.0);
/// 0.005.
pub(crate) const FIVE_THOUSANDTHS: Grain = Grain::new(5.0, 1000.0);
/// 0.01.
/// 0.02.
pub(crate) const FIFTIETH: Grain = Grain::new(2.0, 100.0);
pub(crate) const HUNDREDTH: Grain = Grain::new(1.0, 100.0);
/// 0.05.
pub(crate) const TWENTIETH: Grain = Grain::new(5.0, 100.0);
const TENTH: Grain = Grain::new(1.0, 10.0);
const HALF: Grain = Grain::new(5.0, 10.0);
const ONE: Grain = Grain::new(1.0, 1.0);
const FIVE: Grain = Grain::new(5.0, 1.0);

/// The grids of one rounded level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounding {
    /// Returns, gaps, drawdowns, volatilities and dispersion.
    pub(crate) rate: Grain,
    /// z-scores, and ratios of volumes and amounts.
    pub(crate) multiple: Grain,
    /// Shares of a count or of a range.
    pub(crate) share: Grain,
    /// Portfolio weights and what is made of them.
    pub(crate) weight: Grain,
    relative_strength: Grain,
    raw_volatility: Grain,
    /// Significant digits of raw factors that are neither a return nor a volatility.
    digits: u32,
    /// Relative distance of two neighbouring points.
    points_step: f64,
}

impl Rounding {
    /// The level of 0.1 %.
    pub(crate) const TENTH: Self = Self {
        rate: THOUSANDTH,
        multiple: TENTH,
        share: TWENTIETH,
        weight: THOUSANDTH,
        relative_strength: ONE,
        raw_volatility: HUNDREDTH,
        digits: 2,
        points_step: 0.001,
    };

    /// The level of 0.5 %.
    pub(crate) const HALF: Self = Self {
        rate: FIVE_THOUSANDTHS,
        multiple: HALF,
        share: TENTH,
        weight: FIVE_THOUSANDTHS,
        relative_strength: FIVE,
        raw_volatility: TWENTIETH,
        digits: 1,
        points_step: 0.005,
    };

    /// A technical on the grid of its kind.
    pub(crate) fn technical(&self, technical: Technical, value: f64) -> f64 {
        let grain = match technical {
            Technical::Return1d
            | Technical::Return5d
            | Technical::Return20d
            | Technical::Return60d
            | Technical::MaGap20
            | Technical::MaGap60
            | Technical::Volatility20
            | Technical::Drawdown60
            | Technical::TrueRange14 => self.rate,
            Technical::AmountRatio5To20 => self.multiple,
            Technical::Rsi14 => self.relative_strength,
            Technical::RangePosition20 => self.share,
        };
        grain.nearest(value)
    }

    /// The raw value of a factor on the grid of its kind.
    pub(crate) fn factor(&self, factor: Factor, raw: f64) -> f64 {
        match factor {
            Factor::Mom12_1 | Factor::High52w => self.rate.nearest(raw),
            Factor::Rv60 => self.raw_volatility.nearest(raw),
            // Means of daily returns are far below the grain of a return, so they are cut to digits.
            Factor::Illiq | Factor::RevOn | Factor::MomId | Factor::Skew | Factor::CorrPv | Factor::CvVol => {
                significant(raw, self.digits)
            }
        }
    }

    /// Points on a geometric grid through 100, so that between any two of them lies a whole number of steps and no
    /// rounding adds up; with decimals that keep neighbours apart. `None` for what is no positive number.
    pub(crate) fn points(&self, points: f64) -> Option<(f64, u32)> {
        const LEAST_DECIMALS: u32 = 2;
        const MOST_DECIMALS: u32 = 12;
        if !(points.is_finite() && 0.0 < points) {
            return None;
        }
        let steps = (libm::log(points / 100.0) / libm::log1p(self.points_step)).round();
        let shown = 100.0 * libm::pow(1.0 + self.points_step, steps);
        let (mut decimals, mut unit) = (LEAST_DECIMALS, 0.01);
        while shown * self.points_step < 2.0 * unit && decimals < MOST_DECIMALS {
            unit /= 10.0;
            decimals += 1;
        }
        Some((shown, decimals))
    }
}

/// The points of a rounded level around 100, made once for many prices.
#[derive(Debug)]
pub(crate) struct PointsGrid {
    log_step: f64,
    step: f64,
    /// Points so many steps from 100, from [`PointsGrid::FIRST`] on.
    points: Vec<f64>,
}

impl PointsGrid {
    const FIRST: i32 = -2000;
    const LAST: i32 = 2000;

    pub(crate) fn new(rounding: &Rounding) -> Self {
        let step = rounding.points_step;
        Self {
            log_step: libm::log1p(step),
            step,
            points: (Self::FIRST..=Self::LAST)
                .map(|steps| points_at(step, f64::from(steps)))
                .collect(),
        }
    }

    /// The nearest point; NaN for what is no positive number.
    pub(crate) fn nearest(&self, points: f64) -> f64 {
        if !(points.is_finite() && 0.0 < points) {
            return f64::NAN;
        }
        let steps = (libm::log(points / 100.0) / self.log_step).round();
        let place = steps - f64::from(Self::FIRST);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the bounds are checked before"
        )]
        let known = (0.0 <= place && place <= f64::from(Self::LAST - Self::FIRST))
            .then(|| self.points.get(place as usize).copied())
            .flatten();
        known.unwrap_or_else(|| points_at(self.step, steps))
    }
}

fn points_at(step: f64, steps: f64) -> f64 {
    100.0 * libm::pow(1.0 + step, steps)
}

/// `value` with so many significant digits.
fn significant(value: f64, digits: u32) -> f64 {
    const SMALLEST: f64 = 1e-9;
    let size = value.abs();
    if !size.is_finite() || size < SMALLEST {
        return 0.0;
    }
    // The power of ten of the last digit kept, as a quotient of exact products of tens.
    let (mut of, mut per) = (1.0, 1.0);
    while 10.0 * of / per <= size {
        of *= 10.0;
    }
    while size < of / per {
        per *= 10.0;
    }
    for _ in 1..digits {
        per *= 10.0;
    }
    Grain::new(of, per).nearest(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grains_give_the_double_of_their_decimals() {
        for steps in -2000..2000_i32 {
            let value = f64::from(steps) / 1000.0;
            assert_eq!(THOUSANDTH.nearest(value).to_bits(), (value + 0.0).to_bits());
        }
        assert_eq!(format!("{}", FIVE_THOUSANDTHS.nearest(0.0374)), "0.035");
        assert_eq!(format!("{}", FIVE.nearest(47.6)), "50");
        assert_eq!(format!("{}", TWENTIETH.nearest(-0.026)), "-0.05");
        assert!(THOUSANDTH.nearest(-0.000_1).is_sign_positive());
    }

    #[test]
    fn digits_are_counted_from_the_first() {
        for (value, digits, shown) in [
            (0.001_234_5, 2, "0.0012"),
            (0.001_234_5, 1, "0.001"),
            (-7.46, 1, "-7"),
            (-7.46, 2, "-7.5"),
            (123.4, 2, "120"),
            (0.0999, 1, "0.1"),
            (10.0, 1, "10"),
            (1.0, 2, "1"),
            (0.0, 2, "0"),
            (f64::NAN, 2, "0"),
        ] {
            assert_eq!(
                format!("{}", significant(value, digits)),
                shown,
                "{value} {digits}"
            );
        }
    }

    #[test]
    fn points_lie_a_whole_number_of_steps_apart_and_neighbours_differ() {
        for rounding in [Rounding::TENTH, Rounding::HALF] {
            assert_eq!(rounding.points(100.0).map(|(shown, _)| shown), Some(100.0));
            let mut before = f64::NEG_INFINITY;
            for steps in -3000..1500 {
                let point = 100.0 * libm::pow(1.0 + rounding.points_step, f64::from(steps));
                let Some((shown, decimals)) = rounding.points(point * 1.0002) else {
                    continue;
                };
                assert!((shown / point - 1.0).abs() < 1e-9, "{steps}");
                let scale: f64 = (0..decimals).map(|_| 10.0).product();
                let written = (shown * scale).round() / scale;
                assert!(before < written, "{steps}: {before} {written}");
                before = written;
            }
            for point in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert_eq!(rounding.points(point), None);
            }
        }
    }
}
