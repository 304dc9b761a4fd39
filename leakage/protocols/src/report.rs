//! What the runs of a grid come to.

use crate::bench::LeakageBench;
use crate::gains::{GainEstimate, LeakageGain, yearly_inference};
use crate::key::ModelFamily;
use crate::panel::{BarField, SessionMonth};
use crate::proofs::{LadderRow, LeakProofs, ProfileRow, SanityRow};
use crate::record::LeakRun;
use crate::report_rows::{ControlRow, CostRow, GainRow, YearRow};
use crate::series::TradeSeries;
use crate::switch::Switch;
use ktd_stats::holm;
use ktd_stats::moments::mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Report of a grid. A figure that has no value is null, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeakReport {
    /// The experiment's name.
    pub name: String,
    /// Hash of the panel.
    pub panel: String,
    /// How many names took part.
    pub names: usize,
    /// Bars of these names with volume.
    pub bars: usize,
    /// Bars that every protocol is judged on: those whose 25 features exist under all of them.
    pub rows: usize,
    /// Years that were tested.
    pub years: Vec<i32>,
    /// A row a model, horizon and protocol.
    pub gains: Vec<GainRow>,
    /// A row a model, horizon and protocol, over years.
    pub by_year: Vec<YearRow>,
    /// A row a model, horizon and protocol, over costs.
    pub costs: Vec<CostRow>,
    /// Weak protocols over all models.
    pub controls: Vec<ControlRow>,
    /// The two interventions on the last test year, ridge regression being the model.
    pub interventions: Vec<SanityRow>,
    /// Correlations of the scores of ridge regression with the returns around their stamp, in the last test year.
    pub profile: Vec<ProfileRow>,
    /// The best tenth of those scores at earlier and later fills.
    pub ladder: Vec<LadderRow>,
    /// Runs without a result, and why.
    pub left_out: Vec<String>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// What is to be known of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakPanel {
    /// Hash of what was read.
    panel: String,
    names: usize,
    bars: usize,
    rows: usize,
    years: Vec<i32>,
    /// Year, month and sessions of each month.
    months: Vec<(i32, u8, usize)>,
    /// Months of test years whose windows around them reach beyond the last day.
    pub clipped_months: usize,
}

impl LeakPanel {
    /// What is to be known of a panel that was read from what has this hash.
    #[must_use]
    pub fn of(panel: &str, years: &[i32], bench: &LeakageBench) -> Self {
        let bars = bench.bars();
        let months = bars.months().chunk_by(|month, next| month == next);
        let months = months.filter_map(|own| own.first().map(|month| (month.year, month.month, own.len())));
        let closes = bars.column(BarField::Close).iter();
        Self {
            panel: panel.to_owned(),
            names: bars.names(),
            bars: closes.filter(|close| close.is_finite()).count(),
            rows: bench.common_rows(),
            years: years.to_vec(),
            months: months.collect(),
            clipped_months: clipped_months(bars.months(), years, bench.settings().graph_days),
        }
    }

    /// One of which months and test years alone are known.
    pub(crate) const fn of_months(years: Vec<i32>, months: Vec<(i32, u8, usize)>) -> Self {
        Self {
            panel: String::new(),
            names: 0,
            bars: 0,
            rows: 0,
            years,
            months,
            clipped_months: 0,
        }
    }

    /// The month of each session.
    fn sessions(&self) -> Vec<SessionMonth> {
        let month = |(year, month, sessions): &(i32, u8, usize)| {
            let (year, month) = (*year, *month);
            std::iter::repeat_n(SessionMonth { year, month }, *sessions)
        };
        self.months.iter().flat_map(month).collect()
    }
}

/// Months of test years whose windows around them reach beyond the panel's last day.
fn clipped_months(months: &[SessionMonth], years: &[i32], graph_days: usize) -> usize {
    let whole = months.len().saturating_sub(graph_days / 2);
    let late = months.get(whole..).unwrap_or_default();
    let before = whole
        .checked_sub(1)
        .and_then(|first| months.get(first..))
        .unwrap_or_default();
    let begin = late.iter().zip(before);
    begin
        .filter(|(month, before)| month != before && years.contains(&month.year))
        .count()
}

/// What a grid is asked for.
#[derive(Debug, Clone)]
pub struct AskedGrid<'a> {
    /// The name of its experiment.
    pub name: &'a str,
    /// Sessions of labels, in the order of the report.
    pub horizons: &'a [usize],
    /// Costs of the cost table, in hundredths of a percent.
    pub costs_bps: &'a [f64],
    /// What a reader must know beforehand.
    pub notes: Vec<String>,
}

