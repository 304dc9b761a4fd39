//! Axes with ticks, labels and grid lines, and where a value lies between them.

use super::canvas::{Anchor, Canvas, Point};
use super::number::real;
use super::ticks::ticks;
use std::fmt;
use std::ops::Range;

/// Space round a plot in units of the canvas, clockwise from the top as in CSS; labels stand below and to the left.
#[derive(Debug, Clone, Copy)]
pub struct Edges {
    top: f64,
    right: f64,
    bottom: f64,
    left: f64,
}

impl Edges {
    /// Space above, to the right, below and to the left.
    #[must_use]
    pub const fn new(top: f64, right: f64, bottom: f64, left: f64) -> Self {
        Self {
            top,
            right,
            bottom,
            left,
        }
    }
}

/// One axis: its range, and how it is labelled.
pub struct Axis<'a> {
    range: Range<f64>,
    most: usize,
    label: &'a dyn Fn(f64) -> String,
}

impl fmt::Debug for Axis<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Axis");
        let shown = shown.field("range", &self.range).field("most", &self.most);
        shown.finish_non_exhaustive()
    }
}

impl<'a> Axis<'a> {
    /// An axis with labels at round values, at most `most` of them.
    pub const fn new(range: Range<f64>, most: usize, label: &'a dyn Fn(f64) -> String) -> Self {
        Self { range, most, label }
    }

    /// A scale that nothing is drawn of.
    #[must_use]
    pub const fn unseen(range: Range<f64>) -> Self {
        Self::new(range, 0, &|_| String::new())
    }

    /// Round values with their labels.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let ticks = ticks(&self.range, self.most).into_iter();
        ticks.map(|value| (value, (self.label)(value)))
    }
}

/// The axes of one plot.
#[derive(Debug)]
pub struct Axes<'a> {
    /// Space round the plot.
    pub edges: Edges,
    /// Where the plot's part of the canvas begins and ends, from the top; the whole canvas when absent.
    pub rows: Option<(f64, f64)>,
    /// From left to right.
    pub x: Axis<'a>,
    /// From bottom to top.
    pub y: Axis<'a>,
}

/// Where values lie on a canvas.
#[derive(Debug, Clone)]
pub struct Plane {
    x: Range<f64>,
    y: Range<f64>,
    /// Left and right end of the plot.
    pub across: Range<f64>,
    /// Top and bottom end of the plot.
    pub down: Range<f64>,
}

impl Plane {
    /// Where a value of the horizontal axis lies.
    #[must_use]
    pub fn x(&self, value: f64) -> f64 {
        let share = (value - self.x.start) / (self.x.end - self.x.start);
        self.across.start + share * (self.across.end - self.across.start)
    }

    /// Where a value of the vertical axis lies.
    #[must_use]
    pub fn y(&self, value: f64) -> f64 {
        let share = (value - self.y.start) / (self.y.end - self.y.start);
        self.down.end - share * (self.down.end - self.down.start)
    }

    /// Where a point lies.
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.x(x), self.y(y))
    }
}

impl Axes<'_> {
    /// Draws the axes and says where values lie.
    pub fn draw(&self, canvas: &mut Canvas) -> Plane {
        let (top, bottom) = self.rows.unwrap_or((0.0, canvas.height()));
        let Edges {
            top: above,
            right,
            bottom: below,
            left,
        } = self.edges;
        let plane = Plane {
            x: self.x.range.clone(),
            y: self.y.range.clone(),
            across: left..canvas.width() - right,
            down: top + above..bottom - below,
        };
        self.across(canvas, &plane);
        self.down(canvas, &plane);
        plane
    }

    /// The horizontal axis, with lines upwards from its ticks.
    fn across(&self, canvas: &mut Canvas, plane: &Plane) {
        let (top, base) = (plane.down.start, plane.down.end);
        for (value, label) in self.x.ticks() {
            let x = plane.x(value);
            canvas.line("gr", (x, top), (x, base));
            canvas.line("ax", (x, base), (x, base + TICK));
            if !label.is_empty() {
                let (anchor, x) = within(canvas.width(), x, &label);
                canvas.text("tk", anchor, (x, base + 14.5), &label);
            }
        }
        if 0 < self.x.most {
            canvas.line("ax", (plane.across.start, base), (plane.across.end, base));
        }
    }

    /// The vertical axis, with lines to the right from its ticks.
    fn down(&self, canvas: &mut Canvas, plane: &Plane) {
        let (base, end) = (plane.across.start, plane.across.end);
        for (value, label) in self.y.ticks() {
            let y = plane.y(value);
            canvas.line("gr", (base, y), (end, y));
            canvas.line("ax", (base - TICK, y), (base, y));
            if !label.is_empty() {
                // A baseline lies about a third of the letters' height below their middle.
                canvas.text("tk", Anchor::End, (base - 2.0 * TICK, y + 3.4), &label);
            }
        }
        if 0 < self.y.most {
            canvas.line("ax", (base, plane.down.start), (base, plane.down.end));
        }
    }
}

