//! What the panel says of each return day, names next to each other: the columns of a panel turned round.

use super::config::{ModelConfig, Weighting};
use super::error::ModelError;
use crate::panel::Panel;
use ktd_env::factors::{FactorColumns, Series, compute, mean_amount};
use std::ops::Range;

/// Names turned round together: as many as fill a cache line.
const BLOCK: usize = 8;

/// One return day before its fit. Everything but the returns and `trades` is as of the day before.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Place of the return day in the calendar.
    pub(super) day: usize,
    /// Raw factor values, style by style: `raw[style * names + row]`; NaN where missing.
    pub(super) raw: Vec<f64>,
    /// Whether a name was an index member that traded, on the day before.
    pub(super) member: Vec<bool>,
    /// Whether a name traded on the day before and on the day.
    pub(super) live: Vec<bool>,
    /// Regression weights; 0 where not defined.
    pub(super) weights: Vec<f64>,
    /// From mark to mark; 0 without a mark on both ends.
    pub(super) close_to_close: Vec<f64>,
    /// From mark to open; 0 on a day without trade.
    pub(super) overnight: Vec<f64>,
}

impl Section {
    fn new(day: usize, names: usize, styles: usize) -> Self {
        Self {
            day,
            raw: vec![f64::NAN; styles * names],
            member: vec![false; names],
            live: vec![false; names],
            weights: vec![0.0; names],
            close_to_close: vec![0.0; names],
            overnight: vec![0.0; names],
        }
    }
}

/// One name over the return days.
struct Row {
    factors: FactorColumns,
    weights: Vec<f64>,
    days: Vec<NameDay>,
}

/// What a fit reads of one name and one return day.
#[derive(Debug, Clone, Copy)]
struct NameDay {
    close_to_close: f64,
    overnight: f64,
    member: bool,
    live: bool,
}

/// The sections of the return days, each of which has a day before in the panel.
///
/// # Errors
/// [`ModelError`] when factors cannot be computed.
pub(super) fn sections(
    panel: &Panel,
    config: &ModelConfig,
    days: &Range<usize>,
) -> Result<Vec<Section>, ModelError> {
    let names = panel.names();
    let mut sections: Vec<Section> = days
        .clone()
        .map(|day| Section::new(day, names, config.styles.len()))
        .collect();
    let first_day = panel.days().start;
    let local = days.start - first_day..days.end - first_day;
    for first in (0..names).step_by(BLOCK) {
        let block = first..names.min(first + BLOCK);
        let rows = block.clone().map(|name| row(panel, config, name, &local));
        let rows = rows.collect::<Result<Vec<Row>, ModelError>>()?;
        for (place, section) in sections.iter_mut().enumerate() {
            section.take(&rows, place, &block, config, names);
        }
    }
    Ok(sections)
}

impl Section {
    /// Takes the values of a block of names at one place among the return days.
    fn take(&mut self, rows: &[Row], place: usize, block: &Range<usize>, config: &ModelConfig, names: usize) {
        for (style, factor) in config.styles.iter().enumerate() {
            let cells = style * names + block.start..style * names + block.end;
            put(&mut self.raw, cells, rows, |row| {
                row.factors.column(*factor).get(place)
            });
        }
        put(&mut self.weights, block.clone(), rows, |row| {
            row.weights.get(place)
        });
        let days = block.clone().zip(rows.iter().map(|row| row.days.get(place)));
        for (name, day) in days {
            let Some(day) = day else { continue };
            if let Some(cell) = self.close_to_close.get_mut(name) {
                *cell = day.close_to_close;
            }
            if let Some(cell) = self.overnight.get_mut(name) {
                *cell = day.overnight;
            }
            if let Some(cell) = self.member.get_mut(name) {
                *cell = day.member;
            }
            if let Some(cell) = self.live.get_mut(name) {
                *cell = day.live;
            }
        }
    }
}

/// Copies one value of each row into `cells`.
fn put<'a>(
    column: &mut [f64],
    cells: Range<usize>,
    rows: &'a [Row],
    value: impl Fn(&'a Row) -> Option<&'a f64>,
) {
    let cells = column.get_mut(cells).unwrap_or_default();
    for (cell, row) in cells.iter_mut().zip(rows) {
        if let Some(value) = value(row) {
            *cell = *value;
        }
    }
}

/// `days`: return days as places of the panel.
fn row(panel: &Panel, config: &ModelConfig, name: usize, days: &Range<usize>) -> Result<Row, ModelError> {
    let series = panel.series(name);
    let known = days.start - 1..days.end - 1;
    let mut weights = mean_amount(&series, config.weight_window, known.clone())?;
    for weight in &mut weights {
        *weight = of_amount(config.weighting, *weight);
    }
    Ok(Row {
        factors: compute(&series, &config.factors, known)?,
        weights,
        days: name_days(&series, panel.membership(name), days),
    })
}

/// A weight from a mean amount; 0 where there is none. Residuals, where asked for, replace it later.
fn of_amount(weighting: Weighting, amount: f64) -> f64 {
    let weight = match weighting {
        Weighting::SqrtAmount | Weighting::InverseResidualVariance => amount.sqrt(),
        Weighting::Amount => amount,
        Weighting::Equal => 1.0,
    };
    if 0.0 < amount && weight.is_finite() {
        weight
    } else {
        0.0
    }
}

fn name_days(series: &Series<'_>, membership: &[bool], days: &Range<usize>) -> Vec<NameDay> {
    let traded = |day: usize| series.traded.get(day).copied().unwrap_or(false);
    let before_first = series.close.get(..days.start).unwrap_or(&[]);
    let mut mark = before_first
        .iter()
        .copied()
        .rfind(|close| is_price(*close))
        .unwrap_or(f64::NAN);
    let day = |day: usize| {
        let before = mark;
        let price = |column: &[f64]| column.get(day).copied().filter(|price| is_price(*price));
        mark = price(series.close).unwrap_or(mark);
        let open = price(series.open).filter(|_| traded(day));
        let earlier = day.checked_sub(1);
        let traded_before = earlier.is_some_and(traded);
        let member_before = earlier.and_then(|earlier| membership.get(earlier));
        let change = mark / before - 1.0;
        NameDay {
            close_to_close: finite_or_zero(change),
            overnight: open.map_or(0.0, |open| finite_or_zero(open / before - 1.0)),
            member: traded_before && member_before.copied().unwrap_or(false),
            live: traded_before && traded(day) && change.is_finite(),
        }
    };
    days.clone().map(day).collect()
}

/// As [`Series`] takes its prices.
fn is_price(value: f64) -> bool {
    value.is_finite() && 0.0 < value
}

fn finite_or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
