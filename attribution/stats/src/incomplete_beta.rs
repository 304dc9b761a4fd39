//! The regularised incomplete beta function, behind the tails of Student's t and of the binomial distribution.

/// `I_x(a, b)` for the shapes `(a, b)`, with `rest = 1 - x`.
pub(crate) fn incomplete_beta(shapes: (f64, f64), x: f64, rest: f64) -> f64 {
    if rest <= 0.0 {
        return 1.0;
    }
    if x <= 0.0 {
        return 0.0;
    }
    let (first, second) = shapes;
    let log_beta = libm::lgamma(first) + libm::lgamma(second) - libm::lgamma(first + second);
    let front = libm::exp(first * libm::log(x) + second * libm::log(rest) - log_beta);
    // The fraction converges fast on this side of the mean alone.
    if x < (first + 1.0) / (first + second + 2.0) {
        front * continued_fraction(shapes, x) / first
    } else {
        1.0 - front * continued_fraction((second, first), rest) / second
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn continued_fraction((first, second): (f64, f64), x: f64) -> f64 {
    const TERMS_MAX: u16 = 1000;
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let both = first + second;
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - both * x / (first + 1.0));
    let mut fraction = denominator;
    for term in (1..=TERMS_MAX).map(f64::from) {
        let place = first + 2.0 * term;
        let even = term * (second - term) * x / ((place - 1.0) * place);
        let odd = -(first + term) * (both + term) * x / (place * (place + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            change = numerator * denominator;
            fraction *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}
