//! Linking of what was earned beyond a benchmark.

use super::error::AccountError;

/// How daily active contributions become a window's. Both add up to the difference of the geometric returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActiveLinking {
    /// Carino's two-series weights: `[ln(1+Rp) - ln(1+Rb)] / (Rp - Rb)`, and `1 / (1+Rp)` where both are equal.
    Carino,
    /// Menchero's optimised weights `A + C (Rp_t - Rb_t)`: as near to one another as can be.
    Menchero,
}

/// The weight of each day, by which a daily active contribution enters the window's.
///
/// # Errors
/// [`AccountError::Benchmark`] when there is not one return above -1 in both series for each day.
pub fn link_active(
    portfolio: &[f64],
    benchmark: &[f64],
    linking: ActiveLinking,
) -> Result<Vec<f64>, AccountError> {
    let is_return = |value: f64| value.is_finite() && -1.0 < value;
    let pairs = || portfolio.iter().copied().zip(benchmark.iter().copied());
    if portfolio.len() != benchmark.len() {
        let place = portfolio.len().min(benchmark.len());
        return Err(AccountError::Benchmark { place });
    }
    if let Some(place) = pairs().position(|(own, other)| !(is_return(own) && is_return(other))) {
        return Err(AccountError::Benchmark { place });
    }
    let whole = |series: &[f64]| libm::expm1(series.iter().map(|daily| libm::log1p(*daily)).sum());
    let (own, other) = (whole(portfolio), whole(benchmark));
    Ok(match linking {
        ActiveLinking::Carino => {
            let scale = two_series(own, other);
            pairs()
                .map(|(own, other)| two_series(own, other) / scale)
                .collect()
        }
        ActiveLinking::Menchero => menchero(portfolio, benchmark, own, other),
    })
}

fn two_series(own: f64, other: f64) -> f64 {
    let difference = own - other;
    if difference == 0.0 {
        return 1.0 / (1.0 + own);
    }
    // log1p of the quotient keeps the digits that a difference of two logarithms would cancel.
    libm::log1p(difference / (1.0 + other)) / difference
}

#[expect(clippy::cast_precision_loss, reason = "days stay far below 2^53")]
fn menchero(portfolio: &[f64], benchmark: &[f64], own: f64, other: f64) -> Vec<f64> {
    let days = portfolio.len() as f64;
    let root = |whole: f64| libm::pow(1.0 + whole, 1.0 / days);
    let (difference, roots) = (own - other, root(own) - root(other));
    let scale = if roots == 0.0 {
        libm::pow(1.0 + own, (days - 1.0) / days)
    } else {
        difference / days / roots
    };
    let active: Vec<f64> = portfolio
        .iter()
        .zip(benchmark)
        .map(|(own, other)| own - other)
        .collect();
    let squares: f64 = active.iter().map(|daily| daily * daily).sum();
    let missing = difference - scale * active.iter().sum::<f64>();
    let slope = if squares == 0.0 { 0.0 } else { missing / squares };
    active.iter().map(|daily| scale + slope * daily).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_add_up_to_the_difference_of_the_geometric_returns() {
        let (own, other) = ([0.1, -0.05, 0.02, 0.03], [0.04, -0.07, 0.02, 0.01]);
        let whole = |series: &[f64]| series.iter().map(|daily| 1.0 + daily).product::<f64>() - 1.0;
        for linking in [ActiveLinking::Carino, ActiveLinking::Menchero] {
            let weights = link_active(&own, &other, linking).unwrap();
            let linked: f64 = (0..4).map(|day| weights[day] * (own[day] - other[day])).sum();
            assert!(
                (linked - (whole(&own) - whole(&other))).abs() < 1e-15,
                "{linking:?}"
            );
        }
    }

    #[test]
    fn equal_series_have_the_limit_and_no_active_return() {
        let series = [0.1, -0.05];
        for linking in [ActiveLinking::Carino, ActiveLinking::Menchero] {
            let weights = link_active(&series, &series, linking).unwrap();
            assert!(weights.iter().all(|weight| weight.is_finite() && 0.5 < *weight));
        }
    }

    #[test]
    fn a_benchmark_that_does_not_fit_is_refused_at_its_first_fault() {
        let refused = |benchmark: &[f64]| link_active(&[0.1, 0.2], benchmark, ActiveLinking::Carino);
        assert_eq!(refused(&[0.1]), Err(AccountError::Benchmark { place: 1 }));
        assert_eq!(
            refused(&[0.1, f64::NAN]),
            Err(AccountError::Benchmark { place: 1 })
        );
        assert_eq!(refused(&[-1.0, 0.1]), Err(AccountError::Benchmark { place: 0 }));
    }
}
