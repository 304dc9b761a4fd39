//! One drawing: shapes with classes, so that the style sheet alone knows colours, light, dark and print.

use super::markup::Markup;
use std::fmt::Write;

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

/// A drawing of a fixed size in its own units; the page scales it.
#[derive(Debug)]
pub struct Canvas {
    width: f64,
    height: f64,
    body: Markup,
}

impl Canvas {
    /// An empty drawing.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: Markup::default(),
        }
    }

    /// Its width.
    pub const fn width(&self) -> f64 {
        self.width
    }

    /// Its height.
    pub const fn height(&self) -> f64 {
        self.height
    }

    /// What `inner` draws, with a text that is shown when it is pointed at.
    pub fn explained(&mut self, text: &str, inner: impl FnOnce(&mut Self)) {
        let mut group = Self::new(self.width, self.height);
        inner(&mut group);
        self.body.element("g", &[], |element| {
            element.leaf("title", &[], text);
            element.append(&group.body);
        });
    }

    /// A line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short);
        let attributes = [
            ("class", class),
            ("x1", &x1),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
        ];
        self.body.empty("line", &attributes);
    }

    /// A rectangle between two corners, whichever they are.
    pub fn rect(&mut self, class: &str, one: (f64, f64), other: (f64, f64)) {
        let [x, y] = [one.0.min(other.0), one.1.min(other.1)].map(short);
        let [width, height] = [(one.0 - other.0).abs(), (one.1 - other.1).abs()].map(short);
        let attributes = [
            ("class", class),
            ("x", x.as_str()),
            ("y", &y),
            ("width", &width),
            ("height", &height),
        ];
        self.body.empty("rect", &attributes);
    }

    /// A disc.
    pub fn dot(&mut self, class: &str, at: (f64, f64), radius: f64) {
        let [x, y, radius] = [at.0, at.1, radius].map(short);
        self.body.empty(
            "circle",
            &[("class", class), ("cx", &x), ("cy", &y), ("r", &radius)],
        );
    }

    /// A square on its corner.
    pub fn diamond(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
        self.area(class, &corners);
    }

    /// A line through points; a single point is a dot.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if let [only] = points {
            self.dot(&format!("{class} point"), *only, 1.8);
        } else {
            self.trace(class, &steps(points));
        }
    }

    /// A filled area round points.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)]) {
        if 2 < points.len() {
            self.trace(class, &format!("{}z", steps(points)));
        }
    }

    /// A text.
    pub fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let [x, y] = [at.0, at.1].map(short);
        let class = format!(
            "{class}{}",
            match anchor {
                Anchor::Start => "",
                Anchor::Middle => " m",
                Anchor::End => " e",
            }
        );
        self.body
            .leaf("text", &[("class", &class), ("x", &x), ("y", &y)], text);
    }

    /// A text that reads upwards.
    pub fn upright(&mut self, class: &str, at: (f64, f64), text: &str) {
        let turn = format!("translate({} {}) rotate(-90)", short(at.0), short(at.1));
        self.body.leaf(
            "text",
            &[("class", &format!("{class} m")), ("transform", &turn)],
            text,
        );
    }

    /// Writes the drawing; `title` and `description` are for those who do not see it.
    pub fn write(self, page: &mut Markup, class: &str, title: &str, description: &str) {
        let view = format!("0 0 {} {}", short(self.width), short(self.height));
        let attributes = [
            ("class", class),
            ("role", "img"),
            ("viewBox", &view),
            ("aria-label", title),
        ];
        page.element("svg", &attributes, |drawing| {
            drawing.leaf("title", &[], title);
            drawing.leaf("desc", &[], description);
            drawing.append(&self.body);
        });
    }

    fn trace(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.body.empty("path", &[("class", class), ("d", data)]);
        }
    }
}

/// A coordinate in tenths: finer than a screen shows.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to a range far inside i64's"
)]
fn tenths(value: f64) -> i64 {
    if value.is_finite() {
        (value.clamp(-1e6, 1e6) * 10.0).round() as i64
    } else {
        0
    }
}

/// A coordinate in tenths as text, as short as it goes: `12.3`, `12`, `-.5`.
fn short_tenths(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    match (whole, rest) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

fn short(value: f64) -> String {
    short_tenths(tenths(value))
}

/// A path's data: the first point, then steps from rounded point to rounded point, so that rounding never adds up.
fn steps(points: &[(f64, f64)]) -> String {
    let mut data = String::new();
    let mut at: Option<(i64, i64)> = None;
    for (x, y) in points {
        let next = (tenths(*x), tenths(*y));
        // Writing to a string cannot fail.
        match at {
            None => write!(data, "M{} {}", short_tenths(next.0), short_tenths(next.1)).ok(),
            Some(last) if last == next => None,
            Some((x, y)) => {
                let (right, down) = (next.0 - x, short_tenths(next.1 - y));
                let gap = if down.starts_with('-') { "" } else { " " };
                write!(data, "l{}{gap}{down}", short_tenths(right)).ok()
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
        let shown = [12.34, 12.0, -0.52, 0.04, -0.04, f64::NAN].map(short);
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
        let mut page = Markup::default();
        canvas.write(&mut page, "wide", "t", "d");
        assert!(page.finish().contains("<circle class=\"nav point\""));
    }
}
