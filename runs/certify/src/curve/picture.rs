//! The curve as one drawing that stands alone: what every attacker recovers on each rung, and what strategies still see.

use super::record::{Curve, Recovery, Rung, StrategyCost};
use ktd_probes::{Measure, ProbeKind};
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, Plane, axis_percent, real};

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 400.0;
const LEGEND: f64 = 766.0;

/// What is drawn of leakage: kind, class, legend. Other measures and kinds stand in the table.
const LEAKS: [(ProbeKind, &str, &str); 2] = [
    (ProbeKind::Day, "k0", "a day: stock in five"),
    (ProbeKind::Episode, "k2", "an episode: stock in five"),
];
const MEASURE: Measure = Measure::Top5;

/// Parts of a rung's column that marks lie in: attackers from left to right, then strategies.
const ATTACKERS: (f64, f64) = (0.12, 0.68);
const STRATEGIES: (f64, f64) = (0.80, 0.92);

/// A picture of the curve, as SVG.
#[must_use]
pub fn render(curve: &Curve) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let count = real(curve.rungs.len().max(1));
    let plane = Axes {
        edges: Edges::new(34.0, 232.0, 40.0, 52.0),
        rows: None,
        x: Axis::unseen(0.0..count),
        y: Axis::new(0.0..1.0, 5, &|value| axis_percent(value, 1.0)),
    }
    .draw(&mut canvas);
    canvas.text(
        "t b",
        Anchor::Start,
        (12.0, 18.0),
        "What each rung of numbers leaks to ten attackers, and what it leaves to see",
    );
    for (place, rung) in curve.rungs.iter().enumerate() {
        column(&mut canvas, &plane, real(place), rung);
    }
    legend(&mut canvas, curve);
    canvas.file(
        "Leakage and utility of each rung",
        "Share of probes whose stock each attacker names among five, and rank correlation of two strategies' signals",
        include_str!("style.css"),
    )
}

/// One rung: its name, a mark an attacker and kind, chance, and a mark a strategy.
fn column(canvas: &mut Canvas, plane: &Plane, left: f64, rung: &Rung) {
    let x = |share: f64| plane.x(left + share);
    canvas.line("gr", (x(0.0), plane.down.start), (x(0.0), plane.down.end));
    canvas.text(
        "t",
        Anchor::Middle,
        (x(0.5), plane.down.end + 18.0),
        rung.numeric.label(),
    );
    for (kind, class, legend) in LEAKS {
        let found: Vec<&Recovery> = rung.of(kind, MEASURE).collect();
        for (place, found) in found.iter().enumerate() {
            let share = found.share.clamp(0.0, 1.0);
            let note = format!("{}, {legend}: {:.1} %", found.attacker, share * 100.0);
            let at = plane.at(left + within(ATTACKERS, place, rung.attackers().len()), share);
            canvas.explained(&note, |canvas| mark(canvas, class, at));
        }
        let Some(best) = rung.strongest(kind, MEASURE) else {
            continue;
        };
        let note = format!("best guess without looking: {:.1} %", best.chance * 100.0);
        let y = plane.y(best.chance.clamp(0.0, 1.0));
        canvas.explained(&note, |canvas| {
            canvas.line("luck", (x(ATTACKERS.0 - 0.03), y), (x(ATTACKERS.1 + 0.03), y));
        });
    }
    for (place, strategy) in rung.strategies.iter().enumerate() {
        let Some(seen) = strategy.rank_correlation else {
            continue;
        };
        let across = left + within(STRATEGIES, place, rung.strategies.len());
        let at = plane.at(across, seen.clamp(0.0, 1.0));
        let note = format!("{} {seen:.2}", sees(strategy));
        canvas.explained(&note, |canvas| square(canvas, &format!("see k{place}"), at));
    }
}

fn sees(strategy: &StrategyCost) -> String {
    format!("{} sees: rank correlation", strategy.strategy.builtin())
}

/// Where the mark of one of `count` lies between two ends.
fn within((from, to): (f64, f64), place: usize, count: usize) -> f64 {
    from + (to - from) * real(place) / real(count.saturating_sub(1).max(1))
}

/// A disc for single days, a diamond for episodes, so that both are seen where they fall together.
fn mark(canvas: &mut Canvas, class: &str, at: (f64, f64)) {
    let class = format!("leak {class}");
    if class.ends_with("k0") {
        canvas.dot(&class, at, 2.6);
    } else {
        canvas.diamond(&class, at, 4.2);
    }
}

fn square(canvas: &mut Canvas, class: &str, (x, y): (f64, f64)) {
    canvas.rect(class, (x - 3.5, y - 3.5), (x + 3.5, y + 3.5));
}

fn legend(canvas: &mut Canvas, curve: &Curve) {
    let mut rows = (0..).map(|row| 48.0 + real(row) * 20.0);
    let mut row = |canvas: &mut Canvas, text: &str, draw: &dyn Fn(&mut Canvas, (f64, f64))| {
        let y = rows.next().unwrap_or_default();
        draw(canvas, (LEGEND, y));
        canvas.text("t", Anchor::Start, (LEGEND + 16.0, y + 4.0), text);
    };
    for (_, class, legend) in LEAKS {
        row(canvas, legend, &|canvas, at| mark(canvas, class, at));
    }
    row(canvas, "best guess without looking", &|canvas, (x, y)| {
        canvas.line("luck", (x - 8.0, y), (x + 8.0, y));
    });
    let Some(first) = curve.rungs.first() else {
        return;
    };
    for (place, strategy) in first.strategies.iter().enumerate() {
        row(canvas, &sees(strategy), &|canvas, at| {
            square(canvas, &format!("see k{place}"), at);
        });
    }
    row(canvas, "Attackers, from left to right:", &|_, _| ());
    for name in first.attackers() {
        row(canvas, name, &|_, _| ());
    }
}
