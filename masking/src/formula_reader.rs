//! What formulas that a model writes may read of a stock: bars without a level, on a grid that is wider than a tick.

use crate::mask::Mask;
use crate::masked_number::MaskedNumber;
use crate::numeric::{FactorScale, Numeric};
use crate::rounding::{Grain, HUNDREDTH, PointsGrid, Rounding};
use crate::{CrossSectionRank, Payload};
use ktd_env::{AsOf, Bar, DaysBack, NameId, Price};

/// Sessions that a formula reads at most, the as-of day's the last. Stocks with a shorter history before the episode have no
/// value, so that no count of rows tells how long the panel or a stock has been there.
const MOST_ROWS: usize = 240;

/// Bars whose mean volume and amount are the unit of both.
const UNIT_BARS: usize = 20;

/// The fields that a model's formula may read. The factor of adjustment is none: its steps are dividends to the fen.
const READ_FIELDS: [&str; 9] = [
    "open", "high", "low", "close", "adjclose", "vwap", "volume", "amount", "change",
];

impl Numeric {
    /// Whether a model may rank by formulas: where bars are shown. Where percentiles or bands stand in place of values, the
    /// comparison of a formula with numbers would read the values.
    #[must_use]
    pub fn takes_formulas(self) -> bool {
        self.scale() == FactorScale::Values
    }
}

impl Mask {
    /// What formulas read of the stocks of a day; `None` where none may be asked about.
    #[must_use]
    pub fn formula_reader<'a>(&'a self, as_of: &'a AsOf<'a>) -> Option<FormulaReader<'a>> {
        let multiple = match self.numeric() {
            Numeric::Exact | Numeric::Rescaled => HUNDREDTH,
            Numeric::RoundedTenth => Rounding::TENTH.multiple,
            Numeric::RoundedHalf => Rounding::HALF.multiple,
            Numeric::Ranked | Numeric::BandedFive | Numeric::Banded => return None,
        };
        // Bars of 0.1 % are rounded on: a grid of its own would split their steps where the two do not meet.
        let shown = (self.numeric() == Numeric::RoundedTenth).then(|| PointsGrid::new(&Rounding::TENTH));
        Some(FormulaReader {
            mask: self,
            as_of,
            shown,
            grid: PointsGrid::new(&Rounding::HALF),
            multiple,
        })
    }
}

/// Columns of stocks up to one as-of day, which no formula can read a price, a number of shares or an amount of money from.
///
/// Prices are points, 100 at the last close on or before the episode's origin, on a grid of 0.5 % whatever the mask shows of
/// prices: a fen is less than a step above 2 yuan, so that the smallest change of a price tells nothing of its level there.
/// Below 2 yuan it does, as most points of the grid stay empty. Unit and grid stay the same over an episode, so that no two
/// looks together are finer than one. Volumes and amounts are multiples of their own mean over the last 20 bars, with two
/// decimals or on the mask's grid.
#[derive(Debug)]
pub struct FormulaReader<'a> {
    mask: &'a Mask,
    as_of: &'a AsOf<'a>,
    /// The grid of the bars that are shown, if they are on a finer one.
    shown: Option<PointsGrid>,
    grid: PointsGrid,
    multiple: Grain,
}

