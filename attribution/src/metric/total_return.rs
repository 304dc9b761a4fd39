//! What the episode earned.

use super::nav_path::{Benchmark, NavPath};
use ktd_stats::Undefined;

/// Total return: last net asset value over initial cash, less 1.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn total_return(path: &NavPath<'_>) -> Result<f64, Undefined> {
    let last = path.closes().last().ok_or(Undefined::TooFewDays {
        days: 0,
        need_days: 1,
    })?;
    Undefined::unless_finite(last / path.initial() - 1.0)
}

/// Total return less the benchmark's compounded return on the same dates.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn excess_return(benchmark: &Benchmark<'_>) -> Result<f64, Undefined> {
    let own = total_return(&benchmark.path())?;
    let growth: f64 = benchmark.returns().iter().map(|r| 1.0 + r).product();
    Undefined::unless_finite(own - (growth - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_is_compounded() {
        let path = NavPath::new(100.0, &[110.0, 121.0]).unwrap();
        assert!((total_return(&path).unwrap() - 0.21).abs() < 1e-15);
        let excess = excess_return(&path.benchmark(&[0.1, 0.1]).unwrap()).unwrap();
        assert!(excess.abs() < 1e-15, "{excess}");
    }

    #[test]
    fn no_day_has_no_return() {
        let path = NavPath::new(100.0, &[]).unwrap();
        assert!(matches!(total_return(&path), Err(Undefined::TooFewDays { .. })));
    }

    #[test]
    fn an_overflow_is_a_reason() {
        let path = NavPath::new(f64::MIN_POSITIVE, &[f64::MAX]).unwrap();
        assert_eq!(total_return(&path), Err(Undefined::OutOfRange));
    }
}
