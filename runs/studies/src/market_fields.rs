//! The fields of a market panel.

use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use ktd_data::hash_text;
use ktd_env::{Bar, IndexSeries, Market, NameId};

const FIELDS: [&str; 10] = [
    "adjclose", "amount", "change", "close", "factor", "high", "low", "open", "volume", "vwap",
];

/// The columns of a panel: prices in yuan times the factor, volume in shares over the factor, amount in CNY as traded, and of
/// each index its level as open and close. An instrument's rows are all sessions from its first to its last bar.
#[must_use]
pub fn market_fields(market: &Market) -> FieldPanel {
    let mut names: Vec<FieldName> = market
        .names()
        .filter_map(|(name, info)| stock(market, name, info.ticker.reveal()))
        .collect();
    let indices = market.indices().iter().chain(market.total_return_index());
    for index in indices {
        names.extend(index_name(index));
    }
    names.sort_by(|a, b| a.code.cmp(&b.code));
    names.dedup_by(|a, b| a.code == b.code);
    let mut notes = Vec::new();
    if !market.amount_declared() {
        notes.push("`$amount` is volume x (high + low + close) / 3: the panel's source has none".to_owned());
    }
    FieldPanel {
        calendar: market.calendar().to_vec(),
        fields: FIELDS.map(str::to_owned).to_vec(),
        names,
        source: hash_text(market.content_hash()),
        notes,
    }
}

fn stock(market: &Market, name: NameId, code: &str) -> Option<FieldName> {
    let first = market.first_bar_day(name)?.index();
    let last = market.bars_of(name).last()?.0.index();
    let mut before: Option<f64> = None;
    let rows: Vec<[f64; FIELDS.len()]> = (first..=last)
        .map(|session| {
            let bar = market.day_at(session).and_then(|day| market.bar(name, day));
            bar.map_or([f64::NAN; FIELDS.len()], |bar| {
                let close = bar.adjusted_close();
                let change = before.map_or(f64::NAN, |before| close / before - 1.0);
                before = Some(close);
                cells(&bar, change)
            })
        })
        .collect();
    let column =
        |place: usize| FieldColumn::Doubles(rows.iter().filter_map(|row| row.get(place)).copied().collect());
    Some(FieldName {
        code: code.to_owned(),
        first_session: first,
        columns: (0..FIELDS.len()).map(column).collect(),
        shown: std::iter::once(first..last + 1).collect(),
    })
}

/// The cells of a bar, in the order of the fields.
#[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
fn cells(bar: &Bar, change: f64) -> [f64; FIELDS.len()] {
    let factor = bar.factor_value;
    let (high, low, close) = (bar.high.to_yuan(), bar.low.to_yuan(), bar.close.to_yuan());
    let volume = bar.volume as f64;
    let vwap = if bar.volume == 0 {
        (high + low + close) / 3.0 * factor
    } else {
        bar.amount_cny / volume * factor
    };
    let open = bar.open.map_or(f64::NAN, |open| open.to_yuan() * factor);
    [
        close * factor,
        bar.amount_cny,
        change,
        close * factor,
        factor,
        high * factor,
        low * factor,
        open,
        volume / factor,
        vwap,
    ]
}

/// An index as an instrument: its opens and closes; everything else is missing.
fn index_name(index: &IndexSeries) -> Option<FieldName> {
    let present = |level: &f64| level.is_finite();
    let first = index.close.iter().position(present)?;
    let last = index.close.iter().rposition(present)?;
    let of = |levels: &[f64]| levels.get(first..=last).unwrap_or_default().to_vec();
    let column = |field: &&str| {
        FieldColumn::Doubles(match *field {
            "open" => of(&index.open),
            "close" | "adjclose" => of(&index.close),
            _ => vec![f64::NAN; last + 1 - first],
        })
    };
    Some(FieldName {
        code: index.code.to_ascii_uppercase(),
        first_session: first,
        columns: FIELDS.iter().map(column).collect(),
        shown: std::iter::once(first..last + 1).collect(),
    })
}
