//! The panels that functions run on.

use crate::bars::{FactorBar, FactorBars, PanelDay};
use crate::casts::float;
use crate::error::FactorCodeError;
use ktd_env::KeyedStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A panel by its letter.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "UPPERCASE")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum PanelKind {
    /// Geometric Brownian motion.
    G,
    /// Three regimes, jumps, negative autocorrelation, days left out.
    R,
    /// A real stock on days of its own, or a second R.
    Q,
    /// Bars at the edges: one price for weeks, days without volume, a tenfold step.
    E,
    /// Hidden: regimes, of which the strict gate takes every row.
    X,
    /// Hidden: geometric Brownian motion, longer than the others.
    Y,
}

impl PanelKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::G, Self::R, Self::Q, Self::E];
    /// Those that layers 1 and 3 judge.
    pub const JUDGED: [Self; 3] = [Self::G, Self::R, Self::Q];
    /// Those that a secret draws for the strict gate.
    pub const HIDDEN: [Self; 2] = [Self::X, Self::Y];

    /// The letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        self.into()
    }
}

/// Rows of panels G, R and Q.
pub const PANEL_ROWS: usize = 500;
/// The fewest rows of a real stock.
pub const LEAST_PANEL_ROWS: usize = 320;
const EDGE_ROWS: usize = 300;
/// Of a panel of regimes one business day in so many and one is left out.
const HOLIDAYS_IN: usize = 25;

/// The four panels of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorPanels {
    seed: u64,
    geometric: FactorBars,
    regimes: FactorBars,
    real: FactorBars,
    edges: FactorBars,
    /// Stand-ins until a secret draws them.
    hidden: [FactorBars; 2],
    is_real: bool,
}

impl FactorPanels {
    /// The panels of a published seed, and the bars of a real stock for Q; without them Q is a second R.
    ///
    /// # Errors
    /// [`FactorCodeError::TooFewRows`] for a stock with fewer than [`LEAST_PANEL_ROWS`] rows; of a longer one the last
    /// [`PANEL_ROWS`] count.
    pub fn new(seed: u64, real: Option<&FactorBars>) -> Result<Self, FactorCodeError> {
        let stream = |name: &str| KeyedStream::for_purpose(seed, &format!("factor-code panel {name}"));
        Ok(Self {
            seed,
            geometric: geometric(&mut stream("G"), (FIRST_DAY, PANEL_ROWS), 0.02)?,
            regimes: regimes(&mut stream("R"), REGIMES_FIRST_DAY, PANEL_ROWS)?,
            real: match real {
                Some(bars) => real_stock(bars)?,
                None => regimes(&mut stream("Q"), REGIMES_FIRST_DAY, PANEL_ROWS)?,
            },
            edges: edges(&mut stream("E"))?,
            hidden: hidden(&mut stream("hidden"))?,
            is_real: real.is_some(),
        })
    }

    /// Panels that are given as they are: the golden set's.
    #[must_use]
    pub fn given(seed: u64, [geometric, regimes, real, edges]: [FactorBars; 4]) -> Self {
        Self {
            seed,
            hidden: [regimes.clone(), geometric.clone()],
            geometric,
            regimes,
            real,
            edges,
            is_real: true,
        }
    }

    /// The same with hidden panels that a key draws: other lengths, first days and prices for each key.
    pub(crate) fn with_hidden(&self, key: &[u8; 32]) -> Result<Self, FactorCodeError> {
        Ok(Self {
            hidden: hidden(&mut KeyedStream::of_key(key, "factor-code hidden panels"))?,
            ..self.clone()
        })
    }

    /// The published seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The bars of a panel.
    #[must_use]
    pub const fn bars(&self, kind: PanelKind) -> &FactorBars {
        match kind {
            PanelKind::G => &self.geometric,
            PanelKind::R => &self.regimes,
            PanelKind::Q => &self.real,
            PanelKind::E => &self.edges,
            PanelKind::X => &self.hidden[0],
            PanelKind::Y => &self.hidden[1],
        }
    }

    /// Whether Q is a real stock; every table says so where it is not.
    #[must_use]
    pub const fn is_real(&self) -> bool {
        self.is_real
    }
}

/// Rows of the series on which run times are measured.
pub const TIMING_ROWS: usize = 5_000;

/// The series on which run times are measured: geometric Brownian motion, as panel G and longer.
///
/// # Errors
/// None, as a test shows: the calendar has enough weekdays.
pub fn timing_bars(seed: u64) -> Result<FactorBars, FactorCodeError> {
    let mut stream = KeyedStream::for_purpose(seed, "factor-code panel of run times");
    geometric(&mut stream, (FIRST_DAY, TIMING_ROWS), 0.02)
}

