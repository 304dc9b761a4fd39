//! What a factor model is made with: every choice that the article (KTD-Fin) leaves open is a field.

use super::error::ModelError;
use ktd_env::FactorTable;
use ktd_env::factors::{CrossSectionConfig, Factor, FactorConfig, RollingWindow, Winsor};
use std::fmt::Write as _;

/// Where zero lies on the scale of an exposure. It moves return between common and style, never the residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centering {
    /// At the equal-weighted mean of the members.
    Equal,
    /// At their mean under the regression weights.
    Regression,
}

impl Centering {
    const fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Regression => "regression",
        }
    }
}

/// The exposure with which a name beyond the limits of winsorising is attributed. The regression is fitted on clipped
/// exposures either way: a few names far out would decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposures {
    /// The limit.
    Clipped,
    /// The name's own value, on the scale of the clipped ones.
    Unclipped,
}

impl Exposures {
    /// The stable word for files and programs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Clipped => "clipped",
            Self::Unclipped => "unclipped",
        }
    }
}

/// Which specific return of a name is selection. In the regression a name's own return moves the factor returns that are to
/// explain it, by its leverage: a residual keeps 1 less that of what is the name's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residuals {
    /// That of factor returns without the name: the residual over 1 less its leverage.
    LeftOut,
    /// The residual.
    Fitted,
}

impl Residuals {
    /// The stable word for files and programs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::LeftOut => "left_out",
            Self::Fitted => "fitted",
        }
    }
}

/// What a name weighs in the regression, from days up to the one before the return alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// The square root of the mean CNY amount traded: the stand-in for the square root of capitalisation.
    SqrtAmount,
    /// The mean CNY amount traded.
    Amount,
    /// 1 for every name that has traded often enough.
    Equal,
    /// 1 over the mean square of the name's residuals within the weight window, where it was covered on at least the
    /// window's minimum of days. The residuals are those of a first pass under [`Self::SqrtAmount`], so that a weight
    /// depends on the window alone, not on where a fit began.
    InverseResidualVariance,
}

impl Weighting {
    const fn word(self) -> &'static str {
        match self {
            Self::SqrtAmount => "sqrt_amount",
            Self::Amount => "amount",
            Self::Equal => "equal",
            Self::InverseResidualVariance => "inv_resid_var",
        }
    }
}

/// A style beside the nine of [`Factor`]: what a return may depend on and the article's styles do not hold. Members of a board's family
/// of settings have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraStyle {
    /// Size: the natural logarithm of the mean CNY amount traded over the weight window, which stands in for capitalisation.
    Size,
    /// Beta: the slope of the name's daily returns on the members' mean return over the 252 days up to the one before, 120 at least.
    Beta,
}

impl ExtraStyle {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Size, Self::Beta];

    /// The word of tables and settings.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Beta => "beta",
        }
    }
}

/// The factor model of the benchmark, or a variant of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// Windows of the factors.
    pub factors: FactorConfig,
    /// Style factors in the order of regression columns, which the rank rule reads; after the VIF screen those kept.
    pub styles: Vec<Factor>,
    /// Styles beside them, in the columns behind.
    pub extra_styles: Vec<ExtraStyle>,
    /// Where raw factor values are cut off. Returns never are.
    pub winsor: Winsor,
    /// What a name beyond those limits is attributed with.
    pub exposures: Exposures,
    /// Which specific return is selection.
    pub residuals: Residuals,
    /// Where zero lies on the scale of an exposure.
    pub centering: Centering,
    /// Most missing factors, of nine, with which a name is covered. A model of fewer styles allows the same share of
    /// them, rounded down: [`Self::max_missing_styles`].
    pub max_missing: usize,
    /// What a name weighs.
    pub weighting: Weighting,
    /// Days whose amounts (or residuals) make a weight, and how many of them must be there.
    pub weight_window: RollingWindow,
    /// Fewest names of a cross-section.
    pub min_names: usize,
    /// Fewest names for each column of the regression, the intercept included.
    pub min_names_per_column: usize,
    /// Share of its own weighted norm squared up to which what is left of a column counts as nothing.
    pub rank_tolerance: f64,
}

impl ModelConfig {
    /// The model of this benchmark (docs/spec/factor-model.md).
    #[must_use]
    pub fn ktd() -> Self {
        Self {
            factors: FactorConfig::KTD,
            styles: Factor::ALL.to_vec(),
            extra_styles: Vec::new(),
            winsor: CrossSectionConfig::KTD.winsor,
            exposures: Exposures::Clipped,
            residuals: Residuals::LeftOut,
            centering: Centering::Equal,
            max_missing: CrossSectionConfig::KTD.max_missing,
            weighting: Weighting::SqrtAmount,
            weight_window: RollingWindow::new(60, 20),
            min_names: FactorTable::MIN_NAMES,
            min_names_per_column: 5,
            rank_tolerance: 1e-10,
        }
    }

