//! How often a report of gains is wrong about protocols of which everything is known.
//!
//! Daily returns under every protocol are drawn with known annual ratios, or models are fitted on a market on which no protocol can gain
//! anything, and both are judged by the very report that users read. What is drawn shares no constant with what is tested.

use crate::bench::LeakageBench;
use crate::drawn_market::DrawnMarket;
use crate::error::LeakageError;
use crate::key::{ModelFamily, RunKey};
use crate::panel::SessionMonth;
use crate::proofs::LeakProofs;
use crate::record::LeakRun;
use crate::report::{AskedGrid, LeakPanel, LeakReport};
use crate::report_rows::{GainRow, YearRow};
use crate::run::DayTrade;
use crate::settings::LeakageSettings;
use crate::switch::Switch;
use ktd_stats::moments::{count, mean};
use ktd_stats::{SplitMix64, TRADING_DAYS_PER_YEAR};
use schemars::JsonSchema;
use serde::Serialize;

/// What one protocol of a planted report truly gains; all others gain nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlantedGain {
    /// Nothing.
    Nothing,
    /// An annual ratio.
    Ratio(f64),
    /// The gain that reports of nothing state would be seen in nine of ten draws.
    Stated,
}

/// The protocol that gains.
const GAINING: Switch = Switch::TempCenter;

/// How the days of a planted report are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedDays {
    /// Normal returns, all days alike.
    Even,
    /// Calm and wild spells of weeks, with fat tails.
    Spells,
    /// Momentum and ridge regression, fitted on a market that cannot be foretold.
    Fitted,
}

/// A kind of planted report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakSizeDesign {
    /// Test years.
    pub years: usize,
    /// Seeds of each model.
    pub seeds: usize,
    /// Its days.
    pub days: PlantedDays,
    /// What is gained.
    pub gain: PlantedGain,
}

/// What reports of one design came to, as shares; none of what a design does not have.
#[derive(Debug, Clone, Copy, PartialEq, Default, JsonSchema, Serialize)]
pub struct LeakSizes {
    /// Reports that were drawn.
    pub reports: u32,
    /// What is planted, as an annual ratio.
    pub planted: f64,
    /// 95 % intervals by days that hold the true gain.
    pub interval: Option<f64>,
    /// Gains of nothing with a p by itself of at most .05.
    pub alone: Option<f64>,
    /// Reports in which a gain of nothing has a star.
    pub any_star: Option<f64>,
    /// Yearly intervals of nothing that hold 0.
    pub years_interval: Option<f64>,
    /// Yearly p-values of nothing of at most .05.
    pub years_alone: Option<f64>,
    /// Planted gains with a p by itself of at most .05.
    pub told_alone: Option<f64>,
    /// Planted gains with a star.
    pub told: Option<f64>,
}

/// What is counted of one report.
#[derive(Debug, Clone, Default)]
struct ReportCounts {
    interval: Vec<bool>,
    alone: Vec<bool>,
    star: Vec<bool>,
    years_interval: Vec<bool>,
    years_alone: Vec<bool>,
    told_alone: Vec<bool>,
    told: Vec<bool>,
    would_be_seen: Vec<f64>,
}

const LEVEL: f64 = 0.05;
const HORIZONS: [usize; 2] = [5, 20];
const FAMILIES: [ModelFamily; 2] = [ModelFamily::Momentum, ModelFamily::Ridge];
/// The seeded one of which several seeds are drawn.
const SEEDED: ModelFamily = ModelFamily::Trees;
/// Annual ratio of the reference, and of all that gain nothing.
const REFERENCE: f64 = 0.7;
/// Reports that models are fitted for, at most.
const MOST_FITTED: u32 = 400;
/// Reports of nothing that the gain which would be seen is taken of.
const STATING: u32 = 100;

