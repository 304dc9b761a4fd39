//! The panels that functions run on.

use crate::bars::{FactorBar, FactorBars, PanelDay};
use crate::casts::float;
use crate::error::FactorCodeError;
use ktd_env::KeyedStream;
use serde::{Deserialize, Serialize};

/// A panel by its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PanelKind {
    /// Geometric Brownian motion.
    G,
    /// Three regimes, jumps, negative autocorrelation, days left out.
    R,
    /// A real stock on days of its own, or a second R.
    Q,
    /// Bars at the edges: one price for weeks, days without volume, a tenfold step.
    E,
}

impl PanelKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::G, Self::R, Self::Q, Self::E];
    /// Those that layers 1 and 3 judge.
    pub const JUDGED: [Self; 3] = [Self::G, Self::R, Self::Q];

    /// The letter.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Self::G => "G",
            Self::R => "R",
            Self::Q => "Q",
            Self::E => "E",
        }
    }
}

/// Rows of panels G, R and Q.
pub const PANEL_ROWS: usize = 500;
/// The fewest rows of a real stock.
pub const LEAST_PANEL_ROWS: usize = 320;
const EDGE_ROWS: usize = 300;
/// Business days of R, of which one in 25 is left out.
const REGIME_DAYS: usize = 520;

/// The four panels of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorPanels {
    seed: u64,
    geometric: FactorBars,
    regimes: FactorBars,
    real: FactorBars,
    edges: FactorBars,
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
            geometric: geometric(&mut stream("G"), PANEL_ROWS, 0.02)?,
            regimes: regimes(&mut stream("R"))?,
            real: match real {
                Some(bars) => real_stock(bars)?,
                None => regimes(&mut stream("Q"))?,
            },
            edges: edges(&mut stream("E"))?,
            is_real: real.is_some(),
        })
    }

    /// Panels that are given as they are: the golden set's.
    #[must_use]
    pub fn given(seed: u64, [geometric, regimes, real, edges]: [FactorBars; 4]) -> Self {
        Self {
            seed,
            geometric,
            regimes,
            real,
            edges,
            is_real: true,
        }
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
    geometric(&mut stream, TIMING_ROWS, 0.02)
}

/// Weekdays from a date on.
fn weekdays(year: i32, month: u32, day: u32) -> impl Iterator<Item = PanelDay> {
    PanelDay::of(year, month, day)
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

fn geometric(stream: &mut KeyedStream, rows: usize, volatility: f64) -> Result<FactorBars, FactorCodeError> {
    const DRIFT: f64 = 0.000_3;
    let mut before = 50.0;
    let bars = weekdays(2015, 1, 5).take(rows).map(|day| {
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

fn regimes(stream: &mut KeyedStream) -> Result<FactorBars, FactorCodeError> {
    let mut regime = (0.008, 0.001_2, 0.0);
    let (mut last_close, mut last_return) = (30.0, 0.0);
    let mut all = Vec::with_capacity(REGIME_DAYS);
    for day in weekdays(2016, 3, 1).take(REGIME_DAYS) {
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
    order.truncate(PANEL_ROWS);
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
    FactorBars::new(weekdays(2015, 1, 5).zip(last))
}

fn edges(stream: &mut KeyedStream) -> Result<FactorBars, FactorCodeError> {
    let calm = geometric(stream, EDGE_ROWS, 0.015)?;
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

/// Noise on the rows from one on: each price times one factor, which wanders and jumps at once; volume times another.
pub(crate) fn perturbed(
    bars: &FactorBars,
    from: usize,
    jump: f64,
    stream: &mut KeyedStream,
) -> Result<FactorBars, FactorCodeError> {
    let mut wander = jump;
    let changed = bars.iter().enumerate().map(|(row, (day, bar))| {
        if row < from {
            return (day, bar);
        }
        wander += 0.02 * stream.normal();
        let factor = libm::exp(wander);
        let FactorBar {
            open,
            high,
            low,
            close,
            volume,
        } = bar;
        let changed = FactorBar {
            open: open * factor,
            high: high * factor,
            low: low * factor,
            close: close * factor,
            volume: volume * libm::exp(0.5 * stream.normal() + 10.0 * jump),
        };
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
