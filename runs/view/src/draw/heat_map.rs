//! A table as a picture: a shade a cell.

use super::canvas::{Anchor, Canvas};
use super::number::real;
use super::text::{display_width, fitted};
use maud::Markup;

/// A table whose cells have shades.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// Rows by their names, a cell a column.
    pub rows: Vec<(String, Vec<HeatCell>)>,
}

/// A cell of such a table.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// 1 to 5, stronger and stronger, of one hue; -1 to -5 of another; 0 is pale.
    pub step: i8,
    /// What stands in it, in a few letters.
    pub text: String,
    /// What is shown when it is pointed at.
    pub words: String,
    /// Whether it has a frame.
    pub is_framed: bool,
}

impl HeatCell {
    /// A cell whose shade grows with a share: pale at 0, stronger from .2, .4, .6 and .8 on.
    #[must_use]
    pub fn of_share(share: f64, text: String, words: String) -> Self {
        let passed = [0.2, 0.4, 0.6, 0.8].iter().filter(|from| **from <= share).count();
        let steps = [1, 2, 3, 4, 5];
        let step = if 0.0 < share {
            steps.get(passed).copied()
        } else {
            None
        };
        Self {
            step: step.unwrap_or(0),
            text,
            words,
            is_framed: false,
        }
    }

    /// A cell without a number.
    #[must_use]
    pub fn none(words: String) -> Self {
        Self::of_share(0.0, "n/a".to_owned(), words)
    }

    /// The class of its shade.
    fn shade(&self) -> String {
        let step = self.step.unsigned_abs().min(5);
        match self.step {
            0 => "h0".to_owned(),
            step_below if step_below < 0 => format!("hn{step}"),
            _ => format!("hp{step}"),
        }
    }
}

const ROW: f64 = 26.0;
const LEFT: f64 = 150.0;
/// A letter of a head or a name is about as wide.
const LETTER: f64 = 5.6;
/// Letters of a name.
const LETTERS: usize = 24;

impl HeatMap {
    /// The drawing; `title` and `description` are for those who do not see it.
    #[must_use]
    pub fn figure(&self, title: &str, description: &str) -> Markup {
        let count = real(self.columns.len());
        let column = ((680.0 - LEFT) / count.max(1.0)).clamp(44.0, 92.0);
        let longest = self
            .columns
            .iter()
            .map(|head| display_width(head))
            .max()
            .unwrap_or(0);
        let is_upright = column < real(longest) * LETTER;
        let top = if is_upright {
            real(longest.min(LETTERS) + 1).mul_add(LETTER, 8.0)
        } else {
            24.0
        };
        let height = real(self.rows.len()).mul_add(ROW, top + 2.0);
        let mut canvas = Canvas::new(680.0_f64.max(count.mul_add(column, LEFT)), height);
        for (place, head) in self.columns.iter().enumerate() {
            let x = column.mul_add(real(place) + 0.5, LEFT);
            if is_upright {
                canvas.upright("tk", Anchor::Start, (x + 3.4, top - 6.0), &fitted(head, LETTERS));
            } else {
                canvas.text("tk", Anchor::Middle, (x, 14.0), head);
            }
        }
        for (place, (name, cells)) in self.rows.iter().enumerate() {
            let y = ROW.mul_add(real(place), top);
            canvas.text("q", Anchor::End, (LEFT - 8.0, y + 17.0), &fitted(name, LETTERS));
            for (place, cell) in cells.iter().enumerate() {
                let x = column.mul_add(real(place), LEFT);
                canvas.explained(&cell.words, |canvas| cell.draw(canvas, (x, y), column));
            }
        }
        canvas.figure("wide", title, description)
    }
}

impl HeatCell {
    fn draw(&self, canvas: &mut Canvas, (x, y): (f64, f64), column: f64) {
        let frame = if self.is_framed { " framed" } else { "" };
        let class = format!("cell {}{frame}", self.shade());
        canvas.rect(&class, (x + 1.0, y + 1.0), (x + column - 1.0, y + ROW - 1.0));
        let strong = if 3 < self.step.unsigned_abs() { "on" } else { "" };
        canvas.text(strong, Anchor::Middle, (x + column / 2.0, y + 17.0), &self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_grow_with_the_share_and_nothing_is_pale() {
        let steps = [0.0, 0.01, 0.2, 0.59, 0.6, 0.8, 1.0, 7.0, f64::NAN]
            .map(|share| HeatCell::of_share(share, String::new(), String::new()).step);
        assert_eq!(steps, [0, 1, 2, 3, 4, 5, 5, 5, 0]);
    }

    #[test]
    fn heads_that_do_not_fit_stand_upright_and_names_are_escaped() {
        let cell = |step| HeatCell {
            step,
            text: "0.5".to_owned(),
            words: "<b>".to_owned(),
            is_framed: step < 0,
        };
        let map = |head: &str| HeatMap {
            columns: vec![head.to_owned(), "b".to_owned()],
            rows: vec![("<i>".to_owned(), vec![cell(5), cell(-2)])],
        };
        let short = map("a").figure("t", "d").into_string();
        assert!(!short.contains("rotate"), "{short}");
        assert!(
            short.contains("<title>&lt;b&gt;</title><rect class=\"cell hp5\""),
            "{short}"
        );
        assert!(short.contains("class=\"cell hn2 framed\""), "{short}");
        assert!(short.contains("<text class=\"on m\""), "{short}");
        let long = map("a-model-with-a-long-name").figure("t", "d").into_string();
        assert_eq!(long.matches("rotate(-90)").count(), 2, "{long}");
    }
}
