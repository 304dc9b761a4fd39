//! Betas: slopes of names' returns on the mean return of the members.

use crate::panel::Panel;
use ktd_stats::moments::count;

/// Days whose returns make a beta, and how many of them must be there.
const WINDOW_DAYS: usize = 252;
const LEAST_DAYS: usize = 120;

/// Mean daily return of the members of the day before that traded on both days, in equal weights: a value for each day of the panel,
/// NaN where there is none.
pub(super) fn members_returns(panel: &Panel) -> Vec<f64> {
    let days = panel.days().len();
    let (mut sums, mut counts) = (vec![0.0; days], vec![0_usize; days]);
    for name in 0..panel.names() {
        let (series, members) = (panel.series(name), panel.membership(name));
        let cells = sums
            .iter_mut()
            .zip(&mut counts)
            .skip(1)
            .zip(returns(series.close));
        for (((sum, count), daily), member) in cells.zip(members) {
            if *member && daily.is_finite() {
                *sum += daily;
                *count += 1;
            }
        }
    }
    sums.iter()
        .zip(counts)
        .map(|(sum, names)| sum / count(names))
        .collect()
}

/// The slope of a name's daily returns on the market's over the days up to `day`; NaN where too few are known.
pub(super) fn beta(closes: &[f64], market: &[f64], day: usize) -> f64 {
    let first = (day + 1).saturating_sub(WINDOW_DAYS);
    let own = closes.get(first.saturating_sub(1)..=day).unwrap_or(&[]);
    let skipped = usize::from(first == 0);
    let pairs = returns(own).zip(market.iter().skip(first + skipped).copied());
    let known = || {
        pairs
            .clone()
            .filter(|(own, market)| own.is_finite() && market.is_finite())
    };
    let days = known().count();
    if days < LEAST_DAYS {
        return f64::NAN;
    }
    let mean = |of: fn((f64, f64)) -> f64| known().map(of).sum::<f64>() / count(days);
    let (own_mean, market_mean) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut product, mut square) = (0.0, 0.0);
    for (own, market) in known() {
        product += (own - own_mean) * (market - market_mean);
        square += (market - market_mean) * (market - market_mean);
    }
    product / square
}

/// Returns from close to close, the first of the second day.
fn returns(closes: &[f64]) -> impl Iterator<Item = f64> + Clone + '_ {
    closes
        .iter()
        .zip(closes.iter().skip(1))
        .map(|(before, close)| close / before - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_found_and_too_few_days_are_none() {
        let market: Vec<f64> = (0..300_u32)
            .map(|day| {
                if day == 0 {
                    f64::NAN
                } else {
                    f64::from(day * day % 17) * 1e-3
                }
            })
            .collect();
        let mut closes = vec![10.0];
        for daily in market.iter().skip(1) {
            closes.push(closes[closes.len() - 1] * (1.0 + 0.002 + 1.5 * daily));
        }
        for day in [120, 251, 252, 299] {
            assert!((beta(&closes, &market, day) - 1.5).abs() < 1e-9, "{day}");
        }
        assert!(beta(&closes, &market, 119).is_nan());
        // A day without a price takes two returns away: 119 are too few, 120 are enough.
        closes[40] = f64::NAN;
        assert!(beta(&closes, &market, 121).is_nan());
        assert!((beta(&closes, &market, 122) - 1.5).abs() < 1e-9);
    }
}
