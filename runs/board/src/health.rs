//! The factor model's health, as the board shows it.

use super::fitted::FittedModel;
use super::record::{ModelHealth, StyleHealth};
use crate::BoardError;
use ktd_env::{Market, TradeDate};
use ktd_stats::{Sample, newey_west};

/// The health of a fitted model over all its days.
///
/// # Errors
/// [`BoardError::Input`] when the panel does not hold the model's days.
pub(super) fn of(fitted: &FittedModel, market: &Market) -> Result<ModelHealth, BoardError> {
    let health = fitted
        .model
        .health(&fitted.panel)
        .map_err(|error| BoardError::input(error.to_string(), error.hint()))?;
    let date = |day: usize| {
        market
            .calendar()
            .get(day)
            .copied()
            .map_or_else(String::new, TradeDate::reveal)
    };
    let factors = health.columns.iter().map(|column| {
        let daily = Sample::new("factor returns", &column.returns).ok();
        StyleHealth {
            name: column
                .style
                .map_or_else(|| "COMMON".to_owned(), |style| style.name().to_owned()),
            mean_return: column.mean_return.unwrap_or(0.0),
            newey_west_t: daily
                .and_then(|daily| newey_west(&daily, None).ok())
                .map(|found| found.t),
            mean_abs_t: column.mean_absolute_t.unwrap_or(0.0),
            significant_share: column.share_telling.unwrap_or(0.0),
            dropped_days: column.dropped_days,
        }
    });
    Ok(ModelHealth {
        dates: health.days.iter().map(|day| date(day.day)).collect(),
        r_squared: health.days.iter().map(|day| day.r_squared).collect(),
        names: health.days.iter().map(|day| day.estimation_names).collect(),
        imputed: health.days.iter().map(|day| day.imputed).collect(),
        thin_days: health.thin_days,
        factors: factors.collect(),
    })
}
