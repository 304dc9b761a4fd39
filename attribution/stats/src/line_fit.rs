//! A straight line through points, by least squares.

use crate::moments::{count, mean};
use crate::student_t::student_t_two_sided_p;
use crate::undefined::Undefined;

/// A line by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineFit {
    /// The slope.
    pub slope: f64,
    /// The value at 0.
    pub intercept: f64,
    /// The slope's standard error.
    pub slope_error: f64,
    /// The intercept's standard error.
    pub intercept_error: f64,
    /// The share of the variance that the line explains.
    pub r_squared: f64,
    /// Two-sided p-value of the slope.
    pub p: f64,
}

/// Fits a line through points.
///
/// # Errors
/// [`Undefined::TooFew`] below three points; [`Undefined::ZeroVariance`] where a side does not vary.
pub fn line_fit(points: &[(f64, f64)]) -> Result<LineFit, Undefined> {
    let few = Undefined::TooFew {
        items: "points",
        count: points.len(),
        need: 3,
    };
    if points.len() < 3 {
        return Err(few);
    }
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (x_mean, y_mean) = (mean(&xs).ok_or(few)?, mean(&ys).ok_or(few)?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, y)| of(x - x_mean, y - y_mean)).sum()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if xx <= 0.0 || yy <= 0.0 {
        return Err(Undefined::ZeroVariance);
    }
    let slope = xy / xx;
    let left: f64 = sum(&|x, y| (y - slope * x) * (y - slope * x));
    let free = count(points.len()) - 2.0;
    let slope_error = (left / free / xx).sqrt();
    let intercept_error = slope_error * (xx / count(points.len()) + x_mean * x_mean).sqrt();
    let t = if slope_error > 0.0 {
        slope / slope_error
    } else {
        f64::MAX
    };
    Ok(LineFit {
        slope,
        intercept: y_mean - slope * x_mean,
        slope_error,
        intercept_error,
        r_squared: xy / xx * (xy / yy),
        p: student_t_two_sided_p(t, free).map_err(|_| Undefined::OutOfRange)?,
    })
}
