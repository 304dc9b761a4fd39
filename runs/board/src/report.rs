//! One trajectory's attribution, whole: what `ktd attribute` tells.

use super::benchmark::Benchmarks;
use super::build::{model_record, total};
use super::by_basis::ByBasis;
use super::fitted::FittedModel;
use super::metric::BoardMetric;
use super::record::{Bounds, Contribution, DateBounds, ModelRecord};
use super::row::{contributions, is_split};
use super::score::{portfolio_metrics, relative};
use crate::BoardError;
use ktd_attribution::account::{
    ActiveLinking, Attribution, DayBook, Part, Peers, WeightBasis, attribute, link_active, random_selections,
};
use ktd_attribution::metric::NavPath;
use ktd_bundle::summary::Metric;
use ktd_env::{DayIndex, Market, TradeDate};
use ktd_stats::moments::mean;
use ktd_stats::{Sample, newey_west, quantile};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// One trajectory's attribution.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct AttributionReport {
    /// What was attributed: a bundle's directory or a file.
    pub subject: String,
    /// First and last trading day; empty where a mask hides them.
    pub dates: DateBounds,
    /// Trading days.
    pub days: usize,
    /// The factor model.
    pub model: ModelRecord,
    /// Metrics by name.
    pub metrics: BTreeMap<BoardMetric, Metric>,
    /// Parts of the return, by basis.
    pub parts: Option<ByBasis<Contribution>>,
    /// What `excess` is measured against: a benchmark of total return.
    pub benchmark_name: String,
    /// The price index of the universe, which leaves dividends out; none without one.
    pub price_index_name: Option<String>,
    /// Its change over these days: no total return.
    pub price_index_return: Metric,
    /// What was earned beyond the benchmark, linked by Carino's two series, basis `pre`.
    pub excess: Option<Excess>,
    /// Why there is no `excess`.
    pub excess_reason: Option<String>,
    /// Mean exposures over invested days, weights over NAV; none when never invested.
    pub exposures: Option<Vec<f64>>,
    /// The same with weights over what was invested.
    pub exposures_invested: Option<Vec<f64>>,
    /// Mean daily selection on the headline's basis; none where the factor model could be fitted on no day.
    pub selection_a_day: Option<f64>,
    /// Newey-West t of the daily selection on that basis.
    pub selection_t: Metric,
    /// 95 % band of the selection a day of random portfolios with the same count, weights and holding periods.
    pub luck_band: Option<Bounds>,
    /// Days on which the factor model had no fit.
    pub thin_days: usize,
    /// Days on which something was held that the model does not cover.
    pub uncovered_days: usize,
    /// One row a day.
    pub daily: Vec<DailyRow>,
}

/// Return beyond the benchmark.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Excess {
    /// Total, the difference of the geometric returns.
    pub total: f64,
    /// The common factor on what was invested, less the benchmark: the two are not the same.
    pub benchmark_basis: f64,
    /// Styles.
    pub style: f64,
    /// Selection.
    pub selection: f64,
    /// Execution, slippage, cost, rounding and what is unattributed.
    pub other: f64,
}

/// A day.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct DailyRow {
    /// Its date; `day 1` and so on where a mask hides it.
    pub date: String,
    /// Simple return.
    pub daily_return: f64,
    /// Parts by basis, in the order of `common`, the styles, `selection`, `execution`, `slip`, `cost`, `rounding`,
    /// `unattributed`.
    pub parts: ByBasis<Vec<f64>>,
    /// Exposures, in the order of the model's styles; null on a day that could not be fitted.
    pub exposures: Option<Vec<f64>>,
}

/// What is attributed.
#[derive(Debug, Clone, Copy)]
pub struct AttributionSubject<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its trading days.
    pub days: &'s [DayIndex],
    /// Its account, day by day.
    pub books: &'s [DayBook],
}

