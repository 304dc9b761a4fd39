//! What each candidate for the headline recovers of planted accounts.

use super::book::books;
use super::market::{PlantedDesign, PlantedDraw, PlantedMarket};
use crate::account::{AccountError, Attribution, DayBook, WeightBasis, attribute, carino_weights};
use crate::model::{FactorModel, ModelError, ReturnLegs};
use crate::ranking::{SelectionSeries, selection_bootstrap, selection_sums};
use ktd_stats::{Confidence, Interval, SplitMix64, sum_intervals};

/// With which exposures a candidate fits and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateExposures {
    /// Both with those of the market's configuration, which clips.
    Clipped,
    /// Fits on those, and attributes with each name's own.
    Unclipped,
    /// Both with five instead of three absolute deviations.
    FiveDeviations,
    /// Both clipped at the percentiles 1 and 99.
    Percentiles,
    /// Both with each name's own.
    UnclippedFit,
}

/// A candidate for the headline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// Its exposures.
    pub exposures: CandidateExposures,
    /// Its weights.
    pub basis: WeightBasis,
}

impl CandidateExposures {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Clipped,
        Self::Unclipped,
        Self::FiveDeviations,
        Self::Percentiles,
        Self::UnclippedFit,
    ];

    /// The words of tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Clipped => "clipped",
            Self::Unclipped => "clipped fit alone",
            Self::FiveDeviations => "MAD 5",
            Self::Percentiles => "percentiles",
            Self::UnclippedFit => "unclipped",
        }
    }
}

/// One account of one draw: the true linked selection, and what each candidate says, with its 95 % interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// What was planted and drawn.
    pub truth: f64,
    /// What candidates say.
    pub estimates: Vec<(Candidate, f64, Option<Interval>)>,
}

/// What a candidate recovers of one planted account over many draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecoverySummary {
    /// The candidate.
    pub candidate: Candidate,
    /// Mean true selection: what was planted.
    pub planted: f64,
    /// Mean of estimate less truth.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
    /// Root mean square of estimate less truth.
    pub error: f64,
    /// Share of draws whose interval holds what was planted.
    pub coverage: f64,
}

/// Why nothing is recovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlantingError {
    /// A day cannot be fitted.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A day cannot be split.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl PlantedMarket {
    /// One draw: what candidates recover of each agent of the design, in its order.
    ///
    /// # Errors
    /// [`PlantingError`] where a day cannot be fitted or split.
    pub fn recover(&self, design: &PlantedDesign, seed: u64) -> Result<Vec<Recovered>, PlantingError> {
        let mut generator = SplitMix64::new(seed);
        let draw = self.draw(design.tail, &mut generator);
        let returns: Vec<_> = draw.days.iter().map(|day| day.returns.clone()).collect();
        let models: Vec<(CandidateExposures, FactorModel)> = CandidateExposures::ALL
            .into_iter()
            .map(|exposures| Ok((exposures, self.refitted(exposures, &returns)?)))
            .collect::<Result<_, ModelError>>()?;
        let agents = design.agents.iter().zip(0_u64..);
        agents
            .map(|(agent, place)| {
                let mut generator = SplitMix64::new(seed ^ (place + 1).wrapping_mul(0x9E6C_63D0_876A_9F3B));
                let choices: Vec<Vec<usize>> = (0..draw.days.len())
                    .map(|day| match day % design.hold_days.max(1) {
                        0 => agent.choose(self, (design, &draw), day, &mut generator),
                        _ => Vec::new(),
                    })
                    .collect();
                let books = books(&draw, self.clipped.days().start, &choices);
                recovered(&books, &draw, &models, (design.replicates, seed))
            })
            .collect()
    }
}

impl PlantedMarket {
    fn refitted(
        &self,
        exposures: CandidateExposures,
        returns: &[ReturnLegs],
    ) -> Result<FactorModel, ModelError> {
        let own = |model: &FactorModel| model.refitted(model, returns);
        match exposures {
            CandidateExposures::Clipped => own(&self.clipped),
            CandidateExposures::Unclipped => self.clipped.refitted(&self.unclipped, returns),
            CandidateExposures::FiveDeviations => own(&self.five_deviations),
            CandidateExposures::Percentiles => own(&self.percentiles),
            CandidateExposures::UnclippedFit => own(&self.unclipped),
        }
    }
}

fn recovered(
    books: &[DayBook],
    draw: &PlantedDraw,
    models: &[(CandidateExposures, FactorModel)],
    chance: (u32, u64),
) -> Result<Recovered, PlantingError> {
    let mut truth = 0.0;
    let mut estimates = Vec::new();
    for (exposures, model) in models {
        let split = attribute(books, model.config().styles.len(), |day| model.day(day))?;
        truth = true_selection(books, draw, &split);
        for basis in WeightBasis::ALL {
            let series = SelectionSeries::on(&[&split], basis);
            let candidate = Candidate {
                exposures: *exposures,
                basis,
            };
            estimates.push((candidate, series.value(), interval(series, chance)));
        }
    }
    Ok(Recovered { truth, estimates })
}

/// The planted specific returns on what was held when they were earned, linked.
fn true_selection(books: &[DayBook], draw: &PlantedDraw, split: &Attribution) -> f64 {
    let weights = carino_weights(split.returns());
    let days = books.iter().zip(&draw.days).zip(weights);
    days.map(|((book, day), weight)| {
        let held = book.held.iter().map(|held| {
            let (overnight, intraday) = day.specific_of(held.row);
            held.before_cny * overnight + held.after_cny * intraday
        });
        weight * held.sum::<f64>() / book.nav_before_cny
    })
    .sum()
}

fn interval(series: SelectionSeries, chance: (u32, u64)) -> Option<Interval> {
    let series = [series];
    let draws = selection_bootstrap(&series, chance)?;
    let sums = selection_sums(&[1], &series, &draws)?;
    sum_intervals(&sums, Confidence::P95).into_iter().next()?.ok()
}

/// What each candidate recovers of one agent, over draws of it.
#[must_use]
pub fn summarise(draws: &[&Recovered]) -> Vec<RecoverySummary> {
    let planted = mean(draws.iter().map(|draw| draw.truth));
    let candidates = draws.first().map_or(&[][..], |draw| draw.estimates.as_slice());
    let of = |(place, (candidate, ..)): (usize, &(Candidate, f64, Option<Interval>))| {
        let own = || {
            draws
                .iter()
                .filter_map(|draw| Some((draw.truth, draw.estimates.get(place)?)))
        };
        let differences: Vec<f64> = own().map(|(truth, (_, value, _))| value - truth).collect();
        let bias = mean(differences.iter().copied());
        let square = mean(differences.iter().map(|value| value * value));
        let count = count(differences.len());
        let holds = own().map(|(_, (.., interval))| {
            let holds =
                interval.is_some_and(|interval| interval.lower <= planted && planted <= interval.upper);
            f64::from(u8::from(holds))
        });
        RecoverySummary {
            candidate: *candidate,
            planted,
            bias,
            bias_error: ((square - bias * bias).max(0.0) / count).sqrt(),
            error: square.sqrt(),
            coverage: mean(holds),
        }
    };
    candidates.iter().enumerate().map(of).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, items) = values.fold((0.0, 0_usize), |(sum, items), value| (sum + value, items + 1));
    sum / count(items)
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items.max(1)).unwrap_or(u32::MAX))
}