/// A model, a horizon and a protocol.
type GridKey = (ModelFamily, usize, Switch);

/// A protocol's series and gains of the median seed.
struct Found {
    series: TradeSeries,
    gain: LeakageGain,
    seeds: usize,
    spread: Option<(f64, f64)>,
    /// Of all seeds that have a gain.
    estimate: Option<GainEstimate>,
}

impl LeakReport {
    /// The report of runs.
    #[must_use]
    pub fn of(asked: AskedGrid<'_>, panel: LeakPanel, runs: &[LeakRun], proofs: LeakProofs) -> Self {
        let months = panel.sessions();
        let mut report = Self {
            name: asked.name.to_owned(),
            panel: panel.panel,
            names: panel.names,
            bars: panel.bars,
            rows: panel.rows,
            years: panel.years,
            gains: Vec::new(),
            by_year: Vec::new(),
            costs: Vec::new(),
            controls: Vec::new(),
            interventions: proofs.interventions,
            profile: proofs.profile,
            ladder: proofs.ladder,
            left_out: runs.iter().filter_map(LeakRun::failure).collect(),
            notes: asked.notes.into_iter().chain(proofs.notes).collect(),
        };
        for family in ModelFamily::ALL {
            for horizon in asked.horizons {
                for switch in Switch::ALL {
                    let key = (family, *horizon, switch);
                    if let Some(found) = found(runs, key, &months) {
                        report.add(key, asked.costs_bps, &found);
                    }
                }
            }
        }
        report.adjust_p_values();
        report.controls = report.controls();
        report
    }

    fn add(&mut self, (model, horizon, protocol): GridKey, costs_bps: &[f64], found: &Found) {
        let figures = found.series.figures();
        let [_, headline, ..] = &figures.sharpe;
        self.gains.push(GainRow {
            model,
            horizon,
            protocol,
            seeds: found.seeds,
            days: figures.days,
            sharpe: headline.as_ref().ok().copied(),
            undefined: headline.as_ref().err().map(|reason| reason.code().to_owned()),
            gain: found.gain.headline(),
            gain_low: found.spread.map(|(low, _)| low),
            gain_high: found.spread.map(|(_, high)| high),
            rank_ic: figures.rank_ic,
            auc: figures.auc,
            turnover: figures.turnover,
            max_drawdown: figures.max_drawdown,
            break_even_bps: figures.break_even_bps,
            rank_ic_gain: found.gain.rank_ic,
            auc_gain: found.gain.auc,
            turnover_gain: found.gain.turnover,
            max_drawdown_gain: found.gain.max_drawdown,
            gain_interval_low: found.estimate.map(|found| found.interval.lower),
            gain_interval_high: found.estimate.map(|found| found.interval.upper),
            p: found.estimate.map(|found| found.p),
            p_holm: None,
            detectable_gain: found.estimate.map(|found| found.detectable),
        });
        let at_cost = |cost: &f64| (*cost, found.series.sharpe(*cost).ok());
        self.costs.push(CostRow {
            model,
            horizon,
            protocol,
            sharpe: costs_bps.iter().map(at_cost).collect(),
        });
        if protocol == Switch::Clean {
            return;
        }
        let gains: Vec<f64> = found.gain.by_year.iter().map(|(_, gain)| *gain).collect();
        let inference = yearly_inference(&gains);
        let interval = inference.and_then(|found| found.interval);
        self.by_year.push(YearRow {
            model,
            horizon,
            protocol,
            gains: found.gain.by_year.clone(),
            mean: inference.map(|found| found.mean),
            low: interval.map(|interval| interval.lower),
            high: interval.map(|interval| interval.upper),
            positive: gains.iter().filter(|gain| 0.0 < **gain).count(),
            p_greater: inference.and_then(|found| found.p_greater),
        });
    }

    /// Holm's p-values over all gains of the report.
    fn adjust_p_values(&mut self) {
        let mut judged: Vec<&mut GainRow> = self.gains.iter_mut().filter(|row| row.p.is_some()).collect();
        let given: Vec<f64> = judged.iter().filter_map(|row| row.p).collect();
        for (row, p) in judged.iter_mut().zip(holm(&given).unwrap_or_default()) {
            row.p_holm = Some(p);
        }
    }

