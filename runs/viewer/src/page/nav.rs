//! Net asset value, drawdown and what each step did, one above the other.

use crate::episode::TimelineStep;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, axis_percent, line_key, padded, real};
use maud::{Markup, html};

const WIDTH: f64 = 900.0;
/// Where the curve ends and the drawdown begins, and where that ends.
const ROWS: [f64; 2] = [250.0, 350.0];
/// Space below for the name of an axis of steps.
pub(super) const AXIS_NAME: f64 = 13.0;
/// Space at the left for labels.
const LEFT: f64 = 52.0;

/// A line of a drawing: what it is called, its class, and values of one CNY by step.
pub(crate) struct NavLine<'n> {
    pub(crate) name: &'n str,
    pub(crate) class: &'static str,
    pub(crate) points: Vec<(usize, f64)>,
    /// Steps whose trades are marked on it.
    pub(crate) trades: &'n [TimelineStep],
}

impl<'n> NavLine<'n> {
    /// The line of an episode.
    pub(crate) fn of_steps(name: &'n str, class: &'static str, steps: &'n [TimelineStep]) -> Self {
        let points = steps
            .iter()
            .filter_map(|step| Some((step.record.step, step.nav?)));
        Self {
            name,
            class,
            points: points.collect(),
            trades: steps,
        }
    }

    /// The line of values after each day.
    pub(crate) fn of_days(name: &'n str, class: &'static str, values: &[f64]) -> Self {
        let points = values.iter().enumerate().map(|(day, value)| (day + 1, *value));
        Self {
            name,
            class,
            points: points.filter(|(_, value)| value.is_finite()).collect(),
            trades: &[],
        }
    }
}

/// Curves on one scale; the first one's trades and drawdown are marked. Where that has no value, `nothing` says why.
pub(crate) fn figure(lines: &[NavLine<'_>], nothing: &str) -> Markup {
    let Some(first) = lines.first() else {
        return html! {};
    };
    if first.points.is_empty() {
        return html! { p.nothing { (nothing) } };
    }
    let all = || lines.iter().flat_map(|line| &line.points);
    let values: Vec<f64> = all().map(|(_, value)| value - 1.0).collect();
    let last = all().map(|(step, _)| *step).max().unwrap_or(1);
    let mut canvas = Canvas::new(WIDTH, ROWS[1] + AXIS_NAME);
    curve(&mut canvas, lines, &values, last);
    drawdown(&mut canvas, &first.points, last);
    name_steps(&mut canvas, LEFT);
    let end = first.points.last().map_or(1.0, |(_, value)| *value);
    let description = format!(
        "return since the start by step, {} at the last close; below it the fall from the highest value so far",
        ktd_view::draw::change(end - 1.0)
    );
    let marks_trades = !first.trades.is_empty();
    html! {
        figure {
            div.scroll tabindex="0" role="region" aria-label="net asset value" { (canvas.figure("wide", "Net asset value", &description)) }
            figcaption {
                @for line in lines.iter().filter(|line| !line.points.is_empty()) { span.key { (line_key(line.class)) (super::value::line(line.name)) } }
                @if marks_trades {
                    span.key { span.swatch.buy {} "bought" } span.key { span.swatch.sell {} "sold" } span.key { span.swatch.both {} "both" }
                }
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
    // The first line lies above the others.
    for line in lines.iter().rev() {
        let start = std::iter::once(plane.at(0.0, 0.0));
        let points = line
            .points
            .iter()
            .map(|(step, value)| plane.at(real(*step), value - 1.0));
        canvas.path(line.class, &start.chain(points).collect::<Vec<_>>());
    }
    let trades = lines.first().map(|line| line.trades).unwrap_or_default();
    for step in trades {
        if let (Some(nav), Some((class, words))) = (step.nav, trades_of(step)) {
            let at = plane.at(real(step.record.step), nav - 1.0);
            canvas.explained(&format!("step {}: {words}", step.record.step), |canvas| {
                canvas.dot(class, at, 2.6);
            });
        }
    }
}

/// Writes what the axis of steps at the bottom of a drawing is of.
pub(super) fn name_steps(canvas: &mut Canvas, left: f64) {
    let middle = f64::midpoint(left, canvas.width());
    let base = canvas.height() - 3.0;
    canvas.text("tk", Anchor::Middle, (middle, base), "step");
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

fn drawdown(canvas: &mut Canvas, points: &[(usize, f64)], last: usize) {
    let mut peak: f64 = 1.0;
    let falls = points.iter().map(|(step, value)| {
        peak = peak.max(*value);
        (*step, value / peak - 1.0)
    });
    let falls: Vec<(usize, f64)> = falls.collect();
    // A curve that never falls still has a scale.
    let least = std::iter::once(-0.01);
    let range = padded(falls.iter().map(|(_, fall)| *fall).chain(least), 0.0);
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
