//! One drawing: shapes with classes, so that the style sheet alone knows colours, light, dark and print.

use super::document::harmless;
use maud::{Markup, PreEscaped, html};
use std::fmt::{self, Display, Formatter, Write};

/// Where a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    /// What it adds to the class of a text.
    const fn class(self) -> &'static str {
        match self {
            Self::Start => "",
            Self::Middle => " m",
            Self::End => " e",
        }
    }
}

/// A place on a drawing: to the right and down from its upper left corner, in its own units.
pub type Point = (f64, f64);

/// A drawing of a fixed size in its own units; the page scales it.
#[derive(Debug)]
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// An empty drawing.
    #[must_use]
    pub const fn new(width: f64, height: f64) -> Self {
        let body = String::new();
        Self { width, height, body }
    }

    /// Its width.
    #[must_use]
    pub const fn width(&self) -> f64 {
        self.width
    }

    /// Its height.
    #[must_use]
    pub const fn height(&self) -> f64 {
        self.height
    }

    /// What `inner` draws, with a text that is shown when it is pointed at.
    pub fn explained(&mut self, text: &str, inner: impl FnOnce(&mut Self)) {
        let mut group = Self::new(self.width, self.height);
        inner(&mut group);
        self.add(&html! { g { title { (text) } (PreEscaped(group.body)) } });
    }

    /// A line.
    pub fn line(&mut self, class: &str, from: Point, to: Point) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(tenths);
        self.add(&html! { line class=(class) x1=(x1) y1=(y1) x2=(x2) y2=(y2) {} });
    }

    /// A rectangle between two corners, whichever they are.
    pub fn rect(&mut self, class: &str, one: Point, other: Point) {
        let [x, y] = [one.0.min(other.0), one.1.min(other.1)].map(tenths);
        let [width, height] = [(one.0 - other.0).abs(), (one.1 - other.1).abs()].map(tenths);
        self.add(&html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) {} });
    }

    /// A disc.
    pub fn dot(&mut self, class: &str, at: Point, radius: f64) {
        let [x, y, radius] = [at.0, at.1, radius].map(tenths);
        self.add(&html! { circle class=(class) cx=(x) cy=(y) r=(radius) {} });
    }

    /// A square on its corner.
    pub fn diamond(&mut self, class: &str, (x, y): Point, radius: f64) {
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
        self.area(class, &corners);
    }

    /// A line through points; a single point is a dot.
    pub fn path(&mut self, class: &str, points: &[Point]) {
        match points {
            [] => {}
            [only] => self.dot(&format!("{class} point"), *only, 1.8),
            points => self.add(&html! { path class=(class) d=(steps(points)) {} }),
        }
    }

    /// A filled area round points.
    pub fn area(&mut self, class: &str, points: &[Point]) {
        if 2 < points.len() {
            self.add(&html! { path class=(class) d={ (steps(points)) "z" } {} });
        }
    }

    /// A text.
    pub fn text(&mut self, class: &str, anchor: Anchor, at: Point, text: &str) {
        let [x, y] = [at.0, at.1].map(tenths);
        self.add(&html! { text class={ (class) (anchor.class()) } x=(x) y=(y) { (text) } });
    }

    /// A text that reads upwards.
    pub fn upright(&mut self, class: &str, anchor: Anchor, at: Point, text: &str) {
        let turn = format!("translate({} {}) rotate(-90)", tenths(at.0), tenths(at.1));
        self.add(&html! { text class={ (class) (anchor.class()) } transform=(turn) { (text) } });
    }

    /// The drawing as a part of a page; `title` and `description` are for those who do not see it.
    #[must_use]
    pub fn figure(&self, class: &str, title: &str, description: &str) -> Markup {
        self.svg(class, title, description, None)
    }

    /// The drawing as an SVG file that stands alone, with a compiled-in style sheet.
    #[must_use]
    pub fn file(&self, title: &str, description: &str, style: &'static str) -> String {
        harmless(&self.svg("alone", title, description, Some(style)))
    }

    fn svg(&self, class: &str, title: &str, description: &str, style: Option<&'static str>) -> Markup {
        /// A picture as wide as this times its width has letters of 11 pixels: the smallest are drawn with 10.
        const LEGIBLE: f64 = 1.1;
        let [width, height] = [self.width, self.height].map(tenths);
        let natural = style.map_or_else(|| tenths(self.width * LEGIBLE), |_| width);
        html! {
            svg class=(class) role="img" viewBox={ "0 0 " (width) " " (height) } aria-label=(title)
                xmlns=[style.map(|_| "http://www.w3.org/2000/svg")]
                width=(natural) height=[style.map(|_| height)] {
                @if let Some(style) = style { style { (PreEscaped(style)) } }
                title { (title) }
                desc { (description) }
                (PreEscaped(&self.body))
            }
        }
    }

    fn add(&mut self, shape: &Markup) {
        self.body.push_str(&shape.0);
    }
}

