//! A panel's factor part with specific returns of signs thrown anew.

use super::agent::PlantedAgent;
use crate::model::{DayFit, Exposures, FactorModel, Leg, ModelConfig, ModelError, ReturnLegs};
use crate::panel::Panel;
use ktd_env::factors::Winsor;
use ktd_stats::SplitMix64;
use std::ops::Range;

/// What is planted, and how it trades.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedDesign {
    /// Share of a name's own exposure beyond the limits of winsorising that moves its return: 0 to 1.
    pub tail: f64,
    /// The accounts.
    pub agents: Vec<PlantedAgent>,
    /// Names that each holds, in equal weights.
    pub names: usize,
    /// Trading days from one choice of names to the next.
    pub hold_days: usize,
    /// Replicates of an interval.
    pub replicates: u32,
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
}

impl PlantedMarket {
    /// The market of a panel over return days.
    ///
    /// # Errors
    /// [`ModelError`] as of [`FactorModel::fit`].
    pub fn new(panel: &Panel, config: &ModelConfig, days: Range<usize>) -> Result<Self, ModelError> {
        let with = |exposures| ModelConfig {
            exposures,
            ..config.clone()
        };
        let clipped = with(Exposures::Clipped);
        let by = |winsor| ModelConfig {
            winsor,
            ..clipped.clone()
        };
        let fit = |config: &ModelConfig| FactorModel::fit(panel, config, days.clone());
        Ok(Self {
            clipped: fit(&clipped)?,
            unclipped: fit(&with(Exposures::Unclipped))?,
            five_deviations: fit(&by(Winsor::Mad {
                k: 5.0,
                scale: 1.4826,
            }))?,
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

    /// Specific returns of one draw: each name and day with its own size, and the sign that `generator` throws.
    pub(super) fn draw(&self, tail: f64, generator: &mut SplitMix64) -> PlantedDraw {
        let fits = self.clipped.fits().iter().zip(self.unclipped.fits());
        let days = fits.map(|(clipped, unclipped)| PlantedDay::new((clipped, unclipped), tail, generator));
        PlantedDraw { days: days.collect() }
    }
}

impl PlantedDay {
    fn new((clipped, unclipped): (&DayFit, &DayFit), tail: f64, generator: &mut SplitMix64) -> Self {
        let names = clipped.names();
        let mut day = Self {
            returns: [Vec::with_capacity(names), Vec::with_capacity(names)],
            specific: [Vec::with_capacity(names), Vec::with_capacity(names)],
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
