//! The factor model over a panel: fitted once, shared by every trajectory.

use super::family;
use super::settings::ModelSettings;
use crate::BoardError;
use crate::record::DateBounds;
use ktd_attribution::Panel;
use ktd_attribution::model::{FactorModel, ModelConfig, ModelError, VifScreen, calibrate};
use ktd_env::{Market, TradeDate};
use ktd_io::sha256::sha256_hex;
use std::ops::Range;

/// Days of the screen, where the settings name none: the panel's first trading year on which every factor has its history.
/// They are the panel's alone, so that no bundle that happens to lie on disk moves the factors, and with them ranks.
const CALIBRATION_DAYS: usize = 252;

/// Fewest days on which a screen means something.
const CALIBRATION_LEAST_DAYS: usize = 20;

/// A panel, and the factor model fitted on it.
#[derive(Debug, Clone)]
pub struct FittedModel {
    /// The panel's columns, as far as fits read them.
    pub panel: Panel,
    /// The model over all evaluated days.
    pub model: FactorModel,
    /// The screen of its columns, where there were days for one.
    pub screen: Option<VifScreen>,
    /// First and last day of the screen.
    pub calibration: Option<DateBounds>,
    /// SHA-256 of panel, configuration and days: what a cache of fits is keyed by.
    pub sha256: String,
}

impl FittedModel {
    /// Fits the model over the return days `days`, places of the market's calendar.
    ///
    /// # Errors
    /// [`BoardError::Input`] when the settings or the panel do not allow it.
    pub fn of(market: &Market, settings: &ModelSettings, days: Range<usize>) -> Result<Self, BoardError> {
        let calibration = calibration_days(market, settings, days.start)?;
        let from = |first: usize, end: usize| {
            Panel::from_market(market, first..end)
                .map_err(|error| BoardError::input(error.to_string(), error.hint()))
        };
        let screened = match (settings.vif_threshold, calibration) {
            (Some(threshold), Some(days)) => {
                let panel = from(settings.model.first_needed_day(days.start), days.end)?;
                screen(&panel, &settings.model, days, threshold)?
            }
            _ => None,
        };
        let panel = from(family::first_needed_day(&settings.model, days.start), days.end)?;
        let (config, screen, days_of_screen) = match screened {
            Some((config, screen, days)) => (config, Some(screen), Some(days)),
            None => (settings.model.clone(), None, None),
        };
        let model = FactorModel::fit(&panel, &config, days.clone()).map_err(refused)?;
        let date = |place: usize| {
            market
                .calendar()
                .get(place)
                .copied()
                .map_or_else(String::new, TradeDate::reveal)
        };
        let key = format!(
            "{}\n{}days = {} {}\n",
            ktd_masking::hex(&market.content_hash()),
            config.fingerprint(),
            days.start,
            days.end
        );
        Ok(Self {
            panel,
            model,
            screen,
            calibration: days_of_screen.map(|days| DateBounds {
                first: date(days.start),
                last: date(days.end.saturating_sub(1)),
            }),
            sha256: sha256_hex(key.as_bytes()),
        })
    }

    /// The same columns and days under another configuration.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn refit(&self, config: &ModelConfig, days: Range<usize>) -> Result<FactorModel, BoardError> {
        FactorModel::fit(&self.panel, config, days).map_err(refused)
    }
}

fn refused(error: ModelError) -> BoardError {
    BoardError::input(format!("the factor model: {error}"), error.hint())
}

/// The days of the screen. It reads exposures and no return, so that the panel's own first year may reach into evaluated days
/// of a short panel; dates that are chosen must end before them.
fn calibration_days(
    market: &Market,
    settings: &ModelSettings,
    first: usize,
) -> Result<Option<Range<usize>>, BoardError> {
    if settings.vif_threshold.is_none() {
        return Ok(None);
    }
    let Some(span) = settings.calibration else {
        let start = settings.model.lookback_days();
        let end = market.calendar().len().min(start + CALIBRATION_DAYS);
        return Ok((start + CALIBRATION_LEAST_DAYS <= end).then_some(start..end));
    };
    let days = market.days_within(span);
    let (Some(start), Some(end)) = (days.first(), days.last()) else {
        return Err(BoardError::input(
            "the panel has no trading day within the calibration dates",
            "set `calibration_start` and `calibration_end` to dates of the panel, before the evaluation",
        ));
    };
    if first <= end.index() {
        return Err(BoardError::input(
            "the calibration dates reach into the evaluated days",
            "end the calibration before the first evaluated day: columns are chosen before the evaluation",
        ));
    }
    Ok(Some(start.index()..end.index() + 1))
}

type Screened = (ModelConfig, VifScreen, Range<usize>);

/// The screened configuration; `None` where the cross-sections of the days are all too thin to say anything.
fn screen(
    panel: &Panel,
    config: &ModelConfig,
    days: Range<usize>,
    threshold: f64,
) -> Result<Option<Screened>, BoardError> {
    match calibrate(panel, config, days.clone(), threshold) {
        Ok((config, screen)) => Ok(Some((config, screen, days))),
        Err(ModelError::AllThin { .. }) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn the_screen_hangs_on_the_panel_and_not_on_the_evaluated_days() {
        let market = generate(&SynthConfig {
            seed: 5,
            names: 90,
            days: 620,
        })
        .unwrap();
        let settings = ModelSettings::default();
        let of = |days: Range<usize>| FittedModel::of(&market, &settings, days).unwrap();
        let (early, late) = (of(540..600), of(600..605));
        assert_eq!(
            (&early.screen, &early.calibration),
            (&late.screen, &late.calibration)
        );
        let first = market.calendar()[settings.model.lookback_days()].reveal();
        assert_eq!(late.calibration.unwrap().first, first);
        // A day that lies within the screen's own year is evaluated under the same factors.
        assert_eq!(of(300..310).screen, early.screen);
    }
}
