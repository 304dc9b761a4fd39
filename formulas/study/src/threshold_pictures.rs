//! Pictures of what a choice of the reader moves: test return over the weight of values in PPS, drawdowns over the least robustness.

use crate::alpha_report::AlphaReport;
use crate::inference_tables::robust_by_split;
use ktd_alphas::RobustAlphas;
use ktd_view::draw::{Anchor, Axes, Axis, COLOURS, Canvas, Edges, captioned, decimals, padded};
use maud::Markup;

const EDGES: Edges = Edges::new(8.0, 14.0, 36.0, 52.0);

/// A line of a picture: its name and its places, from left to right.
type NamedLine = (String, Vec<(f64, f64)>);

/// Annual test return of the best alphas by PPS, over the weight of values in PPS (`AlphaEval`'s figure 4); none without a test split.
pub(crate) fn return_by_beta(report: &AlphaReport) -> Option<Markup> {
    let rows = report.selections.iter().filter(|row| row.by == "pps by beta");
    let points = rows.filter_map(|row| Some((row.beta, row.row.get("ar")?)));
    let line = ("annual return".to_owned(), points.collect());
    picture(
        "annual return on test days of the best alphas of valid days by PPS, by the weight of IC in it (selections.csv)",
        ("beta", "annual return"),
        &[line],
    )
}

/// Mean drawdowns of robust alphas and of the rest, over the least robustness of a robust one (`AlphaEval`'s figure 5), a picture a
/// split.
pub(crate) fn drawdown_by_threshold(report: &AlphaReport) -> Vec<Markup> {
    let rows = robust_by_split(report);
    let line = |split: &str, name: &str, figure: &str| -> NamedLine {
        let of = rows.iter().filter(|(of, _)| *of == split);
        let point = |row: &RobustAlphas| Some((row.least, row.row.get(figure)?));
        (name.to_owned(), of.filter_map(|(_, row)| point(row)).collect())
    };
    let pictures = report.splits.iter().filter_map(|split| {
        let lines = [
            line(&split.split, "robust", "mdd_robust"),
            line(&split.split, "the rest", "mdd_rest"),
        ];
        let caption = format!(
            "mean drawdown of alphas from a least PFS on and of the rest, {} days (robustness_and_drawdown.csv)",
            split.split
        );
        picture(&caption, ("least PFS", "drawdown"), &lines)
    });
    pictures.collect()
}

/// Lines on one scale; none where no line has two places.
fn picture(caption: &str, (across, up): (&str, &str), lines: &[NamedLine]) -> Option<Markup> {
    lines.iter().find(|(_, points)| 2 <= points.len())?;
    let places = || lines.iter().flat_map(|(_, points)| points.iter());
    let first = places().map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
    let last = places().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max);
    let label = |value: f64| decimals(value, 2);
    let mut canvas = Canvas::new(420.0, 320.0);
    let plane = Axes {
        edges: EDGES,
        rows: None,
        x: Axis::new(first..last, 5, &label),
        y: Axis::new(padded(places().map(|(_, y)| *y), 0.0), 6, &label),
    }
    .draw(&mut canvas);
    canvas.text("tk", Anchor::Middle, (236.0, 318.0), across);
    canvas.upright("tk", Anchor::Middle, (12.0, 148.0), up);
    for (place, (name, points)) in lines.iter().enumerate() {
        let path: Vec<_> = points.iter().map(|(x, y)| plane.at(*x, *y)).collect();
        canvas.explained(name, |canvas| {
            canvas.path(&format!("curve c{}", place % COLOURS), &path);
        });
    }
    let names = lines.iter().map(|(name, _)| name.as_str());
    let drawing = canvas.figure("small", caption, &format!("{up} over {across}"));
    Some(captioned(caption, names, &drawing))
}
