//! Return beyond the benchmark for the risk of differing from it.

use super::nav_path::Benchmark;
use ktd_stats::Undefined;
use ktd_stats::moments::Moments;

/// Annualised information ratio: the Sharpe ratio of daily returns less the benchmark's.
///
/// # Errors
/// [`Undefined::TooFewDays`] below two returns; [`Undefined::EqualsBenchmark`] when the difference does not vary.
pub fn information_ratio(benchmark: &Benchmark<'_>) -> Result<f64, Undefined> {
    let active: Vec<f64> = benchmark
        .path()
        .returns()
        .zip(benchmark.returns())
        .map(|(own, reference)| own - reference)
        .collect();
    let moments = Moments::of(&active).ok_or(Undefined::TooFewDays {
        days: active.len(),
        need_days: 2,
    })?;
    moments.annual_ratio(Undefined::EqualsBenchmark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::NavPath;

    #[test]
    fn holding_the_benchmark_has_a_reason_and_no_ratio() {
        let path = NavPath::new(100.0, &[110.0, 99.0]).unwrap();
        let same: Vec<f64> = path.returns().collect();
        let benchmark = path.benchmark(&same).unwrap();
        assert_eq!(information_ratio(&benchmark), Err(Undefined::EqualsBenchmark));
    }

    #[test]
    fn all_cash_against_a_moving_benchmark_has_one() {
        let path = NavPath::new(100.0, &[100.0, 100.0]).unwrap();
        let ratio = information_ratio(&path.benchmark(&[0.02, 0.01]).unwrap()).unwrap();
        assert!(ratio < 0.0, "{ratio}");
    }
}
