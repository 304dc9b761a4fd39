//! Stress: the bars of a long run, distorted in eight ways.

use crate::bars::{AssetBars, StrategyBars};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One way to distort bars.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum Stress {
    /// Prices fall by a fifth at the middle and stay there.
    GapDown,
    /// Prices fall by 5 % of the middle a bar for ten bars, to half.
    Crash,
    /// Every price relative to the first close, squared.
    SquaredMoves,
    /// The last third is constant.
    StillEnd,
    /// Ten bars alone.
    TenBars,
    /// No volume.
    ZeroVolume,
    /// Prices times 100.
    #[strum(serialize = "times_100")]
    Times100,
    /// Every price is 50.
    OnePrice,
}

impl Stress {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::GapDown,
        Self::Crash,
        Self::SquaredMoves,
        Self::StillEnd,
        Self::TenBars,
        Self::ZeroVolume,
        Self::Times100,
        Self::OnePrice,
    ];

    /// The word in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// The distorted bars; prices to four decimals, ties to even.
    #[must_use]
    pub fn apply(self, market: &StrategyBars) -> StrategyBars {
        if self == Self::TenBars {
            return market.prefix(10);
        }
        let assets = market.assets.iter();
        StrategyBars {
            assets: assets
                .map(|(symbol, bars)| (symbol.clone(), self.apply_to(bars)))
                .collect(),
        }
    }

    fn apply_to(self, bars: &AssetBars) -> AssetBars {
        let middle = bars.len() / 2;
        match self {
            Self::TenBars => bars.prefix(10),
            Self::ZeroVolume => AssetBars {
                volume: vec![0.0; bars.len()],
                ..bars.clone()
            },
            Self::GapDown => of_prices(
                bars,
                |_, bar, price| if bar >= middle { price * 0.8 } else { price },
            ),
            Self::Crash => of_prices(bars, |_, bar, price| price * crash_factor(bar, middle)),
            Self::StillEnd => {
                let still = 2 * bars.len() / 3;
                of_prices(bars, |column, bar, price| {
                    if bar >= still {
                        column.get(still).copied().unwrap_or(price)
                    } else {
                        price
                    }
                })
            }
            Self::Times100 => of_prices(bars, |_, _, price| price * 100.0),
            Self::OnePrice => of_prices(bars, |_, _, _| 50.0),
            Self::SquaredMoves => {
                let first = bars.close.first().copied().unwrap_or(1.0);
                prices(bars, |_, _, price| first * (price / first) * (price / first))
            }
        }
    }
}

/// 1 before the middle, then 5 % less a bar, at least half.
fn crash_factor(bar: usize, middle: usize) -> f64 {
    bar.checked_sub(middle).map_or(1.0, |since| {
        (1.0 - 0.05 * crate::indicators::count(since + 1)).max(0.5)
    })
}

/// Bars with every price changed on its own; the high and low are then those of the four.
fn of_prices(bars: &AssetBars, change: impl Fn(&[f64], usize, f64) -> f64) -> AssetBars {
    let mut changed = prices(bars, change);
    for bar in 0..changed.len() {
        let four = [&changed.open, &changed.high, &changed.low, &changed.close];
        let of_bar = four.into_iter().filter_map(|column| column.get(bar).copied());
        let (least, most) = of_bar.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), price| {
            (least.min(price), most.max(price))
        });
        if let Some(high) = changed.high.get_mut(bar) {
            *high = most;
        }
        if let Some(low) = changed.low.get_mut(bar) {
            *low = least;
        }
    }
    changed
}

fn prices(bars: &AssetBars, change: impl Fn(&[f64], usize, f64) -> f64) -> AssetBars {
    let of = |column: &[f64]| -> Vec<f64> {
        let changed = column
            .iter()
            .enumerate()
            .map(|(bar, price)| change(column, bar, *price));
        changed
            .map(|price| (price * 1e4).round_ties_even() / 1e4)
            .collect()
    };
    AssetBars {
        open: of(&bars.open),
        high: of(&bars.high),
        low: of(&bars.low),
        close: of(&bars.close),
        ..bars.clone()
    }
}
