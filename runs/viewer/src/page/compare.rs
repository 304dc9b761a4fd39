//! Two episodes side by side.

use super::episode::{outcome_text, switch};
use super::frame::{Page, PageSite};
use super::nav::{NavLine, figure};
use super::value::{RealNames, document, line, name, text};
use crate::difference::StepPair;
use crate::episode::{Episode, TimelineStep};
use crate::step::{ReadReply, StepExchange};
use ktd_view::draw::{decimals, scroll};
use maud::{Markup, html};

/// An episode of a comparison, with the exchanges of the step that is shown.
#[derive(Debug)]
pub(crate) struct ComparedEpisode<'e> {
    /// The episode.
    pub(crate) episode: &'e Episode,
    /// What was sent and came back in the step.
    pub(crate) exchanges: Vec<StepExchange>,
}

/// The first step in which two episodes differ; the first one where none does.
#[must_use]
pub(crate) fn first_difference(pairs: &[StepPair<'_>]) -> usize {
    let differing = pairs.iter().find(|pair| !pair.differs.is_empty());
    differing.or(pairs.first()).map_or(1, |pair| pair.step)
}

/// The page, with one step of both laid out.
#[must_use]
pub(crate) fn page(
    site: PageSite,
    left: &ComparedEpisode<'_>,
    right: &ComparedEpisode<'_>,
    (pairs, step): (&[StepPair<'_>], usize),
) -> String {
    let (a, b) = (left.episode, right.episode);
    let before = pairs.iter().rev().find(|pair| pair.step < step);
    let after = pairs.iter().find(|pair| step < pair.step);
    let differing = pairs.iter().filter(|pair| !pair.differs.is_empty());
    let first = differing.clone().next().map(|pair| pair.step);
    let place = |step: usize| format!("?a={}&b={}&step={step}", a.entry.slug, b.entry.slug);
    let real = if site.shows_real { "&real=1" } else { "" };
    let address = |step: usize| format!("compare.html{}{real}", place(step));
    let tells_hidden = |episode: &Episode| {
        episode
            .entry
            .content
            .as_ref()
            .is_ok_and(|content| content.tells_hidden)
    };
    let lines = [
        NavLine::of_steps("left", "nav-a", &a.steps),
        NavLine::of_steps("right", "nav-b", &b.steps),
    ];
    let body = html! {
        h1 { "Side by side" }
        div.columns {
            @for (side, episode) in [("left ", a), ("right ", b)] {
                p { b { (side) } a href={ "e/" (episode.entry.slug) "/index.html" } { (line(&episode.entry.name)) }
                    @if experiment(a) != experiment(b) { " of " (line(experiment(episode))) } }
            }
        }
        @if tells_hidden(a) || tells_hidden(b) { (switch(site, &place(step), &format!("{}&real=1", place(step)))) }
        p.lead {
            (differing.count()) " of " (pairs.len()) " steps differ in what was done"
            @if let Some(first) = first { "; " a href=(address(first)) data-key="first" { "the first is step " (first) } }
            "."
        }
        (figure(&lines, "Of the left one no close is known: it has reached none, or its mask hides the net asset value."))
        p.source { "Drawdown, and dots for days of trades: the left one's." }
        section #step {
            nav.steps aria-label="Steps" {
                @if let Some(StepPair { step, .. }) = before { a href=(address(*step)) data-key="previous" rel="prev" { "\u{2190} step " (step) } }
                @if let Some(StepPair { step, .. }) = after { a href=(address(*step)) data-key="next" rel="next" { "step " (step) " \u{2192}" } }
            }
            h2 { "Step " (step) }
            @if let Some(pair) = pairs.iter().find(|pair| pair.step == step) { (differences(pair)) }
            div.columns {
                (side(("Left", a), a.step(step), &left.exchanges))
                (side(("Right", b), b.step(step), &right.exchanges))
            }
        }
        section #steps { h2 { "All steps" } (scroll("steps", &table(pairs, first, &address))) }
    };
    let page = Page {
        site,
        title: "ktd view: side by side",
        root: "",
        above: &[],
        changes: false,
        body: &body,
    };
    page.html()
}

/// The experiment that an episode is of, as addresses call it.
fn experiment(episode: &Episode) -> &str {
    let slug = episode.entry.slug.as_str();
    slug.split_once('~').map_or(slug, |(experiment, _)| experiment)
}

fn differences(pair: &StepPair<'_>) -> Markup {
    html! {
        @if pair.differs.is_empty() {
            p { "Both did the same." }
        } @else {
            p { "What differs: " b { (pair.differs.join(", ")) } "." }
        }
    }
}

/// A side under its own name: on a narrow screen the two stand one below the other.
fn side(
    (name, episode): (&str, &Episode),
    step: Option<&TimelineStep>,
    exchanges: &[StepExchange],
) -> Markup {
    html! {
        div {
            h3 { (name) ": " (line(&episode.entry.name)) }
            @match step {
                Some(step) => {
                    p { span class={ "box m-" (step.mark().label()) } {} (outcome_text(step.record.outcome)) }
                    (orders(step, &episode.real))
                    h4 { "Shown, thought and called" }
                    @for exchange in exchanges { (exchange_of(exchange, &episode.real)) }
                }
                None => p.nothing { "It has no such step." },
            }
        }
    }
}

fn orders(step: &TimelineStep, real: &RealNames) -> Markup {
    html! {
        @if step.record.orders.is_empty() { p.nothing { "No order." } } @else {
            ul { @for order in &step.record.orders {
                li {
                    (line(&order.side)) " " (name(&order.stock_id, real))
                    @if let Some(weight) = order.target_weight_millionths { " to " (decimals(f64::from(weight) / 1e6, 4)) }
                    @if let Some(shares) = order.shares { " " (shares) " shares" }
                    ": " (line(&order.reason))
                }
            } }
        }
    }
}

fn exchange_of(exchange: &StepExchange, real: &RealNames) -> Markup {
    html! {
        @for (role, content) in &exchange.messages {
            details { summary { (line(role)) } (text(content)) }
        }
        @match &exchange.reply {
            ReadReply::Turn { thought, text: words, .. } => {
                @if let Some(thought) = thought { div.thought { (text(thought)) } }
                @if let Some(words) = words { (text(words)) }
            }
            ReadReply::Fault(what) => (text(what)),
        }
        @for call in &exchange.calls {
            details open {
                summary { "calls " (line(&call.name)) }
                (document(&call.arguments, real))
                @if let Some(answer) = &call.answer { (document(answer, real)) }
            }
        }
    }
}

fn table(pairs: &[StepPair<'_>], first: Option<usize>, address: &dyn Fn(usize) -> String) -> Markup {
    let cells = |step: Option<&TimelineStep>| {
        html! {
            @match step {
                Some(step) => {
                    td.l { span class={ "box m-" (step.mark().label()) } {} (step.mark().label()) }
                    td { (step.record.calls.len()) } td { (step.record.orders.len()) }
                    td { @if let Some(nav) = step.nav { (decimals(nav, 4)) } }
                }
                None => td colspan="4" {},
            }
        }
    };
    html! {
        table {
            thead {
                tr.bands { th {} th colspan="4" scope="colgroup" { "left" } th colspan="4" scope="colgroup" { "right" } th {} }
                tr {
                    th.l scope="col" { "step" }
                    @for _ in 0..2 { th.l scope="col" { "outcome" } th scope="col" { "calls" } th scope="col" { "orders" } th scope="col" { "NAV" } }
                    th.l scope="col" { "differs" }
                }
            }
            tbody { @for pair in pairs {
                tr class=[(first == Some(pair.step)).then_some("first")] {
                    th.l scope="row" { a href=(address(pair.step)) { (pair.step) } }
                    (cells(pair.left)) (cells(pair.right))
                    td.l { (pair.differs.join(", ")) @if first == Some(pair.step) { b { " \u{2190} first" } } }
                }
            } }
        }
    }
}
