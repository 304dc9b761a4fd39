//! From parts to the whole return, each bar beginning where the one above it ended.

use crate::board::Parts;
use ktd_view::draw::{change, difference_bars};
use maud::Markup;

/// The row of the whole return.
const WHOLE: &str = "portfolio";

/// The return by its parts.
pub(crate) fn figure(parts: &Parts) -> Markup {
    let named = [
        ("market", parts.common),
        ("style", parts.style),
        ("selection", parts.selection),
        ("execution", Some(parts.execution)),
        ("slippage", Some(parts.slip)),
        ("cost", Some(parts.cost)),
        ("rounding", Some(parts.corporate)),
        ("unattributed", Some(parts.unattributed)),
    ];
    let mut reached = 0.0;
    let mut bars = Vec::new();
    for (name, value) in named.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        bars.push((name, reached, reached + value));
        reached += value;
    }
    bars.push((WHOLE, 0.0, parts.portfolio));
    draw(&bars, "Parts of the return")
}

/// What each style added.
pub(crate) fn styles(names: &[String], parts: &Parts) -> Markup {
    let bars = names.iter().zip(&parts.styles);
    let bars: Vec<_> = bars.map(|(name, value)| (name.as_str(), 0.0, *value)).collect();
    draw(&bars, "Styles")
}

fn draw(bars: &[(&str, f64, f64)], title: &str) -> Markup {
    let values: Vec<String> = bars
        .iter()
        .map(|(name, from, to)| format!("{name} {}", change(to - from)))
        .collect();
    difference_bars(bars, WHOLE).figure("small", title, &values.join(", "))
}
