//! The keys of a factor model's settings file. Every choice that the article (KTD-Fin) leaves open is one.

use crate::BoardError;
use ktd_attribution::model::{Centering, ModelConfig, Residuals, VIF_THRESHOLD, Weighting};
use ktd_env::DateSpan;
use ktd_env::TradeDate;
use ktd_env::factors::{CrossSectionConfig, Factor, RollingWindow, Winsor};
use ktd_experiment::config::unreadable;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

/// A factor model and how its columns are screened.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// The model before the screen.
    pub model: ModelConfig,
    /// VIF above which a factor is dropped; `None` leaves the screen out.
    pub vif_threshold: Option<f64>,
    /// Dates of the screen; the panel's first trading year with full history when absent.
    pub calibration: Option<DateSpan>,
}

/// `settings.toml` of `ktd attribute` and `ktd leaderboard`; absent keys keep their defaults (docs/attribution.md).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// Names of the style factors, in the order of the columns.
    styles: Option<Vec<String>>,
    /// `mad`, `sigma`, `percentile` or `none`.
    winsor: Option<String>,
    /// Of `mad` and `sigma`: how many deviations.
    winsor_k: Option<f64>,
    /// Of `percentile`: the lower and the upper share.
    winsor_shares: Option<(f64, f64)>,
    /// `equal` or `regression`.
    center: Option<String>,
    /// `left_out` or `fitted`.
    residuals: Option<String>,
    /// `sqrt_amount`, `amount`, `equal` or `inv_resid_var`.
    weight: Option<String>,
    weight_days: Option<usize>,
    weight_min_days: Option<usize>,
    max_missing: Option<usize>,
    min_cross_section: Option<usize>,
    rank_tolerance: Option<f64>,
    illiq_log: Option<bool>,
    /// 0 leaves the screen out.
    vif_threshold: Option<f64>,
    calibration_start: Option<String>,
    calibration_end: Option<String>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            model: ModelConfig::ktd(),
            vif_threshold: Some(VIF_THRESHOLD),
            calibration: None,
        }
    }
}

impl ModelSettings {
    /// Reads a settings file.
    ///
    /// # Errors
    /// [`BoardError`] naming file and key.
    pub fn read(path: &Path) -> Result<Self, BoardError> {
        let text = ktd_io::whole_file::read_input(path)?;
        let at = |what: String| {
            let hint = "see docs/attribution.md for the keys and their values";
            BoardError::input(format!("{}: {what}", path.display()), hint)
        };
        let keys: Keys = toml::from_str(&text).map_err(|error| at(unreadable(&text, &error)))?;
        let settings = Self::of(&keys).map_err(at)?;
        settings.model.check().map_err(|error| at(error.to_string()))?;
        Ok(settings)
    }

    /// What the metrics part of a protocol is hashed from.
    #[must_use]
    pub fn text(&self) -> String {
        let screen = self
            .vif_threshold
            .map_or_else(|| "none".to_owned(), |threshold| json!(threshold).to_string());
        let calibration = self.calibration.map_or_else(
            || "first year of the panel".to_owned(),
            |span| format!("{} {}", span.start.reveal(), span.end.reveal()),
        );
        format!(
            "{}vif_threshold = {screen}\ncalibration = {calibration}\n",
            self.model.fingerprint()
        )
    }

