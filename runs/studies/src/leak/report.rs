//! What the runs of a grid come to.

use super::config::LeakConfig;
use super::grid::{LeakSource, is_dominant};
use super::noise_bands::BandKey;
use super::run_file::RunFile;
use crate::StudyError;
use ktd_io::whole_file::{read_json, write_whole};
use ktd_leakage::{COSTS_BPS, LeakageGain, ModelFamily, SessionMonth, Switch, TradeSeries, yearly_inference};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Seed of what is drawn above twelve years; fewer are enumerated.
const BOOTSTRAP_SEED: u64 = 1;

/// Report of a grid. A figure that has no value is null, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakReport {
    /// The experiment's name.
    pub name: String,
    /// Hash of the panel.
    pub panel: String,
    /// How many names took part.
    pub names: usize,
    /// Years that were tested.
    pub years: Vec<i32>,
    /// A row a model, horizon and protocol.
    pub gains: Vec<GainRow>,
    /// A row a model, horizon and protocol, over years.
    pub by_year: Vec<YearRow>,
    /// A row a model, horizon and protocol, over costs.
    pub costs: Vec<CostRow>,
    /// Runs without a result, and why.
    pub left_out: Vec<String>,
}

/// Figures of a protocol and its gains over the reference, all else equal: of the seed whose gain is the median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainRow {
    /// The model.
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
    /// Seeds behind the median.
    pub seeds: usize,
    /// Test days.
    pub days: usize,
    /// Annual ratio of mean and deviation of daily returns, after 5 hundredths of a percent a turnover.
    pub sharpe: Option<f64>,
    /// That ratio less the reference's: the leakage gain.
    pub gain: Option<f64>,
    /// The smallest gain of a seed.
    pub gain_low: Option<f64>,
    /// The largest gain of a seed.
    pub gain_high: Option<f64>,
    /// Mean daily rank correlation of scores and labels.
    pub rank_ic: Option<f64>,
    /// Mean daily area under the receiver's curve.
    pub auc: Option<f64>,
    /// Mean daily turnover, at most 2.
    pub turnover: Option<f64>,
    /// The largest loss from a peak, a share.
    pub max_drawdown: f64,
    /// The cost in hundredths of a percent at which the mean return is 0.
    pub break_even_bps: Option<f64>,
    /// The absolute gain within which 95 % of the gains on panels without a signal lie; none of the reference, of the two
    /// dominant protocols, and where no such panel was run.
    pub noise_band: Option<f64>,
}

impl GainRow {
    /// Whether a gain lies beyond its noise band; `None` without a band.
    #[must_use]
    pub fn is_distinguishable(&self) -> Option<bool> {
        Some(self.noise_band? < self.gain?.abs())
    }
}

/// Gains year by year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YearRow {
    /// The model.
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
    /// Gains by year.
    pub gains: Vec<(i32, f64)>,
    /// Their mean.
    pub mean: Option<f64>,
    /// 95 % of the bootstrapped means, lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Years above 0.
    pub positive: usize,
    /// One-sided p of the exact signed-rank test.
    pub p_greater: Option<f64>,
}

/// Ratios at each cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostRow {
    /// The model.
    pub model: String,
    /// Sessions of the label.
    pub horizon: usize,
    /// The protocol.
    pub protocol: String,
    /// Cost in hundredths of a percent and the ratio after it.
    pub sharpe: Vec<(f64, Option<f64>)>,
}

/// The report of a folder that `run_grid` wrote.
///
/// # Errors
/// [`StudyError`] when it cannot be read.
pub fn read_report(out: &Path) -> Result<LeakReport, StudyError> {
    Ok(read_json(&out.join("report.json"))?)
}

/// A protocol's series and gains of the median seed.
struct Found {
    series: TradeSeries,
    gain: LeakageGain,
    seeds: usize,
    spread: Option<(f64, f64)>,
}

impl LeakReport {
    pub(super) fn of(
        config: &LeakConfig,
        source: &LeakSource,
        (runs, bands): (&[RunFile], &BTreeMap<BandKey, f64>),
    ) -> Self {
        let mut report = Self {
            name: config.name.clone(),
            panel: source.panel.clone(),
            names: source.bars.codes.len(),
            years: source.years.clone(),
            gains: Vec::new(),
            by_year: Vec::new(),
            costs: Vec::new(),
            left_out: runs.iter().filter_map(failure).collect(),
        };
        let months = source.bars.bars.months();
        for family in ModelFamily::ALL {
            for horizon in &config.horizons {
                for switch in Switch::ALL {
                    let of = |switch: Switch| -> Vec<&RunFile> {
                        let is_own = |run: &&RunFile| {
                            run.model == family.name()
                                && run.horizon == *horizon
                                && run.protocol == switch.name()
                        };
                        runs.iter().filter(is_own).collect()
                    };
                    if let Some(found) = found(&of(switch), &of(Switch::Clean), months) {
                        report.add(family, *horizon, switch, &found);
                    }
                }
            }
        }
        for row in &mut report.gains {
            let key = (row.model.clone(), row.horizon, row.protocol.clone());
            row.noise_band = bands.get(&key).copied();
        }
        report
    }

