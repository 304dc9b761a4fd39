//! What the runs of a grid come to.

use super::config::{AdjustedFrom, LeakConfig, LeakUniverse};
use super::grid::{LeakSource, is_dominant};
use super::noise_bands::BandKey;
use super::proofs::LeakProofs;
use super::report_rows::{ControlRow, CostRow, GainRow, LadderRow, ProfileRow, YearRow};
use super::run::{LeakRun, series_of};
use super::sanity::SanityRow;
use ktd_leakage::{BarField, LeakageGain, ModelFamily, SessionMonth, Switch, TradeSeries, yearly_inference};
use ktd_stats::holm;
use ktd_stats::moments::mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Seed of what is drawn above twelve years; fewer are enumerated.
const BOOTSTRAP_SEED: u64 = 1;

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
    clipped_months: usize,
}

impl LeakPanel {
    pub(super) fn of(source: &LeakSource, graph_days: usize) -> Self {
        let mut months: Vec<(i32, u8, usize)> = Vec::new();
        for month in source.bars.bars.months() {
            match months.last_mut() {
                Some((year, own, sessions)) if (*year, *own) == (month.year, month.month) => *sessions += 1,
                _ => months.push((month.year, month.month, 1)),
            }
        }
        let closes = source.bars.bars.column(BarField::Close).iter();
        Self {
            panel: source.panel.clone(),
            names: source.bars.codes.len(),
            bars: closes.filter(|close| close.is_finite()).count(),
            rows: source.bench.common_rows(),
            years: source.years.clone(),
            months,
            clipped_months: clipped_months(source, graph_days),
        }
    }

    /// The month of each session.
    pub(super) fn months(&self) -> Vec<SessionMonth> {
        let month = |(year, month, sessions): &(i32, u8, usize)| {
            let (year, month) = (*year, *month);
            std::iter::repeat_n(SessionMonth { year, month }, *sessions)
        };
        self.months.iter().flat_map(month).collect()
    }
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
        facts: LeakPanel,
        (runs, bands): (&[LeakRun], &BTreeMap<BandKey, f64>),
        proofs: LeakProofs,
    ) -> Self {
        let months = facts.months();
        let mut notes = notes(config, facts.clipped_months);
        notes.extend(proofs.notes);
        let mut report = Self {
            name: config.name.clone(),
            panel: facts.panel,
            names: facts.names,
            bars: facts.bars,
            rows: facts.rows,
            years: facts.years,
            gains: Vec::new(),
            by_year: Vec::new(),
            costs: Vec::new(),
            controls: Vec::new(),
            interventions: proofs.interventions,
            profile: proofs.profile,
            ladder: proofs.ladder,
            left_out: runs.iter().filter_map(failure).collect(),
            notes,
        };
        for family in ModelFamily::ALL {
            for horizon in &config.horizons {
                for switch in Switch::ALL {
                    let of = |switch: Switch| -> Vec<&LeakRun> {
                        let is_own = |run: &&LeakRun| {
                            run.model == family.name()
                                && run.horizon == *horizon
                                && run.protocol == switch.name()
                        };
                        runs.iter().filter(is_own).collect()
                    };
                    if let Some(found) = found(&of(switch), &of(Switch::Clean), &months) {
                        report.add((family, *horizon, switch), &config.costs_bps, &found);
                    }
                }
            }
        }
        for row in &mut report.gains {
            let key = (row.model.clone(), row.horizon, row.protocol.clone());
            row.noise_band = bands.get(&key).copied();
        }
        report.adjust_p_values();
        report.controls = report.controls();
        report
    }

    fn add(
        &mut self,
        (family, horizon, switch): (ModelFamily, usize, Switch),
        costs_bps: &[f64],
        found: &Found,
    ) {
        let (model, protocol) = (family.name().to_owned(), switch.name().to_owned());
        let figures = found.series.figures();
        let [_, headline, ..] = &figures.sharpe;
        let undefined = headline.as_ref().err().map(|reason| reason.code().to_owned());
        self.gains.push(GainRow {
            model: model.clone(),
            horizon,
            protocol: protocol.clone(),
            seeds: found.seeds,
            days: figures.days,
            sharpe: headline.as_ref().ok().copied(),
            undefined,
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
            noise_band: None,
        });
        self.costs.push(CostRow {
            model: model.clone(),
            horizon,
            protocol: protocol.clone(),
            sharpe: costs_bps
                .iter()
                .map(|cost| (*cost, found.series.sharpe(*cost).ok()))
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
            p_holm: None,
        });
    }

    /// Holm's p-values over the models of each horizon and protocol.
    fn adjust_p_values(&mut self) {
        let group = |row: &YearRow| (row.horizon, row.protocol.clone());
        let mut groups: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
        for (place, row) in self.by_year.iter().enumerate() {
            if row.p_greater.is_some() {
                groups.entry(group(row)).or_default().push(place);
            }
        }
        for places in groups.into_values() {
            let of = |place: &usize| self.by_year.get(*place)?.p_greater;
            let given: Vec<f64> = places.iter().filter_map(of).collect();
            let adjusted = holm(&given).unwrap_or_default();
            for (place, p) in places.into_iter().zip(adjusted) {
                if let Some(row) = self.by_year.get_mut(place) {
                    row.p_holm = Some(p);
                }
            }
        }
    }

    /// The protocols other than the two dominant ones, over all models and horizons.
    fn controls(&self) -> Vec<ControlRow> {
        let weak = Switch::ALL
            .into_iter()
            .filter(|switch| *switch != Switch::Clean && !is_dominant(*switch));
        let control = |switch: Switch| {
            let own = self.gains.iter().filter(|row| row.protocol == switch.name());
            let gains: Vec<f64> = own.clone().filter_map(|row| row.gain).collect();
            let judged: Vec<bool> = own.filter_map(GainRow::is_distinguishable).collect();
            ControlRow {
                protocol: switch.name().to_owned(),
                runs: gains.len(),
                mean: mean(&gains),
                largest: gains.iter().map(|gain| gain.abs()).reduce(f64::max),
                distinguishable: (!judged.is_empty()).then(|| judged.iter().filter(|is| **is).count()),
            }
        };
        weak.map(control).filter(|control| 0 < control.runs).collect()
    }
}