/// Attributes one trajectory. `luck` is the number of random portfolios and their seed.
///
/// # Errors
/// [`BoardError::Input`] when its account cannot be split.
pub fn report(
    subject: AttributionSubject<'_>,
    market: &Market,
    fitted: &FittedModel,
    luck: (u32, u64),
) -> Result<AttributionReport, BoardError> {
    let refused = |what: String, hint: &str| BoardError::input(format!("{}: {what}", subject.name), hint);
    let model = &fitted.model;
    let own = attribute(subject.books, model.config().styles.len(), |day| model.day(day))
        .map_err(|error| refused(error.to_string(), error.hint()))?;
    let initial = subject.books.first().map_or(1.0, |book| book.nav_before_cny);
    let closes: Vec<f64> = subject.books.iter().map(|book| book.nav_after_cny).collect();
    let path = NavPath::new(initial, &closes).map_err(|error| refused(error.to_string(), error.hint()))?;
    let benchmarks = Benchmarks::of(market);
    let benchmark = benchmarks.total_return.over(subject.days);
    let price_index = benchmarks.price_index_over(subject.days);
    let date = |day: Option<&DayIndex>| {
        let date = day.and_then(|day| market.date(*day));
        date.map_or_else(String::new, TradeDate::reveal)
    };
    let selection = own.selection(WeightBasis::HEADLINE);
    let daily = Sample::new("daily selection", &selection)
        .map_err(|error| refused(error.to_string(), error.hint()))?;
    let nulls = random_selections(
        &[subject.books],
        (WeightBasis::HEADLINE, Peers::Alike),
        |day| model.day(day),
        luck,
    );
    let band = Sample::new("random selections", &nulls)
        .ok()
        .filter(|_| own.mean_exposures(false).is_some());
    let excess = benchmark.and_then(|returns| excess(&own, &returns, &relative(&path)));
    Ok(AttributionReport {
        subject: subject.name.to_owned(),
        dates: DateBounds {
            first: date(subject.days.first()),
            last: date(subject.days.last()),
        },
        days: subject.days.len(),
        model: model_record(fitted),
        metrics: portfolio_metrics(&path, &benchmarks, subject.days),
        benchmark_name: benchmarks.total_return.name().to_owned(),
        price_index_name: benchmarks
            .price_indices
            .first()
            .map(|index| index.name().to_owned()),
        price_index_return: total(&price_index),
        parts: contributions(&[&own]),
        excess_reason: excess.as_ref().err().cloned(),
        excess: excess.ok(),
        exposures: own.mean_exposures(false),
        exposures_invested: own.mean_exposures(true),
        selection_a_day: mean(&selection).filter(|_| is_split(&own, WeightBasis::HEADLINE)),
        selection_t: Metric::of(newey_west(&daily, None).map(|found| found.t)),
        luck_band: band.and_then(|band| {
            Some(Bounds {
                low: quantile(&band, 0.025).ok()?,
                high: quantile(&band, 0.975).ok()?,
            })
        }),
        thin_days: subject.books.iter().filter(|book| is_thin(fitted, book)).count(),
        uncovered_days: subject
            .books
            .iter()
            .filter(|book| is_uncovered(fitted, book))
            .count(),
        daily: rows(&own, subject.days, market),
    })
}

fn is_thin(fitted: &FittedModel, book: &DayBook) -> bool {
    let fit = fitted.model.day(book.day);
    fit.is_some_and(|fit| fit.status == ktd_attribution::model::DayStatus::Thin)
}

fn is_uncovered(fitted: &FittedModel, book: &DayBook) -> bool {
    let fit = fitted.model.day(book.day);
    fit.is_some_and(|fit| book.held.iter().any(|held| !fit.is_covered(held.row)))
}

fn excess(own: &Attribution, benchmark: &[f64], nav: &[f64]) -> Result<Excess, String> {
    let weights =
        link_active(own.returns(), benchmark, ActiveLinking::Carino).map_err(|error| error.to_string())?;
    let parts = own.parts(WeightBasis::HEADLINE);
    let sums = parts.weighted_sums(&weights);
    let index: f64 = weights
        .iter()
        .zip(benchmark)
        .map(|(weight, daily)| weight * daily)
        .sum();
    let grown: f64 = benchmark.iter().map(|daily| 1.0 + daily).product();
    let part = |part| parts.part(&sums, part);
    let (common, selection) = (part(Part::Common), part(Part::Selection));
    let style: f64 = (0..parts.styles()).map(|style| part(Part::Style(style))).sum();
    Ok(Excess {
        total: nav.last().copied().unwrap_or(1.0) - grown,
        benchmark_basis: common - index,
        style,
        selection,
        other: sums.iter().sum::<f64>() - common - style - selection,
    })
}

fn rows(own: &Attribution, days: &[DayIndex], market: &Market) -> Vec<DailyRow> {
    let mut rows: Vec<DailyRow> = days
        .iter()
        .zip(own.returns())
        .zip(own.exposures())
        .map(|((day, daily_return), exposures)| DailyRow {
            date: market.date(*day).map_or_else(String::new, TradeDate::reveal),
            daily_return: *daily_return,
            parts: ByBasis::default(),
            exposures: exposures.map(<[f64]>::to_vec),
        })
        .collect();
    for basis in WeightBasis::ALL {
        for (row, parts) in rows.iter_mut().zip(own.parts(basis).rows()) {
            *row.parts.get_mut(basis) = parts.to_vec();
        }
    }
    rows
}
