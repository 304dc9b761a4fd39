//! What luck does in a window: random portfolios that are bought at its first open and held.

use ktd_env::{Bar, DayIndex, KeyedStream, Market, NameId};
use ktd_stats::moments::count;

/// Random portfolios of a window.
pub const RANDOM_PORTFOLIOS: usize = 200;
/// Names of each, in equal weights: as many as the exchange's rules let an account hold.
pub const PORTFOLIO_NAMES: usize = 20;
/// The seed of the draws. A window's draws depend on its name too, and on no other window.
const SEED: u64 = 1;

/// How far luck alone takes portfolios of one window apart: what is common to all, the market's own return, is not in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomPortfolios {
    /// Members that trade at the first open, from whom portfolios are drawn.
    pub members: usize,
    /// Standard deviation, across portfolios, of the return over the window, as a fraction.
    pub return_sd: f64,
    /// The same of the difference between two of them: the root mean square over all pairs.
    pub difference_sd: f64,
    /// Standard deviation of the daily difference between two of them: the root mean square over all pairs and days.
    pub daily_difference_sd: f64,
}

/// Why a window has no luck to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RandomPortfoliosError {
    /// Fewer names than two portfolios need to differ.
    #[error("{members} members trade at the first open, and portfolios of {PORTFOLIO_NAMES} differ from {} on", PORTFOLIO_NAMES + 1)]
    TooFewMembers {
        /// Members that trade at the first open.
        members: usize,
    },
}

impl RandomPortfolios {
    /// The luck of a window: [`RANDOM_PORTFOLIOS`] portfolios of [`PORTFOLIO_NAMES`] members of the as-of day in equal weights, bought at
    /// the first open and held to the last close, without fees or lots. A name that stops trading keeps its last close.
    ///
    /// # Errors
    /// [`RandomPortfoliosError`] when there are too few members.
    pub fn of(market: &Market, window: &str, days: &[DayIndex]) -> Result<Self, RandomPortfoliosError> {
        let paths = paths(market, days);
        if paths.len() <= PORTFOLIO_NAMES {
            return Err(RandomPortfoliosError::TooFewMembers { members: paths.len() });
        }
        let portfolios = portfolios(&paths, window, days.len());
        let ends: Vec<f64> = portfolios
            .iter()
            .filter_map(|values| values.last().copied())
            .collect();
        let daily: Vec<Vec<f64>> = portfolios.iter().map(|values| daily_returns(values)).collect();
        let by_day = (0..days.len()).map(|day| {
            let returns: Vec<f64> = daily
                .iter()
                .filter_map(|returns| returns.get(day).copied())
                .collect();
            variance(&returns)
        });
        // The mean square difference over all pairs of a sample is twice its variance.
        Ok(Self {
            members: paths.len(),
            return_sd: variance(&ends).sqrt(),
            difference_sd: (2.0 * variance(&ends)).sqrt(),
            daily_difference_sd: (2.0 * by_day.sum::<f64>() / count(days.len())).sqrt(),
        })
    }
}

/// Each member's closes over its first open, total return; those that do not trade at that open have none.
fn paths(market: &Market, days: &[DayIndex]) -> Vec<Vec<f64>> {
    let as_of = days
        .first()
        .and_then(|day| day.before())
        .map(|day| market.as_of(day));
    let members = as_of.iter().flat_map(ktd_env::AsOf::members);
    members.filter_map(|name| path(market, name, days)).collect()
}

fn path(market: &Market, name: NameId, days: &[DayIndex]) -> Option<Vec<f64>> {
    let bar = market.bar(name, *days.first()?).filter(Bar::trades_at_open)?;
    let open = bar.adjusted(bar.open?);
    let mut close = bar.adjusted_close();
    let values = days.iter().map(|day| {
        close = market.bar(name, *day).map_or(close, |bar| bar.adjusted_close());
        close / open
    });
    Some(values.collect())
}

/// The value of each portfolio at the closes, over what it was bought for.
fn portfolios(paths: &[Vec<f64>], window: &str, days: usize) -> Vec<Vec<f64>> {
    let mut stream = KeyedStream::for_purpose(SEED, &format!("luck of window {window}"));
    let mut order: Vec<&Vec<f64>> = paths.iter().collect();
    let draw = |_| {
        stream.shuffle(&mut order);
        let mut values = vec![0.0; days];
        for path in order.iter().take(PORTFOLIO_NAMES) {
            for (value, part) in values.iter_mut().zip(path.iter()) {
                *value += part / count(PORTFOLIO_NAMES);
            }
        }
        values
    };
    (0..RANDOM_PORTFOLIOS).map(draw).collect()
}

fn daily_returns(values: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&1.0).chain(values);
    values
        .iter()
        .zip(before)
        .map(|(value, before)| value / before - 1.0)
        .collect()
}

/// With `n - 1`; 0 of fewer than two values.
fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / count(values.len().max(1));
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / count(values.len().saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn market(names: u32) -> Market {
        generate(&SynthConfig {
            seed: 5,
            names,
            days: 120,
        })
        .unwrap()
    }

    fn last(market: &Market, days: usize) -> Vec<DayIndex> {
        (120 - days..120)
            .map(|place| market.day_at(place).unwrap())
            .collect()
    }

    #[test]
    fn more_days_are_more_luck_and_a_difference_has_the_luck_of_two() {
        let market = market(80);
        let luck = |days| RandomPortfolios::of(&market, "w", &last(&market, days)).unwrap();
        let (short, long) = (luck(10), luck(80));
        assert!(short.return_sd < long.return_sd, "{short:?} {long:?}");
        assert!((short.difference_sd / short.return_sd - 2.0_f64.sqrt()).abs() < 1e-12);
        // Without memory in daily differences they add up as square roots of days do, within a factor.
        let summed = long.daily_difference_sd * 80.0_f64.sqrt();
        assert!((0.5..2.0).contains(&(summed / long.difference_sd)), "{long:?}");
    }

    #[test]
    fn draws_are_those_of_the_window_alone() {
        let market = market(80);
        let luck = |id| RandomPortfolios::of(&market, id, &last(&market, 20)).unwrap();
        assert_eq!(luck("a"), luck("a"));
        assert_ne!(luck("a"), luck("b"));
    }

    #[test]
    fn on_one_day_it_is_the_spread_from_open_to_close() {
        let market = market(80);
        let days = last(&market, 1);
        let luck = RandomPortfolios::of(&market, "w", &days).unwrap();
        // Every portfolio has one daily return, its whole return.
        assert!((luck.daily_difference_sd - luck.difference_sd).abs() < 1e-15);
        // A mean of 20 of n drawn without replacement has this standard deviation; 200 draws estimate it to 5 %.
        let gains: Vec<f64> = paths(&market, &days).iter().map(|path| path[0] - 1.0).collect();
        let left = 1.0 - 20.0 / count(gains.len());
        let expected = (variance(&gains) / 20.0 * left).sqrt();
        assert!(
            (luck.return_sd / expected - 1.0).abs() < 0.2,
            "{luck:?} {expected}"
        );
    }

    #[test]
    fn a_small_universe_has_none() {
        let market = market(15);
        let error = RandomPortfolios::of(&market, "w", &last(&market, 5)).unwrap_err();
        assert!(error.to_string().contains("differ from 21 on"), "{error}");
    }
}
