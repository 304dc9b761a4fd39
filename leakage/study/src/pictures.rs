//! Pictures of a benchmark's report.

use super::report_tables::{MAIN_ORDER, gain_row, models};
use ktd_leakage::{FillRule, LeakReport, ModelFamily, ReturnPiece, Switch};
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, HeatCell, HeatMap, decimals, padded, real, scroll};
use maud::{Markup, html};

/// Absolute gains above which a cell is darker.
const STEPS: [f64; 5] = [0.1, 0.5, 2.0, 8.0, 16.0];

const EDGES: Edges = Edges::new(10.0, 14.0, 30.0, 44.0);

fn figure(caption: &str, switches: &[Switch], drawing: &Markup) -> Markup {
    html! {
        figure {
            @if !switches.is_empty() { (legend(switches)) }
            (scroll(caption, drawing))
            figcaption { (caption) }
        }
    }
}

/// The colour of a protocol, the same in all pictures; none where it is not drawn.
fn colour(protocol: Switch) -> Option<usize> {
    Switch::PROVED.iter().position(|switch| *switch == protocol)
}

/// A model and its horizon.
fn run_name((model, horizon): (ModelFamily, usize)) -> String {
    format!("{}, h {horizon}", model.name())
}

fn legend(switches: &[Switch]) -> Markup {
    html! {
        ul.legend {
            @for switch in switches {
                @if let Some(colour) = colour(*switch) {
                    li { span class=(format!("k{colour}")) {} (switch.name()) }
                }
            }
        }
    }
}

/// A cell of a gain: the side of zero is a hue, and how far from it a shade.
fn gain_cell(run: &str, switch: Switch, gain: Option<f64>) -> HeatCell {
    let words = |text: &str| format!("{run}, {}: {text}", switch.name());
    let Some(gain) = gain else {
        return HeatCell::none(words("n/a"));
    };
    let passed = STEPS.iter().zip(1_i8..).filter(|(from, _)| **from <= gain.abs());
    let step = passed.last().map_or(0, |(_, step)| step);
    HeatCell {
        step: if gain < 0.0 { -step } else { step },
        text: decimals(gain, 2),
        words: words(&decimals(gain, 3)),
        is_framed: false,
    }
}

/// Gains by model and switch.
pub(super) fn heat_map(report: &LeakReport) -> Markup {
    let rows = models(report).into_iter().map(|run| {
        let name = run_name(run);
        let gain = |switch| gain_row(report, run, switch).and_then(|row| row.gain);
        let cells = MAIN_ORDER.map(|switch| gain_cell(&name, switch, gain(switch)));
        (name, cells.into())
    });
    let map = HeatMap {
        columns: MAIN_ORDER.map(|switch| switch.name().to_owned()).into(),
        rows: rows.collect(),
    };
    let title = "Leakage gains of SR@5bps by model and switch";
    let steps = STEPS.map(|step| step.to_string()).join(", ");
    let description = format!("a cell a run; stronger from absolute gains of {steps}, the other hue below 0");
    let drawing = map.figure(title, &description);
    figure(&format!("{title}: {description} (gains.csv)"), &[], &drawing)
}

