//! What the panel says of each return day, names next to each other: the columns of a panel turned round.

use super::beta::{beta, members_returns};
use super::config::{ExtraStyle, ModelConfig, Weighting};
use super::error::ModelError;
use crate::panel::Panel;
use ktd_env::factors::{Factor, FactorColumns, compute, mean_amount};
use std::ops::Range;

/// Days and names turned round together: as many values as fill a cache line.
const TILE: usize = 8;

/// Days whose sections are made at once: neighbours in memory, and few enough to stay in the cache.
const AT_ONCE: usize = 4 * TILE;

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
    /// Sectors as of the day before.
    pub(super) sectors: Vec<Option<u16>>,
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
            sectors: vec![None; names],
            weights: vec![0.0; names],
            close_to_close: vec![0.0; names],
            overnight: vec![0.0; names],
        }
    }
}

/// What fits read of a panel: a column a name, a cell a return day.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// Return days.
    days: Range<usize>,
    styles: Vec<Factor>,
    factors: Vec<FactorColumns>,
    /// Extra styles, each a column a name.
    extra: Vec<Vec<Vec<f64>>>,
    member: Vec<Vec<bool>>,
    live: Vec<Vec<bool>>,
    sectors: Vec<Vec<Option<u16>>>,
    weights: Vec<Vec<f64>>,
    close_to_close: Vec<Vec<f64>>,
    overnight: Vec<Vec<f64>>,
}

impl Table {
    /// The columns of the return days `days`, each of which has a day before in the panel.
    ///
    /// # Errors
    /// [`ModelError`] when factors cannot be computed.
    pub(super) fn new(panel: &Panel, config: &ModelConfig, days: &Range<usize>) -> Result<Self, ModelError> {
        let mut table = Self {
            days: days.clone(),
            styles: config.styles.clone(),
            extra: vec![Vec::new(); config.extra_styles.len()],
            ..Self::default()
        };
        let has_beta = config.extra_styles.contains(&ExtraStyle::Beta);
        let market = if has_beta {
            members_returns(panel)
        } else {
            Vec::new()
        };
        let first_day = panel.days().start;
        let local = days.start - first_day..days.end - first_day;
        for name in 0..panel.names() {
            table.push((panel, &market), config, name, &local)?;
        }
        Ok(table)
    }

    /// The sections of all return days, made a few days at a time, so that what is made is still at hand when it is
    /// fitted.
    pub(super) fn sections(&self) -> impl Iterator<Item = Section> {
        let places = (0..self.days.len()).step_by(AT_ONCE);
        places.flat_map(|place| self.some_sections(place))
    }

    fn some_sections(&self, place: usize) -> Vec<Section> {
        let last = self.days.end.min(self.days.start + place + AT_ONCE);
        let days = self.days.start + place..last;
        let names = self.factors.len();
        let mut sections: Vec<Section> = days
            .map(|day| Section::new(day, names, self.styles.len() + self.extra.len()))
            .collect();
        for (style, factor) in self.styles.iter().enumerate() {
            let cells = style * names..(style + 1) * names;
            let columns = self.factors.iter().map(|columns| columns.column(*factor));
            turn(columns, place, &mut sections, |section| {
                section.raw.get_mut(cells.clone()).unwrap_or_default()
            });
        }
        for (style, columns) in (self.styles.len()..).zip(&self.extra) {
            let cells = style * names..(style + 1) * names;
            turn(slices(columns), place, &mut sections, |section| {
                section.raw.get_mut(cells.clone()).unwrap_or_default()
            });
        }
        turn(slices(&self.member), place, &mut sections, |section| {
            &mut section.member
        });
        turn(slices(&self.live), place, &mut sections, |section| {
            &mut section.live
        });
        turn(slices(&self.sectors), place, &mut sections, |section| {
            &mut section.sectors
        });
        turn(slices(&self.weights), place, &mut sections, |section| {
            &mut section.weights
        });
        turn(slices(&self.close_to_close), place, &mut sections, |section| {
            &mut section.close_to_close
        });
        turn(slices(&self.overnight), place, &mut sections, |section| {
            &mut section.overnight
        });
        sections
    }