/// Rows of the hidden panels: fewest, and how many more a key may draw. Every row of the first costs a run.
const HIDDEN_ROWS: [(usize, u64); 2] = [(400, 25), (600, 601)];
/// The years in which hidden panels may begin, as days since 1970.
const HIDDEN_FIRST_DAYS: (i32, u64) = (9_131, 10_950);

fn hidden(stream: &mut KeyedStream) -> Result<[FactorBars; 2], FactorCodeError> {
    let mut shape = |(least, more): (usize, u64)| {
        let rows = least + usize::try_from(stream.below(more)).unwrap_or(0);
        let (first, days) = HIDDEN_FIRST_DAYS;
        (first + i32::try_from(stream.below(days)).unwrap_or(0), rows)
    };
    let [(first, rows), long] = HIDDEN_ROWS.map(&mut shape);
    let regimes = regimes(stream, first, rows)?;
    let volatility = 0.012 + 0.02 * stream.uniform();
    Ok([regimes, geometric(stream, long, volatility)?])
}

/// 2015-01-05 and 2016-03-01, as days since 1970.
const FIRST_DAY: i32 = 16_440;
const REGIMES_FIRST_DAY: i32 = 16_861;

/// Weekdays from a day on, counted from 1970.
fn weekdays(first: i32) -> impl Iterator<Item = PanelDay> {
    let epoch = PanelDay::of(1970, 1, 1);
    epoch
        .and_then(|epoch| epoch.later(first))
        .into_iter()
        .flat_map(PanelDay::weekdays_from)
}

/// A price to four decimals.
fn price(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// A bar around an open and a close: how far the day went above and below them as exponents.
fn bar(open: f64, close: f64, above: f64, below: f64, volume: f64) -> FactorBar {
    let (open, close) = (price(open), price(close));
    let high = price(open.max(close) * libm::exp(above.abs()));
    let low = price(open.min(close) * libm::exp(-below.abs()));
    FactorBar {
        open,
        high: high.max(open).max(close),
        low: low.min(open).min(close),
        close,
        volume: volume.round(),
    }
}

fn geometric(
    stream: &mut KeyedStream,
    (first, rows): (i32, usize),
    volatility: f64,
) -> Result<FactorBars, FactorCodeError> {
    const DRIFT: f64 = 0.000_3;
    let mut before = 50.0;
    let bars = weekdays(first).take(rows).map(|day| {
        let close = before * libm::exp(DRIFT + volatility * stream.normal());
        let open = before * libm::exp(volatility / 4.0 * stream.normal());
        let (above, below) = (stream.normal(), stream.normal());
        let volume = libm::exp(13.0 + 0.4 * stream.normal());
        before = close;
        (
            day,
            bar(
                open,
                close,
                volatility / 5.0 * above,
                volatility / 5.0 * below,
                volume,
            ),
        )
    });
    FactorBars::new(bars)
}

/// Volatility, drift and level of volume of a regime.
const REGIMES: [(f64, f64, f64); 3] = [(0.008, 0.001_2, 0.0), (0.02, 0.0, 0.24), (0.035, -0.001_5, 0.6)];

fn regimes(stream: &mut KeyedStream, first: i32, rows: usize) -> Result<FactorBars, FactorCodeError> {
    let mut regime = (0.008, 0.001_2, 0.0);
    let (mut last_close, mut last_return) = (30.0, 0.0);
    let drawn_days = rows + rows / HOLIDAYS_IN;
    let mut all = Vec::with_capacity(drawn_days);
    for day in weekdays(first).take(drawn_days) {
        if stream.uniform() < 0.03 {
            let chosen = usize::try_from(stream.below(3)).unwrap_or(0);
            regime = REGIMES.get(chosen).copied().unwrap_or(regime);
        }
        let (volatility, drift, busy) = regime;
        let shock = if stream.uniform() < 0.02 {
            0.06 * stream.normal()
        } else {
            0.0
        };
        let day_return = drift + volatility * stream.normal() + shock - 0.15 * last_return;
        let close = last_close * libm::exp(day_return);
        let opens_apart = stream.uniform() < 0.7;
        let gap = if opens_apart {
            0.4 * volatility * stream.normal()
        } else {
            0.0
        };
        let (above, below) = (stream.normal(), stream.normal());
        let volume = libm::exp(14.0 + busy + 0.5 * stream.normal()) * (1.0 + 6.0 * day_return.abs());
        let open = last_close * libm::exp(gap);
        let reach = 0.4 * volatility;
        all.push((day, bar(open, close, reach * above, reach * below, volume)));
        (last_close, last_return) = (close, day_return);
    }
    // holidays: gaps in the calendar
    let mut order: Vec<usize> = (0..all.len()).collect();
    stream.shuffle(&mut order);
    order.truncate(rows);
    order.sort_unstable();
    FactorBars::new(order.into_iter().filter_map(|row| all.get(row).copied()))
}

/// The last rows of a stock, on weekdays one after the other from 2015-01-05: neither a date nor a holiday tells when it was.
fn real_stock(bars: &FactorBars) -> Result<FactorBars, FactorCodeError> {
    let rows = bars.rows();
    if rows < LEAST_PANEL_ROWS {
        return Err(FactorCodeError::TooFewRows {
            rows,
            least: LEAST_PANEL_ROWS,
        });
    }
    let last = bars
        .iter()
        .skip(rows.saturating_sub(PANEL_ROWS))
        .map(|(_, bar)| bar);
    FactorBars::new(weekdays(FIRST_DAY).zip(last))
}

fn edges(stream: &mut KeyedStream) -> Result<FactorBars, FactorCodeError> {
    let calm = geometric(stream, (FIRST_DAY, EDGE_ROWS), 0.015)?;
    let close_of = |row: usize| calm.close().get(row).copied().unwrap_or(1.0);
    let (frozen, repeated) = (close_of(119), close_of(59));
    let bars = calm.iter().enumerate().map(|(row, (day, mut bar))| {
        match row {
            60..64 => bar.close = repeated,
            120..150 => {
                bar = FactorBar {
                    open: frozen,
                    high: frozen,
                    low: frozen,
                    close: frozen,
                    volume: bar.volume,
                }
            }
            200.. => {
                for price in [&mut bar.open, &mut bar.high, &mut bar.low, &mut bar.close] {
                    *price = self::price(*price * 10.0);
                }
            }
            _ => {}
        }
        if matches!(row, 40..43 | 130..150) {
            bar.volume = 0.0;
        }
        bar.high = bar.high.max(bar.open).max(bar.close);
        bar.low = bar.low.min(bar.open).min(bar.close);
        (day, bar)
    });
    FactorBars::new(bars)
}

/// Which columns of the changed rows are others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedColumns {
    /// All, each price by a factor of its own.
    All,
    /// The first price.
    Open,
    /// The highest price.
    High,
    /// The lowest price.
    Low,
    /// The last price.
    Close,
    /// Shares traded.
    Volume,
}

