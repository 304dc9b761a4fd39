//! What each candidate for the headline recovers of planted accounts.

use super::agent::PlantedAgent;
use super::book::{Choice, books};
use super::exposures::CandidateExposures;
use super::market::{PlantedDay, PlantedDesign, PlantedDraw, PlantedMarket};
use crate::account::{
    AccountError, Attribution, DayBook, Part, Peers, WeightBasis, attribute, random_selections,
};
use crate::model::{FactorModel, ModelError, ReturnLegs};
use crate::ranking::{SelectionSeries, selection_interval};
use ktd_stats::{Interval, SplitMix64};

/// A candidate for the headline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// Its exposures.
    pub exposures: CandidateExposures,
    /// Its weights.
    pub basis: WeightBasis,
}

/// One account of one draw: the true selection a day, and what each candidate says, with its 95 % interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// What was planted and drawn.
    pub truth: f64,
    /// What candidates say.
    pub estimates: Vec<(Candidate, f64, Option<Interval>)>,
    /// What of the truth the shocks of sectors are, and what the headline says of it; `None` where the headline is not asked.
    pub sector: Option<[f64; 2]>,
    /// The true timing of the market a day, and what the headline says of it; likewise.
    pub timing: Option<[f64; 2]>,
    /// Which share of the daily return of the extra styles on what was held passes for selection where the model lacks them: the slope
    /// of what selection is told too much on it. `None` where no such model is asked.
    pub hidden_share: Option<f64>,
    /// Of dice: whether the headline's selection lies outside the 95 % band of luck that is drawn among [`Peers::Everyone`], and
    /// among [`Peers::Alike`].
    pub is_outside: Option<[bool; 2]>,
}

/// What the headline recovers of a part that is planted, such as shocks of sectors or timing, over draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartRecovery {
    /// Mean of what was planted.
    pub planted: f64,
    /// Mean of estimate less truth.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
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
        let draw = self.draw((design.tail, design.sector_share), &mut generator);
        let returns: Vec<_> = draw.days.iter().map(|day| day.returns.clone()).collect();
        let models: Vec<(CandidateExposures, FactorModel)> = design
            .candidates
            .iter()
            .map(|exposures| Ok((*exposures, self.refitted(*exposures, &returns)?)))
            .collect::<Result<_, ModelError>>()?;
        let agents = design.agents.iter().zip(0_u64..);
        agents
            .map(|(agent, place)| {
                let mut generator = SplitMix64::new(seed ^ (place + 1).wrapping_mul(0x9E6C_63D0_876A_9F3B));
                let sectors = agent.sectors(self, design, &mut generator);
                let choices: Vec<Choice> = (0..draw.days.len())
                    .map(|day| {
                        let is_chosen = day % design.hold_days.max(1) == 0;
                        let mut rows =
                            || agent.choose(self, (design, &draw), (day, &sectors), &mut generator);
                        Choice {
                            rows: if is_chosen { rows() } else { Vec::new() },
                            invested: agent.invested(self, (design, day), &mut generator),
                        }
                    })
                    .collect();
                let books = books(&draw, self.clipped.days().start, &choices);
                recovered(&books, (self, &draw), &models, (*agent, seed))
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
            CandidateExposures::LeftOut => own(&self.left_out),
            CandidateExposures::WithoutExtra => own(&self.without_extra),
        }
    }
}

fn recovered(
    books: &[DayBook],
    (market, draw): (&PlantedMarket, &PlantedDraw),
    models: &[(CandidateExposures, FactorModel)],
    (agent, seed): (PlantedAgent, u64),
) -> Result<Recovered, PlantingError> {
    let daily = true_selection(books, draw);
    let [truth, of_sectors] = [0, 1].map(|part| mean(daily.iter().filter_map(|day| day.get(part).copied())));
    let (mut sector, mut timing, mut hidden_share, mut is_outside) = (None, None, None, None);
    let mut estimates = Vec::new();
    let split_by = |model: &FactorModel| attribute(books, model.config().style_count(), |day| model.day(day));
    for (exposures, model) in models {
        let split = split_by(model)?;
        if *exposures == CandidateExposures::WithoutExtra {
            let selected = split.selection(WeightBasis::HEADLINE);
            let too_much = selected
                .iter()
                .zip(&daily)
                .map(|(found, [truth, _])| found - truth);
            hidden_share = Some(slope(
                too_much,
                &extra_returns(&split_by(&market.clipped)?, &market.clipped),
            ));
        }
        if *exposures == CandidateExposures::LeftOut {
            let found = split.sector_selection(WeightBasis::HEADLINE);
            sector = Some([of_sectors, mean(found.iter().copied())]);
            let of_market = |split: &Attribution| {
                let timing = split.timing(WeightBasis::HEADLINE).iter();
                mean(timing.map(|day| day.market))
            };
            // The factor returns that were planted are those of the panel itself.
            timing = Some([of_market(&split_by(&market.clipped)?), of_market(&split)]);
            let own = SelectionSeries::of(&[&split]).a_day();
            let outside = |peers| is_beyond_luck((books, own), model, (peers, seed));
            let holds = books.iter().any(|book| !book.held.is_empty());
            is_outside = (agent.is_dice() && holds).then(|| [Peers::Everyone, Peers::Alike].map(outside));
        }
        for basis in WeightBasis::ALL {
            let series = SelectionSeries::on(&[&split], basis);
            let candidate = Candidate {
                exposures: *exposures,
                basis,
            };
            estimates.push((candidate, series.a_day(), selection_interval(&series)));
        }
    }
    Ok(Recovered {
        truth,
        estimates,
        sector,
        timing,
        hidden_share,
        is_outside,
    })
}