    /// Adds a name; `days` are the return days as places of the panel.
    fn push(
        &mut self,
        (panel, market): (&Panel, &[f64]),
        config: &ModelConfig,
        name: usize,
        days: &Range<usize>,
    ) -> Result<(), ModelError> {
        let series = panel.series(name);
        let known = days.start - 1..days.end - 1;
        let factors = compute(&series, &config.factors, known.clone())?;
        let amounts = mean_amount(&series, config.weight_window, known.clone())?;
        for (style, columns) in config.extra_styles.iter().zip(&mut self.extra) {
            columns.push(match style {
                ExtraStyle::Size => amounts.iter().map(|amount| libm::log(*amount)).collect(),
                ExtraStyle::Beta => known.clone().map(|day| beta(series.close, market, day)).collect(),
            });
        }
        let weights = amounts
            .into_iter()
            .map(|amount| of_amount(config.weighting, amount));
        self.weights.push(weights.collect());
        self.factors.push(factors);
        let marks = marks(series.close, &(known.start..days.end));
        let change = marks.iter().zip(marks.iter().skip(1));
        let change = change.map(|(before, mark)| mark / before - 1.0);
        let traded = |days: &Range<usize>| series.traded.get(days.clone()).unwrap_or_default();
        let (traded_before, traded) = (traded(&known), traded(days));
        let opens = series.open.get(days.clone()).unwrap_or_default();
        let openings = opens.iter().zip(&marks).zip(traded);
        let sectors = panel.sectors(name).get(known.clone()).unwrap_or_default();
        self.sectors.push(sectors.to_vec());
        let membership = panel.membership(name).get(known).unwrap_or_default();
        let both = traded_before.iter().zip(traded);
        self.close_to_close
            .push(change.clone().map(finite_or_zero).collect());
        let overnight = openings.map(|((open, before), traded)| {
            let opened = *traded && is_price(*open);
            if opened {
                finite_or_zero(open / before - 1.0)
            } else {
                0.0
            }
        });
        self.overnight.push(overnight.collect());
        let member = membership.iter().zip(traded_before);
        self.member
            .push(member.map(|(member, traded)| *member && *traded).collect());
        let live = both.zip(change);
        let live = live.map(|((before, after), change)| *before && *after && change.is_finite());
        self.live.push(live.collect());
        Ok(())
    }
}

fn slices<T>(columns: &[Vec<T>]) -> impl Iterator<Item = &[T]> {
    columns.iter().map(Vec::as_slice)
}

/// Copies the cells of the sections' days, the first of which is at `place`, from a column a name.
fn turn<'a, T: Copy + Default + 'a>(
    columns: impl Iterator<Item = &'a [T]>,
    place: usize,
    sections: &mut [Section],
    target: impl for<'s> Fn(&'s mut Section) -> &'s mut [T],
) {
    let columns: Vec<&[T]> = columns
        .map(|column| column.get(place..).unwrap_or_default())
        .collect();
    for (block, columns) in columns.chunks(TILE).enumerate() {
        for (days, sections) in sections.chunks_mut(TILE).enumerate() {
            let mut tile = [[T::default(); TILE]; TILE];
            for (row, column) in tile.iter_mut().zip(columns) {
                fill(row, column.get(days * TILE..).unwrap_or_default());
            }
            for (section, row) in sections.iter_mut().zip(turned(&tile)) {
                fill(target(section).get_mut(block * TILE..).unwrap_or_default(), &row);
            }
        }
    }
}

/// Copies as many values as both hold; a whole tile's row at once.
fn fill<T: Copy>(cells: &mut [T], values: &[T]) {
    if let (Some(cells), Some(values)) = (cells.first_chunk_mut::<TILE>(), values.first_chunk::<TILE>()) {
        *cells = *values;
        return;
    }
    for (cell, value) in cells.iter_mut().zip(values) {
        *cell = *value;
    }
}

/// Rows for columns.
fn turned<T: Copy>(tile: &[[T; TILE]; TILE]) -> [[T; TILE]; TILE] {
    let mut turned = *tile;
    for (place, row) in tile.iter().enumerate() {
        for (target, value) in turned.iter_mut().zip(row) {
            if let Some(cell) = target.get_mut(place) {
                *cell = *value;
            }
        }
    }
    turned
}

/// The last close up to each of `days`; NaN before the first.
fn marks(closes: &[f64], days: &Range<usize>) -> Vec<f64> {
    let before = closes.get(..days.start).unwrap_or(&[]);
    let carried = before.iter().copied().rfind(|close| is_price(*close));
    let mut mark = carried.unwrap_or(f64::NAN);
    let closes = closes.get(days.clone()).unwrap_or(&[]);
    let marks = closes.iter().map(|close| {
        mark = if is_price(*close) { *close } else { mark };
        mark
    });
    marks.collect()
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

/// As [`ktd_env::factors::Series`] takes its prices.
fn is_price(value: f64) -> bool {
    value.is_finite() && 0.0 < value
}

fn finite_or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