impl ChangedColumns {
    /// The columns one by one.
    pub(crate) const SINGLE: [Self; 5] = [Self::Open, Self::High, Self::Low, Self::Close, Self::Volume];
}

/// Other rows from one on: each changed column times a factor of its own, which jumps at once and wanders. Bars stay bars: the
/// highest price is raised and the lowest lowered where others passed them.
pub(crate) fn changed(
    bars: &FactorBars,
    from: usize,
    columns: ChangedColumns,
    stream: &mut KeyedStream,
) -> Result<FactorBars, FactorCodeError> {
    let has = |column| columns == ChangedColumns::All || columns == column;
    let mut jump = |least: f64, more: f64| {
        let size = least + more * stream.uniform();
        if stream.below(2) == 0 { size } else { -size }
    };
    let mut wander: [f64; 4] = std::array::from_fn(|_| jump(0.03, 0.3));
    let busy = jump(0.5, 2.5);
    let changed = bars.iter().enumerate().map(|(row, (day, bar))| {
        if row < from {
            return (day, bar);
        }
        let [open, high, low, close] = &mut wander;
        let mut times = |price: f64, own: &mut f64, column: ChangedColumns| {
            *own += 0.02 * stream.normal();
            let factor = match column {
                // of themselves they only move away from the others
                ChangedColumns::High if columns == column => own.abs(),
                ChangedColumns::Low if columns == column => -own.abs(),
                ChangedColumns::All
                | ChangedColumns::Open
                | ChangedColumns::High
                | ChangedColumns::Low
                | ChangedColumns::Close
                | ChangedColumns::Volume => *own,
            };
            if has(column) {
                price * libm::exp(factor)
            } else {
                price
            }
        };
        let mut changed = FactorBar {
            open: times(bar.open, open, ChangedColumns::Open),
            high: times(bar.high, high, ChangedColumns::High),
            low: times(bar.low, low, ChangedColumns::Low),
            close: times(bar.close, close, ChangedColumns::Close),
            volume: bar.volume,
        };
        changed.high = changed.high.max(changed.open).max(changed.close);
        changed.low = changed.low.min(changed.open).min(changed.close);
        if has(ChangedColumns::Volume) {
            changed.volume *= libm::exp(busy + 0.5 * stream.normal());
        }
        (day, changed)
    });
    FactorBars::new(changed)
}

