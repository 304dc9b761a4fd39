//! Knows every path of returns: the nearest neighbour over the whole panel.

use super::senses::ParsedSnapshot;
use super::{DatabaseAttacker, Reading};
use crate::clue::{Bounds, Clue, Clues};
use crate::column::Column;
use crate::parsed_stock::ParsedBar;
use crate::tolerance;
use ktd_env::factors::{Factor, Technical};
use ktd_masking::Numeric;

pub(crate) struct ReturnPath;

impl DatabaseAttacker for ReturnPath {
    fn name(&self) -> &'static str {
        "return-path"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let mut clues = reading.both(|shown| {
            let mut clues = path(reading.numeric, shown);
            clues.extend(reading.factors(shown, &FACTORS));
            clues.extend(reading.technicals(shown, &TECHNICALS));
            clues
        });
        clues.stock.extend(holding(reading));
        clues
    }
}

/// What factors and technicals tell of the path where bars do not.
const FACTORS: [Factor; 4] = [Factor::Mom12_1, Factor::High52w, Factor::RevOn, Factor::MomId];
const TECHNICALS: [Technical; 6] = [
    Technical::Return5d,
    Technical::Return20d,
    Technical::Return60d,
    Technical::MaGap20,
    Technical::Rsi14,
    Technical::Drawdown60,
];

/// Days of which open, high and low are laid against the database too; older days give their closes alone.
const WHOLE_DAYS: usize = 10;

/// Returns between neighbouring closes, and where open, high and low stood to the close, each day once.
fn path(numeric: Numeric, shown: &[ParsedSnapshot<'_>]) -> Vec<Clue> {
    let mut clues: Vec<Clue> = Vec::new();
    let mut used: Vec<i64> = Vec::new();
    // The newest snapshot tells most days.
    for snapshot in shown.iter().rev() {
        let bars = &snapshot.stock.bars;
        for (place, bar) in bars.iter().enumerate().rev() {
            let at = snapshot.offset - bar.days_ago;
            let before = place.checked_sub(1).and_then(|place| bars.get(place));
            if used.contains(&at) || before.is_none() {
                continue;
            }
            used.push(at);
            clues.extend(before.and_then(|before| change(numeric, snapshot.offset, before, bar)));
            if used.len() <= WHOLE_DAYS {
                clues.extend(candle(numeric, at, bar));
            }
        }
    }
    clues
}

fn change(numeric: Numeric, offset: i64, before: &ParsedBar, bar: &ParsedBar) -> Option<Clue> {
    let (earlier, later) = (before.close?, bar.close?);
    (earlier > 0.0 && later > 0.0).then(|| Clue {
        column: Column::LnClose,
        at: offset - bar.days_ago,
        minus: Some(offset - before.days_ago),
        bounds: Bounds::around(
            libm::log(later) - libm::log(earlier),
            tolerance::ln_price(numeric, later) + tolerance::ln_price(numeric, earlier),
        ),
    })
}

fn candle(numeric: Numeric, at: i64, bar: &ParsedBar) -> Vec<Clue> {
    let Some(close) = bar.close.filter(|close| *close > 0.0) else {
        return Vec::new();
    };
    let prices = [
        (bar.open, Column::LnOpen),
        (bar.high, Column::LnHigh),
        (bar.low, Column::LnLow),
    ];
    prices
        .into_iter()
        .filter_map(|(price, column)| {
            let price = price.filter(|price| *price > 0.0)?;
            Some(Clue {
                column,
                at,
                minus: None,
                bounds: Bounds::around(
                    libm::log(price) - libm::log(close),
                    tolerance::ln_price(numeric, price) + tolerance::ln_price(numeric, close),
                ),
            })
        })
        .collect()
}

/// What the account tells of a holding that is not traded: weight times NAV moves as the price does.
fn holding(reading: &Reading<'_>) -> Vec<Clue> {
    let steps = reading.parsed.steps.iter();
    let values: Vec<(i64, f64, f64)> = steps
        .filter_map(|step| {
            let account = step.account?;
            let (nav, weight) = (account.nav, account.weight?);
            let tolerance =
                tolerance::weight(reading.numeric) / weight + tolerance::nav(reading.numeric, &account);
            Some((step.offset, libm::log(nav * weight), tolerance))
        })
        .collect();
    let Some((first, rest)) = values.split_first() else {
        return Vec::new();
    };
    rest.iter()
        .map(|(at, value, tolerance)| Clue {
            column: Column::LnClose,
            at: *at,
            minus: Some(first.0),
            bounds: Bounds::around(value - first.1, tolerance + first.2),
        })
        .collect()
}