    /// Whether a model can be fitted with these choices.
    ///
    /// # Errors
    /// [`ModelError`] names the first field at fault.
    pub fn check(&self) -> Result<(), ModelError> {
        self.factors.check()?;
        self.winsor.check()?;
        if self.styles.is_empty() {
            return Err(ModelError::NoStyles);
        }
        for (place, style) in self.styles.iter().enumerate() {
            if self.styles.iter().skip(place + 1).any(|other| other == style) {
                return Err(ModelError::RepeatedStyle { style: style.name() });
            }
        }
        let RollingWindow { days, min_days } = self.weight_window;
        if min_days < 1 || days < min_days {
            return Err(ModelError::Setting {
                key: "weight_window.min_days",
                value: count(min_days),
                rule: "between 1 and the length of the window",
            });
        }
        if Factor::ALL.len() <= self.max_missing {
            return Err(ModelError::Setting {
                key: "max_missing",
                value: count(self.max_missing),
                rule: "fewer than the nine factors",
            });
        }
        if self.min_cross_section() <= self.columns() {
            return Err(ModelError::Setting {
                key: "min_names",
                value: count(self.min_names),
                rule: "more than the columns of the regression",
            });
        }
        if !(0.0 < self.rank_tolerance && self.rank_tolerance < 1.0) {
            return Err(ModelError::Setting {
                key: "rank_tolerance",
                value: self.rank_tolerance,
                rule: "above 0 and below 1",
            });
        }
        Ok(())
    }

    /// Columns of the regression: the intercept and the styles.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.style_count() + 1
    }

    /// Styles of the regression, extra ones among them.
    #[must_use]
    pub const fn style_count(&self) -> usize {
        self.styles.len() + self.extra_styles.len()
    }

    /// Fewest names with which a day is fitted; on others it is thin.
    #[must_use]
    pub fn min_cross_section(&self) -> usize {
        self.min_names
            .max(self.min_names_per_column.saturating_mul(self.columns()))
    }

    /// Most missing styles with which a name is covered: [`Self::max_missing`] of nine, in proportion.
    #[must_use]
    pub const fn max_missing_styles(&self) -> usize {
        self.max_missing * self.styles.len() / Factor::ALL.len()
    }

    /// Days before a return day that its fit may read.
    #[must_use]
    pub fn lookback_days(&self) -> usize {
        let residuals = match self.weighting {
            Weighting::InverseResidualVariance => self.weight_window.days,
            Weighting::SqrtAmount | Weighting::Amount | Weighting::Equal => 0,
        };
        1 + residuals + self.factors.lookback_days().max(self.weight_window.days)
    }

    /// The first day that a fit from `first_return_day` on reads: where a panel may be cut without moving a bit.
    #[must_use]
    pub fn first_needed_day(&self, first_return_day: usize) -> usize {
        first_return_day.saturating_sub(self.lookback_days())
    }

    pub(super) fn cross_section(&self) -> CrossSectionConfig {
        CrossSectionConfig {
            winsor: self.winsor,
            max_missing: self.max_missing_styles(),
        }
    }

    /// All choices as text, one a line, for a hash: equal configurations give equal text, different ones different.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let Self {
            factors,
            styles,
            extra_styles,
            winsor,
            exposures,
            residuals,
            centering,
            max_missing,
            weighting,
            weight_window,
            min_names,
            min_names_per_column,
            rank_tolerance,
        } = self;
        let names: Vec<&str> = styles.iter().map(|style| style.name()).collect();
        let mut lines = Lines::default();
        lines.put("model", "1");
        lines.put_factors(factors);
        lines.put("styles", names.join(" "));
        if !extra_styles.is_empty() {
            let words: Vec<&str> = extra_styles.iter().map(|style| style.word()).collect();
            lines.put("extra_styles", words.join(" "));
        }
        lines.put("winsor", winsor_text(*winsor));
        lines.put("exposures", exposures.label());
        lines.put("residuals", residuals.label());
        lines.put("centering", centering.word());
        lines.put("max_missing", max_missing);
        lines.put("weighting", weighting.word());
        lines.put("weight_window", window_text(*weight_window));
        lines.put("min_names", min_names);
        lines.put("min_names_per_column", min_names_per_column);
        lines.put("rank_tolerance", number_text(*rank_tolerance));
        lines.0
    }
}

