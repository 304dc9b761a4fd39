//! The fields of a market panel.

use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use ktd_data::hash_text;
use ktd_env::{Bar, IndexSeries, Market, NameId, Price};

/// The fields of every panel.
pub const MARKET_FIELDS: [&str; 10] = [
    "adjclose", "amount", "change", "close", "factor", "high", "low", "open", "volume", "vwap",
];

/// The columns of a panel: prices in yuan times the factor, volume in shares over the factor, amount in CNY as traded, and of
/// each index its level as open and close. An instrument's rows are all sessions from its first to its last bar.
#[must_use]
pub fn market_fields(market: &Market) -> FieldPanel {
    market_fields_until(market, &MARKET_FIELDS, market.calendar().len())
}

/// Some of the columns of a panel up to a session, which is not in them any more: nothing that is computed of them can read
/// a later day.
#[must_use]
pub fn market_fields_until(market: &Market, fields: &[&str], end: usize) -> FieldPanel {
    let places: Vec<usize> = (0..MARKET_FIELDS.len())
        .filter(|place| {
            MARKET_FIELDS
                .get(*place)
                .is_some_and(|field| fields.contains(field))
        })
        .collect();
    let mut names: Vec<FieldName> = market
        .names()
        .filter_map(|(name, info)| stock(market, name, info.ticker.reveal(), (&places, end)))
        .collect();
    let indices = market.indices().iter().chain(market.total_return_index());
    for index in indices {
        names.extend(index_name(index, (&places, end)));
    }
    names.sort_by(|a, b| a.code.cmp(&b.code));
    names.dedup_by(|a, b| a.code == b.code);
    let mut notes = Vec::new();
    if !market.amount_declared() {
        notes.push("`$amount` is volume x (high + low + close) / 3: the panel's source has none".to_owned());
    }
    FieldPanel {
        calendar: market.calendar().iter().take(end).copied().collect(),
        fields: places
            .iter()
            .filter_map(|place| MARKET_FIELDS.get(*place))
            .map(|field| (*field).to_owned())
            .collect(),
        names,
        source: hash_text(market.content_hash()),
        notes,
    }
}

fn stock(market: &Market, name: NameId, code: &str, (places, end): (&[usize], usize)) -> Option<FieldName> {
    let first = market.first_bar_day(name)?.index();
    let days = market.bars_of(name).map(|(day, _)| day.index());
    let last = days.take_while(|session| *session < end).last()?;
    let mut before: Option<f64> = None;
    let rows: Vec<[f64; MARKET_FIELDS.len()]> = (first..=last)
        .map(|session| {
            let bar = market.day_at(session).and_then(|day| market.bar(name, day));
            TradedBar::row(bar.as_ref().map(TradedBar::of).as_ref(), &mut before)
        })
        .collect();
    let column = |place: &usize| {
        FieldColumn::Doubles(rows.iter().filter_map(|row| row.get(*place)).copied().collect())
    };
    Some(FieldName {
        code: code.to_owned(),
        first_session: first,
        columns: places.iter().map(column).collect(),
        shown: std::iter::once(first..last + 1).collect(),
    })
}

/// A bar as traded, prices in yuan without the factor; NaN is missing.
#[derive(Debug, Clone, Copy)]
pub struct TradedBar {
    /// Open; NaN on a day that did not open.
    pub open: f64,
    /// High.
    pub high: f64,
    /// Low.
    pub low: f64,
    /// Close.
    pub close: f64,
    /// Shares that traded.
    pub volume: f64,
    /// CNY that traded.
    pub amount: f64,
    /// The factor of adjustment.
    pub factor: f64,
}

impl TradedBar {
    #[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
    /// The bar of a panel.
    #[must_use]
    pub fn of(bar: &Bar) -> Self {
        Self {
            open: bar.open.map_or(f64::NAN, Price::to_yuan),
            high: bar.high.to_yuan(),
            low: bar.low.to_yuan(),
            close: bar.close.to_yuan(),
            volume: bar.volume as f64,
            amount: bar.amount_cny,
            factor: bar.factor_value,
        }
    }

    /// The cells of a session in the order of the fields; `before` is the last adjusted close, which becomes its own.
    #[must_use]
    pub fn row(bar: Option<&Self>, before: &mut Option<f64>) -> [f64; MARKET_FIELDS.len()] {
        let Some(bar) = bar else {
            return [f64::NAN; MARKET_FIELDS.len()];
        };
        let Self {
            open,
            high,
            low,
            close,
            volume,
            amount,
            factor,
        } = *bar;
        let adjusted = close * factor;
        let change = before.map_or(f64::NAN, |before| adjusted / before - 1.0);
        *before = Some(adjusted);
        let vwap = if 0.0 < volume {
            amount / volume * factor
        } else {
            (high + low + close) / 3.0 * factor
        };
        [
            adjusted,
            amount,
            change,
            adjusted,
            factor,
            high * factor,
            low * factor,
            open * factor,
            volume / factor,
            vwap,
        ]
    }
}

/// An index as an instrument: its opens and closes; everything else is missing.
fn index_name(index: &IndexSeries, (places, end): (&[usize], usize)) -> Option<FieldName> {
    let present = |level: &f64| level.is_finite();
    let closes = index.close.get(..end.min(index.close.len()))?;
    let first = closes.iter().position(present)?;
    let last = closes.iter().rposition(present)?;
    let of = |levels: &[f64]| levels.get(first..=last).unwrap_or_default().to_vec();
    let column = |place: &usize| {
        FieldColumn::Doubles(match MARKET_FIELDS.get(*place) {
            Some(&"open") => of(&index.open),
            Some(&("close" | "adjclose")) => of(&index.close),
            _ => vec![f64::NAN; last + 1 - first],
        })
    };
    Some(FieldName {
        code: index.code.to_ascii_uppercase(),
        first_session: first,
        columns: places.iter().map(column).collect(),
        shown: std::iter::once(first..last + 1).collect(),
    })
}
