//! What readers of a tear sheet look for in a daily account: months, falls, rolling figures, and how returns are spread.
//!
//! An account is the value of one CNY at each close, 1 before the first day. A day is called by its step, from 1.

use ktd_view::draw::{MONTH_DAYS, real};
use std::ops::{Range, RangeInclusive};

/// Trading days of a year, as for every metric.
const YEAR_DAYS: f64 = 252.0;
/// Parts of its first value to which a series is rounded.
const ROUNDING: f64 = 1e-6;

/// A fall from the highest value so far, until that is reached again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fall {
    /// The first step below the highest value.
    pub(crate) begin: usize,
    /// The step at which it was deepest.
    pub(crate) low: usize,
    /// The step at which it was made good; none where it never was.
    pub(crate) recovered: Option<usize>,
    /// How deep, a negative share of the highest value.
    pub(crate) depth: f64,
    /// Steps whose close lay below the highest value.
    pub(crate) days: usize,
}

/// Consecutive steps with the figure of each.
pub(crate) type RollingRun = Vec<(usize, f64)>;

/// Change of each day, a share of the value before.
pub(crate) fn daily_returns(values: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&1.0).chain(values);
    values
        .iter()
        .zip(before)
        .map(|(after, before)| after / before - 1.0)
        .collect()
}

/// Change over some steps.
pub(crate) fn change_over(values: &[f64], steps: &RangeInclusive<usize>) -> Option<f64> {
    let at = |step: usize| {
        step.checked_sub(1)
            .map_or(Some(1.0), |place| values.get(place).copied())
    };
    Some(at(*steps.end())? / at(steps.start().checked_sub(1)?)? - 1.0)
}

/// All falls, the deepest first.
pub(crate) fn falls(values: &[f64]) -> Vec<Fall> {
    let mut falls: Vec<Fall> = Vec::new();
    let (mut peak, mut open) = (1.0, None::<Fall>);
    for (step, value) in (1..).zip(values) {
        if peak <= *value {
            peak = *value;
            falls.extend(open.take().map(|fall| Fall {
                recovered: Some(step),
                ..fall
            }));
            continue;
        }
        let depth = value / peak - 1.0;
        let fall = open.get_or_insert(Fall {
            begin: step,
            low: step,
            recovered: None,
            depth,
            days: 0,
        });
        fall.days += 1;
        if depth < fall.depth {
            (fall.low, fall.depth) = (step, depth);
        }
    }
    falls.extend(open);
    falls.sort_by(|one, other| one.depth.total_cmp(&other.depth));
    falls
}

/// Days of a rolling figure: a quarter where twice as many were traded, else a month; none for fewer than two months.
pub(crate) const fn rolling_days(days: usize) -> Option<usize> {
    match days {
        126.. => Some(63),
        42.. => Some(MONTH_DAYS),
        _ => None,
    }
}

/// The Sharpe ratio of a year over the `length` days up to each day, riskless rate 0: runs of days, none where nothing moved.
pub(crate) fn rolling_sharpe(returns: &[f64], length: usize) -> Vec<RollingRun> {
    let ratio = |days: &[f64]| {
        let mean = mean(days);
        let deviation = covariance(days, days).sqrt();
        (moves(deviation, mean)).then(|| YEAR_DAYS.sqrt() * mean / deviation)
    };
    rolling(returns.windows(length).map(ratio), length)
}

/// The slope of an account's daily returns on a market's over the `length` days up to each day.
pub(crate) fn rolling_beta(returns: &[f64], market: &[f64], length: usize) -> Vec<RollingRun> {
    let slope = |(own, market): (&[f64], &[f64])| {
        let variance = covariance(market, market);
        (moves(variance.sqrt(), mean(market))).then(|| covariance(own, market) / variance)
    };
    rolling(
        returns.windows(length).zip(market.windows(length)).map(slope),
        length,
    )
}

fn rolling(values: impl Iterator<Item = Option<f64>>, length: usize) -> Vec<RollingRun> {
    let known: Vec<(usize, f64)> = values
        .zip(length..)
        .filter_map(|(value, step)| Some((step, value?)))
        .collect();
    let runs = known.chunk_by(|(step, _), (next, _)| step + 1 == *next);
    runs.map(<[(usize, f64)]>::to_vec).collect()
}

/// Whether returns move by more than the rounding of the values that they are made of.
fn moves(deviation: f64, mean: f64) -> bool {
    ROUNDING * mean.abs().max(1.0) < deviation
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len().max(1))
}

/// Sample covariance; of a series with itself its variance.
fn covariance(one: &[f64], other: &[f64]) -> f64 {
    let means = (mean(one), mean(other));
    let products = one.iter().zip(other).map(|(a, b)| (a - means.0) * (b - means.1));
    products.sum::<f64>() / real(one.len().saturating_sub(1).max(1))
}