impl LeakSizeDesign {
    /// Three, five and nine years; even days and spells; nothing, gains, and the gain that is stated; one seed and five; fitted models.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let of = |years, days, gain| Self {
            years,
            seeds: 1,
            days,
            gain,
        };
        let mut all = Vec::new();
        for years in [3, 5, 9] {
            let days = [PlantedDays::Even, PlantedDays::Spells];
            all.extend(days.map(|days| of(years, days, PlantedGain::Nothing)));
            let gains = [
                PlantedGain::Ratio(1.0),
                PlantedGain::Ratio(3.0),
                PlantedGain::Stated,
            ];
            all.extend(gains.map(|gain| of(years, PlantedDays::Spells, gain)));
        }
        all.push(Self {
            seeds: 5,
            ..of(5, PlantedDays::Spells, PlantedGain::Nothing)
        });
        all.push(of(3, PlantedDays::Fitted, PlantedGain::Nothing));
        all
    }

    /// What so many reports come to, drawn by `seed`.
    ///
    /// # Errors
    /// [`LeakageError`] for a market that cannot be fitted; a drawn one can.
    pub fn sizes(&self, reports: u32, seed: u64) -> Result<LeakSizes, LeakageError> {
        let reports = match self.days {
            PlantedDays::Fitted => reports.min(MOST_FITTED),
            PlantedDays::Even | PlantedDays::Spells => reports,
        };
        let planted = match self.gain {
            PlantedGain::Nothing => 0.0,
            PlantedGain::Ratio(gain) => gain,
            PlantedGain::Stated => self.would_be_seen(seed)?,
        };
        let mut all = ReportCounts::default();
        let mut starred = Vec::new();
        for draw in 0..reports {
            let own = self.counts(planted, seed, draw)?;
            starred.push(own.star.contains(&true));
            all.take(own);
        }
        Ok(LeakSizes {
            reports,
            planted,
            interval: share(&all.interval),
            alone: share(&all.alone),
            any_star: share(&starred),
            years_interval: share(&all.years_interval),
            years_alone: share(&all.years_alone),
            told_alone: share(&all.told_alone),
            told: share(&all.told),
        })
    }

    /// The mean of what reports of nothing state would be seen under the protocol that gains, of draws of their own.
    fn would_be_seen(&self, seed: u64) -> Result<f64, LeakageError> {
        let mut all = ReportCounts::default();
        for draw in 0..STATING {
            all.take(self.counts(0.0, !seed, draw)?);
        }
        Ok(mean(&all.would_be_seen).unwrap_or(0.0))
    }

    fn counts(&self, planted: f64, seed: u64, draw: u32) -> Result<ReportCounts, LeakageError> {
        let mut stream = SplitMix64::of_replicate(seed, draw);
        let (panel, runs) = match self.days {
            PlantedDays::Fitted => self.fitted(&mut stream)?,
            PlantedDays::Even | PlantedDays::Spells => self.drawn(planted, &mut stream),
        };
        let asked = AskedGrid {
            name: "planted",
            horizons: &HORIZONS,
            costs_bps: &[],
            notes: Vec::new(),
        };
        let report = LeakReport::of(asked, panel, &runs, LeakProofs::default());
        let mut counts = ReportCounts::default();
        for row in &report.gains {
            let truth = if row.protocol == GAINING { planted } else { 0.0 };
            counts.add(row, truth);
        }
        let of_nothing = |row: &&YearRow| planted.abs() <= 0.0 || row.protocol != GAINING;
        for row in report.by_year.iter().filter(of_nothing) {
            let interval = row.low.zip(row.high);
            counts
                .years_interval
                .extend(interval.map(|(low, high)| low <= 0.0 && 0.0 <= high));
            counts.years_alone.extend(row.p_greater.map(|p| p <= LEVEL));
        }
        Ok(counts)
    }

    /// Returns of every protocol: the market's, which all share; a model's own; and the protocol's own, more of it where it changes much.
    /// Deviations differ between protocols, ratios do not but for the planted one.
    fn drawn(&self, planted: f64, stream: &mut SplitMix64) -> (LeakPanel, Vec<LeakRun>) {
        let (panel, years) = (LeakPanel::planted(self.years), self.years * DrawnMarket::YEAR);
        let wildness = self.wildness(years, stream);
        let market: Vec<f64> = wildness.iter().map(|wild| wild * stream.normal()).collect();
        let families: &[ModelFamily] = if 1 < self.seeds { &[SEEDED] } else { &FAMILIES };
        let mut runs = Vec::new();
        for family in families {
            for horizon in HORIZONS {
                let own: Vec<f64> = wildness.iter().map(|wild| wild * stream.normal()).collect();
                for seed in 0..self.seeds {
                    let seeded: Vec<f64> = wildness.iter().map(|wild| wild * stream.normal()).collect();
                    for switch in Switch::ALL {
                        let gain = if switch == GAINING { planted } else { 0.0 };
                        let (changed, deviation) = nature(switch);
                        let drift = (REFERENCE + gain) / TRADING_DAYS_PER_YEAR.sqrt();
                        let days = market.iter().zip(&own).zip(&seeded).zip(&wildness);
                        let days = days.map(|(((market, own), seeded), wild)| {
                            let kept =
                                libm::sqrt(0.6) * market + libm::sqrt(0.3) * own + libm::sqrt(0.1) * seeded;
                            let new = wild * stream.normal();
                            deviation * (drift + libm::sqrt(1.0 - changed) * kept + libm::sqrt(changed) * new)
                        });
                        let days: Vec<f64> = days.collect();
                        let key = (*family, switch, horizon, u64::try_from(seed).unwrap_or(0));
                        runs.extend(year_runs(key, &days));
                    }
                }
            }
        }
        (panel, runs)
    }

    /// The deviation of each day, 1 in the mean square.
    fn wildness(&self, days: usize, stream: &mut SplitMix64) -> Vec<f64> {
        if self.days != PlantedDays::Spells {
            return vec![1.0; days];
        }
        let (kept, spread) = (0.96, 0.4);
        let mut spell = spread * stream.normal();
        let mut next = || {
            spell = kept * spell + spread * libm::sqrt(1.0 - kept * kept) * stream.normal();
            // One day in twenty is three times as wild: its share of squares is taken out again.
            let shock = if stream.uniform() < 0.05 { 3.0 } else { 1.0 };
            shock * libm::exp(spell - spread * spread) / libm::sqrt(1.4)
        };
        (0..days).map(|_| next()).collect()
    }

    /// Momentum and ridge regression under the reference and the four protocols that cannot gain where nothing can be foretold.
    fn fitted(&self, stream: &mut SplitMix64) -> Result<(LeakPanel, Vec<LeakRun>), LeakageError> {
        const FIT_YEARS: usize = 2;
        let bars = DrawnMarket::unforeseen((FIT_YEARS + self.years) * DrawnMarket::YEAR, 30).bars(stream)?;
        let bench = LeakageBench::new(bars, LeakageSettings::BENCHMARK, &HORIZONS, None)?;
        let years: Vec<i32> = (FIT_YEARS..FIT_YEARS + self.years)
            .map(DrawnMarket::year)
            .collect();
        let weak = Switch::ALL.into_iter().filter(|switch| !switch.is_dominant());
        let mut runs = Vec::new();
        for switch in weak {
            for family in FAMILIES {
                for horizon in HORIZONS {
                    runs.extend(years.iter().map(|year| {
                        let key = RunKey {
                            family,
                            switch,
                            horizon,
                            year: *year,
                            seed: 1,
                        };
                        LeakRun::of(&key, &bench)
                    }));
                }
            }
        }
        Ok((LeakPanel::of("planted", &years, &bench), runs))
    }
}