    /// The protocols other than the two dominant ones, over all models and horizons.
    fn controls(&self) -> Vec<ControlRow> {
        let weak = Switch::ALL
            .into_iter()
            .filter(|switch| *switch != Switch::Clean && !switch.is_dominant());
        let control = |protocol: Switch| {
            let own = self.gains.iter().filter(|row| row.protocol == protocol);
            let gains: Vec<f64> = own.clone().filter_map(|row| row.gain).collect();
            let judged: Vec<bool> = own.filter_map(GainRow::is_distinguishable).collect();
            ControlRow {
                protocol,
                runs: gains.len(),
                mean: mean(&gains),
                largest: gains.iter().map(|gain| gain.abs()).reduce(f64::max),
                distinguishable: (!judged.is_empty()).then(|| judged.iter().filter(|is| **is).count()),
            }
        };
        weak.map(control).filter(|control| 0 < control.runs).collect()
    }
}

/// The runs of a protocol, seed by seed against the reference of the same seed; none without a test day.
fn found(runs: &[LeakRun], (model, horizon, protocol): GridKey, months: &[SessionMonth]) -> Option<Found> {
    let of = |protocol: Switch| {
        let key = (model, horizon, protocol);
        runs.iter()
            .filter(move |run| (run.model, run.horizon, run.protocol) == key)
    };
    let series = |protocol: Switch, seed: u64| {
        let mut years: Vec<&LeakRun> = of(protocol).filter(|run| run.seed == seed).collect();
        years.sort_by_key(|run| run.year);
        TradeSeries::of(years.iter().flat_map(|run| run.days.iter().cloned()).collect())
    };
    let mut seeds: Vec<u64> = of(protocol).map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let each: Vec<(TradeSeries, TradeSeries, LeakageGain)> = seeds
        .into_iter()
        .map(|seed| {
            let (own, clean) = (series(protocol, seed), series(Switch::Clean, seed));
            let gain = LeakageGain::of(&own, &clean, months);
            (own, clean, gain)
        })
        .filter(|(own, ..)| !own.days().is_empty())
        .collect();
    let gains = each.iter().filter_map(|(.., gain)| gain.headline());
    let spread = gains.clone().reduce(f64::min).zip(gains.reduce(f64::max));
    let with_gain = each.iter().filter(|(.., gain)| gain.headline().is_some());
    let pairs: Vec<(&TradeSeries, &TradeSeries)> = with_gain.map(|(own, clean, _)| (own, clean)).collect();
    let estimate = GainEstimate::of(&pairs).filter(|_| protocol != Switch::Clean);
    let ((series, _, gain), seeds) = median_by_gain(each, |(.., gain)| gain.headline())?;
    Some(Found {
        series,
        gain,
        seeds,
        spread,
        estimate,
    })
}

/// The seed with the median gain among those that have one, and how many these are; where none has a gain, the middle one of
/// all, and how many they are. A gain that is not defined is no low one.
fn median_by_gain<T>(each: Vec<T>, gain: impl Fn(&T) -> Option<f64>) -> Option<(T, usize)> {
    let (mut with_gain, without): (Vec<T>, Vec<T>) = each.into_iter().partition(|seed| gain(seed).is_some());
    with_gain.sort_by(|a, b| {
        gain(a)
            .zip(gain(b))
            .map_or(Ordering::Equal, |(a, b)| a.total_cmp(&b))
    });
    let seeds = if with_gain.is_empty() { without } else { with_gain };
    let count = seeds.len();
    let median = seeds.into_iter().nth(count.checked_sub(1)? / 2)?;
    Some((median, count))
}

#[cfg(test)]
mod tests {
    use super::median_by_gain;

    #[test]
    fn seeds_without_a_gain_do_not_lower_the_median() {
        let median = |gains: &[Option<f64>]| {
            let seeds: Vec<(usize, Option<f64>)> = gains.iter().copied().enumerate().collect();
            median_by_gain(seeds, |(_, gain)| *gain).map(|((seed, _), count)| (seed, count))
        };
        assert_eq!(
            median(&[Some(3.0), None, Some(1.0), None, Some(2.0)]),
            Some((4, 3))
        );
        assert_eq!(median(&[None, Some(1.0), Some(-1.0), None]), Some((2, 2)));
        assert_eq!(median(&[Some(3.0), Some(1.0), Some(2.0)]), Some((2, 3)));
        assert_eq!(median(&[None, None, None]), Some((1, 3)));
        assert_eq!(median(&[]), None);
    }
}
