//! Picture 7: stated confidence against what happened.

use super::{Heading, Picture, View, card, legend, numbers};
use crate::sheet::metric_cell;
use crate::{Bounds, CalibrationRecord, LeaderboardRow};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Edges, TableCell, TableData, counted, decimals, grouped, real,
};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "calibration",
    title: "Confidence against what happened",
    lead: "Filled orders in ten bins of stated confidence: an order came true when its side earned from its fill to its \
           first legal exit. On the diagonal, confidence is honest; below it, too high. Larger dots hold more orders, \
           and the bars below count them.",
};

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 268.0;
/// Where the bars begin.
const BARS: f64 = 216.0;
const LEFT: f64 = 44.0;

pub(super) fn body(View { track, .. }: View<'_>) -> Picture {
    let shown: Vec<(&LeaderboardRow, &CalibrationRecord)> = track
        .leaders
        .iter()
        .filter_map(|leader| Some((leader, leader.reliability.as_ref()?)))
        .filter(|(_, reliability)| 0 < reliability.orders)
        .collect();
    if shown.is_empty() {
        return Err("No order with a stated confidence has a known outcome.");
    }
    Ok(html! {
        (legend(&[
            ("k-dot", "share that came true"),
            ("diagonal", "honest confidence"),
            ("k-bar", "orders"),
        ]))
        div.narrow {
            div.cards {
                @for (leader, reliability) in &shown {
                    (card(leader, &counted(reliability.orders, "order"), &picture(leader, reliability)))
                }
            }
        }
        (numbers(&html! { (scores(&shown).html()) (bins(&shown).html()) }))
    })
}

fn picture(leader: &LeaderboardRow, reliability: &CalibrationRecord) -> Markup {
    let title = format!("Confidence of {} against what happened", leader.agent);
    let words = in_words(reliability);
    html! { (draw(reliability).figure("small", &title, &words)) p.gauge { (words) } }
}

fn in_words(reliability: &CalibrationRecord) -> String {
    let interval = reliability.ece_interval.map_or_else(
        || " (95 % n/a: too few steps)".to_owned(),
        |Bounds { low, high }| format!(" (95 % {} to {})", decimals(low, 3), decimals(high, 3)),
    );
    let ece = reliability
        .ece
        .value
        .map_or_else(|| "n/a".to_owned(), |ece| decimals(ece, 3));
    let brier = reliability
        .brier
        .value
        .map_or_else(|| "n/a".to_owned(), |brier| decimals(brier, 3));
    format!("ECE {ece}{interval}, Brier {brier}")
}

fn draw(reliability: &CalibrationRecord) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let share = |value: f64| decimals(value, 1);
    let plane = Axes {
        edges: Edges::new(6.0, 10.0, 6.0, LEFT),
        rows: Some((0.0, BARS)),
        x: Axis::unseen(0.0..1.0),
        y: Axis::new(0.0..1.0, 5, &share),
    }
    .draw(&mut canvas);
    canvas.upright(
        "tk",
        Anchor::Middle,
        (10.0, f64::midpoint(plane.down.start, plane.down.end)),
        "came true",
    );
    canvas.line("diagonal", plane.at(0.0, 0.0), plane.at(1.0, 1.0));
    let most = reliability
        .bins
        .iter()
        .map(|bin| bin.orders)
        .max()
        .unwrap_or(0)
        .max(1);
    for bin in &reliability.bins {
        let (Some(confidence), Some(accuracy)) = (bin.confidence, bin.accuracy) else {
            continue;
        };
        let told = format!(
            "{}: confidence {}, came true {}",
            counted(bin.orders, "order"),
            decimals(confidence, 2),
            decimals(accuracy, 2)
        );
        let radius = (real(bin.orders) / real(most)).sqrt().mul_add(6.0, 2.0);
        canvas.explained(&told, |canvas| {
            canvas.line(
                "stem",
                plane.at(confidence, confidence),
                plane.at(confidence, accuracy),
            );
            canvas.dot("dot", plane.at(confidence, accuracy), radius);
        });
    }
    bars(&mut canvas, reliability, most);
    canvas
}

fn bars(canvas: &mut Canvas, reliability: &CalibrationRecord, most: usize) {
    let plane = Axes {
        edges: Edges::new(4.0, 10.0, 32.0, LEFT),
        rows: Some((BARS, HEIGHT)),
        x: Axis::new(0.0..1.0, 5, &|value| decimals(value, 1)),
        y: Axis::unseen(0.0..real(most)),
    }
    .draw(canvas);
    canvas.text(
        "tk",
        Anchor::Middle,
        (f64::midpoint(plane.across.start, plane.across.end), HEIGHT - 3.0),
        "stated confidence",
    );
    canvas.text(
        "tk",
        Anchor::End,
        (plane.across.start - 6.0, plane.down.start + 8.0),
        &grouped(most),
    );
    let width = 1.0 / real(reliability.bins.len().max(1));
    for (place, bin) in reliability
        .bins
        .iter()
        .enumerate()
        .filter(|(_, bin)| 0 < bin.orders)
    {
        let left = real(place) * width;
        canvas.rect(
            "bar",
            plane.at(left + width * 0.1, 0.0),
            plane.at(left + width * 0.9, real(bin.orders)),
        );
    }
}

fn scores(shown: &[(&LeaderboardRow, &CalibrationRecord)]) -> TableData {
    let heads = [
        ("agent", Left),
        ("orders", Right),
        ("ECE", Right),
        ("low", Right),
        ("high", Right),
        ("Brier", Right),
        ("reliability", Right),
        ("resolution", Right),
        ("uncertainty", Right),
    ];
    let rows = shown.iter().map(|(leader, reliability)| {
        let murphy = reliability.murphy;
        vec![
            TableCell::Text(leader.agent.clone()),
            TableCell::Count(reliability.orders),
            metric_cell(&reliability.ece, TableCell::Fine),
            TableCell::optional(reliability.ece_interval.map(|bounds| bounds.low), TableCell::Fine),
            TableCell::optional(
                reliability.ece_interval.map(|bounds| bounds.high),
                TableCell::Fine,
            ),
            metric_cell(&reliability.brier, TableCell::Fine),
            TableCell::optional(murphy.map(|parts| parts.reliability), TableCell::Fine),
            TableCell::optional(murphy.map(|parts| parts.resolution), TableCell::Fine),
            TableCell::optional(murphy.map(|parts| parts.uncertainty), TableCell::Fine),
        ]
    });
    TableData::new("Calibration over all seeds", heads).with_rows(rows)
        .with_note("Brier score = reliability \u{2212} resolution + uncertainty (Murphy). ECE is too high with few orders: \
             look at its interval, which resamples steps.")
}

fn bins(shown: &[(&LeaderboardRow, &CalibrationRecord)]) -> TableData {
    let heads = [
        ("agent", Left),
        ("bin", Right),
        ("orders", Right),
        ("confidence", Right),
        ("came true", Right),
    ];
    let rows = shown.iter().flat_map(|(leader, reliability)| {
        let used = reliability
            .bins
            .iter()
            .enumerate()
            .filter(|(_, bin)| 0 < bin.orders);
        used.map(|(place, bin)| {
            vec![
                TableCell::Text(leader.agent.clone()),
                TableCell::Count(place + 1),
                TableCell::Count(bin.orders),
                TableCell::optional(bin.confidence, TableCell::Fine),
                TableCell::optional(bin.accuracy, TableCell::Fine),
            ]
        })
    });
    TableData::new("Bins of stated confidence", heads).with_rows(rows)
}
