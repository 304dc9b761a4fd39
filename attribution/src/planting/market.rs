//! A panel's factor part with specific returns of signs thrown anew.

use super::agent::PlantedAgent;
use super::exposures::CandidateExposures;
use crate::model::{DayFit, Exposures, FactorModel, Leg, ModelConfig, ModelError, Residuals, ReturnLegs};
use crate::panel::Panel;
use ktd_env::factors::Winsor;
use ktd_stats::SplitMix64;
use std::ops::Range;

/// What is planted, and how it trades.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedDesign {
    /// Share of a name's own exposure beyond the limits of winsorising that moves its return: 0 to 1.
    pub tail: f64,
    /// Share of the variance of specific returns that comes from shocks of sectors: 0 to 1.
    pub sector_share: f64,
    /// What is asked what it recovers.
    pub candidates: Vec<CandidateExposures>,
    /// The accounts.
    pub agents: Vec<PlantedAgent>,
    /// Names that each holds, in equal weights.
    pub names: usize,
    /// Trading days from one choice of names to the next.
    pub hold_days: usize,
}

/// A panel whose specific returns can be thrown anew.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedMarket {
    /// Attributed with clipped exposures, and with unclipped ones.
    pub(super) clipped: FactorModel,
    pub(super) unclipped: FactorModel,
    /// Clipped further out.
    pub(super) five_deviations: FactorModel,
    pub(super) percentiles: FactorModel,
    /// As clipped, with each name left out of what explains it.
    pub(super) left_out: FactorModel,
    /// As that one, without the extra styles that the others have.
    pub(super) without_extra: FactorModel,
}

/// One draw of all days.
pub(super) struct PlantedDraw {
    pub(super) days: Vec<PlantedDay>,
}

/// One day of a draw, by row.
pub(super) struct PlantedDay {
    /// Close to close, and overnight.
    pub(super) returns: ReturnLegs,
    /// Specific returns overnight and intraday; 0 where a name is not covered.
    pub(super) specific: [Vec<f64>; 2],
    /// What of them is the shock of the name's sector.
    shocks: [Vec<f64>; 2],
}

impl PlantedMarket {
    /// The market of a panel over return days.
    ///
    /// # Errors
    /// [`ModelError`] as of [`FactorModel::fit`].
    pub fn new(panel: &Panel, config: &ModelConfig, days: Range<usize>) -> Result<Self, ModelError> {
        let with = |exposures| ModelConfig {
            exposures,
            residuals: Residuals::Fitted,
            ..config.clone()
        };
        let clipped = with(Exposures::Clipped);
        let left_out = ModelConfig {
            residuals: Residuals::LeftOut,
            ..clipped.clone()
        };
        let by = |winsor| ModelConfig {
            winsor,
            ..clipped.clone()
        };
        let without_extra = ModelConfig {
            extra_styles: Vec::new(),
            ..left_out.clone()
        };
        let fit = |config: &ModelConfig| FactorModel::fit(panel, config, days.clone());
        let left_out = fit(&left_out)?;
        Ok(Self {
            without_extra: if config.extra_styles.is_empty() {
                left_out.clone()
            } else {
                fit(&without_extra)?
            },
            clipped: fit(&clipped)?,
            unclipped: fit(&with(Exposures::Unclipped))?,
            five_deviations: fit(&by(Winsor::Mad {
                k: 5.0,
                scale: 1.4826,
            }))?,
            left_out,
            percentiles: fit(&by(Winsor::Percentile { low: 1.0, high: 99.0 }))?,
        })
    }

    /// The styles of the model.
    #[must_use]
    pub fn styles(&self) -> &[ktd_env::factors::Factor] {
        &self.clipped.config().styles
    }

    /// Return days.
    #[must_use]
    pub fn days(&self) -> usize {
        self.clipped.fits().len()
    }

    /// Specific returns of one draw: each name and day with its own size, and the sign that `generator` throws; and shocks of sectors
    /// that make up `sector_share` of their variance.
    pub(super) fn draw(&self, (tail, sector_share): (f64, f64), generator: &mut SplitMix64) -> PlantedDraw {
        let fits = self.clipped.fits().iter().zip(self.unclipped.fits());
        let days = fits.map(|(clipped, unclipped)| {
            let mut day = PlantedDay::new((clipped, unclipped), tail, generator);
            if 0.0 < sector_share {
                day.shock(clipped, sector_share, generator);
            }
            day
        });
        PlantedDraw { days: days.collect() }
    }
}