/// How far two metamorphic runs lie apart: 53 weeks, so that weekdays stay.
pub(crate) const MOVED_DAYS: i32 = 371;

/// The same bars on days a whole number of weeks later.
pub(crate) fn moved(bars: &FactorBars) -> Result<FactorBars, FactorCodeError> {
    bars.on_days(bars.days().iter().filter_map(|day| day.later(MOVED_DAYS)))
}

/// The spread of the values that are there, over their number.
pub(crate) fn spread(cells: impl Iterator<Item = f64> + Clone) -> f64 {
    let present = cells.filter(|cell| !cell.is_nan());
    let count = float(present.clone().count());
    let mean = present.clone().sum::<f64>() / count;
    (present.map(|cell| (cell - mean) * (cell - mean)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::FactorTasks;

    #[test]
    fn panels_have_their_rows_and_are_those_of_their_seed() {
        let panels = FactorPanels::new(20_260_401, None).unwrap();
        let rows = PanelKind::ALL.map(|kind| panels.bars(kind).rows());
        assert_eq!(rows, [500, 500, 500, 300]);
        assert_eq!(panels, FactorPanels::new(20_260_401, None).unwrap());
        assert_ne!(panels, FactorPanels::new(20_260_402, None).unwrap());
        assert_ne!(
            panels.bars(PanelKind::R).close(),
            panels.bars(PanelKind::Q).close()
        );
        assert_eq!(timing_bars(20_260_401).unwrap().rows(), TIMING_ROWS);
        let edges = panels.bars(PanelKind::E);
        assert!(
            edges.high()[120..150]
                .windows(2)
                .all(|pair| pair[0].to_bits() == pair[1].to_bits())
        );
        assert!(edges.volume()[130..150].iter().all(|volume| *volume <= 0.0));
        assert!(edges.close()[200] > 5.0 * edges.close()[199]);
        for kind in PanelKind::ALL {
            for (day, bar) in panels.bars(kind).iter() {
                assert!(day.weekday() < 5);
                assert!(
                    0.0 < bar.low
                        && bar.low <= bar.open.min(bar.close)
                        && bar.open.max(bar.close) <= bar.high
                );
                assert!((bar.close * 1e4 - (bar.close * 1e4).round()).abs() < 1e-6);
            }
        }
    }

    /// A change here changes every published run.
    #[test]
    fn the_first_bars_of_a_seed_are_pinned() {
        let panels = FactorPanels::new(20_260_401, None).unwrap();
        let firsts = PanelKind::ALL.map(|kind| {
            let bars = panels.bars(kind);
            format!(
                "{} {} {}",
                bars.days()[0],
                bars.close()[0],
                bars.close()[bars.rows() - 1]
            )
        });
        let pinned = [
            "2015-01-05 51.5737 38.3987",
            "2016-03-01 30.8889 28.0906",
            "2016-03-01 30.0356 24.7167",
            "2015-01-05 49.0456 409.905",
        ];
        assert_eq!(firsts, pinned);
    }

    #[test]
    fn a_definition_of_every_task_has_values_on_every_panel() {
        let panels = FactorPanels::new(20_260_401, None).unwrap();
        for task in FactorTasks::compiled_in().unwrap().as_slice() {
            for kind in PanelKind::ALL {
                let values = task.definition.evaluate(panels.bars(kind)).unwrap();
                let first = values.iter().position(|cell| !cell.is_nan());
                assert!(first.is_some(), "{} on {kind:?}", task.id);
            }
        }
    }

    #[test]
    fn a_real_stock_keeps_its_prices_and_loses_its_days() {
        let day = PanelDay::parse("2020-02-20").unwrap();
        let stock = FactorPanels::new(1, None).unwrap();
        let days = (0..500).map(|row| day.later(row * 2).unwrap());
        let stock = stock.bars(PanelKind::G).on_days(days).unwrap();
        let panels = FactorPanels::new(1, Some(&stock)).unwrap();
        let real = panels.bars(PanelKind::Q);
        assert_eq!(real.close(), stock.close());
        assert_eq!(real.days()[0].to_string(), "2015-01-05");
        assert!(
            real.days()
                .windows(2)
                .all(|pair| pair[1].days_since_epoch() - pair[0].days_since_epoch() <= 3)
        );
        let short = FactorPanels::new(1, Some(&stock.prefix(319)));
        assert_eq!(
            short,
            Err(FactorCodeError::TooFewRows {
                rows: 319,
                least: 320
            })
        );
    }
}
