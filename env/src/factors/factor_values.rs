//! Values of the nine style factors.

use super::columns::FactorColumns;
use super::config::{FactorConfig, RollingWindow};
use super::daily::Daily;
use super::error::FactorError;
use super::factor::Factor;
use super::logarithm::take_logarithms;
use super::moments::{YEAR_DAYS, finite_or_missing};
use super::packed::Packed;
use super::series::Series;
use super::windows::{Statistic, correlations, largest_of_each};
use std::ops::Range;

/// The nine factors of one name at the close of each of `days`.
///
/// Reads at most [`FactorConfig::lookback_days`] before the first of `days`, and the last close before that.
///
/// # Errors
/// [`FactorError`] when the columns differ in length, `days` is not a range of the series, or a window of the
/// configuration can never be filled.
pub fn compute(
    series: &Series<'_>,
    config: &FactorConfig,
    days: Range<usize>,
) -> Result<FactorColumns, FactorError> {
    series.check(&days)?;
    config.check()?;
    let daily = Daily::new(series, config, &days);
    Ok(FactorColumns::new(days.clone(), |factor| {
        column(factor, &daily, config, days.clone())
    }))
}

/// Mean CNY amount over the traded days of a window, at the close of each of `days`: the size of a name where
/// no capitalisation is given. Missing is `f64::NAN`.
///
/// # Errors
/// [`FactorError`] as for [`compute`].
pub fn mean_amount(
    series: &Series<'_>,
    window: RollingWindow,
    days: Range<usize>,
) -> Result<Vec<f64>, FactorError> {
    series.check(&days)?;
    window.check("mean_amount", 1)?;
    let since = days.start.saturating_sub(window.days)..days.end;
    let amounts = Packed::new(since.clone(), &series.amounts(&since));
    Ok(windowed(&amounts, window, days, Statistic::Mean))
}

/// One factor over `days`.
fn column(factor: Factor, daily: &Daily, config: &FactorConfig, days: Range<usize>) -> Vec<f64> {
    match factor {
        Factor::Mom12_1 => days.map(|day| momentum(daily, config, day)).collect(),
        Factor::Rv60 => {
            let mut column = windowed(
                &daily.returns,
                config.volatility,
                days,
                Statistic::StandardDeviation,
            );
            for value in &mut column {
                *value *= YEAR_DAYS.sqrt();
            }
            column
        }
        Factor::Illiq => {
            let mut column = windowed(&daily.illiquidity, config.short, days, Statistic::Mean);
            illiquidities(&mut column, config);
            column
        }
        Factor::RevOn => windowed(&daily.overnight, config.short, days, Statistic::Mean),
        Factor::MomId => windowed(&daily.intraday, config.short, days, Statistic::Mean),
        Factor::Skew => windowed(&daily.returns, config.skewness, days, Statistic::NegativeSkewness),
        Factor::CorrPv => price_volume_correlation(daily, config.short, days),
        Factor::High52w => nearness_to_high(daily, config.high, days),
        Factor::CvVol => windowed(
            &daily.amounts,
            config.amount_variation,
            days,
            Statistic::Variation,
        ),
    }
}

/// The statistic of the valid values of the window ending at each day; missing where they are too few.
fn windowed(values: &Packed, window: RollingWindow, days: Range<usize>, statistic: Statistic) -> Vec<f64> {
    let mut column = Vec::with_capacity(days.len());
    let mut rest = days;
    while !rest.is_empty() {
        let (stretch, values, length) = values.stretch(window.days, &rest);
        if length < window.min_days {
            column.resize(column.len() + stretch, f64::NAN);
        } else {
            statistic.of_each(values, length, &mut column);
        }
        rest.start += stretch;
    }
    column
}