impl PlantedDay {
    fn new((clipped, unclipped): (&DayFit, &DayFit), tail: f64, generator: &mut SplitMix64) -> Self {
        let names = clipped.names();
        let mut day = Self {
            returns: [Vec::with_capacity(names), Vec::with_capacity(names)],
            specific: [Vec::with_capacity(names), Vec::with_capacity(names)],
            shocks: [Vec::new(), Vec::new()],
        };
        for row in 0..names {
            let sign = if generator.next_u64() >> 63 == 0 {
                1.0
            } else {
                -1.0
            };
            // Residuals are linear in exposures: those through a blend are the blend of both.
            let own = |leg| {
                let (inner, outer) = (
                    clipped.specific_return(row, leg),
                    unclipped.specific_return(row, leg),
                );
                inner + tail * (outer - inner)
            };
            let (overnight, intraday) = (own(Leg::Overnight), own(Leg::Intraday));
            let change = sign - 1.0;
            let [whole_leg, overnight_leg] = &mut day.returns;
            whole_leg.push(clipped.name_return(row, Leg::CloseToClose) + change * (overnight + intraday));
            overnight_leg.push(clipped.name_return(row, Leg::Overnight) + change * overnight);
            let [by_night, by_day] = &mut day.specific;
            by_night.push(sign * overnight);
            by_day.push(sign * intraday);
        }
        day
    }

    /// Puts shocks of sectors in the place of a share of the variance: each leg's of one size, that of its names.
    fn shock(&mut self, fit: &DayFit, share: f64, generator: &mut SplitMix64) {
        let sectors = (0..fit.names()).filter_map(|row| fit.sector(row)).max();
        let drawn: Vec<[f64; 2]> = (0..sectors.map_or(0, |last| usize::from(last) + 1))
            .map(|_| [generator.normal(), generator.normal()])
            .collect();
        let [whole, overnight] = &mut self.returns;
        for (leg, (specific, shocks)) in self.specific.iter_mut().zip(&mut self.shocks).enumerate() {
            let own = (0..fit.names()).filter(|row| fit.is_estimated(*row));
            let (squares, names) = own.fold((0.0, 0.0), |(squares, names), row| {
                let value = at(specific, row);
                (squares + value * value, names + 1.0)
            });
            let size = (share * squares / f64::max(names, 1.0)).sqrt();
            for (row, cell) in specific.iter_mut().enumerate() {
                let sector = fit.sector(row).filter(|_| fit.is_covered(row)).map(usize::from);
                let drawn = sector.and_then(|sector| drawn.get(sector)?.get(leg));
                let shock = size * drawn.copied().unwrap_or(0.0);
                let after = if drawn.is_some() {
                    (1.0 - share).sqrt() * *cell + shock
                } else {
                    *cell
                };
                if let Some(value) = whole.get_mut(row) {
                    *value += after - *cell;
                }
                if let Some(value) = overnight.get_mut(row).filter(|_| leg == 0) {
                    *value += after - *cell;
                }
                *cell = after;
                shocks.push(shock);
            }
        }
    }

    /// The shocks of a row's sector: overnight, and intraday.
    pub(super) fn shocks_of(&self, row: usize) -> (f64, f64) {
        let [overnight, intraday] = &self.shocks;
        (at(overnight, row), at(intraday, row))
    }

    /// Returns of a row: close to close, and overnight.
    pub(super) fn returns_of(&self, row: usize) -> (f64, f64) {
        let [whole, overnight] = &self.returns;
        (at(whole, row), at(overnight, row))
    }

    /// Specific returns of a row: overnight, and intraday.
    pub(super) fn specific_of(&self, row: usize) -> (f64, f64) {
        let [overnight, intraday] = &self.specific;
        (at(overnight, row), at(intraday, row))
    }
}

fn at(values: &[f64], row: usize) -> f64 {
    values.get(row).copied().unwrap_or(0.0)
}