/// How much of a protocol's days is its own, and the deviation of a day.
const fn nature(switch: Switch) -> (f64, f64) {
    match switch {
        Switch::Clean => (0.0, 0.010),
        Switch::TempCenter => (0.5, 0.014),
        Switch::ExecOpen => (0.6, 0.008),
        Switch::NormGlobal => (0.01, 0.010),
        Switch::StructGraph => (0.15, 0.011),
        Switch::ExecClose => (0.3, 0.012),
        Switch::LabelOverlap => (0.05, 0.010),
    }
}

/// The runs of years of equal length.
fn year_runs(
    (model, protocol, horizon, seed): (ModelFamily, Switch, usize, u64),
    days: &[f64],
) -> impl Iterator<Item = LeakRun> {
    let years = days.chunks(DrawnMarket::YEAR).enumerate();
    years.map(move |(place, days)| {
        let trade = |(day, gross): (usize, &f64)| DayTrade {
            session: place * DrawnMarket::YEAR + day,
            picks: vec![0],
            gross: *gross,
            without_return: 0,
            rank_ic: None,
            auc: None,
        };
        LeakRun {
            model,
            protocol,
            horizon,
            year: DrawnMarket::year(place),
            seed,
            fit_rows: 0,
            validation_loss: None,
            failure: None,
            days: days.iter().enumerate().map(trade).collect(),
        }
    })
}