/// A coordinate in tenths, finer than a screen shows; its text is as short as it goes: `12.3`, `12`, `-.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tenths(i64);

impl Display for Tenths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        match (self.0.unsigned_abs() / 10, self.0.unsigned_abs() % 10) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (0, rest) => write!(f, "{sign}.{rest}"),
            (whole, rest) => write!(f, "{sign}{whole}.{rest}"),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to a range far inside i64's"
)]
fn tenths(value: f64) -> Tenths {
    Tenths(if value.is_finite() {
        (value.clamp(-1e6, 1e6) * 10.0).round() as i64
    } else {
        0
    })
}

/// A path's data: the first point, then steps from rounded point to rounded point, so that rounding never adds up.
fn steps(points: &[Point]) -> String {
    let mut data = String::new();
    let mut at: Option<(i64, i64)> = None;
    for (x, y) in points {
        let next = (tenths(*x).0, tenths(*y).0);
        // Writing to a string cannot fail.
        match at {
            None => write!(data, "M{} {}", Tenths(next.0), Tenths(next.1)).ok(),
            Some(last) if last == next => None,
            Some((x, y)) => {
                let (right, down) = (next.0 - x, next.1 - y);
                let gap = if down < 0 { "" } else { " " };
                write!(data, "l{}{gap}{}", Tenths(right), Tenths(down)).ok()
            }
        };
        at = Some(next);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        let shown = [12.34, 12.0, -0.52, 0.04, -0.04, f64::NAN].map(|value| tenths(value).to_string());
        assert_eq!(shown, ["12.3", "12", "-.5", "0", "0", "0"]);
    }

    #[test]
    fn rounding_does_not_add_up() {
        let points: Vec<(f64, f64)> = (0..1000).map(|step| (f64::from(step) * 0.14, 0.0)).collect();
        let data = steps(&points);
        let start: f64 = 0.0;
        let end: f64 = data
            .split('l')
            .skip(1)
            .map(|step| step.split(' ').next().unwrap().parse::<f64>().unwrap())
            .sum();
        assert!((start + end - 139.9).abs() < 0.051, "{end}");
    }

    #[test]
    fn a_day_alone_is_a_dot() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.path("nav", &[(5.0, 5.0)]);
        let drawn = canvas.figure("wide", "t", "d").into_string();
        assert!(drawn.contains("<circle class=\"nav point\""), "{drawn}");
    }

    #[test]
    fn a_file_stands_alone() {
        let mut canvas = Canvas::new(10.0, 20.0);
        canvas.text("t", Anchor::End, (1.0, 2.0), "<\u{202e}");
        let file = canvas.file("t", "d", "svg{}");
        assert!(
            file.contains("xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"20\"><style>svg{}<")
        );
        assert!(
            file.contains("<text class=\"t e\" x=\"1\" y=\"2\">&lt;\u{fffd}</text></svg>"),
            "{file}"
        );
        let part = canvas.figure("small", "t", "d").into_string();
        assert!(part.starts_with(
            "<svg class=\"small\" role=\"img\" viewBox=\"0 0 10 20\" aria-label=\"t\" width=\"11\"><title>"
        ));
    }
}
