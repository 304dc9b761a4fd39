//! Windows and minimum counts of the factors.

use super::error::FactorError;

/// A look-back of `days` exchange days ending at the information day, answered only when at least `min_days`
/// of them are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollingWindow {
    /// Length in exchange days, the information day included.
    pub days: usize,
    /// Fewest valid days for a value.
    pub min_days: usize,
}

impl RollingWindow {
    /// A window of `days` exchange days, of which `min_days` must be valid.
    #[must_use]
    pub const fn new(days: usize, min_days: usize) -> Self {
        Self { days, min_days }
    }

    /// `least_days`: the fewest values for which the window's formula is defined.
    pub(super) const fn check(self, window: &'static str, least_days: usize) -> Result<(), FactorError> {
        if self.min_days < least_days || self.days < self.min_days {
            let Self { days, min_days } = self;
            return Err(FactorError::Window {
                window,
                days,
                min_days,
                least_days,
            });
        }
        Ok(())
    }
}

/// How the nine factors are computed; every choice the article (KTD-Fin) leaves open is a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorConfig {
    /// `MOM_12_1`: exchange days from the older mark to the information day.
    pub momentum_long_days: usize,
    /// `MOM_12_1`: exchange days from the newer mark to the information day.
    pub momentum_skip_days: usize,
    /// `MOM_12_1`: fewest traded days after the older mark up to the newer one.
    pub momentum_min_days: usize,
    /// `RV_60`: window of daily returns.
    pub volatility: RollingWindow,
    /// `ILLIQ`, `REV_ON`, `MOM_ID` and `CORR_PV`: window of a month.
    pub short: RollingWindow,
    /// `SKEW`: window of daily returns.
    pub skewness: RollingWindow,
    /// `HIGH_52W`: window of daily highs.
    pub high: RollingWindow,
    /// `CV_VOL`: window of daily amounts.
    pub amount_variation: RollingWindow,
    /// `ILLIQ`: the amount, in CNY, per which the price move is measured.
    pub illiquidity_scale_cny: f64,
    /// `ILLIQ`: whether to take the natural logarithm, which tames its long right tail.
    pub illiquidity_log: bool,
}

impl FactorConfig {
    /// The values of this benchmark. `12-1`, `60` and `52W` are KTD-Fin's; the others are ours.
    pub const KTD: Self = Self {
        momentum_long_days: 252,
        momentum_skip_days: 21,
        momentum_min_days: 154,
        volatility: RollingWindow::new(60, 40),
        short: RollingWindow::new(20, 14),
        skewness: RollingWindow::new(60, 40),
        high: RollingWindow::new(252, 120),
        amount_variation: RollingWindow::new(60, 40),
        illiquidity_scale_cny: 1e8,
        illiquidity_log: true,
    };

    /// Whether every factor can have a value under these windows.
    ///
    /// # Errors
    /// [`FactorError::Window`], [`FactorError::Momentum`] or [`FactorError::IlliquidityScale`] names the
    /// first field at fault.
    pub fn check(&self) -> Result<(), FactorError> {
        let (long_days, skip_days) = (self.momentum_long_days, self.momentum_skip_days);
        if long_days <= skip_days {
            return Err(FactorError::Momentum { long_days, skip_days });
        }
        RollingWindow::new(long_days - skip_days, self.momentum_min_days).check("momentum", 1)?;
        self.volatility.check("volatility", 2)?;
        self.short.check("short", 2)?;
        self.skewness.check("skewness", 3)?;
        self.high.check("high", 1)?;
        self.amount_variation.check("amount_variation", 2)?;
        let scale = self.illiquidity_scale_cny;
        if scale.is_finite() && 0.0 < scale {
            Ok(())
        } else {
            Err(FactorError::IlliquidityScale)
        }
    }

    /// Exchange days before the information day that a factor may read.
    #[must_use]
    pub fn lookback_days(&self) -> usize {
        [
            self.volatility,
            self.short,
            self.skewness,
            self.high,
            self.amount_variation,
        ]
        .into_iter()
        .map(|window| window.days)
        .fold(self.momentum_long_days, usize::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_windows_are_sound_and_reach_back_a_year() {
        assert_eq!(FactorConfig::KTD.check(), Ok(()));
        assert_eq!(FactorConfig::KTD.lookback_days(), 252);
    }

    #[test]
    fn windows_that_can_never_answer_are_refused() {
        let short = |days, min_days| FactorConfig {
            short: RollingWindow::new(days, min_days),
            ..FactorConfig::KTD
        };
        let window = |days, min_days| {
            Err(FactorError::Window {
                window: "short",
                days,
                min_days,
                least_days: 2,
            })
        };
        assert_eq!(short(20, 1).check(), window(20, 1));
        assert_eq!(short(20, 21).check(), window(20, 21));
        assert_eq!(short(2, 2).check(), Ok(()));

        let skip = FactorConfig {
            momentum_skip_days: 252,
            ..FactorConfig::KTD
        };
        assert_eq!(
            skip.check(),
            Err(FactorError::Momentum {
                long_days: 252,
                skip_days: 252
            })
        );
        let scale = FactorConfig {
            illiquidity_scale_cny: f64::NAN,
            ..FactorConfig::KTD
        };
        assert_eq!(scale.check(), Err(FactorError::IlliquidityScale));
    }
}
