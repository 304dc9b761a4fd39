//! One agent on a track: its seeds together.

use super::by_basis::ByBasis;
use super::comparability::comparability;
use super::metric::BoardMetric;
use super::order_tally::OrderTally;
use super::record::{
    Bounds, CalibrationBin, CalibrationRecord, Cohort, Contribution, Curves, Faults, LeaderboardRow, Linked,
    MurphyParts, Resampling, SeedStat,
};
use super::score::ScoredEpisode;
use super::series::rounded;
use ktd_attribution::account::{Attribution, FactorTiming, Linking, Part, WeightBasis};
use ktd_attribution::metric::{Brier, Forecast, Forecasts, Reliability as Bins, ece, ece_interval};
use ktd_bundle::summary::{Counters, Metric};
use ktd_experiment::amount::Picodollars;
use ktd_record::spending::Spending;
use ktd_stats::moments::column_means;
use ktd_stats::{Confidence, DEFAULT_MEAN_BLOCK_DAYS, Sample, StationaryBootstrap, spread};
use std::collections::{BTreeMap, BTreeSet};

/// The leader of one agent's scores, by seed; ranks, selection and memory gap come later.
pub(super) fn leader(
    agent: &str,
    cohort: Cohort,
    scores: &[&ScoredEpisode],
    draws: Resampling,
) -> LeaderboardRow {
    let attributions: Vec<&Attribution> = scores.iter().map(|score| &score.attribution).collect();
    LeaderboardRow {
        agent: agent.to_owned(),
        cohort,
        force: scores.first().map(|score| score.bundle.header.provider.force),
        seeds: scores.iter().map(|score| score.bundle.header.seed).collect(),
        served_models: scores
            .iter()
            .flat_map(|score| score.served_models.iter().cloned())
            .collect::<BTreeSet<String>>()
            .into_iter()
            .collect(),
        faults: faults(scores),
        orders: Some(OrderTally::sum(scores.iter().map(|score| &score.orders)).record()),
        comparability: Some(comparability(scores)),
        cutoff: scores
            .first()
            .and_then(|score| Some(score.bundle.header.agent.cutoff?.text())),
        metrics: metrics(scores),
        return_rank: None,
        alpha_rank: None,
        delta_rank: None,
        rank_interval: None,
        rank_interval_default: None,
        unranked_reason: None,
        first_share: None,
        attribution: contributions(&attributions),
        unattributed_reason: None,
        selection: None,
        size_cost: None,
        exposures: exposures(&attributions),
        daily_exposures: daily_exposures(&attributions),
        curves: curves(
            scores
                .iter()
                .map(|score| (score.nav.as_slice(), &score.attribution)),
        ),
        reliability: Some(reliability(scores, draws)),
        memory_gap: None,
        mask: None,
        boxed: scores
            .iter()
            .filter_map(|score| score.bundle.header.agent.ran_in_box())
            .reduce(|all, one| all && one),
        signer: scores.first().map(|score| score.bundle.signer.clone()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "steps and cents stay far below 2^53")]
fn faults(scores: &[&ScoredEpisode]) -> Faults {
    let counters = || scores.iter().map(|score| &score.summary.counters);
    let sum = |of: &dyn Fn(&Counters) -> usize| counters().map(of).sum::<usize>();
    let steps = sum(&|c| c.submitted + c.hold + c.fallback + c.uncovered);
    let uncovered = sum(&|c| c.uncovered);
    Faults {
        coverage: (0 < steps).then(|| 1.0 - uncovered as f64 / steps as f64),
        model: sum(&Counters::all_model_faults),
        infrastructure: sum(&Counters::all_infrastructure_faults),
        fallbacks: sum(&|c| c.fallback),
        holds: sum(&|c| c.hold),
        early_submissions: scores.iter().map(|score| score.early_submissions).sum(),
        paid_usd: money(scores, |money| Some(money.cost?.paid_picodollars)),
        at_most_usd: money(scores, Spending::total),
    }
}

/// An amount of all seeds; `None` when that of one is not known.
fn money(scores: &[&ScoredEpisode], of: impl Fn(&Spending) -> Option<Picodollars>) -> Option<f64> {
    scores
        .iter()
        .map(|score| Some(of(&score.summary.money)?.to_usd()))
        .sum()
}

fn metrics(scores: &[&ScoredEpisode]) -> BTreeMap<BoardMetric, SeedStat> {
    let names: BTreeSet<BoardMetric> = scores
        .iter()
        .flat_map(|score| score.metrics.keys().copied())
        .collect();
    names
        .into_iter()
        .map(|name| {
            let all = scores.iter().filter_map(|score| score.metrics.get(&name));
            (name, seed_stat(all))
        })
        .collect()
}

/// A figure over seeds: of those that have a value; the first reason when none has.
pub(super) fn seed_stat<'m>(metrics: impl Iterator<Item = &'m Metric>) -> SeedStat {
    let mut reason = None;
    let mut values = Vec::new();
    for metric in metrics {
        match metric.value {
            Some(value) => values.push(value),
            None => reason = reason.or_else(|| metric.reason.clone()),
        }
    }
    let found = Sample::new("values of the seeds", &values)
        .ok()
        .filter(|sample| !sample.is_empty())
        .map(|sample| spread(&sample));
    let (median, quartiles) = match found {
        None => (
            Metric::missing(reason.unwrap_or_else(|| "no seed has a value".to_owned())),
            None,
        ),
        Some(Ok(spread)) => (
            Metric::of(Ok(spread.median)),
            Some(Bounds {
                low: spread.lower,
                high: spread.upper,
            }),
        ),
        Some(Err(reason)) => (Metric::of(Err(reason)), None),
    };
    SeedStat {
        median,
        quartiles: quartiles.filter(|_| 1 < values.len()),
        values,
    }
}

