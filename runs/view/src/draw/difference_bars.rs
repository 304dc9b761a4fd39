//! Bars of differences: a waterfall where each begins at the end of the one before, else bars from zero.

use super::{Anchor, Axes, Axis, Canvas, Edges, axis_percent, change, fitted, padded, real};

const WIDTH: f64 = 340.0;
const ROW: f64 = 19.0;
/// Letters of a name.
const LETTERS: usize = 14;

/// Horizontal bars from one share to another, a row each: name, start and end, with the difference beside it. Bars that follow
/// each other are joined; the row of the name `whole` is no difference, but what all come to.
#[must_use]
pub fn difference_bars(rows: &[(&str, f64, f64)], whole: &str) -> Canvas {
    let count = real(rows.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 24.0));
    let x = padded(rows.iter().flat_map(|(_, from, to)| [*from, *to]), 0.0);
    let step = (x.end - x.start) / 3.0;
    let plane = Axes {
        edges: Edges::new(2.0, 72.0, 22.0, 86.0),
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
    for (place, (name, from, to)) in rows.iter().enumerate() {
        let top = plane.down.start + real(place) * ROW;
        let middle = top + ROW / 2.0 + 4.0;
        let is_whole = *name == whole;
        let (label, bar) = match to - from {
            _ if is_whole => ("t b", "tot"),
            fall if fall < 0.0 => ("t", "neg"),
            _ => ("t", "pos"),
        };
        canvas.text(
            label,
            Anchor::End,
            (plane.across.start - 6.0, middle),
            &fitted(name, LETTERS),
        );
        canvas.rect(bar, (plane.x(*from), top + 3.5), (plane.x(*to), top + ROW - 3.5));
        let follows = rows
            .get(place + 1)
            .is_some_and(|(_, next, _)| (next - to).abs() < 1e-12);
        if follows {
            canvas.line(
                "link",
                (plane.x(*to), top + ROW - 3.5),
                (plane.x(*to), top + ROW + 3.5),
            );
        }
        canvas.text(label, Anchor::End, (WIDTH - 2.0, middle), &change(to - from));
    }
    canvas
}
