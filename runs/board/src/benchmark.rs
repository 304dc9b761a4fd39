//! What windows are measured against: a benchmark of total return, and price indices beside it.

use ktd_attribution::{MembersReturns, members_total_returns};
use ktd_env::{DayIndex, IndexSeries, Market};

/// The name of the benchmark that is computed from the panel.
pub const MEMBERS_TOTAL_RETURN: &str = "members\' total return";

/// What returns are measured against. Net asset values hold dividends, so that what they are compared with holds them too.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmarks {
    /// Of excess return and information ratio: the imported index of total return, else the members in equal weights.
    pub total_return: BenchmarkSeries,
    /// Price indices, which leave dividends out; that of the universe first.
    pub price_indices: Vec<BenchmarkSeries>,
}

impl Benchmarks {
    /// The benchmarks of a panel.
    #[must_use]
    pub fn of(market: &Market) -> Self {
        let series = |kind: &str, index: &IndexSeries| BenchmarkSeries {
            name: format!("{kind} {}", index.code),
            daily: Daily::Levels {
                open: index.open.clone(),
                close: index.close.clone(),
            },
        };
        let members = || BenchmarkSeries {
            name: MEMBERS_TOTAL_RETURN.to_owned(),
            daily: Daily::Members(members_total_returns(market)),
        };
        let imported = market.total_return_index();
        Self {
            total_return: imported.map_or_else(members, |index| series("total-return index", index)),
            price_indices: market
                .indices()
                .iter()
                .map(|index| series("price index", index))
                .collect(),
        }
    }

    /// The price index of the universe over the days of a window.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn price_index_over(&self, days: &[DayIndex]) -> Result<Vec<f64>, String> {
        let index = self.price_indices.first();
        index.map_or_else(
            || Err("the panel has no price index".to_owned()),
            |index| index.over(days),
        )
    }
}

/// One series that returns are measured against.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSeries {
    name: String,
    daily: Daily,
}

/// Values by day; NaN where missing.
#[derive(Debug, Clone, PartialEq)]
enum Daily {
    /// Levels of an index.
    Levels { open: Vec<f64>, close: Vec<f64> },
    /// Returns of the members.
    Members(MembersReturns),
}

impl BenchmarkSeries {
    /// What it is, such as `price index SH000300`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Daily returns over the days of a window, from the open of its first, where accounts buy: the night before is nobody's. An index
    /// without a level of that open counts from the close before.
    ///
    /// # Errors
    /// The first day without a value, by its number in the window: a window with a gap has no benchmark return, and a mask may hide
    /// its dates from whoever reads why.
    pub fn over(&self, days: &[DayIndex]) -> Result<Vec<f64>, String> {
        days.iter()
            .zip(1..)
            .map(|(day, number)| self.on(*day, number))
            .collect()
    }

    fn on(&self, day: DayIndex, number: usize) -> Result<f64, String> {
        let is_first = number == 1;
        let before = day.index().checked_sub(1);
        let before = before.ok_or_else(|| "the panel has no day before the window".to_owned())?;
        match &self.daily {
            Daily::Levels { open, close } => {
                let opened = is_first
                    .then(|| self.level(open, day.index(), number).ok())
                    .flatten();
                let from = opened.map_or_else(|| self.level(close, before, number - 1), Ok)?;
                Ok(self.level(close, day.index(), number)? / from - 1.0)
            }
            Daily::Members(returns) => {
                let legs = if is_first {
                    &returns.since_open
                } else {
                    &returns.since_close
                };
                let daily = legs.get(day.index()).copied();
                daily
                    .filter(|daily| daily.is_finite())
                    .ok_or_else(|| format!("no member of the index is known before {}", named(number)))
            }
        }
    }

    fn level(&self, levels: &[f64], place: usize, number: usize) -> Result<f64, String> {
        let level = levels.get(place).copied();
        level
            .filter(|level| level.is_finite() && 0.0 < *level)
            .ok_or_else(|| format!("{} has no level on {}", self.name, named(number)))
    }
}