/// Linked contributions by basis: means over attributions; `None` of none.
pub(super) fn contributions(attributions: &[&Attribution]) -> Option<ByBasis<Contribution>> {
    (!attributions.is_empty()).then(|| ByBasis::new(|basis| contribution(attributions, basis)))
}

fn contribution(attributions: &[&Attribution], basis: WeightBasis) -> Contribution {
    let linked = |linking| mean_linked(attributions, basis, linking);
    let gauges = attributions.iter().map(|attribution| attribution.gauge(basis));
    Contribution {
        carino: linked(Linking::Carino),
        pnl: linked(Linking::Pnl),
        sum: linked(Linking::Sum),
        daily_gauge: gauges.fold(0.0, f64::max),
    }
}

/// Whether market, styles and selection of a trajectory are figures: they are none where the factor model could be fitted on no day,
/// for want of names. What held nothing has nothing to split.
pub(super) fn is_split(attribution: &Attribution, basis: WeightBasis) -> bool {
    let is_there = |part| {
        let mut days = attribution.parts(basis).daily(part);
        days.any(|value| 0.0 < value.abs())
    };
    !is_there(Part::Unattributed) || is_there(Part::Common) || is_there(Part::Selection)
}

fn mean_linked(attributions: &[&Attribution], basis: WeightBasis, linking: Linking) -> Linked {
    let rows: Vec<Vec<f64>> = attributions
        .iter()
        .map(|attribution| attribution.linked(basis, linking))
        .collect();
    let mean = column_means(&rows);
    let parts = attributions.first().map(|attribution| attribution.parts(basis));
    let part = |part: Part| parts.map_or(0.0, |parts| parts.part(&mean, part));
    let styles: Vec<f64> = (0..parts.map_or(0, ktd_attribution::account::Parts::styles))
        .map(|style| part(Part::Style(style)))
        .collect();
    let wholes: Vec<Vec<f64>> = attributions
        .iter()
        .map(|attribution| {
            vec![match linking {
                Linking::Carino | Linking::Pnl => attribution.total_return(),
                Linking::Sum => attribution.returns().iter().sum(),
            }]
        })
        .collect();
    let whole = column_means(&wholes).first().copied().unwrap_or(0.0);
    let errors: Vec<Vec<f64>> = attributions
        .iter()
        .map(|attribution| vec![attribution.split_standard_error()])
        .collect();
    let series = |of: &dyn Fn(&Attribution) -> Vec<f64>| {
        let each = attributions.iter();
        let each: Vec<Vec<f64>> = each
            .map(|attribution| vec![attribution.linked_series(&of(attribution), linking)])
            .collect();
        column_means(&each).first().copied().unwrap_or(0.0)
    };
    let timing = |of: &dyn Fn(&FactorTiming) -> f64| {
        series(&|attribution| attribution.timing(basis).iter().map(of).collect())
    };
    let is_split = attributions
        .iter()
        .any(|attribution| is_split(attribution, basis));
    let split = |part: f64| is_split.then_some(part);
    Linked {
        common: split(part(Part::Common)),
        market_timing: split(timing(&|found| found.market)),
        style: split(styles.iter().sum()),
        style_timing: split(timing(&|found| found.styles)),
        styles: if is_split { styles } else { Vec::new() },
        selection: split(part(Part::Selection)),
        selection_fitted: split(series(&|attribution| attribution.fitted_selection(basis))),
        selection_sector: split(series(&|attribution| {
            attribution.sector_selection(basis).to_vec()
        })),
        execution: part(Part::Execution),
        slip: part(Part::Slip),
        cost: part(Part::Cost),
        corporate: part(Part::Corporate),
        unattributed: part(Part::Unattributed),
        portfolio: whole,
        gauge: whole - mean.iter().sum::<f64>(),
        split_standard_error: (is_split && linking == Linking::Sum)
            .then(|| column_means(&errors).first().copied().unwrap_or(0.0)),
    }
}

