//! Equity of the long run: a version's line, and the reference's.

use ktd_strategy_code::{INITIAL_CAPITAL, MarketTrace};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Edges, Plane, axis_percent, change, counted, padded, real, thin,
};
use maud::{Markup, html};

/// Size of the drawing: as wide as a phone, where its letters are as small as may be.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 150.0;

/// The lines of the market that has equity; nothing without one.
pub(super) fn equity(markets: &[MarketTrace]) -> Option<Markup> {
    let long = markets.iter().find(|market| !market.version.equity.is_empty())?;
    let (version, reference) = (gains(&long.version.equity), gains(&long.reference.equity));
    let ends = |gains: &[f64]| {
        let last = gains.iter().rev().find(|gain| gain.is_finite());
        last.map_or_else(|| "n/a".to_owned(), |gain| change(*gain))
    };
    let (bars, gain) = (counted(version.len(), "bar"), ends(&version));
    let text = if reference.is_empty() {
        format!("After {bars} the version's gain is {gain}.")
    } else {
        let other = ends(&reference);
        format!("After {bars} the version's gain is {gain} and the reference's {other}.")
    };
    let figure = drawn(&version, &reference).figure("equity", "Equity of the long run", &text);
    Some(html! { p { "Equity of the long run. " (text) } (figure) })
}

/// Gains on the capital; no number where the log says none.
#[expect(
    clippy::cast_precision_loss,
    reason = "equities are far below 2^53, and drawn to a pixel"
)]
fn gains(equity: &[Option<i64>]) -> Vec<f64> {
    let gain = |equity: &Option<i64>| equity.map_or(f64::NAN, |equity| equity as f64 / INITIAL_CAPITAL - 1.0);
    equity.iter().map(gain).collect()
}

fn drawn(version: &[f64], reference: &[f64]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let y = padded(version.iter().chain(reference).copied(), 0.0);
    let step = (y.end - y.start) / 5.0;
    let last = real(version.len().max(reference.len()).saturating_sub(1)).max(1.0);
    let plane = Axes {
        edges: Edges::new(20.0, 8.0, 20.0, 46.0),
        rows: None,
        x: Axis::new(0.0..last, 4, &|bar| format!("{bar:.0}")),
        y: Axis::new(y, 5, &|gain| axis_percent(gain, step)),
    }
    .draw(&mut canvas);
    canvas.line("zero", plane.at(0.0, 0.0), plane.at(last, 0.0));
    canvas.path("reference", &line(&plane, reference));
    canvas.path("version", &line(&plane, version));
    let lines = [("version", 46.0, version), ("reference", 140.0, reference)];
    for (class, x, _) in lines.into_iter().filter(|(_, _, gains)| !gains.is_empty()) {
        canvas.line(class, (x, 8.0), (x + 22.0, 8.0));
        canvas.text("", Anchor::Start, (x + 27.0, 12.0), class);
    }
    canvas
}

fn line(plane: &Plane, gains: &[f64]) -> Vec<(f64, f64)> {
    thin(
        gains
            .iter()
            .enumerate()
            .map(|(bar, gain)| plane.at(real(bar), *gain)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_strategy_code::BarTrace;

    fn long(version: &[Option<i64>]) -> [MarketTrace; 1] {
        let trace = |equity: &[Option<i64>]| BarTrace {
            equity: equity.to_vec(),
            ..BarTrace::default()
        };
        [MarketTrace {
            market: "long".to_owned(),
            reference: trace(&[Some(100_000), Some(110_000)]),
            version: trace(version),
        }]
    }

    #[test]
    fn both_lines_are_drawn_and_described() {
        let shown = equity(&long(&[Some(100_000), Some(95_000), None]))
            .unwrap()
            .into_string();
        let words =
            "After 3 bars the version's gain is \u{2212}5.00\u{a0}% and the reference's +10.00\u{a0}%.";
        assert!(shown.contains(words), "{shown}");
        assert_eq!(shown.matches("<path class=\"version\"").count(), 1);
        assert_eq!(shown.matches("<path class=\"reference\"").count(), 1);
        assert!(equity(&long(&[])).is_none());
        let mut alone = long(&[Some(100_000), Some(95_000)]);
        alone[0].reference.equity.clear();
        let shown = equity(&alone).unwrap().into_string();
        assert!(!shown.contains("reference"), "{shown}");
    }

    #[test]
    fn no_equity_breaks_the_drawing() {
        for hostile in [vec![None; 3], vec![Some(i64::MAX), Some(i64::MIN)], vec![Some(0)]] {
            let shown = equity(&long(&hostile)).unwrap().into_string();
            assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        }
    }
}
