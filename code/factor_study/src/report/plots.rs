//! A small picture of a function's values beside the right ones.

use ktd_view::draw::{Axes, Axis, Canvas, Edges, Plane, Point, padded, real};
use maud::Markup;

/// Values at every eighth row of panel G, with the right ones behind them.
pub(super) fn beside_golden(own: &[Option<f64>], golden: &[Option<f64>]) -> Markup {
    const SIZE: Point = (340.0, 110.0);
    let shown = || golden.iter().chain(own).flatten().copied();
    let anchor = shown().next().unwrap_or(0.0);
    let mut canvas = Canvas::new(SIZE.0, SIZE.1);
    let nothing = |_: f64| String::new();
    let axes = Axes {
        edges: Edges::new(4.0, 4.0, 4.0, 4.0),
        rows: None,
        x: Axis::new(0.0..real(golden.len().max(2) - 1), 0, &nothing),
        y: Axis::new(padded(shown(), anchor), 0, &nothing),
    };
    let plane = axes.draw(&mut canvas);
    for (class, cells) in [("golden", golden), ("own", own)] {
        for stretch in stretches(&plane, cells) {
            canvas.path(class, &stretch);
        }
    }
    canvas.figure(
        "values",
        "values on panel G",
        "every eighth row; the right values broad and pale, the function's thin",
    )
}

/// Runs of values without a gap.
fn stretches(plane: &Plane, cells: &[Option<f64>]) -> Vec<Vec<Point>> {
    let mut stretches: Vec<Vec<Point>> = vec![Vec::new()];
    for (place, cell) in cells.iter().enumerate() {
        match (cell, stretches.last_mut()) {
            (Some(value), Some(last)) => last.push(plane.at(real(place), *value)),
            _ => stretches.push(Vec::new()),
        }
    }
    stretches.retain(|stretch| 1 < stretch.len());
    stretches
}
