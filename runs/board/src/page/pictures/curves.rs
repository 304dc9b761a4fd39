//! Picture 3: how the parts of the return grew, day by day, with the drawdown below.

use super::{Daily, Heading, Picture, View, card, day_label, legend, mean_of, monthly, months, numbers};
use crate::{Curves, LeaderboardRow, Track};
use ktd_view::draw::{
    Axes, Axis, Canvas, Edges, Plane, TableCell, TableData, axis_percent, change, padded, real, thin,
};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "curves",
    title: "How the return grew",
    lead: "Linked contributions up to each day, stacked: what adds lies above zero and what takes away below it, and all \
           of them together are the line of the net asset value. Every curve is the mean over seeds, close by close: that \
           of one account that gives each seed an equal share of the cash and leaves it there. Below: the fall of this \
           mean from its highest value so far; that of a single seed may be deeper.",
};

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 230.0;
/// Where the drawdown begins.
const STRIP: f64 = 168.0;
const LEFT: f64 = 50.0;

/// The value of a part on a day.
type Part = fn(&Curves) -> &[f64];

/// Parts with their classes, in the order of the stack.
const PARTS: [(&str, Part); 4] = [
    ("a-com", |curves| &curves.common),
    ("a-sty", |curves| &curves.style),
    ("a-sel", |curves| &curves.selection),
    ("a-oth", |curves| &curves.other),
];

pub(super) fn body(View { track, .. }: View<'_>) -> Picture {
    let shown: Vec<(&LeaderboardRow, &Curves)> = track
        .leaders
        .iter()
        .filter_map(|leader| Some((leader, leader.curves.as_ref()?)))
        .filter(|(_, curves)| !curves.nav.is_empty())
        .collect();
    if shown.is_empty() {
        return Err("No agent has daily values.");
    }
    let tables = shown.iter().map(|(leader, curves)| table(leader, curves, track));
    Ok(html! {
        (legend(&[
            ("nav", "net asset value"),
            ("bench", "benchmark, total return"),
            ("price", "price index"),
            ("k-com", "from zero outwards: common"),
            ("k-sty", "style"),
            ("k-sel", "selection"),
            ("k-oth", "execution, slippage, cost and the rest"),
            ("k-dd", "drawdown"),
        ]))
        div.cards { @for (leader, curves) in &shown { (picture(leader, curves, track)) } }
        (numbers(&months(tables)))
    })
}

fn picture(leader: &LeaderboardRow, curves: &Curves, track: &Track) -> Markup {
    let seeds = mean_of(leader);
    let last = curves.nav.last().map_or(0.0, |nav| nav - 1.0);
    let title = format!("Net asset value and contributions of {}", leader.agent);
    let description = format!("Ends at {} after {} days", change(last), curves.nav.len());
    card(
        leader,
        &seeds,
        &draw(curves, track).figure("small", &title, &description),
    )
}

fn table(leader: &LeaderboardRow, curves: &Curves, track: &Track) -> TableData {
    let series: [Daily<'_>; 6] = [
        ("NAV \u{2212} 1", &curves.nav, |nav| TableCell::Change(nav - 1.0)),
        ("common", &curves.common, TableCell::Change),
        ("style", &curves.style, TableCell::Change),
        ("selection", &curves.selection, TableCell::Change),
        ("other", &curves.other, TableCell::Change),
        ("drawdown", &curves.drawdown, TableCell::Percent),
    ];
    monthly(&leader.agent, &track.dates, &series)
}