/// Gains of the two dominant switches by year: a panel a model and horizon, one scale for all.
pub(super) fn yearly_bars(report: &LeakReport) -> Markup {
    let switches: Vec<Switch> = Switch::ALL
        .into_iter()
        .filter(|switch| switch.is_dominant())
        .collect();
    let dominant = |protocol: Switch| switches.iter().position(|switch| *switch == protocol);
    let shown = report
        .by_year
        .iter()
        .filter(|row| dominant(row.protocol).is_some());
    let range = padded(shown.flat_map(|row| row.gains.iter().map(|(_, gain)| *gain)), 0.0);
    let panel = |of: (ModelFamily, usize)| {
        let mut canvas = Canvas::new(380.0, 190.0);
        let label = |value: f64| decimals(value, 0);
        let plane = Axes {
            edges: EDGES,
            rows: None,
            x: Axis::unseen(0.0..real(report.years.len().max(1))),
            y: Axis::new(range.clone(), 5, &label),
        }
        .draw(&mut canvas);
        for (place, year) in report.years.iter().enumerate() {
            let at = (plane.x(real(place) + 0.5), 176.0);
            canvas.text("tk", Anchor::Middle, at, &year.to_string());
        }
        let own = report.by_year.iter().filter(|row| (row.model, row.horizon) == of);
        for row in own {
            let (Some(side), Some(own)) = (dominant(row.protocol), colour(row.protocol)) else {
                continue;
            };
            for (year, gain) in &row.gains {
                let Some(place) = report.years.iter().position(|other| other == year) else {
                    continue;
                };
                let width = 0.8 / real(switches.len().max(1));
                let left = real(place) + 0.1 + width * real(side);
                canvas.explained(
                    &format!("{} {year}: {}", row.protocol.name(), decimals(*gain, 2)),
                    |canvas| {
                        let bar = (plane.at(left, 0.0), plane.at(left + 0.9 * width, *gain));
                        canvas.rect(&format!("f{own}"), bar.0, bar.1);
                    },
                );
            }
        }
        let base = plane.y(0.0);
        canvas.line("zero", (plane.across.start, base), (plane.across.end, base));
        let title = format!("{}: gains of SR@5bps by year", run_name(of));
        html! {
            div { h3 { (run_name(of)) } (canvas.figure("small", &title, "a bar a year and switch")) }
        }
    };
    html! {
        figure {
            (legend(&switches))
            div.panels { @for of in models(report) { (panel(of)) } }
            figcaption { "Gains of SR@5bps by year, one scale for all (by_year.csv)" }
        }
    }
}

/// Annual ratios over costs under the reference and the two dominant switches: a panel a model and horizon.
pub(super) fn cost_sweep(report: &LeakReport) -> Markup {
    let shown = || report.costs.iter().filter(|row| colour(row.protocol).is_some());
    let range = padded(
        shown().flat_map(|row| row.sharpe.iter().filter_map(|(_, ratio)| *ratio)),
        0.0,
    );
    let costs = padded(
        shown().flat_map(|row| row.sharpe.iter().map(|(cost, _)| *cost)),
        0.0,
    );
    let panel = |of: (ModelFamily, usize)| {
        let mut canvas = Canvas::new(380.0, 200.0);
        let label = |value: f64| decimals(value, 0);
        let plane = Axes {
            edges: Edges::new(10.0, 14.0, 36.0, 44.0),
            rows: None,
            x: Axis::new(costs.clone(), 6, &label),
            y: Axis::new(range.clone(), 5, &label),
        }
        .draw(&mut canvas);
        canvas.text("tk", Anchor::Middle, (212.0, 197.0), "cost in bps");
        let base = plane.y(0.0);
        canvas.line("zero", (plane.across.start, base), (plane.across.end, base));
        for row in shown().filter(|row| (row.model, row.horizon) == of) {
            let Some(side) = colour(row.protocol) else {
                continue;
            };
            let points: Vec<_> = row
                .sharpe
                .iter()
                .filter_map(|(cost, ratio)| Some(plane.at(*cost, (*ratio)?)))
                .collect();
            canvas.explained(row.protocol.name(), |canvas| {
                canvas.path(&format!("curve c{side}"), &points);
                for point in &points {
                    canvas.dot(&format!("dots f{side}"), *point, 2.6);
                }
            });
        }
        let title = format!("{}: annual ratios over costs", run_name(of));
        html! {
            div { h3 { (run_name(of)) } (canvas.figure("small", &title, "a line a protocol")) }
        }
    };
    html! {
        figure {
            (legend(&Switch::PROVED))
            div.panels { @for of in models(report) { (panel(of)) } }
            figcaption { "Annual ratio at each cost of a turnover of 1, one scale for all (costs.csv)" }
        }
    }
}

