//! Stylised facts of the synthetic market, measured on the panel alone, as a user would.

use super::draws::{count, float, standardised};
use super::{SynthConfig, generate};
use crate::market::{Bar, DayIndex, Market, NameId};
use crate::money::Price;

/// The default's seed and two others.
pub(super) const SEEDS: [u64; 3] = [1, 2, 19];

pub(super) fn market(seed: u64, names: u32, days: u32) -> Market {
    generate(&SynthConfig { seed, names, days }).unwrap()
}

pub(super) fn days(market: &Market) -> Vec<DayIndex> {
    (0..market.calendar().len())
        .map(|day| market.day_at(day).unwrap())
        .collect()
}

pub(super) fn ids(market: &Market) -> Vec<NameId> {
    market.names().map(|(name, _)| name).collect()
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let (left_mean, right_mean) = (mean(left), mean(right));
    let (mut cross, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (x, y) in left.iter().zip(right) {
        cross += (x - left_mean) * (y - right_mean);
        left_square += (x - left_mean) * (x - left_mean);
        right_square += (y - right_mean) * (y - right_mean);
    }
    cross / (left_square * right_square).sqrt()
}

fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    correlation(&values[lag..], &values[..values.len() - lag])
}

fn excess_kurtosis(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: Vec<f64> = values
        .iter()
        .map(|value| (value - center) * (value - center))
        .collect();
    let fourths: Vec<f64> = squares.iter().map(|square| square * square).collect();
    mean(&fourths) / (mean(&squares) * mean(&squares)) - 3.0
}

fn adjusted(price: Price, bar: &Bar) -> f64 {
    price.to_yuan() * bar.factor.to_f64()
}

/// One name's traded days in a row: log-returns (total, overnight, intraday) and log-volume.
struct Series {
    total: Vec<f64>,
    overnight: Vec<f64>,
    intraday: Vec<f64>,
    log_volume: Vec<f64>,
}

fn series(market: &Market, name: NameId) -> Series {
    let mut found = Series {
        total: vec![],
        overnight: vec![],
        intraday: vec![],
        log_volume: vec![],
    };
    let mut last: Option<f64> = None;
    for day in days(market) {
        let Some(bar) = market.bar(name, day).filter(|bar| bar.volume > 0) else {
            continue;
        };
        let volume = float(i64::try_from(bar.volume).unwrap());
        let (open, close) = (adjusted(bar.open.unwrap(), &bar), adjusted(bar.close, &bar));
        if let Some(last) = last {
            found.total.push(libm::log(close / last));
            found.overnight.push(libm::log(open / last));
            found.intraday.push(libm::log(close / open));
            found.log_volume.push(libm::log(volume));
        }
        last = Some(close);
    }
    found
}

/// Names with nearly the whole sample, so that their series are aligned within a few days.
fn long_series(market: &Market) -> Vec<Series> {
    ids(market)
        .into_iter()
        .map(|name| series(market, name))
        .filter(|series| series.total.len() + 60 > market.calendar().len())
        .collect()
}

/// Log-returns on the whole calendar, 0 where there is no trade.
fn daily(market: &Market, name: NameId) -> Vec<f64> {
    let close = |day: DayIndex| {
        let last = market.last_bar_day(name, day)?;
        let bar = market.bar(name, last)?;
        Some(adjusted(bar.close, &bar))
    };
    days(market)
        .windows(2)
        .map(|pair| match (close(pair[0]), close(pair[1])) {
            (Some(before), Some(after)) => libm::log(after / before),
            _ => 0.0,
        })
        .collect()
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}

fn mean_over(all: &[Series], of: impl Fn(&Series) -> f64) -> f64 {
    mean(&all.iter().map(of).collect::<Vec<_>>())
}

fn median_over(all: &[Series], of: impl Fn(&Series) -> f64) -> f64 {
    median(all.iter().map(of).collect())
}

fn deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    mean(
        &values
            .iter()
            .map(|value| (value - center) * (value - center))
            .collect::<Vec<_>>(),
    )
    .sqrt()
}

fn index_returns(market: &Market) -> Vec<f64> {
    let index = &market.indices()[0];
    index
        .close
        .windows(2)
        .map(|pair| libm::log(pair[1] / pair[0]))
        .collect()
}

#[test]
fn returns_have_fat_tails_and_a_plausible_spread() {
    for seed in SEEDS {
        let all = long_series(&market(seed, 150, 600));
        assert!(all.len() > 100);
        let (sd, kurtosis) = (
            median_over(&all, |name| deviation(&name.total)),
            median_over(&all, |name| excess_kurtosis(&name.total)),
        );
        assert!((0.017..0.030).contains(&sd), "seed {seed}: {sd}");
        assert!((1.0..8.0).contains(&kurtosis), "seed {seed}: {kurtosis}");
    }
}

#[test]
fn returns_have_no_memory_but_their_size_has() {
    for seed in SEEDS {
        let all = long_series(&market(seed, 150, 800));
        for lag in [1, 2, 3, 5, 10, 15, 20] {
            let signed = mean_over(&all, |name| autocorrelation(&name.total, lag));
            let sized = mean_over(&all, |name| autocorrelation(&absolute(&name.total), lag));
            assert!(signed.abs() < 0.08, "seed {seed}, lag {lag}: {signed}");
            assert!(sized > 0.01, "seed {seed}, lag {lag}: {sized}");
        }
        let memory = |values: &[f64]| {
            mean(
                &(1..=20)
                    .map(|lag| autocorrelation(values, lag))
                    .collect::<Vec<_>>(),
            )
        };
        let signed = mean_over(&all, |name| memory(&name.total));
        let sized = mean_over(&all, |name| memory(&absolute(&name.total)));
        assert!(signed.abs() < 0.02, "seed {seed}: {signed}");
        assert!((0.03..0.20).contains(&sized), "seed {seed}: {sized}");
    }
}

