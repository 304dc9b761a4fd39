//! Shares on one scale from 0 to 100 %, a row a thing.

use super::axes::{Axes, Axis, Edges};
use super::canvas::{Anchor, Canvas};
use super::captioned::{COLOURS, captioned};
use super::number::{axis_percent, percent, real};
use super::text::{display_width, fitted};
use maud::Markup;

/// A row of such a picture: its name, and what stands on it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareRow {
    /// Its name, to the left.
    pub name: String,
    /// Its dots and bars.
    pub marks: Vec<ShareMark>,
}

/// A share, or all between two of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareMark {
    colour: usize,
    from: f64,
    to: f64,
    text: String,
}

impl ShareMark {
    /// A dot of a colour; none of nothing.
    #[must_use]
    pub fn dot(colour: usize, share: Option<f64>, name: &str) -> Option<Self> {
        let share = share?;
        let text = format!("{name}: {}", percent(share));
        Some(Self::span(colour, (share, share), text))
    }

    /// A bar between two shares, with the text that is shown when it is pointed at.
    #[must_use]
    pub const fn span(colour: usize, (from, to): (f64, f64), text: String) -> Self {
        Self {
            colour,
            from,
            to,
            text,
        }
    }

    fn is_dot(&self) -> bool {
        self.to <= self.from
    }
}

/// Letters of a row's name.
const LETTERS: usize = 28;

/// Rows on a scale from 0 to 100 %, with the names of colours below. Dots of several colours stand one below the other in
/// their row, so that equal shares are all seen.
#[must_use]
pub fn share_rows(caption: &str, names: &[&str], rows: &[ShareRow]) -> Markup {
    const ROW: f64 = 22.0;
    let count = real(rows.len());
    let longest = rows.iter().map(|row| display_width(&row.name)).max().unwrap_or(0);
    let left = real(longest.min(LETTERS)).mul_add(6.2, 16.0);
    let mut canvas = Canvas::new(680.0, count.mul_add(ROW, 34.0));
    let plane = Axes {
        edges: Edges::new(6.0, 14.0, 28.0, left),
        rows: None,
        x: Axis::new(0.0..1.0, 5, &|value| axis_percent(value, 0.2)),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    for (place, row) in rows.iter().enumerate() {
        let y = plane.y(count - real(place) - 0.5);
        let name = (plane.across.start - 8.0, y + 4.0);
        canvas.text("t", Anchor::End, name, &fitted(&row.name, LETTERS));
        for mark in &row.marks {
            let colour = mark.colour;
            canvas.explained(&mark.text, |canvas| {
                if mark.is_dot() {
                    let y = y + beside(names.len(), colour);
                    canvas.dot(&format!("dots f{colour}"), (plane.x(mark.from), y), 4.0);
                } else {
                    let (from, to) = (plane.x(mark.from), plane.x(mark.to));
                    canvas.rect(&format!("span f{colour}"), (from, y - 5.0), (to, y + 5.0));
                }
            });
        }
    }
    let drawing = canvas.figure("wide", caption, "a row each, from 0 to 100 %");
    captioned(caption, names.iter().copied(), &drawing)
}

/// How far below the middle of a row the dot of a colour stands: nearer to its own row's than to those of the next.
fn beside(colours: usize, colour: usize) -> f64 {
    const HEIGHT_MAX: f64 = 12.0;
    const APART_MAX: f64 = 6.0;
    match colours.min(COLOURS) {
        0 | 1 => 0.0,
        colours => {
            let steps = real(colours - 1);
            HEIGHT_MAX.min(APART_MAX * steps) * (real(colour) / steps - 0.5)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_of_two_colours_stand_apart() {
        let marks = [(0, "runs"), (1, "safe")].map(|(colour, name)| ShareMark::dot(colour, Some(0.5), name));
        let row = ShareRow {
            name: "a".to_owned(),
            marks: marks.into_iter().flatten().collect(),
        };
        let shown = share_rows("what", &["runs", "safe"], &[row]).into_string();
        assert!(shown.contains("<title>safe: 50.00\u{a0}%</title>"), "{shown}");
        assert!(
            shown.contains("cx=\"344.1\" cy=\"14\"") && shown.contains("cx=\"344.1\" cy=\"20\""),
            "{shown}"
        );
        assert_eq!(ShareMark::dot(0, None, "nothing"), None);
    }
}