/// What the panel and the settings keep the figures from saying.
fn notes(config: &LeakConfig, clipped_months: usize) -> Vec<String> {
    let mut notes = Vec::new();
    match config.universe {
        LeakUniverse::Share(share) => notes.push(format!(
            "survivors: only names that traded on {} % of all sessions take part, which nobody knew before the end; ratios of every \
             protocol are too good, gains are differences on the same names",
            share * 100.0
        )),
        LeakUniverse::All => notes.push(
            "every name of the panel takes part: where the panel has the members of one day alone, they are survivors"
                .to_owned(),
        ),
        LeakUniverse::Members => {}
    }
    if config
        .prices
        .as_ref()
        .is_some_and(|prices| prices.adjusted_from == AdjustedFrom::End)
    {
        notes.push(
            "factors look back from the last day: levels of prices know later dividends, the ratios that features are made of do not"
                .to_owned(),
        );
    }
    if config
        .protocols
        .iter()
        .any(|name| name == Switch::StructGraph.name())
    {
        notes.extend((0 < clipped_months).then(|| {
            format!(
                "STRUCT_GRAPH: the windows of the last {clipped_months} months are clipped at the panel's last day, so that they see \
                 less of what comes"
            )
        }));
    }
    if config.noise_panels == 0 {
        notes.push(
            "no noise band: `noise_panels` is 0, so no weak gain can be called distinguishable from chance"
                .to_owned(),
        );
    }
    notes
}

/// Months of test years whose windows around them reach beyond the panel's last day.
fn clipped_months(source: &LeakSource, graph_days: usize) -> usize {
    let months = source.bars.bars.months();
    let whole = months.len().saturating_sub(graph_days / 2);
    let late = months.get(whole..).unwrap_or_default();
    let before = whole
        .checked_sub(1)
        .and_then(|first| months.get(first..))
        .unwrap_or_default();
    let begin = late.iter().zip(before);
    begin
        .filter(|(month, before)| month != before && source.years.contains(&month.year))
        .count()
}

fn failure(run: &LeakRun) -> Option<String> {
    let failure = run.failure.as_ref()?;
    let LeakRun {
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

/// The runs of a protocol, seed by seed against the reference of the same seed; none without a test day.
fn found(runs: &[&LeakRun], clean: &[&LeakRun], months: &[SessionMonth]) -> Option<Found> {
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let series = |runs: &[&LeakRun], seed: u64| {
        let own: Vec<&LeakRun> = runs.iter().copied().filter(|run| run.seed == seed).collect();
        series_of(&own)
    };
    let each: Vec<(TradeSeries, LeakageGain)> = seeds
        .iter()
        .map(|seed| {
            let (own, reference) = (series(runs, *seed), series(clean, *seed));
            let gain = LeakageGain::of(&own, &reference, months);
            (own, gain)
        })
        .filter(|(own, _)| !own.days().is_empty())
        .collect();
    let gains = each.iter().filter_map(|(_, gain)| gain.headline());
    let spread = gains.clone().reduce(f64::min).zip(gains.reduce(f64::max));
    let ((series, gain), seeds) = median_by_gain(each, |(_, gain)| gain.headline())?;
    Some(Found {
        series,
        gain,
        seeds,
        spread,
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
