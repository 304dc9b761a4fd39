//! Picture 2: from parts to the return, one waterfall an agent, on three bases.

use super::{Section, View, card, legend, nothing, numbers};
use crate::sheet::{self, TableKind};
use crate::{Contribution, LeaderboardRow, Linked};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, axis_percent, change, padded, real, scientific};
use maud::{Markup, html};

pub(super) const SECTION: Section = Section {
    id: "waterfall",
    title: "2. Where the return came from",
    lead: "Each part starts where the one above it ended, so the last bar is the whole return: linked by Carino, means \
           over seeds. Every card has its own scale. The basis says on which weights a day's return is split.",
};

/// Bases with what they mean.
const BASES: [(WeightBasis, &str, &str); 3] = [
    (
        WeightBasis::Two,
        "basis-two",
        "two, which ranks: overnight on weights before, intraday on weights after; nothing is left to timing",
    ),
    (
        WeightBasis::Pre,
        "basis-pre",
        "pre: weights before the day's trades; what new trades earn on their first day is timing",
    ),
    (
        WeightBasis::Post,
        "basis-post",
        "post: weights after the day's trades; what they missed since the last close is timing",
    ),
];

const WIDTH: f64 = 340.0;
const ROW: f64 = 19.0;

pub(super) fn body(view: View<'_>) -> Markup {
    let leaders = view.track.leaders.iter();
    let shown: Vec<&LeaderboardRow> = leaders.filter(|leader| leader.attribution.is_some()).collect();
    if shown.is_empty() {
        return nothing("No return could be split.");
    }
    html! {
        (legend(&[
            ("k-pos", "adds"),
            ("k-neg", "takes away"),
            ("k-tot", "the whole return"),
        ]))
        div.bases {
            @for (basis, id, meaning) in BASES {
                input type="radio" name="basis" id=(id) checked=[(basis == WeightBasis::HEADLINE).then_some("checked")];
                label for=(id) { (meaning) }
            }
            div.cards { @for leader in &shown { (agent(view, leader)) } }
        }
        (numbers(&html! {
            @for (basis, ..) in BASES { (sheet::table(view.board, TableKind::Split, view.track, basis).html()) }
        }))
    }
}

fn agent(view: View<'_>, leader: &LeaderboardRow) -> Markup {
    let whole = leader
        .attribution
        .as_ref()
        .map(|bases| bases.get(WeightBasis::HEADLINE));
    let whole = whole.map_or_else(String::new, |contribution| change(contribution.carino.portfolio));
    card(
        leader,
        &whole,
        &html! {
            @for (basis, class, _) in BASES {
                @if let Some(contribution) = leader.attribution.as_ref().map(|bases| bases.get(basis)) {
                    div class=(class) { (of_basis(view, (&leader.agent, basis.label()), contribution)) }
                }
            }
        },
    )
}

fn of_basis(view: View<'_>, (agent, basis): (&str, &str), contribution: &Contribution) -> Markup {
    let linked = &contribution.carino;
    let values: Vec<String> = parts(linked)
        .iter()
        .map(|(name, value)| format!("{name} {}", change(*value)))
        .collect();
    let title = format!("Return of {agent}, basis {basis}");
    let description = format!("{}; together {}", values.join(", "), change(linked.portfolio));
    let styles = view.board.model.styles.iter().map(String::as_str);
    let styles: Vec<(&str, f64)> = styles.zip(linked.styles.iter().copied()).collect();
    html! {
        (waterfall(linked).figure("small", &title, &description))
        p.gauge { "closes to " (scientific(linked.gauge.abs().max(contribution.daily_gauge))) }
        @if !styles.is_empty() {
            details.styles {
                summary { "Style by style (" (change(linked.style)) ")" }
                (bars(&styles).figure(
                    "small",
                    &format!("Styles of {agent}, basis {basis}"),
                    "Contribution of each style to the return",
                ))
            }
        }
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
        edges: Edges::new(2.0, 72.0, 22.0, 86.0),
        rows: None,
        x: Axis::new(x, 3, &|value| axis_percent(value, step)),
        y: Axis::unseen(0.0..count),
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