    fn add(&mut self, family: ModelFamily, horizon: usize, switch: Switch, found: &Found) {
        let (model, protocol) = (family.name().to_owned(), switch.name().to_owned());
        let figures = found.series.figures();
        let [_, headline, ..] = &figures.sharpe;
        self.gains.push(GainRow {
            model: model.clone(),
            horizon,
            protocol: protocol.clone(),
            seeds: found.seeds,
            days: figures.days,
            sharpe: headline.as_ref().ok().copied(),
            gain: found.gain.headline(),
            gain_low: found.spread.map(|(low, _)| low),
            gain_high: found.spread.map(|(_, high)| high),
            rank_ic: figures.rank_ic,
            auc: figures.auc,
            turnover: figures.turnover,
            max_drawdown: figures.max_drawdown,
            break_even_bps: figures.break_even_bps,
            noise_band: None,
        });
        let costs = COSTS_BPS.into_iter().zip(&figures.sharpe);
        self.costs.push(CostRow {
            model: model.clone(),
            horizon,
            protocol: protocol.clone(),
            sharpe: costs
                .map(|(cost, ratio)| (cost, ratio.as_ref().ok().copied()))
                .collect(),
        });
        if switch == Switch::Clean {
            return;
        }
        let gains: Vec<f64> = found.gain.by_year.iter().map(|(_, gain)| *gain).collect();
        let inference = yearly_inference(&gains, BOOTSTRAP_SEED);
        self.by_year.push(YearRow {
            model,
            horizon,
            protocol,
            gains: found.gain.by_year.clone(),
            mean: inference.map(|found| found.mean),
            low: inference.map(|found| found.interval.low),
            high: inference.map(|found| found.interval.high),
            positive: gains.iter().filter(|gain| 0.0 < **gain).count(),
            p_greater: inference.and_then(|found| found.p_greater),
        });
    }

    /// The protocols other than the two dominant ones, with the mean of their gains over models and horizons.
    #[must_use]
    pub fn weak_switches(&self) -> Vec<(String, Option<f64>)> {
        let weak = Switch::ALL
            .into_iter()
            .filter(|switch| *switch != Switch::Clean && !is_dominant(*switch));
        weak.map(|switch| {
            let own = self.gains.iter().filter(|row| row.protocol == switch.name());
            let gains: Vec<f64> = own.filter_map(|row| row.gain).collect();
            let count = u32::try_from(gains.len()).map_or(f64::NAN, f64::from);
            let mean = (!gains.is_empty()).then(|| gains.iter().sum::<f64>() / count);
            (switch.name().to_owned(), mean)
        })
        .collect()
    }

    /// The tables as CSV beside the report.
    pub(super) fn write_tables(&self, out: &Path) -> Result<(), StudyError> {
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut gains = "model,horizon,protocol,seeds,days,sharpe,gain,gain_low,gain_high,rank_ic,auc,turnover,max_drawdown,break_even_bps,noise_band\n".to_owned();
        for row in &self.gains {
            let GainRow {
                model,
                horizon,
                protocol,
                seeds,
                days,
                ..
            } = row;
            let cells = [
                row.sharpe,
                row.gain,
                row.gain_low,
                row.gain_high,
                row.rank_ic,
                row.auc,
                row.turnover,
            ];
            let cells: Vec<String> = cells.into_iter().map(cell).collect();
            let cells = cells.join(",");
            // Writing to a string cannot fail.
            writeln!(
                gains,
                "{model},{horizon},{protocol},{seeds},{days},{cells},{},{},{}",
                row.max_drawdown,
                cell(row.break_even_bps),
                cell(row.noise_band)
            )
            .ok();
        }
        let mut years = "model,horizon,protocol,year,gain\n".to_owned();
        for row in &self.by_year {
            for (year, gain) in &row.gains {
                writeln!(
                    years,
                    "{},{},{},{year},{gain}",
                    row.model, row.horizon, row.protocol
                )
                .ok();
            }
        }
        let mut costs = "model,horizon,protocol,cost_bps,sharpe\n".to_owned();
        for row in &self.costs {
            for (cost, ratio) in &row.sharpe {
                writeln!(
                    costs,
                    "{},{},{},{cost},{}",
                    row.model,
                    row.horizon,
                    row.protocol,
                    cell(*ratio)
                )
                .ok();
            }
        }
        for (name, text) in [("gains.csv", gains), ("by_year.csv", years), ("costs.csv", costs)] {
            write_whole(&out.join(name), text.as_bytes())?;
        }
        Ok(())
    }
}

fn failure(run: &RunFile) -> Option<String> {
    let failure = run.failure.as_ref()?;
    let RunFile {
        model,
        protocol,
        horizon,
        year,
        seed,
        ..
    } = run;
    Some(format!(
        "{model} {protocol} h{horizon} {year} seed {seed}: {failure}"
    ))
}

/// The years of runs behind each other.
pub(super) fn series_of(runs: &[&RunFile]) -> TradeSeries {
    let mut runs = runs.to_vec();
    runs.sort_by_key(|run| run.year);
    TradeSeries::of(runs.into_iter().flat_map(RunFile::trades).collect())
}

/// The runs of a protocol, seed by seed against the reference of the same seed; none without a test day.
fn found(runs: &[&RunFile], clean: &[&RunFile], months: &[SessionMonth]) -> Option<Found> {
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let series = |runs: &[&RunFile], seed: u64| {
        let own: Vec<&RunFile> = runs.iter().copied().filter(|run| run.seed == seed).collect();
        series_of(&own)
    };
    let mut each: Vec<(TradeSeries, LeakageGain)> = seeds
        .iter()
        .map(|seed| {
            let (own, reference) = (series(runs, *seed), series(clean, *seed));
            let gain = LeakageGain::of(&own, &reference, months);
            (own, gain)
        })
        .filter(|(own, _)| !own.days().is_empty())
        .collect();
    let key = |found: &(TradeSeries, LeakageGain)| found.1.headline().unwrap_or(f64::NEG_INFINITY);
    each.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let gains: Vec<f64> = each.iter().filter_map(|(_, gain)| gain.headline()).collect();
    let spread = gains.first().copied().zip(gains.last().copied());
    let count = each.len();
    let (series, gain) = each.into_iter().nth(count.checked_sub(1)? / 2)?;
    Some(Found {
        series,
        gain,
        seeds: count,
        spread,
    })
}