/// What the extra styles of a model earned on what was held, day by day.
fn extra_returns(split: &Attribution, model: &FactorModel) -> Vec<f64> {
    let config = model.config();
    let parts = split.parts(WeightBasis::HEADLINE);
    let mut sums = vec![0.0; split.days().len()];
    for style in config.styles.len()..config.style_count() {
        for (sum, earned) in sums.iter_mut().zip(parts.daily(Part::Style(style))) {
            *sum += earned;
        }
    }
    sums
}

/// The slope through the origin of values on others.
fn slope(values: impl Iterator<Item = f64>, on: &[f64]) -> f64 {
    let products: f64 = values.zip(on).map(|(value, on)| value * on).sum();
    products / on.iter().map(|on| on * on).sum::<f64>()
}

/// Random portfolios of a band of luck.
const PORTFOLIOS: u32 = 400;

/// Whether an account's own selection a day lies outside the 95 % band of random portfolios.
fn is_beyond_luck((books, own): (&[DayBook], f64), model: &FactorModel, (peers, seed): (Peers, u64)) -> bool {
    let way = (WeightBasis::HEADLINE, peers);
    let drawn = random_selections(&[books], way, |day| model.day(day), (PORTFOLIOS, seed));
    let below = drawn.iter().filter(|value| **value < own).count();
    let share = count(below) / count(drawn.len());
    !(0.025..=0.975).contains(&share)
}

/// The planted specific returns on what was held when they were earned, day by day; and the shocks of sectors among them.
fn true_selection(books: &[DayBook], draw: &PlantedDraw) -> Vec<[f64; 2]> {
    let days = books.iter().zip(&draw.days);
    let of_day = |(book, day): (&DayBook, &PlantedDay)| {
        let mut sums = [0.0; 2];
        for held in &book.held {
            let each = [day.specific_of(held.row), day.shocks_of(held.row)];
            for (sum, (overnight, intraday)) in sums.iter_mut().zip(each) {
                let earned = held.before_cny * overnight + held.after_cny * intraday;
                *sum += earned / book.nav_before_cny;
            }
        }
        sums
    };
    days.map(of_day).collect()
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

/// What of a part is recovered of one agent, over draws of it; `None` where the headline was not asked.
pub fn summarise_part(
    draws: &[&Recovered],
    part: impl Fn(&Recovered) -> Option<[f64; 2]>,
) -> Option<PartRecovery> {
    let pairs: Vec<[f64; 2]> = draws.iter().map(|draw| part(draw)).collect::<Option<_>>()?;
    let apart = || pairs.iter().map(|[truth, found]| found - truth);
    let bias = mean(apart());
    let square = mean(apart().map(|value| value * value));
    Some(PartRecovery {
        planted: mean(pairs.iter().map(|[truth, _]| *truth)),
        bias,
        bias_error: ((square - bias * bias).max(0.0) / count(pairs.len())).sqrt(),
    })
}

/// The share of draws in which dice lie outside the band of luck: drawn among everyone, and among those alike. `None` of others.
#[must_use]
pub fn outside_luck(draws: &[&Recovered]) -> Option<[f64; 2]> {
    let outside: Vec<[bool; 2]> = draws.iter().map(|draw| draw.is_outside).collect::<Option<_>>()?;
    let share = |place: usize| {
        mean(
            outside
                .iter()
                .map(|outside| f64::from(u8::from(outside.get(place) == Some(&true)))),
        )
    };
    Some([share(0), share(1)])
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, items) = values.fold((0.0, 0_usize), |(sum, items), value| (sum + value, items + 1));
    sum / count(items)
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items.max(1)).unwrap_or(u32::MAX))
}