fn momentum(daily: &Daily, config: &FactorConfig, day: usize) -> f64 {
    let Some(older) = day.checked_sub(config.momentum_long_days) else {
        return f64::NAN;
    };
    let newer = day - config.momentum_skip_days;
    if daily.traded.count(&(older + 1..newer + 1)) < config.momentum_min_days {
        return f64::NAN;
    }
    finite_or_missing(daily.marks.at(newer) / daily.marks.at(older) - 1.0)
}

/// Illiquidities from mean ratios; a price that never moved has none to take the logarithm of.
fn illiquidities(ratios: &mut [f64], config: &FactorConfig) {
    for ratio in ratios.iter_mut() {
        let scaled = config.illiquidity_scale_cny * *ratio;
        let told = 0.0 < scaled && scaled.is_finite();
        *ratio = if told { scaled } else { f64::NAN };
    }
    if config.illiquidity_log {
        take_logarithms(ratios);
    }
}

fn price_volume_correlation(daily: &Daily, window: RollingWindow, days: Range<usize>) -> Vec<f64> {
    let mut column = Vec::with_capacity(days.len());
    let mut rest = days;
    while !rest.is_empty() {
        let (stretch, returns, length) = daily.paired_returns.stretch(window.days, &rest);
        let (_, log_volumes, _) = daily.paired_log_volumes.stretch(window.days, &rest);
        if length < window.min_days {
            column.resize(column.len() + stretch, f64::NAN);
        } else {
            correlations(returns, log_volumes, length, &mut column);
        }
        rest.start += stretch;
    }
    column
}