impl FormulaReader<'_> {
    /// Names of the fields, without the dollar sign.
    #[must_use]
    pub const fn fields() -> &'static [&'static str] {
        &READ_FIELDS
    }

    /// Sessions that a formula reads at most.
    #[must_use]
    pub const fn most_rows() -> usize {
        MOST_ROWS
    }

    /// Columns of some fields over the last `rows` sessions; NaN is missing. `None` for a stock whose first bar is less than
    /// [`FormulaReader::most_rows`] sessions before the episode: on which day it were old enough would tell when it was listed.
    #[must_use]
    pub fn columns(&self, name: NameId, fields: &[String], rows: usize) -> Option<Vec<Vec<f64>>> {
        if !self.is_old(name) {
            return None;
        }
        let units = Units::of(self.as_of, name, self.mask.origin_price(self.as_of, name)?)?;
        let rows = rows.min(MOST_ROWS);
        let column = |field: &String| -> Vec<f64> {
            match field.as_str() {
                "change" => self.changes(name, &units, rows),
                field => {
                    let bars = self.bars(name, rows);
                    bars.map(|bar| bar.map_or(f64::NAN, |bar| self.cell(field, &units, &bar)))
                        .collect()
                }
            }
        };
        Some(fields.iter().map(column).collect())
    }

    /// Whether a stock had been traded for so long on the episode's first as-of day that a formula could read all its rows.
    fn is_old(&self, name: NameId) -> bool {
        let since = self.as_of.day().index().checked_sub(self.mask.origin.index());
        let back = since.and_then(|since| u32::try_from(since + MOST_ROWS - 1).ok());
        back.and_then(|back| self.as_of.past_day(DaysBack(back)))
            .is_some_and(|day| self.as_of.last_bar_by(name, day).is_some())
    }

    fn bars(&self, name: NameId, rows: usize) -> impl Iterator<Item = Option<Bar>> {
        let bar = move |back| self.as_of.bar(name, DaysBack(u32::try_from(back).ok()?));
        (0..rows).rev().map(bar)
    }

    /// Each close over the one before it, less 1. The one before it is looked for among all rows that a formula may read,
    /// however few it does.
    fn changes(&self, name: NameId, units: &Units, rows: usize) -> Vec<f64> {
        let closes = self.bars(name, MOST_ROWS);
        let closes = closes.map(|bar| bar.map_or(f64::NAN, |bar| self.points(units, &bar, bar.close)));
        changes(closes).skip(MOST_ROWS - rows).collect()
    }

    /// Where a value of a formula stands among the members that have one: 0 the lowest, 100 the highest, with one decimal.
    #[must_use]
    pub fn percentile(&self, rank: CrossSectionRank) -> Payload {
        let tenths = u32::try_from(rank.percentile_tenths()).ok();
        let percentile = tenths.map(|tenths| MaskedNumber::gridded(f64::from(tenths) / 10.0));
        Payload::optional(percentile)
    }

    fn points(&self, units: &Units, bar: &Bar, price: Price) -> f64 {
        self.nearest(bar.adjusted(price) / units.price * 100.0)
    }

    fn nearest(&self, points: f64) -> f64 {
        let shown = self.shown.as_ref().map_or(points, |grid| grid.nearest(points));
        self.grid.nearest(shown)
    }

    fn cell(&self, field: &str, units: &Units, bar: &Bar) -> f64 {
        match field {
            "open" => bar.open.map_or(f64::NAN, |open| self.points(units, bar, open)),
            "high" => self.points(units, bar, bar.high),
            "low" => self.points(units, bar, bar.low),
            "close" | "adjclose" => self.points(units, bar, bar.close),
            "vwap" => self.nearest(vwap(bar) / units.price * 100.0),
            "volume" => self.multiple_of(volume(bar), units.volume),
            "amount" => self.multiple_of(bar.amount_cny, units.amount),
            _ => f64::NAN,
        }
    }

    fn multiple_of(&self, value: f64, unit: f64) -> f64 {
        if 0.0 < unit {
            self.multiple.nearest(value / unit)
        } else {
            f64::NAN
        }
    }
}

/// What columns of a stock are multiples of.
#[derive(Debug, Clone, Copy)]
struct Units {
    price: f64,
    volume: f64,
    amount: f64,
}

impl Units {
    fn of(as_of: &AsOf<'_>, name: NameId, price: f64) -> Option<Self> {
        let bars = as_of.bars(name, UNIT_BARS);
        let count = f64::from(u32::try_from(bars.len()).ok().filter(|count| 0 < *count)?);
        let mean = |value: fn(&Bar) -> f64| bars.iter().map(|(_, bar)| value(bar)).sum::<f64>() / count;
        Some(Self {
            price,
            volume: mean(volume),
            amount: mean(|bar| bar.amount_cny),
        })
    }
}

/// Shares over the factor, so that a split shows no jump.
#[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
fn volume(bar: &Bar) -> f64 {
    bar.volume as f64 / bar.factor_value
}

#[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
fn vwap(bar: &Bar) -> f64 {
    if 0 < bar.volume {
        return bar.amount_cny / bar.volume as f64 * bar.factor_value;
    }
    (bar.adjusted(bar.high) + bar.adjusted(bar.low) + bar.adjusted(bar.close)) / 3.0
}

/// Each close over the one before it that there is, less 1.
fn changes(closes: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    let mut before = f64::NAN;
    closes.map(move |close| {
        let change = close / before - 1.0;
        if close.is_finite() {
            before = close;
        }
        change
    })
}