impl ReportCounts {
    fn add(&mut self, row: &GainRow, truth: f64) {
        let interval = row.gain_interval_low.zip(row.gain_interval_high);
        self.interval
            .extend(interval.map(|(low, high)| low <= truth && truth <= high));
        let (alone, starred) = if truth.abs() <= 0.0 {
            (&mut self.alone, &mut self.star)
        } else {
            (&mut self.told_alone, &mut self.told)
        };
        alone.extend(row.p.map(|p| p <= LEVEL));
        starred.extend(row.is_distinguishable());
        if row.protocol == GAINING {
            self.would_be_seen.extend(row.detectable_gain);
        }
    }

    fn take(&mut self, other: Self) {
        self.interval.extend(other.interval);
        self.alone.extend(other.alone);
        self.star.extend(other.star);
        self.years_interval.extend(other.years_interval);
        self.years_alone.extend(other.years_alone);
        self.told_alone.extend(other.told_alone);
        self.told.extend(other.told);
        self.would_be_seen.extend(other.would_be_seen);
    }
}

pub(crate) fn share(is: &[bool]) -> Option<f64> {
    let yes = is.iter().filter(|is| **is).count();
    (!is.is_empty()).then(|| count(yes) / count(is.len()))
}

impl LeakPanel {
    /// A panel of so many years of which nothing but its months is asked.
    fn planted(years: usize) -> Self {
        let months = DrawnMarket::months(years * DrawnMarket::YEAR);
        let groups = months.chunk_by(|month, next| month == next);
        let month = |own: &[SessionMonth]| own.first().map(|month| (month.year, month.month, own.len()));
        Self::of_months(
            (0..years).map(DrawnMarket::year).collect(),
            groups.filter_map(month).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is nominal 5 % of 150 reports of wild days lies within 3 to 7 %, and a star on nothing is no more often than in 10 % (99 % of 150
    /// draws of 5 %); the gain that is stated to be seen in nine of ten draws is.
    #[test]
    fn a_report_of_gains_is_wrong_as_often_as_it_says() {
        let design = |gain| LeakSizeDesign {
            years: 3,
            seeds: 1,
            days: PlantedDays::Spells,
            gain,
        };
        let found = design(PlantedGain::Nothing).sizes(150, 5).unwrap();
        assert!((0.03..=0.07).contains(&found.alone.unwrap()), "{found:?}");
        assert!((0.93..=0.97).contains(&found.interval.unwrap()), "{found:?}");
        assert!(found.any_star.unwrap() <= 0.1, "{found:?}");
        let stated = design(PlantedGain::Stated).sizes(60, 6).unwrap();
        assert!((0.8..=0.98).contains(&stated.told_alone.unwrap()), "{stated:?}");
        assert!(stated.told.unwrap() < stated.told_alone.unwrap());
    }
}