    fn of(keys: &Keys) -> Result<Self, String> {
        let mut settings = Self::default();
        let model = &mut settings.model;
        if let Some(names) = &keys.styles {
            let style = |name: &String| {
                Factor::from_name(name).ok_or_else(|| format!("`styles` has {name:?}, which is no factor"))
            };
            model.styles = names.iter().map(style).collect::<Result<_, _>>()?;
        }
        model.winsor = winsor(keys)?.unwrap_or(model.winsor);
        model.centering = match keys.center.as_deref() {
            None | Some("equal") => Centering::Equal,
            Some("regression") => Centering::Regression,
            Some(other) => return Err(format!("`center` is {other:?}; it is equal or regression")),
        };
        model.residuals = match keys.residuals.as_deref() {
            None | Some("left_out") => Residuals::LeftOut,
            Some("fitted") => Residuals::Fitted,
            Some(other) => return Err(format!("`residuals` is {other:?}; it is left_out or fitted")),
        };
        model.weighting = match keys.weight.as_deref() {
            None | Some("sqrt_amount") => Weighting::SqrtAmount,
            Some("amount") => Weighting::Amount,
            Some("equal") => Weighting::Equal,
            Some("inv_resid_var") => Weighting::InverseResidualVariance,
            Some(other) => {
                let known = "sqrt_amount, amount, equal or inv_resid_var";
                return Err(format!("`weight` is {other:?}; it is {known}"));
            }
        };
        let window = model.weight_window;
        model.weight_window = RollingWindow::new(
            keys.weight_days.unwrap_or(window.days),
            keys.weight_min_days.unwrap_or(window.min_days),
        );
        model.max_missing = keys.max_missing.unwrap_or(model.max_missing);
        model.min_names = keys.min_cross_section.unwrap_or(model.min_names);
        model.rank_tolerance = keys.rank_tolerance.unwrap_or(model.rank_tolerance);
        model.factors.illiquidity_log = keys.illiq_log.unwrap_or(model.factors.illiquidity_log);
        settings.vif_threshold = match keys.vif_threshold {
            None => settings.vif_threshold,
            Some(threshold) if threshold.abs() < f64::MIN_POSITIVE => None,
            Some(threshold) => Some(threshold),
        };
        settings.calibration = match (&keys.calibration_start, &keys.calibration_end) {
            (None, None) => None,
            (Some(start), Some(end)) => Some(DateSpan {
                start: date("calibration_start", start)?,
                end: date("calibration_end", end)?,
            }),
            _ => return Err("set both `calibration_start` and `calibration_end`, or neither".to_owned()),
        };
        Ok(settings)
    }
}

fn date(key: &str, text: &str) -> Result<TradeDate, String> {
    TradeDate::parse(text).map_err(|error| format!("`{key}`: {error}"))
}

fn winsor(keys: &Keys) -> Result<Option<Winsor>, String> {
    let Some(rule) = keys.winsor.as_deref() else {
        return Ok(None);
    };
    let Winsor::Mad { k, scale } = CrossSectionConfig::KTD.winsor else {
        return Err("`winsor`: the default is no MAD rule".to_owned());
    };
    Ok(Some(match rule {
        "mad" => Winsor::Mad {
            k: keys.winsor_k.unwrap_or(k),
            scale,
        },
        "sigma" => Winsor::Sigma {
            k: keys.winsor_k.unwrap_or(k),
        },
        "percentile" => {
            let (low, high) = keys.winsor_shares.unwrap_or((0.01, 0.99));
            // Shares in files, percent in the model.
            Winsor::Percentile {
                low: 100.0 * low,
                high: 100.0 * high,
            }
        }
        "none" => Winsor::Unlimited,
        other => {
            return Err(format!(
                "`winsor` is {other:?}; it is mad, sigma, percentile or none"
            ));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::factors::Spread;

    #[test]
    fn shares_of_a_percentile_rule_cut_the_tails_and_nothing_else() {
        let keys: Keys = toml::from_str("winsor = \"percentile\"\nwinsor_shares = [0.05, 0.9]\n").unwrap();
        let winsor = ModelSettings::of(&keys).unwrap().model.winsor;
        let config = CrossSectionConfig {
            winsor,
            ..CrossSectionConfig::KTD
        };
        let sample: Vec<f64> = (0..=100).map(f64::from).collect();
        let limits = Spread::of(&sample, &config).unwrap().limits.unwrap();
        assert_eq!((limits.low, limits.high), (5.0, 90.0));
    }
}