pub(super) fn exposures(attributions: &[&Attribution]) -> Vec<f64> {
    let invested: Vec<Vec<f64>> = attributions
        .iter()
        .filter_map(|attribution| attribution.mean_exposures(false))
        .collect();
    column_means(&invested)
}

/// One series a style: means over attributions of the same days, none on days that could not be fitted.
pub(super) fn daily_exposures(attributions: &[&Attribution]) -> Vec<Vec<Option<f64>>> {
    let styles = attributions
        .first()
        .map_or(0, |attribution| attribution.parts(WeightBasis::Pre).styles());
    // Those of one window are all of one model's days.
    let fitted: Vec<bool> = attributions.first().map_or_else(Vec::new, |first| {
        first.exposures().map(|day| day.is_some()).collect()
    });
    let series = |style: usize| {
        let seeds: Vec<Vec<f64>> = attributions
            .iter()
            .map(|attribution| {
                let days = attribution.exposures().map(Option::unwrap_or_default);
                days.map(|day| day.get(style).copied().unwrap_or(0.0)).collect()
            })
            .collect();
        let means = rounded(column_means(&seeds)).into_iter().zip(&fitted);
        means.map(|(mean, is_fitted)| is_fitted.then_some(mean)).collect()
    };
    (0..styles).map(series).collect()
}

/// Daily series on the basis of ranks: means over trajectories of the same days, each with its net asset values. `None` of
/// none.
pub(super) fn curves<'s>(seeds: impl Iterator<Item = (&'s [f64], &'s Attribution)>) -> Option<Curves> {
    let mut all: [Vec<Vec<f64>>; 5] = Default::default();
    let mut any_split = false;
    for (nav, attribution) in seeds {
        any_split |= is_split(attribution, WeightBasis::HEADLINE);
        let parts = parts_by_day(attribution);
        for (all, own) in all.iter_mut().zip(std::iter::once(nav.to_vec()).chain(parts)) {
            all.push(own);
        }
    }
    let [nav, common, style, selection, other] = all.map(|seeds| column_means(&seeds));
    let split = |days: Vec<f64>| if any_split { rounded(days) } else { Vec::new() };
    (!nav.is_empty()).then(|| Curves {
        drawdown: rounded(drawdown(&nav)),
        nav: rounded(nav),
        common: split(common),
        style: split(style),
        selection: split(selection),
        other: rounded(other),
    })
}