fn nearness_to_high(daily: &Daily, window: RollingWindow, days: Range<usize>) -> Vec<f64> {
    let mut column = Vec::with_capacity(days.len());
    let mut rest = days.clone();
    while !rest.is_empty() {
        let (stretch, highs, length) = daily.highs.stretch(window.days, &rest);
        if length < window.min_days {
            column.resize(column.len() + stretch, f64::NAN);
        } else {
            largest_of_each(highs, length, &mut column);
        }
        rest.start += stretch;
    }
    for (value, day) in column.iter_mut().zip(days) {
        *value = finite_or_missing(daily.marks.at(day) / *value);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::super::moments::count;
    use super::*;

    const GAP: f64 = f64::NAN;

    /// An owned history of `days` days that all trade, open = close = high = low = `close(day)`.
    #[derive(Clone)]
    struct Flat {
        close: Vec<f64>,
        open: Vec<f64>,
        volume: Vec<f64>,
        amount: Vec<f64>,
        traded: Vec<bool>,
    }

    impl Flat {
        fn new(days: usize, close: impl Fn(usize) -> f64) -> Self {
            let close: Vec<f64> = (0..days).map(close).collect();
            let level = vec![1000.0; days];
            Self {
                open: close.clone(),
                close,
                volume: level.clone(),
                amount: level,
                traded: vec![true; days],
            }
        }

        fn suspend(&mut self, days: Range<usize>) {
            for day in days {
                (self.close[day], self.open[day], self.traded[day]) = (GAP, GAP, false);
            }
        }

        fn series(&self) -> Series<'_> {
            Series {
                open: &self.open,
                high: &self.close,
                low: &self.close,
                close: &self.close,
                volume: &self.volume,
                amount: &self.amount,
                traded: &self.traded,
            }
        }

        fn value(&self, factor: Factor, day: usize) -> Option<f64> {
            let columns = compute(&self.series(), &FactorConfig::KTD, 0..self.close.len()).unwrap();
            columns.value(factor, day)
        }
    }

    fn near(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!(
            (value - expected).abs() <= 1e-13 * expected.abs(),
            "{value} is not {expected}"
        );
    }

    /// Closes 1 and 2 in turn: returns of +1 and -1/2.
    fn swing(day: usize) -> f64 {
        if day.is_multiple_of(2) { 1.0 } else { 2.0 }
    }

    #[test]
    fn momentum_needs_a_year_since_the_first_bar_and_two_thirds_of_it_traded() {
        let history = Flat::new(260, |day| 1.0 + count(day));
        assert_eq!(history.value(Factor::Mom12_1, 251), None);
        near(history.value(Factor::Mom12_1, 252), 232.0 / 1.0 - 1.0);
        near(history.value(Factor::Mom12_1, 259), 239.0 / 8.0 - 1.0);

        // Days 1 to 231 count for day 252: 231 of them, of which 77 may be lost.
        let mut thin = history.clone();
        thin.suspend(10..87);
        near(thin.value(Factor::Mom12_1, 252), 231.0);
        thin.suspend(87..88);
        assert_eq!(thin.value(Factor::Mom12_1, 252), None);

        let mut young = history;
        young.suspend(0..1);
        assert_eq!(young.value(Factor::Mom12_1, 252), None);
        assert!(young.value(Factor::Mom12_1, 253).is_some());
    }

    #[test]
    fn momentum_reads_the_mark_carried_through_a_suspension() {
        let mut history = Flat::new(260, |day| 1.0 + count(day));
        history.suspend(3..9);
        history.suspend(230..236);
        near(history.value(Factor::Mom12_1, 255), 230.0 / 3.0 - 1.0);
    }

    #[test]
    fn swings_by_hand() {
        let history = Flat::new(62, swing);
        // Sixty returns, half of them 1 and half -1/2: deviations 3/4.
        near(
            history.value(Factor::Rv60, 61),
            (60.0 * 0.5625 / 59.0_f64).sqrt() * 252.0_f64.sqrt(),
        );
        near(history.value(Factor::Illiq, 61), libm::log(1e8 * 0.75 / 1000.0));
        assert_eq!(history.value(Factor::MomId, 61), Some(0.0));
        assert!(history.value(Factor::RevOn, 61).unwrap().abs() < 1e-15);
        assert_eq!(history.value(Factor::CvVol, 61), Some(0.0));

        let longer = Flat::new(121, swing);
        assert_eq!(longer.value(Factor::High52w, 119), Some(1.0));
        assert_eq!(longer.value(Factor::High52w, 120), Some(0.5));
    }

    #[test]
    fn each_window_opens_at_its_minimum() {
        let mut history = Flat::new(200, swing);
        for (day, volume) in history.volume.iter_mut().enumerate() {
            *volume = if day.is_multiple_of(3) { 1.0 } else { 2.0 };
        }
        // The first return is on day 1, the first amount, high and intraday move on day 0.
        let first_days = [
            (Factor::Rv60, 40),
            (Factor::Illiq, 14),
            (Factor::RevOn, 14),
            (Factor::MomId, 13),
            (Factor::Skew, 40),
            (Factor::CorrPv, 14),
            (Factor::High52w, 119),
            (Factor::CvVol, 39),
        ];
        for (factor, first_day) in first_days {
            assert_eq!(history.value(factor, first_day - 1), None, "{}", factor.name());
            assert!(history.value(factor, first_day).is_some(), "{}", factor.name());
        }

        // A suspension of 5 days takes 6 returns of 20, of 6 days takes 7.
        history.suspend(180..185);
        assert!(history.value(Factor::Illiq, 190).is_some());
        history.suspend(185..186);
        assert_eq!(history.value(Factor::Illiq, 190), None);
        assert_eq!(history.value(Factor::CorrPv, 190), None);
        assert_eq!(history.value(Factor::RevOn, 190), None);
        assert!(history.value(Factor::MomId, 190).is_some());
        history.suspend(186..187);
        assert_eq!(history.value(Factor::MomId, 190), None);
    }

    #[test]
    fn a_price_that_never_moves_is_calm_and_nothing_else() {
        let history = Flat::new(300, |_| 8.0);
        assert_eq!(history.value(Factor::Rv60, 299), Some(0.0));
        assert_eq!(history.value(Factor::High52w, 299), Some(1.0));
        assert_eq!(history.value(Factor::Mom12_1, 299), Some(0.0));
        for factor in [Factor::Skew, Factor::Illiq, Factor::CorrPv] {
            assert_eq!(history.value(factor, 299), None, "{}", factor.name());
        }
    }

    #[test]
    fn illiquidity_without_the_logarithm() {
        let history = Flat::new(62, swing);
        let config = FactorConfig {
            illiquidity_log: false,
            ..FactorConfig::KTD
        };
        let columns = compute(&history.series(), &config, 61..62).unwrap();
        near(columns.value(Factor::Illiq, 61), 1e8 * 0.75 / 1000.0);
        assert_eq!(columns.value(Factor::Illiq, 60), None);
        assert_eq!(columns.value(Factor::Illiq, 62), None);
    }

    #[test]
    fn a_day_without_trade_or_with_bad_prices_is_left_out() {
        let mut history = Flat::new(62, swing);
        history.amount[61] = 0.0;
        history.close[50] = -1.0;
        history.open[49] = f64::INFINITY;
        // Of days 42 to 61, 50 and 51 lack a close and 61 an amount: 8 moves of 1 and 9 of a half are left.
        near(
            history.value(Factor::Illiq, 61),
            libm::log(1e8 * 12.5 / 17.0 / 1000.0),
        );
        assert_eq!(history.value(Factor::MomId, 61), Some(0.0));
        assert!(history.value(Factor::RevOn, 61).is_some());
    }

    #[test]
    fn a_bar_on_which_nothing_traded_marks_but_counts_in_no_window() {
        let mut history = Flat::new(300, swing);
        (history.close[297], history.traded[297], history.volume[297]) = (5.0, false, 0.0);
        (history.close[299], history.traded[299], history.volume[299]) = (4.0, false, 0.0);
        // The highs of both days are left out: a mark of 4 over a high of 2.
        assert_eq!(history.value(Factor::High52w, 299), Some(2.0));
        // Days 280 to 299 less 297, 298 and 299 have a return: 8 rises of 1 and 9 falls of a half.
        near(
            history.value(Factor::Illiq, 299),
            libm::log(1e8 * 12.5 / 17.0 / 1000.0),
        );
        near(history.value(Factor::RevOn, 299), -libm::log(2.0) / 17.0);
    }

    #[test]
    fn mean_amount_counts_traded_days() {
        let mut history = Flat::new(30, swing);
        history.suspend(5..10);
        history.amount[29] = 2000.0;
        let window = RollingWindow::new(60, 20);
        let means = mean_amount(&history.series(), window, 0..30).unwrap();
        assert!(means[23].is_nan());
        assert_eq!((means[24], means[29]), (1000.0, 1040.0));
    }

    #[test]
    fn requests_that_do_not_fit_are_refused() {
        let history = Flat::new(10, swing);
        let refused = |series: &Series<'_>, days| compute(series, &FactorConfig::KTD, days).err();
        let days = |start, end| Some(FactorError::Days { start, end, days: 10 });
        assert_eq!(refused(&history.series(), 3..11), days(3, 11));
        #[expect(clippy::reversed_empty_ranges, reason = "the very thing refused")]
        let reversed = 4..3;
        assert_eq!(refused(&history.series(), reversed), days(4, 3));
        assert_eq!(refused(&history.series(), 10..10), None);
        let short = Series {
            amount: &[1.0],
            ..history.series()
        };
        let length = FactorError::Length {
            column: "amount",
            days: 1,
            expected_days: 10,
        };
        assert_eq!(refused(&short, 0..1), Some(length));
        assert!(!length.hint().is_empty());
    }

    #[test]
    fn names_are_unique_and_read_back() {
        for factor in Factor::ALL {
            assert_eq!(Factor::from_name(factor.name()), Some(factor));
            assert_eq!(Factor::ALL[factor.index()], factor);
            assert!(!factor.description().is_empty());
        }
        assert_eq!(Factor::from_name("mom_12_1"), None);
    }
}