/// Rank correlations of ridge regression's scores with each piece of return around their stamp.
pub(super) fn profile(report: &LeakReport) -> Markup {
    let mut canvas = Canvas::new(680.0, 260.0);
    let pieces: Vec<f64> = report.profile.iter().map(|row| whole(row.piece)).collect();
    let first = pieces.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let last = pieces.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let (label, piece) = (|value: f64| decimals(value, 2), |value: f64| decimals(value, 0));
    let plane = Axes {
        edges: Edges::new(10.0, 14.0, 36.0, 48.0),
        rows: None,
        x: Axis::new(first - 0.5..last + 0.5, 10, &piece),
        y: Axis::new(
            padded(report.profile.iter().filter_map(|row| row.ic), 0.0),
            6,
            &label,
        ),
    }
    .draw(&mut canvas);
    canvas.text(
        "tk",
        Anchor::Middle,
        (364.0, 257.0),
        "piece of return (odd: close to open, even: open to close); right of the line unknown at the close",
    );
    let (base, stamp) = (plane.y(0.0), plane.x(0.5));
    canvas.line("zero", (plane.across.start, base), (plane.across.end, base));
    canvas.line("zero", (stamp, plane.down.start), (stamp, plane.down.end));
    for (side, switch) in Switch::PROVED.into_iter().enumerate() {
        let rows: Vec<_> = report
            .profile
            .iter()
            .filter(|row| row.protocol == switch)
            .collect();
        let line: Vec<_> = rows
            .iter()
            .filter_map(|row| Some(plane.at(whole(row.piece), row.ic?)))
            .collect();
        canvas.path(&format!("curve c{side}"), &line);
        for row in rows {
            let Some(ic) = row.ic else { continue };
            let text = format!(
                "{}, {}: {}",
                row.protocol.name(),
                ReturnPiece(row.piece),
                decimals(ic, 3)
            );
            canvas.explained(&text, |canvas| {
                canvas.dot(&format!("dots f{side}"), plane.at(whole(row.piece), ic), 2.8);
            });
        }
    }
    let title = "Rank correlation of ridge regression's scores with returns around their stamp";
    let drawing = canvas.figure(
        "wide",
        title,
        "a line a protocol; the stamp stands between piece 0 and 1",
    );
    figure(
        &format!("{title}, last test year (profile.csv)"),
        &Switch::PROVED,
        &drawing,
    )
}

/// A piece as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "pieces are a few dozen around 0")]
const fn whole(piece: i64) -> f64 {
    piece as f64
}

/// Annual ratios of the best tenth of ridge regression's scores at each fill.
pub(super) fn ladder(report: &LeakReport) -> Markup {
    let mut canvas = Canvas::new(680.0, 240.0);
    let label = |value: f64| decimals(value, 0);
    let fills = FillRule::LADDER;
    let plane = Axes {
        edges: Edges::new(10.0, 14.0, 30.0, 48.0),
        rows: None,
        x: Axis::unseen(0.0..real(fills.len())),
        y: Axis::new(
            padded(report.ladder.iter().filter_map(|row| row.sharpe), 0.0),
            6,
            &label,
        ),
    }
    .draw(&mut canvas);
    for (place, fill) in fills.iter().enumerate() {
        let at = (plane.x(real(place) + 0.5), 226.0);
        canvas.text("tk", Anchor::Middle, at, fill.name());
    }
    for row in &report.ladder {
        let place = fills.iter().position(|fill| *fill == row.fill);
        let side = colour(row.protocol);
        let (Some(place), Some(side), Some(sharpe)) = (place, side, row.sharpe) else {
            continue;
        };
        let width = 0.8 / real(Switch::PROVED.len());
        let left = real(place) + 0.1 + width * real(side);
        let text = format!(
            "{} at the {}: {}",
            row.protocol.name(),
            row.fill.name(),
            decimals(sharpe, 2)
        );
        canvas.explained(&text, |canvas| {
            let bar = (plane.at(left, 0.0), plane.at(left + 0.9 * width, sharpe));
            canvas.rect(&format!("f{side}"), bar.0, bar.1);
        });
    }
    let base = plane.y(0.0);
    canvas.line("zero", (plane.across.start, base), (plane.across.end, base));
    let title = "Fill ladder: SR@5bps of the best tenth of ridge regression's scores";
    let drawing = canvas.figure(
        "wide",
        title,
        "a bar a fill and protocol, from the earliest fill to the latest",
    );
    figure(
        &format!("{title}, last test year (ladder.csv)"),
        &Switch::PROVED,
        &drawing,
    )
}