/// Lines of `key = value`.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn put(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        writeln!(self.0, "{key} = {value}").unwrap_or_default();
    }

    fn put_factors(&mut self, factors: &FactorConfig) {
        let FactorConfig {
            momentum_long_days,
            momentum_skip_days,
            momentum_min_days,
            volatility,
            short,
            skewness,
            high,
            amount_variation,
            illiquidity_scale_cny,
            illiquidity_log,
        } = *factors;
        self.put("momentum_long_days", momentum_long_days);
        self.put("momentum_skip_days", momentum_skip_days);
        self.put("momentum_min_days", momentum_min_days);
        self.put("volatility", window_text(volatility));
        self.put("short", window_text(short));
        self.put("skewness", window_text(skewness));
        self.put("high", window_text(high));
        self.put("amount_variation", window_text(amount_variation));
        self.put("illiquidity_scale_cny", number_text(illiquidity_scale_cny));
        self.put("illiquidity_log", illiquidity_log);
    }
}

fn window_text(window: RollingWindow) -> String {
    format!("{} {}", window.days, window.min_days)
}

fn winsor_text(winsor: Winsor) -> String {
    match winsor {
        Winsor::Mad { k, scale } => format!("mad {} {}", number_text(k), number_text(scale)),
        Winsor::Sigma { k } => format!("sigma {}", number_text(k)),
        Winsor::Percentile { low, high } => {
            format!("percentile {} {}", number_text(low), number_text(high))
        }
        Winsor::Unlimited => "unlimited".to_owned(),
    }
}

/// The shortest text that reads back as the same number.
fn number_text(value: f64) -> String {
    format!("{value:?}")
}

/// A number of things in a message.
fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_model_is_sound() {
        let config = ModelConfig::ktd();
        assert_eq!(config.check(), Ok(()));
        assert_eq!((config.columns(), config.min_cross_section()), (10, 50));
        assert_eq!((config.max_missing_styles(), config.lookback_days()), (3, 253));
        assert_eq!(
            (config.first_needed_day(260), config.first_needed_day(100)),
            (7, 0)
        );
    }

    #[test]
    fn fewer_styles_allow_fewer_gaps() {
        let styles = |kept: usize| ModelConfig {
            styles: Factor::ALL[..kept].to_vec(),
            ..ModelConfig::ktd()
        };
        let allowed: Vec<usize> = (1..=9).map(|kept| styles(kept).max_missing_styles()).collect();
        assert_eq!(allowed, [0, 0, 1, 1, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn every_field_moves_the_fingerprint() {
        let base = ModelConfig::ktd();
        let with = |change: fn(&mut ModelConfig)| {
            let mut config = ModelConfig::ktd();
            change(&mut config);
            config
        };
        let variants = [
            with(|config| config.factors.short = RollingWindow::new(21, 14)),
            with(|config| config.factors.illiquidity_log = false),
            with(|config| config.styles.swap(0, 1)),
            with(|config| config.winsor = Winsor::Unlimited),
            with(|config| config.winsor = Winsor::Sigma { k: 3.0 }),
            with(|config| config.exposures = Exposures::Unclipped),
            with(|config| config.residuals = Residuals::Fitted),
            with(|config| config.centering = Centering::Regression),
            with(|config| config.max_missing = 2),
            with(|config| config.weighting = Weighting::Equal),
            with(|config| config.weight_window = RollingWindow::new(60, 21)),
            with(|config| config.min_names = 51),
            with(|config| config.min_names_per_column = 6),
            with(|config| config.rank_tolerance = 1e-11),
        ];
        let mut texts: Vec<String> = variants.iter().map(ModelConfig::fingerprint).collect();
        texts.push(base.fingerprint());
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), variants.len() + 1);
        assert_eq!(base.fingerprint(), ModelConfig::ktd().fingerprint());
        assert!(base.fingerprint().contains("winsor = mad 3.0 1.4826\n"));
    }

    #[test]
    fn choices_that_cannot_be_fitted_are_refused() {
        let refused = |change: fn(&mut ModelConfig)| {
            let mut config = ModelConfig::ktd();
            change(&mut config);
            config.check().unwrap_err()
        };
        assert_eq!(refused(|config| config.styles.clear()), ModelError::NoStyles);
        assert_eq!(
            refused(|config| config.styles.push(Factor::Rv60)),
            ModelError::RepeatedStyle { style: "RV_60" }
        );
        let setting = |error| {
            if let ModelError::Setting { key, .. } = error {
                key
            } else {
                "another error"
            }
        };
        assert_eq!(
            setting(refused(|config| config.weight_window = RollingWindow::new(5, 6))),
            "weight_window.min_days"
        );
        assert_eq!(setting(refused(|config| config.max_missing = 9)), "max_missing");
        assert_eq!(
            setting(refused(|config| config.rank_tolerance = f64::NAN)),
            "rank_tolerance"
        );
        assert_eq!(
            setting(refused(|config| {
                config.min_names = 10;
                config.min_names_per_column = 0;
            })),
            "min_names"
        );
    }
}