fn draw(curves: &Curves, track: &Track) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let days = real(curves.nav.len().max(1));
    let stack = Stack::of(curves);
    let extremes = stack.values().chain(
        curves
            .nav
            .iter()
            .chain(&track.benchmark)
            .chain(&track.price_index)
            .map(|nav| nav - 1.0),
    );
    let y = padded(extremes, 0.0);
    let step = (y.end - y.start) / 5.0;
    let plane = Axes {
        edges: Edges::new(6.0, 8.0, 6.0, LEFT),
        rows: Some((0.0, STRIP)),
        x: Axis::unseen(0.0..days),
        y: Axis::new(y, 5, &|value| axis_percent(value, step)),
    }
    .draw(&mut canvas);
    stack.draw(&mut canvas, &plane);
    canvas.line("zero", plane.at(0.0, 0.0), plane.at(days, 0.0));
    let growth = |values: &[f64]| -> Vec<(f64, f64)> {
        let after = values
            .iter()
            .enumerate()
            .map(|(day, nav)| (real(day + 1), nav - 1.0));
        let points = std::iter::once((0.0, 0.0)).chain(after);
        thin(points.map(|(day, value)| plane.at(day, value)))
    };
    for (class, values) in [("price", &track.price_index), ("bench", &track.benchmark)] {
        if !values.is_empty() {
            canvas.path(class, &growth(values));
        }
    }
    canvas.path("nav", &growth(&curves.nav));
    drawdown(&mut canvas, curves, days, &track.dates);
    canvas
}

fn drawdown(canvas: &mut Canvas, curves: &Curves, days: f64, dates: &[String]) {
    let deepest = padded(curves.drawdown.iter().map(|fall| -fall), 0.0)
        .start
        .min(-1e-3);
    let plane = Axes {
        edges: Edges::new(4.0, 8.0, 20.0, LEFT),
        rows: Some((STRIP, HEIGHT)),
        x: Axis::new(0.0..days, 4, &|day| day_label(dates, day)),
        y: Axis::new(deepest..0.0, 2, &|value| axis_percent(value, -deepest / 2.0)),
    }
    .draw(canvas);
    let line = thin(
        std::iter::once((0.0, 0.0))
            .chain(
                curves
                    .drawdown
                    .iter()
                    .enumerate()
                    .map(|(day, fall)| (real(day + 1), -fall)),
            )
            .map(|(day, value)| plane.at(day, value)),
    );
    let right = line.last().map_or(plane.across.end, |(x, _)| *x);
    let area: Vec<(f64, f64)> = line.iter().copied().chain([(right, plane.y(0.0))]).collect();
    canvas.area("a-dd", &area);
}

/// The stacked parts: of each, how far it reaches from zero, above and below.
struct Stack {
    layers: Vec<Layer>,
}

struct Layer {
    class: &'static str,
    /// Its outer edge before the first day and at each close.
    edge: Vec<f64>,
}

impl Stack {
    fn of(curves: &Curves) -> Self {
        let mut layers = Vec::new();
        for side in [|value: f64| value.max(0.0), |value: f64| value.min(0.0)] {
            let mut reached = vec![0.0; curves.nav.len() + 1];
            for (class, part) in PARTS {
                let before = reached.clone();
                for (edge, value) in reached.iter_mut().skip(1).zip(part(curves)) {
                    *edge += if value.is_finite() { side(*value) } else { 0.0 };
                }
                if reached
                    .iter()
                    .zip(&before)
                    .any(|(edge, before)| 0.0 < (edge - before).abs())
                {
                    layers.push(Layer {
                        class,
                        edge: reached.clone(),
                    });
                }
            }
        }
        Self { layers }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.layers.iter().flat_map(|layer| layer.edge.iter().copied())
    }

    /// Paints from the outermost inwards: each layer reaches down to zero and the next covers what is not its own, so
    /// that an edge is written once.
    fn draw(&self, canvas: &mut Canvas, plane: &Plane) {
        for layer in self.layers.iter().rev() {
            let edge = thin(
                layer
                    .edge
                    .iter()
                    .enumerate()
                    .map(|(day, value)| plane.at(real(day), *value)),
            );
            let ends = [edge.last(), edge.first()].map(|end| end.map(|(x, _)| (*x, plane.y(0.0))));
            let outline: Vec<(f64, f64)> = edge.iter().copied().chain(ends.into_iter().flatten()).collect();
            canvas.area(layer.class, &outline);
        }
    }
}
