//! Picture 2: from parts to the return, one waterfall an agent, on three bases.

use super::{Heading, Picture, View, card, legend, numbers};
use crate::sheet::{self, TableKind};
use crate::{Contribution, LeaderboardRow, Linked};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::{Canvas, change, difference_bars, scientific};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "waterfall",
    title: "Where the return came from",
    lead: "Each part starts where the one above it ended, so the last bar is the whole return: linked by Carino, means \
           over seeds. Every card has its own scale. The basis says on which weights a day's return is split.",
};

/// Bases with what they mean.
const BASES: [(WeightBasis, &str, &str); 3] = [
    (
        WeightBasis::Two,
        "basis-two",
        "two, which ranks: overnight on weights before, intraday on weights after; nothing is left to execution",
    ),
    (
        WeightBasis::Pre,
        "basis-pre",
        "pre: weights before the day's trades; what new trades earn on their first day is execution",
    ),
    (
        WeightBasis::Post,
        "basis-post",
        "post: weights after the day's trades; what they missed since the last close is execution",
    ),
];

pub(super) fn body(view: View<'_>) -> Picture {
    let leaders = view.track.leaders.iter();
    let shown: Vec<&LeaderboardRow> = leaders.filter(|leader| leader.attribution.is_some()).collect();
    if shown.is_empty() {
        return Err("No return could be split.");
    }
    Ok(html! {
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
    })
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
                summary { "Style by style (" (linked.style.map(change).unwrap_or_default()) ")" }
                (bars(&styles).figure(
                    "small",
                    &format!("Styles of {agent}, basis {basis}"),
                    "Contribution of each style to the return",
                ))
            }
        }
    }
}

fn parts(linked: &Linked) -> Vec<(&'static str, f64)> {
    let split = [
        ("Common", linked.common),
        ("Style", linked.style),
        ("Selection", linked.selection),
    ];
    let beside = [
        ("Execution", linked.execution),
        ("Slippage", linked.slip),
        ("Cost", linked.cost),
        ("Rounding", linked.corporate),
        ("Unattributed", linked.unattributed),
    ];
    let split = split.into_iter().filter_map(|(name, part)| Some((name, part?)));
    split.chain(beside).collect()
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
    difference_bars(&rows, "Portfolio")
}

fn bars(styles: &[(&str, f64)]) -> Canvas {
    let rows: Vec<_> = styles.iter().map(|(name, value)| (*name, 0.0, *value)).collect();
    difference_bars(&rows, "")
}