/// How many returns lie in each part of a scale, from its low end on, without the high one.
pub(crate) fn spread(returns: &[f64]) -> Vec<(Range<f64>, usize)> {
    const WIDTHS: [f64; 8] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
    const MOST: f64 = 24.0;
    let known = || returns.iter().filter(|value| value.is_finite());
    let low = known().copied().fold(0.0, f64::min);
    let high = known().copied().fold(0.0, f64::max);
    let fits = |width: &&f64| (high - low) / **width <= MOST;
    let width = WIDTHS.iter().find(fits).copied().unwrap_or(high - low);
    let mut parts = Vec::new();
    let mut from = (low / width).floor();
    // A product may be rounded to above its own quotient.
    from -= f64::from(u8::from(low < from * width));
    while from * width <= high {
        let part = from * width..(from + 1.0) * width;
        let count = known().filter(|value| part.contains(value)).count();
        parts.push((part, count));
        from += 1.0;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_stats::Undefined;
    use ktd_stats::moments::Moments;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn falls_have_depth_and_length() {
        // By hand: from 1.2 to 0.9 and back at step 5; from 1.3 to 1.17, never made good.
        let found = falls(&[1.2, 1.08, 0.9, 1.1, 1.25, 1.3, 1.17, 1.2]);
        let [first, second] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert!(near(first.depth, -0.25) && near(second.depth, -0.1), "{found:?}");
        assert_eq!(
            (first.begin, first.low, first.recovered, first.days),
            (2, 3, Some(5), 3)
        );
        assert_eq!(
            (second.begin, second.low, second.recovered, second.days),
            (7, 7, None, 2)
        );
        assert_eq!(falls(&[1.0, 1.1, 1.1]), []);
        // A first day below the cash is a fall from it.
        assert_eq!(
            falls(&[0.5]).first().map(|fall| (fall.begin, fall.days)),
            Some((1, 1))
        );
    }

    #[test]
    fn a_change_is_one_over_its_steps() {
        let values = [1.1, 1.21, 1.089, 1.2];
        assert!(near(change_over(&values, &(1..=2)).unwrap(), 0.21));
        assert!(near(change_over(&values, &(3..=3)).unwrap(), -0.1));
        assert_eq!(change_over(&values, &(4..=5)), None);
    }

    #[test]
    fn rolling_figures_are_those_of_their_days() {
        // Returns of 1 % and -1 % in turn, and the account twice as much as the market, less 0.1 %.
        let market = [0.01, -0.01, 0.01, -0.01, 0.03];
        let own = market.map(|daily| 2.0f64.mul_add(daily, -0.001));
        let [beta] = <[RollingRun; 1]>::try_from(rolling_beta(&own, &market, 4)).unwrap();
        assert!(beta.iter().all(|(_, value)| near(*value, 2.0)), "{beta:?}");
        assert_eq!(beta.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [4, 5]);
        // By hand: mean -0.001, deviation 0.02 x sqrt(4 / 3).
        let [sharpe] = <[RollingRun; 1]>::try_from(rolling_sharpe(&own, 4)).unwrap();
        let expected = -0.001 / (0.02 * (4.0f64 / 3.0).sqrt()) * 252.0f64.sqrt();
        assert!(near(sharpe.first().unwrap().1, expected), "{sharpe:?}");
        let moments = Moments::of(&own[..4]).unwrap();
        let of_board = moments.annual_ratio(Undefined::ZeroVariance).unwrap();
        assert!(near(sharpe[0].1, of_board), "{sharpe:?} {of_board}");
        assert_eq!(rolling_sharpe(&[0.0; 9], 4), Vec::<RollingRun>::new());
        assert_eq!(rolling_beta(&[0.01; 9], &[0.0; 9], 4), Vec::<RollingRun>::new());
    }

    #[test]
    fn rounding_is_no_movement_and_days_without_a_figure_part_a_line() {
        // A basis point a day as a board rounds it, and two months of an account that moved, held cash and moved again.
        let mut value = 1.0;
        let rounded = |_| {
            value *= 1.0001;
            (value * 1e6_f64).round() / 1e6
        };
        let steady: Vec<f64> = (0..60).map(rounded).collect();
        assert_eq!(
            rolling_sharpe(&daily_returns(&steady), 21),
            Vec::<RollingRun>::new()
        );
        let moved = [0.01, -0.01, 0.02];
        let returns = [&moved[..], &[0.0; 5], &moved].concat();
        let runs = rolling_sharpe(&returns, 3);
        let steps: Vec<Vec<usize>> = runs
            .iter()
            .map(|run| run.iter().map(|(step, _)| *step).collect())
            .collect();
        assert_eq!(steps, [vec![3, 4, 5], vec![9, 10, 11]]);
    }

    #[test]
    fn every_return_lies_in_one_part() {
        let returns = daily_returns(&[1.0, 0.99, 1.02, 1.0199, 1.05]);
        let parts = spread(&returns);
        assert_eq!(parts.iter().map(|(_, count)| count).sum::<usize>(), 5);
        assert!(parts.iter().any(|(part, _)| near(part.start, 0.0)) && parts.len() <= 26);
        assert_eq!(spread(&[]).iter().map(|(_, count)| count).sum::<usize>(), 0);
        assert_eq!(
            spread(&[0.0; 3])
                .iter()
                .map(|(_, count)| *count)
                .collect::<Vec<_>>(),
            [3]
        );
    }
}