#[test]
fn names_share_a_market_that_the_index_measures() {
    for seed in SEEDS {
        let market = market(seed, 100, 600);
        let index = index_returns(&market);
        let returns: Vec<Vec<f64>> = ids(&market)
            .into_iter()
            .map(|name| daily(&market, name))
            .collect();
        let pairs = (0..returns.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let correlations: Vec<f64> = pairs
            .map(|(i, j)| correlation(&returns[i], &returns[j]))
            .collect();
        let pairwise = mean(&correlations);
        assert!((0.13..0.40).contains(&pairwise), "seed {seed}: {pairwise}");
        let fit = median(
            returns
                .iter()
                .map(|name| correlation(name, &index) * correlation(name, &index))
                .collect(),
        );
        assert!((0.10..0.45).contains(&fit), "seed {seed}: {fit}");
        let crowd: Vec<f64> = (0..index.len())
            .map(|day| mean(&returns.iter().map(|name| name[day]).collect::<Vec<_>>()))
            .collect();
        let tracking = correlation(&crowd, &index);
        assert!(tracking > 0.9, "seed {seed}: {tracking}");
        let sd = deviation(&index);
        assert!((0.007..0.020).contains(&sd), "seed {seed}: {sd}");
    }
}

/// The mean of one seed carries the market's own luck, so the sign is asked of all seeds together.
#[test]
fn nights_lose_and_days_gain() {
    let means: Vec<(f64, f64)> = (0..6)
        .map(|seed| {
            let all = long_series(&market(seed, 100, 600));
            let share = median_over(&all, |name| {
                let (night, day) = (deviation(&name.overnight), deviation(&name.intraday));
                night * night / (night * night + day * day)
            });
            assert!((0.12..0.40).contains(&share), "seed {seed}: {share}");
            (
                mean_over(&all, |name| mean(&name.overnight)),
                mean_over(&all, |name| mean(&name.intraday)),
            )
        })
        .collect();
    let (nights, days): (Vec<f64>, Vec<f64>) = means.into_iter().unzip();
    assert!((-0.0008..-0.0001).contains(&mean(&nights)), "{nights:?}");
    assert!((0.0..0.0010).contains(&mean(&days)), "{days:?}");
}

#[test]
fn volume_persists_and_follows_the_size_of_returns() {
    for seed in SEEDS {
        let all = long_series(&market(seed, 100, 600));
        let persistence = |lag| mean_over(&all, |name| autocorrelation(&name.log_volume, lag));
        assert!(
            (0.5..0.9).contains(&persistence(1)),
            "seed {seed}: {}",
            persistence(1)
        );
        assert!(
            (0.2..0.7).contains(&persistence(10)),
            "seed {seed}: {}",
            persistence(10)
        );
        let with_size = mean_over(&all, |name| correlation(&name.log_volume, &absolute(&name.total)));
        assert!((0.2..0.6).contains(&with_size), "seed {seed}: {with_size}");
    }
}

/// The mean cross-sectional covariance of a day's return with scores known the day before, a year, by seed.
fn premia(market: &Market) -> [f64; 3] {
    let returns: Vec<Vec<f64>> = ids(market).into_iter().map(|name| daily(market, name)).collect();
    let amounts: Vec<Vec<f64>> = ids(market)
        .into_iter()
        .map(|name| {
            let amount = |day| market.bar(name, day).map_or(0.0, |bar| bar.amount_cny);
            days(market).into_iter().map(amount).collect()
        })
        .collect();
    let first = 253;
    let mut sums = [0.0; 3];
    let last = returns[0].len();
    for day in first..last {
        let known: Vec<usize> = (0..returns.len())
            .filter(|&name| {
                returns[name][day - 252] != 0.0 && amounts[name][day - 20..day].iter().all(|a| *a > 0.0)
            })
            .collect();
        let score =
            |of: &dyn Fn(usize) -> f64| standardised(&known.iter().map(|&name| of(name)).collect::<Vec<_>>());
        let momentum = score(&|name| returns[name][day - 252..day - 21].iter().sum());
        let risk = score(&|name| {
            let past = &returns[name][day - 60..day];
            libm::log(past.iter().map(|r| r * r).sum::<f64>())
        });
        let illiquidity = score(&|name| {
            let sizes = returns[name][day - 20..day]
                .iter()
                .zip(&amounts[name][day - 19..=day]);
            let moved: f64 = sizes.map(|(r, amount)| r.abs() / amount.max(1.0)).sum();
            libm::log(moved.max(1e-15))
        });
        for (sum, scores) in sums.iter_mut().zip([momentum, risk, illiquidity]) {
            let products = scores.iter().zip(&known).map(|(z, &name)| z * returns[name][day]);
            *sum += products.sum::<f64>() / count(known.len());
        }
    }
    sums.map(|sum| sum / count(last - first) * 252.0)
}

/// One window cannot show a premium of a few per cent a year; eight markets of two years can.
#[test]
fn three_styles_carry_a_small_premium() {
    let of_seeds: Vec<[f64; 3]> = (0..8).map(|seed| premia(&market(seed, 200, 760))).collect();
    let of = |style: usize| mean(&of_seeds.iter().map(|seed| seed[style]).collect::<Vec<_>>());
    assert!((0.01..0.09).contains(&of(0)), "momentum {}", of(0));
    assert!((-0.07..-0.005).contains(&of(1)), "risk {}", of(1));
    assert!((0.005..0.07).contains(&of(2)), "illiquidity {}", of(2));
}