/// Where the label of a tick stands: below it, or along the edge of the canvas that it would be cut off by.
fn within(width: f64, x: f64, label: &str) -> (Anchor, f64) {
    // A letter of a label is 6 units wide at most.
    let half = real(label.chars().count()) * 3.2;
    if width < x + half {
        (Anchor::End, width - 1.0)
    } else if x < half {
        (Anchor::Start, 1.0)
    } else {
        (Anchor::Middle, x)
    }
}

/// Length of the mark at a tick.
const TICK: f64 = 3.0;

/// The range of the values and `anchor`, with some space at both ends; never empty.
#[must_use]
pub fn padded(values: impl IntoIterator<Item = f64>, anchor: f64) -> Range<f64> {
    const SPACE: f64 = 0.06;
    // A drawing of nothing but the anchor still needs a scale.
    const LEAST: f64 = 2e-3;
    let (low, high) = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold((anchor, anchor), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let span = high - low;
    if span < f64::EPSILON * anchor.abs().max(1.0) {
        return anchor..anchor + LEAST;
    }
    let below = if low < anchor { SPACE } else { 0.0 };
    let above = if anchor < high { SPACE } else { 0.0 };
    low - span * below..high + span * above
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(x: Range<f64>, y: Range<f64>) -> String {
        let mut canvas = Canvas::new(300.0, 200.0);
        let plane = Axes {
            edges: Edges::new(10.0, 10.0, 20.0, 40.0),
            rows: None,
            x: Axis::new(x, 4, &|value| format!("x{value}")),
            y: Axis::new(y, 4, &|value| format!("y{value}")),
        }
        .draw(&mut canvas);
        assert!((plane.across.start - 40.0).abs() < 1e-9 && (plane.down.end - 180.0).abs() < 1e-9);
        canvas.figure("wide", "t", "d").into_string()
    }

    #[test]
    fn ticks_lie_where_values_lie() {
        let drawn = axes(0.0..10.0, -1.0..1.0);
        for part in [
            "<text class=\"tk m\" x=\"40\" y=\"194.5\">x0<",
            "x=\"165\" y=\"194.5\">x5<",
            "x=\"290\" y=\"194.5\">x10<",
            "<text class=\"tk e\" x=\"34\" y=\"183.4\">y-1<",
            ">y0<",
            ">y1<",
            "class=\"gr\" x1=\"40\" y1=\"95\" x2=\"290\" y2=\"95\"",
            "class=\"ax\" x1=\"40\" y1=\"10\" x2=\"40\" y2=\"180\"",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(
            !drawn.contains('#') && !drawn.contains("rgb"),
            "colours belong to the style sheet"
        );
    }

    #[test]
    fn no_label_is_cut_off_at_an_edge() {
        let mut canvas = Canvas::new(300.0, 60.0);
        Axes {
            edges: Edges::new(5.0, 8.0, 20.0, 20.0),
            rows: None,
            x: Axis::new(0.0..10.0, 4, &|value| format!("2025-03-{value:02}")),
            y: Axis::unseen(0.0..1.0),
        }
        .draw(&mut canvas);
        let drawn = canvas.figure("wide", "t", "d").into_string();
        for label in [
            "<text class=\"tk\" x=\"1\" y=\"54.5\">2025-03-00<",
            "<text class=\"tk m\" x=\"156\" y=\"54.5\">2025-03-05<",
            "<text class=\"tk e\" x=\"299\" y=\"54.5\">2025-03-10<",
        ] {
            assert!(drawn.contains(label), "{label}: {drawn}");
        }
    }

    #[test]
    fn ranges_are_never_empty() {
        for values in [
            vec![],
            vec![0.0],
            vec![f64::NAN],
            vec![-0.5],
            vec![0.5, 0.5],
            vec![1e9, -1e9],
        ] {
            let range = padded(values.clone(), 0.0);
            assert!(
                range.start < range.end && range.start <= 0.0 && 0.0 <= range.end,
                "{values:?}: {range:?}"
            );
            axes(range.clone(), range);
        }
    }
}
