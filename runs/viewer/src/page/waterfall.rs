//! From parts to the whole return, each bar beginning where the one above it ended.

use crate::board::Parts;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, axis_percent, change, fitted, padded, real};
use maud::Markup;

const WIDTH: f64 = 460.0;
const ROW: f64 = 19.0;
const LEFT: f64 = 100.0;

/// The return by its parts.
pub(crate) fn figure(parts: &Parts) -> Markup {
    let named = [
        ("market", parts.common),
        ("style", parts.style()),
        ("selection", parts.selection),
        ("timing", parts.timing),
        ("slippage", parts.slip),
        ("cost", parts.cost),
        ("rounding", parts.corporate),
        ("unattributed", parts.unattributed),
    ];
    let mut reached = 0.0;
    let mut bars = Vec::new();
    for (name, value) in named {
        bars.push((name, reached, reached + value));
        reached += value;
    }
    bars.push(("portfolio", 0.0, parts.portfolio));
    draw(&bars, "Parts of the return")
}

/// What each style added.
pub(crate) fn styles(names: &[String], parts: &Parts) -> Markup {
    let bars = names.iter().zip(&parts.styles);
    let bars: Vec<_> = bars.map(|(name, value)| (name.as_str(), 0.0, *value)).collect();
    draw(&bars, "Styles")
}

fn draw(bars: &[(&str, f64, f64)], title: &str) -> Markup {
    let count = real(bars.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 24.0));
    let x = padded(bars.iter().flat_map(|(_, from, to)| [*from, *to]), 0.0);
    let step = (x.end - x.start) / 3.0;
    let plane = Axes {
        edges: Edges::new(2.0, 76.0, 22.0, LEFT),
        rows: None,
        x: Axis::new(x, 3, &|value| axis_percent(value, step)),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    canvas.line(
        "zero",
        (plane.x(0.0), plane.down.start),
        (plane.x(0.0), plane.down.end),
    );
    for (place, (name, from, to)) in bars.iter().enumerate() {
        let top = real(place).mul_add(ROW, plane.down.start);
        let base = top + ROW / 2.0 + 4.0;
        let class = match to - from {
            _ if *name == "portfolio" => "whole-return",
            fall if fall < 0.0 => "takes",
            _ => "adds",
        };
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 6.0, base),
            &fitted(name, 14),
        );
        canvas.rect(
            class,
            (plane.x(*from), top + 3.5),
            (plane.x(*to), top + ROW - 3.5),
        );
        canvas.text("t", Anchor::End, (WIDTH - 2.0, base), &change(to - from));
    }
    let values: Vec<String> = bars
        .iter()
        .map(|(name, from, to)| format!("{name} {}", change(to - from)))
        .collect();
    canvas.figure("small", title, &values.join(", "))
}
