//! Daily values of an episode, checked once.

use super::error::MetricError;

/// Net asset values at the close of each day, in CNY, after an initial cash: all finite and above 0.
///
/// The first daily return starts from the initial cash, so that the fees and losses of the first day count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NavPath<'a> {
    initial: f64,
    nav: &'a [f64],
}

impl<'a> NavPath<'a> {
    /// The path from `initial` cash over the closing values `nav`.
    ///
    /// # Errors
    /// [`MetricError::Nav`] for a value that is not a number above 0.
    pub fn new(initial: f64, nav: &'a [f64]) -> Result<Self, MetricError> {
        let values = std::iter::once(initial).chain(nav.iter().copied());
        for (day, value) in values.enumerate() {
            if !(value.is_finite() && 0.0 < value) {
                return Err(MetricError::Nav { day, value });
            }
        }
        Ok(Self { initial, nav })
    }

    /// How many daily returns there are.
    #[must_use]
    pub const fn days(&self) -> usize {
        self.nav.len()
    }

    /// Cash before the first day, in CNY.
    #[must_use]
    pub const fn initial(&self) -> f64 {
        self.initial
    }

    /// Net asset values at the close of each day, in CNY.
    #[must_use]
    pub const fn closes(&self) -> &'a [f64] {
        self.nav
    }

    /// Net asset values before each day: the initial cash, then each close but the last.
    pub fn opens(&self) -> impl Iterator<Item = f64> + use<'a> {
        std::iter::once(self.initial).chain(self.nav.iter().copied())
    }

    /// Simple daily returns.
    pub fn returns(&self) -> impl Iterator<Item = f64> + use<'a> {
        self.nav
            .iter()
            .zip(self.opens())
            .map(|(close, open)| close / open - 1.0)
    }

    /// A daily amount beside this path, such as the value traded or the cash at the close, in CNY.
    ///
    /// # Errors
    /// [`MetricError::Length`] unless there is one value a day; [`MetricError::Negative`] for a value that is not a
    /// number of 0 or more.
    pub fn daily(&self, series: &'static str, values: &'a [f64]) -> Result<Daily<'a>, MetricError> {
        self.check_length(series, values.len())?;
        for (place, value) in values.iter().enumerate() {
            check_magnitude(series, place, *value)?;
        }
        Ok(Daily { path: *self, values })
    }

    /// The benchmark's simple daily returns on the days of this path.
    ///
    /// # Errors
    /// [`MetricError::Length`] unless there is one return a day; [`MetricError::BenchmarkReturn`] for one that is
    /// missing (NaN) or at most -1.
    pub fn benchmark(&self, returns: &'a [f64]) -> Result<Benchmark<'a>, MetricError> {
        self.check_length("benchmark returns", returns.len())?;
        for (place, value) in returns.iter().copied().enumerate() {
            if !(value.is_finite() && -1.0 < value) {
                return Err(MetricError::BenchmarkReturn {
                    day: place + 1,
                    value,
                });
            }
        }
        Ok(Benchmark { path: *self, returns })
    }

    const fn check_length(&self, series: &'static str, days: usize) -> Result<(), MetricError> {
        if days == self.days() {
            return Ok(());
        }
        Err(MetricError::Length {
            series,
            days,
            need_days: self.days(),
        })
    }
}

/// `value` must be a finite number of 0 or more.
pub(super) fn check_magnitude(series: &'static str, place: usize, value: f64) -> Result<(), MetricError> {
    if value.is_finite() && 0.0 <= value {
        return Ok(());
    }
    Err(MetricError::Negative {
        series,
        day: place + 1,
        value,
    })
}

/// A daily amount in CNY, aligned with the path it was checked against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Daily<'a> {
    path: NavPath<'a>,
    values: &'a [f64],
}

impl<'a> Daily<'a> {
    /// The path beside which the amounts stand.
    #[must_use]
    pub const fn path(&self) -> NavPath<'a> {
        self.path
    }

    /// The amounts, in CNY.
    #[must_use]
    pub const fn values(&self) -> &'a [f64] {
        self.values
    }
}

/// A benchmark's daily returns, aligned with the path they were checked against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Benchmark<'a> {
    path: NavPath<'a>,
    returns: &'a [f64],
}

impl<'a> Benchmark<'a> {
    /// The path beside which the returns stand.
    #[must_use]
    pub const fn path(&self) -> NavPath<'a> {
        self.path
    }

    /// Simple daily returns.
    #[must_use]
    pub const fn returns(&self) -> &'a [f64] {
        self.returns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nav_that_is_no_positive_number_is_an_error_that_names_its_day() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let nav = [100.0, value];
            assert!(matches!(
                NavPath::new(100.0, &nav),
                Err(MetricError::Nav { day: 2, .. })
            ));
            assert!(matches!(
                NavPath::new(value, &nav),
                Err(MetricError::Nav { day: 0, .. })
            ));
        }
    }

    #[test]
    fn the_first_return_starts_from_the_initial_cash() {
        let path = NavPath::new(100.0, &[90.0, 99.0]).unwrap();
        let returns: Vec<f64> = path.returns().collect();
        assert!((returns[0] + 0.1).abs() < 1e-15 && (returns[1] - 0.1).abs() < 1e-15);
        assert_eq!(returns.len(), 2);
    }

    #[test]
    fn companions_must_fit_the_path() {
        let path = NavPath::new(100.0, &[90.0, 99.0]).unwrap();
        assert!(matches!(
            path.daily("cash", &[1.0]),
            Err(MetricError::Length {
                days: 1,
                need_days: 2,
                ..
            })
        ));
        assert!(matches!(
            path.daily("cash", &[1.0, -0.5]),
            Err(MetricError::Negative { day: 2, .. })
        ));
        assert!(matches!(
            path.benchmark(&[f64::NAN, 0.0]),
            Err(MetricError::BenchmarkReturn { day: 1, .. })
        ));
        assert!(path.benchmark(&[-1.0, 0.0]).is_err());
        assert!(path.benchmark(&[0.01, -0.01]).is_ok());
    }
}