/// Falls from the highest net asset value so far, 1 before the first day.
pub(super) fn drawdown(nav: &[f64]) -> Vec<f64> {
    let mut highest = 1.0_f64;
    let fall = |value: &f64| {
        highest = highest.max(*value);
        1.0 - value / highest
    };
    nav.iter().map(fall).collect()
}

/// Common, styles, selection and the rest of one trajectory, each linked up to the day.
fn parts_by_day(attribution: &Attribution) -> [Vec<f64>; 4] {
    let parts = attribution.parts(WeightBasis::HEADLINE);
    let rows = attribution.cumulative(WeightBasis::HEADLINE);
    let series = |of: &[Part]| -> Vec<f64> {
        let sum = |row: &Vec<f64>| of.iter().map(|part| parts.part(row, *part)).sum();
        rows.iter().map(sum).collect()
    };
    let styles: Vec<Part> = (0..parts.styles()).map(Part::Style).collect();
    let others = [
        Part::Execution,
        Part::Slip,
        Part::Cost,
        Part::Corporate,
        Part::Unattributed,
    ];
    [
        series(&[Part::Common]),
        series(&styles),
        series(&[Part::Selection]),
        series(&others),
    ]
}

/// Stated confidence against what happened: the forecasts of all seeds, resampled by step.
fn reliability(scores: &[&ScoredEpisode], draws: Resampling) -> CalibrationRecord {
    // A step of another seed is another cluster.
    const SEED_STRIDE: usize = 1_000_000;
    let forecasts: Vec<Forecast> = scores
        .iter()
        .enumerate()
        .flat_map(|(seed, score)| {
            score.forecasts.iter().map(move |forecast| Forecast {
                step: forecast.step + seed * SEED_STRIDE,
                ..*forecast
            })
        })
        .collect();
    let forecasts = match Forecasts::new(&forecasts) {
        Ok(forecasts) => forecasts,
        Err(error) => {
            return CalibrationRecord {
                ece: Metric::missing(error.to_string()),
                ece_interval: None,
                orders: 0,
                bins: Vec::new(),
                brier: Metric::missing(error.to_string()),
                murphy: None,
            };
        }
    };
    let bins = Bins::of(&forecasts);
    let bins = bins.bins().iter().map(|bin| CalibrationBin {
        orders: bin.forecasts(),
        confidence: bin.mean_confidence(),
        accuracy: bin.accuracy(),
    });
    let brier = Brier::of(&forecasts);
    CalibrationRecord {
        ece: Metric::of(ece(&forecasts)),
        ece_interval: interval_of_ece(&forecasts, draws),
        orders: forecasts.all().len(),
        bins: bins.collect(),
        brier: Metric::of(brier.map(|brier| brier.score)),
        murphy: brier.ok().map(|brier| MurphyParts {
            reliability: brier.reliability,
            resolution: brier.resolution,
            uncertainty: brier.uncertainty,
        }),
    }
}

fn interval_of_ece(forecasts: &Forecasts<'_>, draws: Resampling) -> Option<Bounds> {
    let steps: BTreeSet<usize> = forecasts.all().iter().map(|forecast| forecast.step).collect();
    // Draws of one step are all alike.
    if steps.len() < 2 {
        return None;
    }
    let mean_block = DEFAULT_MEAN_BLOCK_DAYS;
    let draws = StationaryBootstrap::new(steps.len(), mean_block, draws.replicates, draws.seed).ok()?;
    let interval = ece_interval(forecasts, &draws, Confidence::P95).ok()?.ok()?;
    Some(Bounds {
        low: interval.lower,
        high: interval.upper,
    })
}
