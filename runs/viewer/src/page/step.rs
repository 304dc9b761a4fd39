//! One step: what the model saw, what it thought and did, what became of it.

use super::codes::{of_infrastructure, of_order, of_submission, told};
use super::episode::{above, outcome_text};
use super::frame::{Page, PageSite};
use super::value::{RealNames, document, laid_out, line, name, text};
use crate::catalogue::ExperimentEntry;
use crate::episode::{Episode, TimelineStep, column, yuan};
use crate::step::{ReadReply, StepExchange, ToolUse};
use ktd_record::exchanges::RequestPlace;
use ktd_view::draw::{change, counted, decimals, grouped};
use maud::{Markup, html};
use serde_json::Value;

/// Where the state begins in what opens a step.
const STATE: &str = "STATE:\n";
/// Characters of arguments that are shown of a folded call.
const BRIEF: usize = 80;

/// A step with what was sent and came back.
pub(crate) type StepParts<'s> = (&'s TimelineStep, &'s [StepExchange]);

/// The page.
#[must_use]
pub(crate) fn page(
    site: PageSite,
    experiment: Option<&ExperimentEntry>,
    episode: &Episode,
    parts: StepParts<'_>,
) -> String {
    let record = &parts.0.record;
    let title = format!("ktd view: step {} of {}", record.step, episode.entry.name);
    let mut above = above(experiment);
    let own = format!("e/{}/index.html{}", episode.entry.slug, site.query());
    above.push((own, episode.entry.name.clone()));
    let body = body(site, episode, parts);
    let changes = record.outcome.is_none();
    let page = Page {
        site,
        title: &title,
        root: "../../",
        above: &above,
        changes,
        body: &body,
    };
    page.html()
}

/// What the page shows.
pub(crate) fn body(site: PageSite, episode: &Episode, (step, exchanges): StepParts<'_>) -> Markup {
    let record = &step.record;
    let number = record.step;
    let before = number.checked_sub(1).and_then(|before| episode.step(before));
    let next = number.checked_add(1).filter(|next| episode.step(*next).is_some());
    let mark = step.mark();
    html! {
        nav.steps aria-label="Steps" {
            @if let Some(before) = before.map(|step| step.record.step) {
                a href=(site.step(before)) data-key="previous" rel="prev" { "\u{2190} step " (before) }
            }
            @if let Some(next) = next { a href=(site.step(next)) data-key="next" rel="next" { "step " (next) " \u{2192}" } }
        }
        h1 { "Step " (number) " of " (episode.steps.len()) }
        p.lead {
            "Trades at the open of " (name(&plain(&record.day), &episode.real)) ", decided after the close of "
            (name(&plain(&record.as_of), &episode.real)) ". "
            span class={ "box m-" (mark.label()) } {} (outcome_text(record.outcome)) "; "
            (counted(record.turns, "turn")) ", " (counted(record.calls.len(), "tool call")) ", "
            (tokens(record.tokens.0)) " tokens in, " (tokens(record.tokens.1)) " out."
        }
        (decision(step, &episode.real))
        section { h2 { "Account" } (account(before, step, &episode.real)) }
        section {
            h2 { "Conversation" }
            @if exchanges.is_empty() { p.nothing { "No request of this step is recorded." } }
            @if !exchanges.is_empty() { (outline(exchanges)) }
            @for exchange in exchanges { (conversation(site, exchange, &episode.real)) }
            @if !site.is_live() { p.notes { "Requests as they were sent are in the bundle: " code { "exchanges.jsonl.zst" } "." } }
        }
    }
}

