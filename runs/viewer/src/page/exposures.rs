//! Exposures to styles through time: a row a style, bluer above the market and browner below it.

use ktd_view::draw::{Anchor, Canvas, decimals, fitted, real};
use maud::{Markup, html};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 60.0;
const ROW: f64 = 18.0;
/// Letters of a style's name.
const LETTERS: usize = 16;
/// From these absolute exposures on a cell has a stronger colour; a stock at 1 is a deviation above the market's mean.
const STEPS: [f64; 5] = [0.1, 0.3, 0.6, 1.0, 1.5];
const ABOVE: [&str; 5] = ["p1", "p2", "p3", "p4", "p5"];
const BELOW: [&str; 5] = ["n1", "n2", "n3", "n4", "n5"];

/// The drawing of values by style and day, of which there is one at least. Without dates, days are called by step.
pub(crate) fn figure(styles: &[String], dates: &[String], daily: &[Vec<Option<f64>>]) -> Markup {
    let days = daily.iter().map(Vec::len).max().unwrap_or(0);
    let mut canvas = Canvas::new(WIDTH, real(styles.len()).mul_add(ROW, 18.0));
    let width = (WIDTH - LEFT - RIGHT) / real(days);
    for (place, (style, values)) in styles.iter().zip(daily).enumerate() {
        let top = real(place) * ROW;
        canvas.text(
            "tk",
            Anchor::End,
            (LEFT - 6.0, top + ROW - 5.0),
            &fitted(style, LETTERS),
        );
        for (first, end, class) in runs(values) {
            let (from, to) = (real(first).mul_add(width, LEFT), real(end).mul_add(width, LEFT));
            canvas.rect(class, (from, top + 1.0), (to, top + ROW - 1.0));
        }
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        // Of no day it is no number, and said to be none.
        let mean = known.iter().sum::<f64>() / real(known.len());
        let at = (WIDTH - 4.0, top + ROW - 5.0);
        canvas.text("tk", Anchor::End, at, &decimals(mean, 2));
    }
    let base = real(styles.len()).mul_add(ROW, 13.0);
    let day = |date: Option<&String>, step: usize| date.cloned().unwrap_or_else(|| format!("step {step}"));
    canvas.text("tk", Anchor::Start, (LEFT, base), &day(dates.first(), 1));
    canvas.text("tk", Anchor::End, (WIDTH - RIGHT, base), &day(dates.last(), days));
    html! {
        div.scroll tabindex="0" role="region" aria-label="exposures" {
            (canvas.figure("wide", "Exposures through time", "a style a row, a day a column; the means are at the right"))
        }
        p.source {
            "In deviations across stocks, weighted, at each close; the mean of all days that could be fitted is at the right. Blue is above the market's mean, \
             brown below: a stronger colour from " (decimals(0.1, 1)) ", " (decimals(0.3, 1)) ", " (decimals(0.6, 1)) ", " (decimals(1.0, 1)) " and "
            (decimals(1.5, 1)) " on."
        }
    }
}

/// Days of equal shade: the first, the one after the last, and the class.
fn runs(values: &[Option<f64>]) -> Vec<(usize, usize, &'static str)> {
    let mut runs: Vec<(usize, usize, &'static str)> = Vec::new();
    for (day, value) in values.iter().enumerate() {
        let Some(class) = value.and_then(shade) else {
            continue;
        };
        match runs.last_mut() {
            Some((_, end, known)) if *end == day && *known == class => *end = day + 1,
            _ => runs.push((day, day + 1, class)),
        }
    }
    runs
}

/// The class of a value's shade; none of one that is near 0.
pub(super) fn shade(value: f64) -> Option<&'static str> {
    let side = if value < 0.0 { BELOW } else { ABOVE };
    let passed = STEPS
        .iter()
        .zip(side)
        .take_while(|(least, _)| **least <= value.abs());
    passed.last().map(|(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shades_are_one_rectangle() {
        let mut values = [0.0, 0.2, 0.25, 0.7, -0.2, f64::NAN, 2.0].map(Some);
        let found = runs(&values);
        assert_eq!(found, [(1, 3, "p1"), (3, 4, "p3"), (4, 5, "n1"), (6, 7, "p5")]);
        // A day that could not be fitted has no shade, and is in no mean.
        (values[1], values[5]) = (None, None);
        assert_eq!(runs(&values)[0], (2, 3, "p1"));
        let drawn = figure(&["beta".to_owned()], &[], &[values.to_vec()]).into_string();
        assert!(drawn.contains(">0.55<"), "{drawn}");
    }
}
