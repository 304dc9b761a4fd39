//! Pictures of a report: turnover on stability, and curves.

use crate::alpha_report::{AlphaReport, SplitRow};
use crate::alpha_tables::{LAW_INTERCEPT, LAW_SLOPE};
use ktd_view::draw::{
    Anchor, Axes, Axis, COLOURS, Canvas, Edges, Plane, Point, captioned, decimals, padded, real, thin,
};
use maud::Markup;

const EDGES: Edges = Edges::new(8.0, 14.0, 36.0, 52.0);

fn figure(caption: &str, names: &[String], drawing: &Markup) -> Markup {
    captioned(caption, names.iter().map(String::as_str), drawing)
}

/// Turnover on stability of the alphas of a split, with the line through them and the law without a market.
pub(crate) fn scatter(report: &AlphaReport, split: &SplitRow) -> Markup {
    let names = report.pool_names();
    let rows = report.alphas.iter().filter(|row| row.split == split.split);
    let points: Vec<(usize, f64, f64, &str)> = rows
        .filter_map(|row| {
            let pool = names.iter().position(|name| *name == row.pool)?;
            Some((
                pool,
                row.row.get("rre")?,
                row.row.get("turnover")?,
                row.id.as_str(),
            ))
        })
        .collect();
    let mut canvas = Canvas::new(420.0, 320.0);
    let label = |value: f64| decimals(value, 2);
    let x = padded(points.iter().map(|(_, rre, _, _)| *rre), 1.0);
    let y = padded(points.iter().map(|(_, _, turnover, _)| *turnover), 0.0);
    let plane = Axes {
        edges: EDGES,
        rows: None,
        x: Axis::new(x.clone(), 6, &label),
        y: Axis::new(y.clone(), 6, &label),
    }
    .draw(&mut canvas);
    canvas.text("tk", Anchor::Middle, (236.0, 318.0), "RRE");
    canvas.upright("tk", Anchor::Middle, (12.0, 148.0), "turnover");
    if let (Some(slope), Some(intercept)) = (split.row.get("slope"), split.row.get("intercept")) {
        canvas.path(
            "curve c5",
            &line(&plane, (x.start, x.end), (y.start, y.end), (slope, intercept)),
        );
    }
    canvas.path(
        "law",
        &line(
            &plane,
            (x.start, x.end),
            (y.start, y.end),
            (LAW_SLOPE, LAW_INTERCEPT),
        ),
    );
    for (pool, rre, turnover, id) in points {
        canvas.explained(id, |canvas| {
            canvas.dot(&format!("dots f{}", pool % COLOURS), plane.at(rre, turnover), 2.6);
        });
    }
    let title = format!("turnover on stability, {} days", split.split);
    let drawing = canvas.figure(
        "small",
        &title,
        "a dot an alpha; solid the line through them, dashed the law without any market",
    );
    figure(
        &format!(
            "{title}; dashed: what scores without any market have (alphas.csv, stability_and_turnover.csv)"
        ),
        &names,
        &drawing,
    )
}

/// The part of a line that lies within a plot.
fn line(
    plane: &Plane,
    (left, right): (f64, f64),
    (low, high): (f64, f64),
    (slope, intercept): (f64, f64),
) -> Vec<Point> {
    const STEPS: u32 = 60;
    let points = (0..=STEPS).map(|step| left + (right - left) * f64::from(step) / f64::from(STEPS));
    points
        .map(|x| (x, intercept + slope * x))
        .filter(|(_, y)| low <= *y && *y <= high)
        .map(|(x, y)| plane.at(x, y))
        .collect()
}

/// Values of the selections' portfolios over the test days.
pub(crate) fn curves(report: &AlphaReport) -> Markup {
    let mut canvas = Canvas::new(640.0, 300.0);
    let label = |value: f64| decimals(value, 2);
    let days = &report.curve_days;
    let last = real(days.len().saturating_sub(1).max(1));
    let day = |value: f64| {
        let place = (0..days.len()).find(|place| value <= real(*place));
        place
            .and_then(|place| days.get(place))
            .cloned()
            .unwrap_or_default()
    };
    let values = report
        .selections
        .iter()
        .flat_map(|selection| selection.curve.iter().copied());
    let plane = Axes {
        edges: EDGES,
        rows: None,
        x: Axis::new(0.0..last, 5, &day),
        y: Axis::new(padded(values, 1.0), 6, &label),
    }
    .draw(&mut canvas);
    let mut names = Vec::new();
    let shown = report
        .selections
        .iter()
        .filter(|selection| selection.by != "pps by beta");
    for (place, selection) in shown.enumerate() {
        names.push(selection.by.clone());
        let points = selection.curve.iter().enumerate().map(|(day, value)| {
            let (x, y) = plane.at(real(day), *value);
            (x, y)
        });
        canvas.explained(&selection.by, |canvas| {
            canvas.path(&format!("curve c{}", place % COLOURS), &thin(points));
        });
    }
    let title = "the best alphas of valid days by each figure, on test days";
    let drawing = canvas.figure(
        "wide",
        title,
        "value of the equal-weight combination's portfolio, 1 before the first day",
    );
    figure(&format!("{title} (curves.csv)"), &names, &drawing)
}