fn tokens(count: u64) -> String {
    grouped(usize::try_from(count).unwrap_or(usize::MAX))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn decision(step: &TimelineStep, real: &RealNames) -> Markup {
    let record = &step.record;
    html! {
        section {
            h2 { "Orders" }
            @if let Some(reason) = &record.overall_reason { (text(reason)) }
            @if record.orders.is_empty() { p.nothing { "No order." } } @else { (orders(step, real)) }
            @if let Some(fills) = record.fills.get("orders") {
                @if column(Some(fills), "result").iter().all(|result| *result != "accepted") { h3 { "What became of them" } } @else {
                    h3 { "What the model is told of them" }
                    p.source { code { "accepted" } ": the order was taken. Under bands the model is told no more." }
                }
                (laid_out(fills, real, 0))
            }
            @if let Some(reasons) = record.fills.get("reasons") { h3 { "What the codes mean" } (laid_out(reasons, real, 0)) }
            @if !step.untold.is_empty() {
                h3 { "What the exchange made of the orders of this day, which the model is not told" }
                (untold(step, real))
            }
            @if let Some(events) = record.fills.get("events") { h3 { "Corporate actions" } (laid_out(events, real, 0)) }
            @if !record.model_faults.is_empty() {
                h3 { "Refused submissions" }
                ul { @for (code, detail) in &record.model_faults {
                    li { (told(code, of_submission)) @if let Some(detail) = detail { ": " (told(detail, of_submission)) } }
                } }
            }
            @if !record.infrastructure_faults.is_empty() {
                h3 { "Faults of the infrastructure" }
                ul { @for code in &record.infrastructure_faults { li { (told(code, of_infrastructure)) } } }
            }
        }
    }
}

fn untold(step: &TimelineStep, real: &RealNames) -> Markup {
    let (orders, fills) = (&step.record.orders, &step.untold);
    // A record of another number of orders does not say whose is which.
    let stock = |place: usize| orders.get(place).filter(|_| orders.len() == fills.len());
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "#" } th.l scope="col" { "stock" } th.l scope="col" { "side" } th scope="col" { "shares asked for" }
                th.l scope="col" { "result" }
            } }
            tbody { @for (place, fill) in fills.iter().enumerate() {
                tr {
                    td { (place + 1) } td.l { @if let Some(order) = stock(place) { (name(&order.stock_id, real)) } }
                    td.l { (fill.side) } td { (fill.requested) } td.l.wide { (told(fill.result, of_order)) }
                }
            } }
        }
    };
    ktd_view::draw::scroll("untold", &table)
}

fn orders(step: &TimelineStep, real: &RealNames) -> Markup {
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "#" } th.l scope="col" { "stock" } th.l scope="col" { "side" } th scope="col" { "target" }
                th scope="col" { "confidence" } th.l scope="col" { "reason" }
            } }
            tbody { @for (place, order) in step.record.orders.iter().enumerate() {
                tr {
                    td { (place + 1) } td.l { (name(&order.stock_id, real)) } td.l { (line(&order.side)) }
                    td {
                        @if let Some(weight) = order.target_weight_millionths { (decimals(f64::from(weight) / 1e6, 4)) }
                        @if let Some(shares) = order.shares { (shares) " shares" }
                    }
                    td { (decimals(order.confidence, 2)) } td.l.wide { (line(&order.reason)) }
                }
            } }
        }
    };
    ktd_view::draw::scroll("orders", &table)
}

fn account(before: Option<&TimelineStep>, step: &TimelineStep, real: &RealNames) -> Markup {
    html! {
        div.columns {
            div { h3 { "Before" } @match before {
                Some(before) => (close(before, real)),
                None => p.nothing { "Cash alone: nothing was held yet." },
            } }
            div { h3 { "At the close" } (close(step, real)) }
        }
        @if let (Some(nav), before) = (step.nav, before.map_or(Some(1.0), |before| before.nav)) {
            @if let Some(before) = before { p { "Change of the day: " (change(nav / before - 1.0)) "." } }
        }
    }
}

fn close(step: &TimelineStep, real: &RealNames) -> Markup {
    html! {
        @if let Some(mark) = &step.record.mark {
            dl.figures {
                div { dt { "NAV" } dd { (decimals(yuan(mark.nav_fen), 2)) } }
                div { dt { "cash" } dd { (decimals(yuan(mark.cash_fen), 2)) } }
                div { dt { "traded" } dd { (decimals(yuan(mark.traded_value_fen), 2)) } }
                div { dt { "fees" } dd { (decimals(yuan(mark.fees_fen), 2)) } }
                div { dt { "positions" } dd { (mark.positions) } }
            }
        }
        @if step.record.holdings.is_null() { p.nothing { "Not recorded yet." } } @else { (laid_out(&step.record.holdings, real, 0)) }
    }
}

