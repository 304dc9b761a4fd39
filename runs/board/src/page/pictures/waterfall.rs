//! Picture 2: from parts to the return, one waterfall an agent, on three bases.

use super::{Section, View, card, cards, legend, nothing, numbers};
use crate::sheet::{Kind, Sheet};
use crate::{Contribution, Leader, Linked};
use ktd_view::draw::{Anchor, Axes, Canvas, Edges, Markup, axis_percent, change, padded, real, scientific};
use crate::page::table;

pub(super) const SECTION: Section = Section {
    id: "waterfall",
    title: "2. Where the return came from",
    lead: "Each part starts where the one above it ended, so the last bar is the whole return: linked by Carino, means \
           over seeds. Every card has its own scale. The basis says on which weights a day's return is split.",
};

/// Bases with what they mean.
const BASES: [(&str, &str, &str); 3] = [
    (
        "pre",
        "basis-pre",
        "pre: weights before the day's trades; what new trades earn on their first day is timing",
    ),
    (
        "post",
        "basis-post",
        "post: weights after the day's trades; what they missed since the last close is timing",
    ),
    (
        "two",
        "basis-two",
        "two: overnight on weights before, intraday on weights after; nothing is left to timing",
    ),
];

const WIDTH: f64 = 340.0;
const ROW: f64 = 19.0;

pub(super) fn write(page: &mut Markup, view: View<'_>) {
    let shown: Vec<&Leader> = view
        .track
        .leaders
        .iter()
        .filter(|leader| !leader.attribution.is_empty())
        .collect();
    if shown.is_empty() {
        nothing(page, "No return could be split.");
        return;
    }
    legend(
        page,
        &[
            ("k-pos", "adds"),
            ("k-neg", "takes away"),
            ("k-tot", "the whole return"),
        ],
    );
    page.element("div", &[("class", "bases")], |page| {
        for (basis, id, meaning) in BASES {
            let mut attributes = vec![("type", "radio"), ("name", "basis"), ("id", id)];
            if basis == "pre" {
                attributes.push(("checked", "checked"));
            }
            page.empty("input", &attributes);
            page.leaf("label", &[("for", id)], meaning);
        }
        cards(page, |page| {
            for leader in &shown {
                agent(page, view, leader);
            }
        });
    });
    numbers(page, |page| {
        for (basis, ..) in BASES {
            table::plain(page, &Sheet::of(view.board, Kind::Split, view.track, basis));
        }
    });
}

fn agent(page: &mut Markup, view: View<'_>, leader: &Leader) {
    let whole = leader
        .attribution
        .values()
        .next()
        .map(|contribution| contribution.carino.portfolio);
    card(page, leader, &whole.map_or_else(String::new, change), |page| {
        for (basis, class, _) in BASES {
            if let Some(contribution) = leader.attribution.get(basis) {
                page.element("div", &[("class", class)], |page| {
                    of_basis(page, view, (&leader.agent, basis), contribution);
                });
            }
        }
    });
}

fn of_basis(page: &mut Markup, view: View<'_>, (agent, basis): (&str, &str), contribution: &Contribution) {
    let linked = &contribution.carino;
    let title = format!("Return of {agent}, basis {basis}");
    let told: Vec<String> = parts(linked)
        .iter()
        .map(|(name, value)| format!("{name} {}", change(*value)))
        .collect();
    let description = format!("{}; together {}", told.join(", "), change(linked.portfolio));
    waterfall(linked).write(page, "small", &title, &description);
    let gauge = linked.gauge.abs().max(contribution.daily_gauge);
    page.leaf(
        "p",
        &[("class", "gauge")],
        &format!("closes to {}", scientific(gauge)),
    );
    let styles: Vec<(&str, f64)> = view
        .board
        .model
        .styles
        .iter()
        .map(String::as_str)
        .zip(linked.styles.iter().copied())
        .collect();
    if !styles.is_empty() {
        page.element("details", &[("class", "styles")], |page| {
            page.leaf(
                "summary",
                &[],
                &format!("Style by style ({})", change(linked.style)),
            );
            let title = format!("Styles of {agent}, basis {basis}");
            bars(&styles).write(page, "small", &title, "Contribution of each style to the return");
        });
    }
}

fn parts(linked: &Linked) -> [(&'static str, f64); 8] {
    [
        ("Common", linked.common),
        ("Style", linked.style),
        ("Selection", linked.selection),
        ("Timing", linked.timing),
        ("Slippage", linked.slip),
        ("Cost", linked.cost),
        ("Rounding", linked.corporate),
        ("Unattributed", linked.unattributed),
    ]
}

fn waterfall(linked: &Linked) -> Canvas {
    let mut reached = 0.0;
    let mut rows: Vec<(&str, f64, f64)> = Vec::new();
    for (name, value) in parts(linked) {
        let value = if value.is_finite() { value } else { 0.0 };
        rows.push((name, reached, reached + value));
        reached += value;
    }
    rows.push(("Portfolio", 0.0, linked.portfolio));
    draw(&rows)
}

fn bars(styles: &[(&str, f64)]) -> Canvas {
    draw(
        &styles
            .iter()
            .map(|(name, value)| (*name, 0.0, *value))
            .collect::<Vec<_>>(),
    )
}

/// Bars from one value to another, with the difference beside them.
fn draw(rows: &[(&str, f64, f64)]) -> Canvas {
    let count = real(rows.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 24.0));
    let x = padded(rows.iter().flat_map(|(_, from, to)| [*from, *to]), 0.0);
    let step = (x.end - x.start) / 3.0;
    let plane = Axes {
        edges: Edges {
            top: 2,
            right: 72,
            bottom: 22,
            left: 86,
        },
        rows: None,
        x,
        y: 0.0..count,
        labels: (3, 0),
        x_label: &|value| axis_percent(*value, step),
        y_label: &|_| String::new(),
    }
    .draw(&mut canvas);
    canvas.line(
        "zero",
        (plane.x(0.0), plane.down.start),
        (plane.x(0.0), plane.down.end),
    );
    for (place, (name, from, to)) in rows.iter().enumerate() {
        let top = plane.down.start + real(place) * ROW;
        let middle = top + ROW / 2.0 + 4.0;
        let is_whole = *name == "Portfolio";
        let (label, bar) = match to - from {
            _ if is_whole => ("t b", "tot"),
            fall if fall < 0.0 => ("t", "neg"),
            _ => ("t", "pos"),
        };
        canvas.text(label, Anchor::End, (plane.across.start - 6.0, middle), name);
        canvas.rect(bar, (plane.x(*from), top + 3.5), (plane.x(*to), top + ROW - 3.5));
        let follows = rows
            .get(place + 1)
            .is_some_and(|(_, next, _)| (next - to).abs() < 1e-12);
        if follows {
            canvas.line(
                "link",
                (plane.x(*to), top + ROW - 3.5),
                (plane.x(*to), top + ROW + 3.5),
            );
        }
        canvas.text(label, Anchor::End, (WIDTH - 2.0, middle), &change(to - from));
    }
    canvas
}
