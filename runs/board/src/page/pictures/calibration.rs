//! Picture 7: stated confidence against what happened.

use super::{Section, View, card, cards, legend, nothing, numbers};
use crate::sheet::{Cell, Sheet};
use crate::{Leader, Reliability};
use ktd_view::table::Align::{Left, Right};
use ktd_view::draw::{Anchor, Axes, Canvas, Edges, Markup, counted, decimals, real};
use crate::page::table;

pub(super) const SECTION: Section = Section {
    id: "calibration",
    title: "7. Confidence against what happened",
    lead: "Filled orders in ten bins of stated confidence: an order came true when its side earned from its fill to its \
           first legal exit. On the diagonal, confidence is honest; below it, too high. Larger dots hold more orders, \
           and the bars below count them.",
};

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 268.0;
/// Where the bars begin.
const BARS: f64 = 216.0;
const LEFT: i32 = 44;

pub(super) fn write(page: &mut Markup, View { track, .. }: View<'_>) {
    let shown: Vec<(&Leader, &Reliability)> = track
        .leaders
        .iter()
        .filter_map(|leader| Some((leader, leader.reliability.as_ref()?)))
        .filter(|(_, reliability)| 0 < reliability.orders)
        .collect();
    if shown.is_empty() {
        nothing(page, "No order with a stated confidence has a known outcome.");
        return;
    }
    legend(
        page,
        &[
            ("k-dot", "share that came true"),
            ("k-diagonal", "honest confidence"),
            ("k-bar", "orders"),
        ],
    );
    page.element("div", &[("class", "narrow")], |page| {
        cards(page, |page| {
            for (leader, reliability) in &shown {
                card(page, leader, &counted(reliability.orders, "order"), |page| {
                    let title = format!("Confidence of {} against what happened", leader.agent);
                    draw(reliability).write(page, "small", &title, &in_words(reliability));
                    page.leaf("p", &[("class", "gauge")], &in_words(reliability));
                });
            }
        });
    });
    numbers(page, |page| {
        table::plain(page, &scores(&shown));
        table::plain(page, &bins(&shown));
    });
}

fn in_words(reliability: &Reliability) -> String {
    let interval = reliability.ece_interval.map_or_else(String::new, |(low, high)| {
        format!(" (95 % {} to {})", decimals(low, 3), decimals(high, 3))
    });
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

fn draw(reliability: &Reliability) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let share = |value: &f64| decimals(*value, 1);
    let plane = Axes {
        edges: Edges {
            top: 6,
            right: 10,
            bottom: 6,
            left: LEFT,
        },
        rows: Some((0.0, BARS)),
        x: 0.0..1.0,
        y: 0.0..1.0,
        labels: (0, 5),
        x_label: &share,
        y_label: &share,
    }
    .draw(&mut canvas);
    canvas.upright(
        "tk",
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

fn bars(canvas: &mut Canvas, reliability: &Reliability, most: usize) {
    let plane = Axes {
        edges: Edges {
            top: 4,
            right: 10,
            bottom: 32,
            left: LEFT,
        },
        rows: Some((BARS, HEIGHT)),
        x: 0.0..1.0,
        y: 0.0..real(most),
        labels: (5, 0),
        x_label: &|value| decimals(*value, 1),
        y_label: &|_| String::new(),
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
        &ktd_view::table::grouped(most),
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

fn scores(shown: &[(&Leader, &Reliability)]) -> Sheet {
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
            Cell::Text(leader.agent.clone()),
            Cell::Count(reliability.orders),
            Cell::metric(&reliability.ece, Cell::Fine),
            Cell::optional(reliability.ece_interval.map(|(low, _)| low), Cell::Fine),
            Cell::optional(reliability.ece_interval.map(|(_, high)| high), Cell::Fine),
            Cell::metric(&reliability.brier, Cell::Fine),
            Cell::optional(murphy.map(|(reliability, ..)| reliability), Cell::Fine),
            Cell::optional(murphy.map(|(_, resolution, _)| resolution), Cell::Fine),
            Cell::optional(murphy.map(|(.., uncertainty)| uncertainty), Cell::Fine),
        ]
    });
    Sheet {
        title: "Calibration over all seeds".to_owned(),
        columns: heads.map(|(head, align)| (head.to_owned(), align)).into(),
        rows: rows.collect(),
        notes: vec![
            "Brier score = reliability \u{2212} resolution + uncertainty (Murphy). ECE is too high with few orders: \
             look at its interval, which resamples steps."
                .to_owned(),
        ],
    }
}

fn bins(shown: &[(&Leader, &Reliability)]) -> Sheet {
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
                Cell::Text(leader.agent.clone()),
                Cell::Count(place + 1),
                Cell::Count(bin.orders),
                Cell::optional(bin.confidence, Cell::Fine),
                Cell::optional(bin.accuracy, Cell::Fine),
            ]
        })
    });
    Sheet {
        title: "Bins of stated confidence".to_owned(),
        columns: heads.map(|(head, align)| (head.to_owned(), align)).into(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