/// A day by its number in the window, 0 that before it.
fn named(number: usize) -> String {
    match number {
        0 => "the day before the window".to_owned(),
        number => format!("day {number} of the window"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::{
        Decimal, IndexLevels, MarketBuilder, PanelOptions, PriceBasis, RawBar, Ticker, TradeDate, VolumeBasis,
    };

    const DAYS: [&str; 3] = ["2024-01-02", "2024-01-03", "2024-01-04"];

    /// A stock that rises by a tenth each day, half of it by night, two price indices, and a total-return index where `levels` has any.
    fn market(levels: &[f64]) -> Market {
        let mut builder = MarketBuilder::new(PanelOptions {
            basis: PriceBasis::Raw,
            volume: VolumeBasis::Real,
            has_factors: false,
            has_amounts: false,
            calendar: None,
        });
        let date = |day: &str| TradeDate::parse(day).unwrap();
        let prices = [("10.00", "10.00"), ("10.50", "11.00"), ("11.55", "12.10")];
        for (day, (open, close)) in DAYS.iter().zip(prices) {
            let close = Decimal::parse(close).ok();
            let bar = RawBar {
                open: Decimal::parse(open).ok(),
                close,
                volume: close,
                ..RawBar::default()
            };
            let ticker = Ticker::parse("SH600000").unwrap();
            builder.add_row("f", 1, ticker, date(day), &bar).unwrap();
        }
        builder.declare_all_members();
        let series = |levels: &[f64]| -> IndexLevels {
            let dated = DAYS.iter().zip(levels);
            dated
                .map(|(day, level)| (date(day), (level - 2.0, *level)))
                .collect()
        };
        builder.add_index("SH000300", series(&[100.0, 101.0, 102.0]));
        builder.add_index("SH000905", series(&[100.0, 101.0]));
        if !levels.is_empty() {
            builder.set_total_return_index("H00300", series(levels));
        }
        builder.build().unwrap().0
    }

    fn over(
        series: &BenchmarkSeries,
        market: &Market,
        days: std::ops::Range<usize>,
    ) -> Result<Vec<f64>, String> {
        let days: Vec<DayIndex> = days.map(|place| market.day_at(place).unwrap()).collect();
        series.over(&days)
    }

    #[test]
    fn the_members_are_the_benchmark_unless_an_index_of_total_return_is_imported() {
        let market_without = market(&[]);
        let members = Benchmarks::of(&market_without).total_return;
        assert_eq!(members.name(), MEMBERS_TOTAL_RETURN);
        let returns = over(&members, &market_without, 1..3).unwrap();
        // Of the first day from its open.
        let wanted = [11.00 / 10.50 - 1.0, 0.1];
        assert!(
            returns
                .iter()
                .zip(wanted)
                .all(|(daily, wanted)| (daily - wanted).abs() < 1e-12),
            "{returns:?}"
        );
        let market_with = market(&[50.0, 60.0, 54.0]);
        let imported = Benchmarks::of(&market_with).total_return;
        assert_eq!(imported.name(), "total-return index H00300");
        let returns = over(&imported, &market_with, 1..3).unwrap();
        assert!(
            (returns[0] - 2.0 / 58.0).abs() < 1e-12 && (returns[1] + 0.1).abs() < 1e-12,
            "{returns:?}"
        );
    }

    #[test]
    fn a_gap_is_named_by_series_and_number_of_its_day() {
        let market = market(&[]);
        let Benchmarks {
            total_return,
            price_indices,
        } = Benchmarks::of(&market);
        let names: Vec<&str> = price_indices.iter().map(BenchmarkSeries::name).collect();
        assert_eq!(names, ["price index SH000300", "price index SH000905"]);
        assert_eq!(
            over(&price_indices[1], &market, 1..3).unwrap_err(),
            "price index SH000905 has no level on day 2 of the window"
        );
        let before = over(&total_return, &market, 0..2).unwrap_err();
        assert_eq!(before, "the panel has no day before the window");
    }
}
