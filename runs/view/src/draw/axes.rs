//! Axes with ticks, labels and grid lines, drawn by plotters; and where a value lies between them.

use super::backend::{AXIS, FINE, GRID, Ink, LABEL};
use super::canvas::Canvas;
use plotters::chart::ChartBuilder;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{IntoFont, TRANSPARENT};
use std::ops::Range;

/// Size of the letters at ticks, in units of the canvas.
const LETTERS: i32 = 10;

/// Space round the plot, in units of the canvas.
#[derive(Debug, Clone, Copy)]
pub struct Edges {
    /// Above.
    pub top: i32,
    /// To the right.
    pub right: i32,
    /// Below, with the labels.
    pub bottom: i32,
    /// To the left, with the labels.
    pub left: i32,
}

/// How an axis labels a value.
type Label<'a> = &'a dyn Fn(&f64) -> String;

/// What the axes of one plot are.
pub struct Axes<'a> {
    /// Space round the plot.
    pub edges: Edges,
    /// Where the plot's part of the canvas begins and ends, from the top; the whole canvas when absent.
    pub rows: Option<(f64, f64)>,
    /// From left to right.
    pub x: Range<f64>,
    /// From bottom to top.
    pub y: Range<f64>,
    /// About how many labels each has; no axis where 0.
    pub labels: (usize, usize),
    /// Text of the labels.
    pub x_label: Label<'a>,
    /// Text of the labels.
    pub y_label: Label<'a>,
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
    pub fn x(&self, value: f64) -> f64 {
        let share = (value - self.x.start) / (self.x.end - self.x.start);
        self.across.start + share * (self.across.end - self.across.start)
    }

    /// Where a value of the vertical axis lies.
    pub fn y(&self, value: f64) -> f64 {
        let share = (value - self.y.start) / (self.y.end - self.y.start);
        self.down.end - share * (self.down.end - self.down.start)
    }

    /// Where a point lies.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x(x), self.y(y))
    }
}

impl Axes<'_> {
    /// Draws the axes and says where values lie.
    pub fn draw(&self, canvas: &mut Canvas) -> Plane {
        let (top, bottom) = self.rows.unwrap_or((0.0, canvas.height()));
        let edge = f64::from;
        let plane = Plane {
            x: self.x.clone(),
            y: self.y.clone(),
            across: edge(self.edges.left)..canvas.width() - edge(self.edges.right),
            down: top + edge(self.edges.top)..bottom - edge(self.edges.bottom),
        };
        // The canvas takes whatever it is given; what plotters could refuse is a plot without any space, whose axes nobody
        // would see.
        self.mesh(canvas, &plane).ok();
        plane
    }

    fn mesh(
        &self,
        canvas: &mut Canvas,
        plane: &Plane,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let (width, height) = (canvas.width(), canvas.height());
        let margin = |size: f64| whole(size) * FINE;
        let (x_labels, y_labels) = self.labels;
        let below = margin(height - plane.down.end).min(LABELS * FINE);
        let beside = margin(plane.across.start).min(LABELS * FINE);
        let area = Ink(canvas).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin_top(margin(plane.down.start))
            .margin_right(margin(width - plane.across.end))
            .margin_bottom(margin(height - plane.down.end) - below)
            .margin_left(margin(plane.across.start) - beside)
            .x_label_area_size(below)
            .y_label_area_size(beside)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let mut mesh = chart.configure_mesh();
        if x_labels == 0 {
            mesh.disable_x_axis().disable_x_mesh();
        }
        if y_labels == 0 {
            mesh.disable_y_axis().disable_y_mesh();
        }
        mesh.x_labels(x_labels)
            .y_labels(y_labels)
            .x_label_formatter(self.x_label)
            .y_label_formatter(self.y_label)
            .label_style(("sans-serif", LETTERS * FINE).into_font().color(&LABEL))
            .axis_style(AXIS)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .set_all_tick_mark_size(3 * FINE)
            .draw()?;
        Ok(())
    }
}

/// Space that plotters takes for labels, out of the edges.
const LABELS: i32 = 14;

#[expect(
    clippy::cast_possible_truncation,
    reason = "a drawing is some hundred units wide"
)]
fn whole(size: f64) -> i32 {
    size.clamp(0.0, 1e5).round() as i32
}

/// The range of the values and `anchor`, with some space at both ends; never empty.
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
    use crate::draw::Markup;

    fn axes(x: Range<f64>, y: Range<f64>) -> String {
        let mut canvas = Canvas::new(300.0, 200.0);
        let plane = Axes {
            edges: Edges {
                top: 10,
                right: 10,
                bottom: 20,
                left: 40,
            },
            rows: None,
            x,
            y,
            labels: (4, 4),
            x_label: &|value| format!("x{value}"),
            y_label: &|value| format!("y{value}"),
        }
        .draw(&mut canvas);
        assert!((plane.across.start - 40.0).abs() < 1e-9 && (plane.down.end - 180.0).abs() < 1e-9);
        let mut page = Markup::default();
        canvas.write(&mut page, "wide", "t", "d");
        page.finish()
    }

    #[test]
    fn plotters_writes_classes_and_lies_where_values_lie() {
        let drawn = axes(0.0..10.0, -1.0..1.0);
        for class in ["ax", "gr", "tk"] {
            assert!(drawn.contains(&format!("class=\"{class}")), "{class}: {drawn}");
        }
        assert!(
            !drawn.contains('#') && !drawn.contains("rgb"),
            "colours belong to the style sheet"
        );
        // Plotters counts pixels from 0, so its last is one of its units, a tenth of ours, inside the edge.
        for label in [
            "x=\"40\" y=\"194.5\">x0<",
            "x=\"164.9\" y=\"194.5\">x5<",
            "x=\"289.9\" y=\"194.5\">x10<",
            ">y-1<",
            ">y0<",
            ">y1<",
        ] {
            assert!(drawn.contains(label), "{label}: {drawn}");
        }
        assert!(
            drawn.contains("class=\"gr\" x1=\"40\" y1=\"95\" x2=\"289.9\" y2=\"95\""),
            "{drawn}"
        );
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
