//! The curve as one drawing that stands alone: how much of the order of exact numbers each rung leaves to see, against what it
//! leaks to each class of attackers.

use super::record::{Curve, Rung};
use ktd_probes::AttackerClass;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, Plane, decimals, real, scroll};
use maud::{Markup, html};

const WIDTH: f64 = 1010.0;
const HEIGHT: f64 = 440.0;
const LEGEND: f64 = 740.0;

/// What is drawn: class of attackers, class of marks, legend.
const CLASSES: [(AttackerClass, &str, &str); 3] = [
    (AttackerClass::Database, "k0", "a price database"),
    (
        AttackerClass::DatabaseAndStocks,
        "k1",
        "and codes of shown stocks",
    ),
    (AttackerClass::DatabaseAndDay, "k2", "and the day"),
];

const TITLE: &str = "Leakage and utility of each rung";
const DESCRIPTION: &str = "Mean rank correlation of nine factors with exact numbers, over min-entropy leakage in bits to three classes of attackers";

/// A picture of the curve in a page.
pub(super) fn picture(curve: &Curve) -> Markup {
    html! { figure { (scroll(TITLE, &drawn(curve).figure("wide", TITLE, DESCRIPTION))) } }
}

/// The same as a file that stands alone: many programs that show one know no variables of CSS.
pub(super) fn render(curve: &Curve) -> String {
    drawn(curve).file(TITLE, DESCRIPTION, include_str!("alone.css"))
}

fn drawn(curve: &Curve) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let leaked = curve.rungs.iter().flat_map(|rung| &rung.leakage);
    let most = leaked.map(|leakage| leakage.bits_at_most).fold(1.0, f64::max);
    let plane = Axes {
        edges: Edges::new(34.0, 292.0, 56.0, 52.0),
        rows: None,
        x: Axis::new(0.0..most * 1.04, 8, &|value| decimals(value, 0)),
        y: Axis::new(0.0..1.0, 5, &|value| decimals(value, 1)),
    }
    .draw(&mut canvas);
    canvas.text(
        "t b",
        Anchor::Start,
        (12.0, 18.0),
        "What each rung of numbers leaks, and what it leaves to see",
    );
    canvas.text(
        "t",
        Anchor::Middle,
        (f64::midpoint(plane.across.start, plane.across.end), HEIGHT - 16.0),
        "bits: how many times better than blind the stock is named (binary logarithm; the line ends at the bound)",
    );
    for rung in &curve.rungs {
        marks(&mut canvas, &plane, rung);
    }
    names(&mut canvas, &plane, curve);
    legend(&mut canvas, curve);
    canvas
}

/// A rung's marks: one a class, at its leakage, with a line to the bound.
fn marks(canvas: &mut Canvas, plane: &Plane, rung: &Rung) {
    let Some(seen) = rung.sight.mean else {
        return;
    };
    let y = seen.clamp(0.0, 1.0);
    for (class, style, legend) in CLASSES {
        let Some(leakage) = rung.leaked(class) else {
            continue;
        };
        let note = format!(
            "{}, {legend}: {:.2} bits, at most {:.2} ({}); rank correlation {seen:.2}",
            rung.numeric.label(),
            leakage.bits_at_least,
            leakage.bits_at_most,
            leakage.attacker
        );
        canvas.explained(&note, |canvas| {
            let (from, to) = (
                plane.at(leakage.bits_at_least, y),
                plane.at(leakage.bits_at_most, y),
            );
            canvas.line(&format!("reach {style}"), from, to);
            mark(canvas, style, from);
        });
    }
}

/// Names of rungs in a column to the right, each at its height, and apart from each other.
fn names(canvas: &mut Canvas, plane: &Plane, curve: &Curve) {
    let mut rungs: Vec<(f64, &str)> = curve
        .rungs
        .iter()
        .filter_map(|rung| Some((rung.sight.mean?, rung.numeric.label())))
        .collect();
    rungs.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut lowest = f64::NEG_INFINITY;
    for (seen, name) in rungs {
        let y = (plane.y(seen.clamp(0.0, 1.0)) + 4.0).max(lowest + LINE);
        lowest = y;
        let text = format!("{name} {seen:.2}");
        canvas.text("t", Anchor::Start, (plane.across.end + 6.0, y), &text);
    }
}

/// Height of a line of text.
const LINE: f64 = 13.0;

/// A disc, a square or a diamond, so that classes are told apart without colour.
fn mark(canvas: &mut Canvas, style: &str, (x, y): (f64, f64)) {
    let class = format!("leak {style}");
    match style {
        "k0" => canvas.dot(&class, (x, y), 4.0),
        "k1" => canvas.rect(&class, (x - 3.5, y - 3.5), (x + 3.5, y + 3.5)),
        _ => canvas.diamond(&class, (x, y), 5.2),
    }
}

/// The classes of attackers that are in the picture.
fn legend(canvas: &mut Canvas, curve: &Curve) {
    let is_drawn = |(class, ..): &(AttackerClass, &str, &str)| {
        curve.rungs.iter().any(|rung| rung.leaked(*class).is_some())
    };
    let x = LEGEND + 100.0;
    canvas.text("t b", Anchor::Start, (x - 8.0, 48.0), "Attackers know");
    for (place, (_, style, legend)) in CLASSES.into_iter().filter(is_drawn).enumerate() {
        let y = 70.0 + real(place) * 20.0;
        mark(canvas, style, (x, y));
        canvas.text("t", Anchor::Start, (x + 12.0, y + 4.0), legend);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_file_has_colours_of_its_own_and_the_page_those_of_its_reader() {
        let curve = Curve {
            name: "c".to_owned(),
            confidence: 0.95,
            probes: BTreeMap::new(),
            rungs: Vec::new(),
        };
        let file = render(&curve);
        assert!(file.contains("#0067a5") && !file.contains("var("), "{file}");
        assert!(include_str!("page.css").contains("var(--com)"));
    }
}
