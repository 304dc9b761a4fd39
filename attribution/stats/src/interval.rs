//! Intervals, and how much they leave out.

use super::error::StatsError;
use super::quantile::of_sorted;
use crate::Undefined;

/// How much an interval leaves out on each side.
///
/// The tail is what is kept, not the level: 1 - 0.95 is not 0.05 in floats, and a rank would move by one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    tail: f64,
}

impl Confidence {
    /// 95 %: 2.5 % on each side.
    pub const P95: Self = Self { tail: 0.025 };
    /// 90 %: 5 % on each side.
    pub const P90: Self = Self { tail: 0.05 };

    /// An interval that leaves out `tail` on each side.
    ///
    /// # Errors
    /// [`StatsError::Share`] unless the tail lies strictly between 0 and a half.
    pub fn with_tail(tail: f64) -> Result<Self, StatsError> {
        if 0.0 < tail && tail < 0.5 {
            return Ok(Self { tail });
        }
        Err(StatsError::Share {
            name: "the tail left out on each side",
            value: tail,
            above: 0.0,
            below: 0.5,
        })
    }

    /// The share left out below.
    #[must_use]
    pub const fn lower(self) -> f64 {
        self.tail
    }

    /// The share up to the upper end.
    #[must_use]
    pub const fn upper(self) -> f64 {
        1.0 - self.tail
    }
}

/// An interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Interval {
    /// The percentiles of values, type 7.
    ///
    /// # Errors
    /// [`Undefined`] where there is no value, or none that is a float.
    pub fn of_values(mut values: Vec<f64>, confidence: Confidence) -> Result<Self, Undefined> {
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self {
            lower: of_sorted(&values, confidence.lower())?,
            upper: of_sorted(&values, confidence.upper())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tail_is_below_a_half() {
        for tail in [0.0, 0.5, -0.1, f64::NAN] {
            assert!(Confidence::with_tail(tail).is_err());
        }
        assert_eq!(Confidence::with_tail(0.025), Ok(Confidence::P95));
    }

    #[test]
    fn a_fortieth_of_the_values_lies_beyond_each_end() {
        let values = (0..=1_000).map(f64::from).collect();
        let of = Interval::of_values(values, Confidence::P95).unwrap();
        assert!(
            (of.lower - 25.0).abs() < 1e-9 && (of.upper - 975.0).abs() < 1e-9,
            "{of:?}"
        );
    }

    proptest! {
        #[test]
        fn the_wider_interval_holds_the_narrower(values in prop::collection::vec(-0.05..0.05_f64, 1..60)) {
            let of = |confidence| Interval::of_values(values.clone(), confidence).unwrap();
            let (wide, narrow) = (of(Confidence::P95), of(Confidence::P90));
            prop_assert!(wide.lower <= narrow.lower && narrow.upper <= wide.upper);
        }
    }
}
