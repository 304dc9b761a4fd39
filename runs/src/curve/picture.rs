//! The curve as one drawing that stands alone: leakage and sight, rung by rung.

use super::record::{Curve, Rung};
use crate::page::draw::{Anchor, Axes, Canvas, Edges, Markup, Plane, axis_percent, real};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEGEND: f64 = 548.0;

/// What is drawn of leakage: kinds whose stocks the strongest attacker names among five.
const LEAKS: [(&str, &str); 3] = [
    ("day", "one day: stock in five"),
    ("days", "five days: stock in five"),
    ("episode", "an episode: stock in five"),
];

/// One line: its class, its legend, a value a rung.
struct Line {
    class: String,
    legend: String,
    values: Vec<Option<f64>>,
}

/// A picture of the curve, as SVG.
#[must_use]
pub fn render(curve: &Curve) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let count = real(curve.rungs.len().max(1));
    let plane = Axes {
        edges: Edges {
            top: 34,
            right: 226,
            bottom: 40,
            left: 52,
        },
        rows: None,
        x: 0.0..count,
        y: 0.0..1.0,
        labels: (0, 5),
        x_label: &|_| String::new(),
        y_label: &|value| axis_percent(*value, 1.0),
    }
    .draw(&mut canvas);
    canvas.text(
        "t b",
        Anchor::Start,
        (12.0, 18.0),
        "What each rung of numbers leaks, and what it leaves to see",
    );
    for (place, rung) in curve.rungs.iter().enumerate() {
        let x = plane.x(real(place) + 0.5);
        canvas.text("t", Anchor::Middle, (x, plane.down.end + 18.0), &rung.numeric);
    }
    for (place, line) in lines(curve).iter().enumerate() {
        draw(&mut canvas, &plane, line, 48.0 + real(place) * 20.0);
    }
    let mut drawing = Markup::default();
    canvas.write(
        &mut drawing,
        "curve",
        "Leakage and utility of each rung",
        "Share of probes whose stock the strongest attacker names among five, and rank correlation of two strategies' signals",
    );
    let head = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\"");
    let style = format!("<style>{}</style><title>", include_str!("style.css"));
    drawing
        .finish()
        .replacen("<svg", &head, 1)
        .replacen("<title>", &style, 1)
}

fn lines(curve: &Curve) -> Vec<Line> {
    let of = |class: String, legend: &str, value: &dyn Fn(&Rung) -> Option<f64>| Line {
        class,
        legend: legend.to_owned(),
        values: curve.rungs.iter().map(value).collect(),
    };
    let mut lines: Vec<Line> = LEAKS
        .into_iter()
        .enumerate()
        .map(|(place, (kind, legend))| {
            let share = |rung: &Rung| rung.strongest(kind, "top5").map(|found| found.share);
            of(format!("leak k{place}"), legend, &share)
        })
        .collect();
    let chance = |rung: &Rung| rung.strongest("episode", "top5").map(|found| found.chance);
    lines.push(of("luck".to_owned(), "chance, an episode", &chance));
    let strategies = curve
        .rungs
        .first()
        .map(|rung| rung.strategies.clone())
        .unwrap_or_default();
    lines.extend(strategies.iter().enumerate().map(|(place, strategy)| {
        let seen = |rung: &Rung| rung.strategies.get(place).and_then(|cost| cost.rank_correlation);
        of(
            format!("see k{place}"),
            &format!("{} sees: rank correlation", strategy.strategy),
            &seen,
        )
    }));
    lines.retain(|line| line.values.iter().any(Option::is_some));
    lines
}

fn draw(canvas: &mut Canvas, plane: &Plane, line: &Line, legend_y: f64) {
    let points: Vec<(f64, f64)> = line
        .values
        .iter()
        .enumerate()
        .filter_map(|(place, value)| Some(plane.at(real(place) + 0.5, value.as_ref()?.clamp(0.0, 1.0))))
        .collect();
    canvas.explained(&line.legend, |canvas| {
        canvas.path(&line.class, &points);
        for point in &points {
            canvas.dot(&line.class, *point, 3.2);
        }
        canvas.line(&line.class, (LEGEND, legend_y), (LEGEND + 22.0, legend_y));
        canvas.text("t", Anchor::Start, (LEGEND + 28.0, legend_y + 4.0), &line.legend);
    });
}