/// Which tools were called in which request, folded; each leads to its place.
fn outline(exchanges: &[StepExchange]) -> Markup {
    let calls = exchanges.iter().map(|exchange| exchange.calls.len()).sum();
    html! {
        details.outline {
            summary { "Outline: " (counted(exchanges.len(), "request")) ", " (counted(calls, "call")) }
            ol { @for exchange in exchanges {
                @let anchor = anchor(exchange.at);
                li {
                    a href={ "#" (anchor) } { "Request " (request_name(exchange.at)) }
                    @if !exchange.calls.is_empty() { ol { @for (place, call) in exchange.calls.iter().enumerate() {
                        li { a href={ "#" (anchor) "c" (place + 1) } { (line(&call.name)) } " " (brief(&call.arguments)) }
                    } } }
                }
            } }
        }
    }
}

/// The anchor of a request; a page of one file has many steps.
fn anchor(at: RequestPlace) -> String {
    format!("s{}r{}a{}", at.step, at.ordinal, at.attempt)
}

fn request_name(at: RequestPlace) -> String {
    let number = at.ordinal.saturating_add(1);
    match at.attempt {
        0 => number.to_string(),
        attempt => format!("{number}, attempt {}", attempt.saturating_add(1)),
    }
}

/// The beginning of a text.
fn brief(text: &str) -> Markup {
    let beginning: String = text.chars().take(BRIEF).collect();
    html! { span.quiet { (line(&beginning)) @if beginning.len() < text.len() { "\u{2026}" } } }
}

fn conversation(site: PageSite, exchange: &StepExchange, real: &RealNames) -> Markup {
    let at = exchange.at;
    let anchor = anchor(at);
    html! {
        section.exchange id=(anchor) {
            h3 { "Request " (request_name(at)) }
            @for (role, content) in &exchange.messages { (message(role, content, real)) }
            (reply(&exchange.reply))
            @for (place, call) in exchange.calls.iter().enumerate() { (tool(call, &format!("{anchor}c{}", place + 1), real)) }
            p.source {
                @if let Some(status) = exchange.status { "status " (status) ", " } "cost " (exchange.cost)
                @for (header, value) in &exchange.headers { ", " (line(header)) ": " (line(value)) }
            }
            @if site.is_live() {
                @let place = format!("{}.{}", at.ordinal, at.attempt);
                p.source {
                    a href={ (at.step) ".request." (place) ".txt" } { "Request as sent" } ", " (grouped(exchange.request.len())) " bytes; "
                    a href={ (at.step) ".reply." (place) ".txt" } { "reply as it came" } ", " (grouped(exchange.response.len())) " bytes"
                }
            } @else {
                details { summary { "Reply as it came (" (grouped(exchange.response.len())) " bytes)" } (text(&exchange.response)) }
            }
        }
    }
}

fn message(role: &str, content: &str, real: &RealNames) -> Markup {
    let state = content.rfind(STATE).map(|place| place + STATE.len());
    let state = state.and_then(|place| Some((content.get(..place)?, content.get(place..)?)));
    html! {
        @match (role, state) {
            ("system", _) => details { summary { "Instructions (" (grouped(content.chars().count())) " characters)" } (text(content)) },
            (_, Some((head, state))) => {
                h4 { "What it was shown" }
                details { summary { "How things are shown" } (text(head)) }
                (document(state.trim(), real))
            }
            (role, None) => { h4 { (line(role)) } (text(content)) }
        }
    }
}

fn reply(reply: &ReadReply) -> Markup {
    html! {
        @match reply {
            ReadReply::Turn { thought, text: words, stop, tokens: (input, output) } => {
                @if let Some(thought) = thought { h4 { "It thought" } div.thought { (text(thought)) } }
                @if let Some(words) = words { h4 { "It wrote" } (text(words)) }
                p.source { (tokens(*input)) " tokens in, " (tokens(*output)) " out" @if let Some(stop) = stop { ", stopped: " (line(stop)) } }
            }
            ReadReply::Fault(what) => { h4 { "No turn" } (text(what)) }
        }
    }
}

/// A call with its answer, folded. The anchor lies inside, so that a link to it unfolds the call.
fn tool(call: &ToolUse, anchor: &str, real: &RealNames) -> Markup {
    html! {
        details.tool {
            summary { "It called " code { (line(&call.name)) } " " (brief(&call.arguments)) }
            div id=(anchor) {
                (document(&call.arguments, real))
                @match &call.answer {
                    Some(answer) => { h4 { "Answer" } (document(answer, real)) }
                    None => { p.nothing { "No later request holds its answer." } }
                }
            }
        }
    }
}
