//! Net asset value, drawdown and what each step did, one above the other.

use crate::episode::{Episode, TimelineStep};
use ktd_view::draw::{Axes, Axis, Canvas, Edges, axis_percent, padded, real};
use maud::{Markup, html};

const WIDTH: f64 = 900.0;
/// Where the curve ends and the drawdown begins, and where that ends.
const ROWS: [f64; 2] = [250.0, 350.0];
/// Space at the left for labels.
const LEFT: f64 = 52.0;

/// A line of a drawing: what it is called, its class, and a value a step.
pub(crate) struct NavLine<'n> {
    pub(crate) name: &'n str,
    pub(crate) class: &'static str,
    pub(crate) steps: &'n [TimelineStep],
}

/// The curves of episodes on one scale; the first one's trades and drawdown are marked.
pub(crate) fn figure(lines: &[NavLine<'_>]) -> Markup {
    let Some(first) = lines.first() else {
        return html! {};
    };
    let all = lines
        .iter()
        .flat_map(|line| line.steps)
        .filter_map(|step| step.nav);
    let values: Vec<f64> = all.map(|nav| nav - 1.0).collect();
    if values.is_empty() {
        return html! { p.nothing { "The net asset value is not part of what this bundle shows: the mask hides it, and the private \
        part is missing or left out." } };
    }
    let last = lines
        .iter()
        .flat_map(|line| line.steps)
        .map(|step| step.record.step)
        .max()
        .unwrap_or(1);
    let mut canvas = Canvas::new(WIDTH, ROWS[1]);
    curve(&mut canvas, lines, &values, last);
    drawdown(&mut canvas, first.steps, last);
    let end = first
        .steps
        .iter()
        .filter_map(|step| step.nav)
        .next_back()
        .unwrap_or(1.0);
    let description = format!(
        "return since the start by step, {} at the last close; below it the fall from the highest value so far",
        ktd_view::draw::change(end - 1.0)
    );
    html! {
        figure {
            div.scroll tabindex="0" role="region" aria-label="net asset value" { (canvas.figure("wide", "Net asset value", &description)) }
            figcaption {
                @for line in lines { span.key { span class={ "swatch " (line.class) } {} (line.name) } }
                span.key { span.swatch.buy {} "bought" } span.key { span.swatch.sell {} "sold" } span.key { span.swatch.both {} "both" }
            }
        }
    }
}

fn curve(canvas: &mut Canvas, lines: &[NavLine<'_>], values: &[f64], last: usize) {
    let range = padded(values.iter().copied(), 0.0);
    let gap = (range.end - range.start) / 5.0;
    let plane = Axes {
        edges: Edges::new(8.0, 10.0, 6.0, LEFT),
        rows: Some((0.0, ROWS[0])),
        x: Axis::unseen(0.0..real(last.max(1))),
        y: Axis::new(range, 6, &|value| axis_percent(value, gap)),
    }
    .draw(canvas);
    canvas.line("zero", plane.at(0.0, 0.0), plane.at(real(last.max(1)), 0.0));
    for line in lines {
        let start = std::iter::once(plane.at(0.0, 0.0));
        let points = line
            .steps
            .iter()
            .filter_map(|step| Some(plane.at(real(step.record.step), step.nav? - 1.0)));
        canvas.path(line.class, &start.chain(points).collect::<Vec<_>>());
    }
    let trades = lines.first().map(|line| line.steps).unwrap_or_default();
    for step in trades {
        if let (Some(nav), Some((class, words))) = (step.nav, trades_of(step)) {
            let at = plane.at(real(step.record.step), nav - 1.0);
            canvas.explained(&format!("step {}: {words}", step.record.step), |canvas| {
                canvas.dot(class, at, 2.6);
            });
        }
    }
}

/// Class and words of a step's trades.
fn trades_of(step: &TimelineStep) -> Option<(&'static str, String)> {
    let side = |side: &str| {
        step.record
            .orders
            .iter()
            .filter(|order| order.side == side)
            .count()
    };
    let (bought, sold) = (side("BUY"), side("SELL"));
    let class = match (bought, sold) {
        (0, 0) => return None,
        (_, 0) => "buy",
        (0, _) => "sell",
        _ => "both",
    };
    Some((class, format!("{bought} buys, {sold} sells ordered")))
}

fn drawdown(canvas: &mut Canvas, steps: &[TimelineStep], last: usize) {
    let mut peak: f64 = 1.0;
    let falls: Vec<(usize, f64)> = steps
        .iter()
        .filter_map(|step| {
            let nav = step.nav?;
            peak = peak.max(nav);
            Some((step.record.step, nav / peak - 1.0))
        })
        .collect();
    let range = padded(falls.iter().map(|(_, fall)| *fall), 0.0);
    let gap = (range.end - range.start) / 3.0;
    let plane = Axes {
        edges: Edges::new(8.0, 10.0, 22.0, LEFT),
        rows: Some((ROWS[0], ROWS[1])),
        x: Axis::new(0.0..real(last.max(1)), 8, &|step| format!("{step:.0}")),
        y: Axis::new(range, 3, &|value| axis_percent(value, gap)),
    }
    .draw(canvas);
    let mut area = vec![plane.at(0.0, 0.0)];
    area.extend(falls.iter().map(|(step, fall)| plane.at(real(*step), *fall)));
    area.extend(falls.last().map(|(step, _)| plane.at(real(*step), 0.0)));
    canvas.area("fall", &area);
}

/// The first line of a drawing.
pub(crate) fn own<'e>(episode: &'e Episode, name: &'e str) -> NavLine<'e> {
    NavLine {
        name,
        class: "nav-a",
        steps: &episode.steps,
    }
}
