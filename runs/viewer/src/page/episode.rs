//! One episode: its account, its timeline, and its steps.

use super::codes::{of_infrastructure, of_order, of_submission, short};
use super::experiment::{self, metric, money};
use super::frame::{Page, PageSite};
use super::nav::NavLine;
use super::ranked_row::RankedRow;
use super::value::{line, name};
use super::{holdings, nav};
use crate::catalogue::ExperimentEntry;
use crate::entry::{EpisodeContent, EpisodeEntry};
use crate::episode::{Episode, StepMark, TimelineStep};
use ktd_bundle::event::StepOutcome;
use ktd_view::draw::{change, decimals, grouped, percent, scroll};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The page.
#[must_use]
pub(crate) fn page(
    site: PageSite,
    experiment: Option<&ExperimentEntry>,
    episode: &Episode,
    ranked: Option<RankedRow<'_>>,
) -> String {
    let body = body(site, experiment, episode, ranked);
    framed(site, experiment, episode, &body)
}

/// A page of an episode that may still grow.
pub(crate) fn framed(
    site: PageSite,
    experiment: Option<&ExperimentEntry>,
    episode: &Episode,
    body: &Markup,
) -> String {
    let title = format!("ktd view: {}", episode.entry.name);
    let above = above(experiment);
    let page = Page {
        site,
        title: &title,
        root: "../../",
        above: &above,
        changes: episode.reason.is_none(),
        body,
    };
    page.html()
}

/// What the page shows.
pub(crate) fn body(
    site: PageSite,
    experiment: Option<&ExperimentEntry>,
    episode: &Episode,
    ranked: Option<RankedRow<'_>>,
) -> Markup {
    let entry = &episode.entry;
    let days = entry
        .content
        .as_ref()
        .map_or(0, |content| content.header.window.steps);
    let mut lines = vec![NavLine::of_steps("this episode", "nav-a", &episode.steps)];
    lines.extend(ranked.into_iter().flat_map(|ranked| ranked.market(days)));
    html! {
        h1 { (line(&entry.name)) }
        @if let Ok(content) = &entry.content { (head(site, content, episode)) }
        section #account {
            h2 { "Account" }
            (nav::figure(&lines, without_curve(entry)))
            (figures(episode))
            @if let Some(ranked) = ranked { p { a href={ "../../" (ranked.address()) } { "Tear sheet of " (line(&ranked.row.agent)) }
                ": market, style and selection, with intervals." } }
            @else if site.is_live() { p.source { "With a board beside the episodes (" code { "ktd leaderboard RESULTS --out RESULTS/board" }
                ") the market stands here too, and exposures below." } }
        }
        section #timeline { h2 { "Timeline" } (timeline(site, episode)) }
        section #holdings { h2 { "Holdings" } (holdings::figure(&episode.steps, &episode.real)) }
        @if let Some(ranked) = ranked.filter(|ranked| !ranked.row.daily_exposures.is_empty()) {
            section #exposures {
                h2 { "Exposures" }
                @if 1 < ranked.row.seeds.len() { p.lead { "Means over the agent's " (ranked.row.seeds.len()) " seeds." } }
                (ranked.exposures(site))
            }
        }
        section #steps { h2 { "Steps" } (filters(episode)) (scroll("steps", &table(site, episode))) }
        @if site.is_live() { (beside(experiment, episode)) }
    }
}

/// The pages above an episode.
pub(crate) fn above(experiment: Option<&ExperimentEntry>) -> Vec<(String, String)> {
    let above = experiment.map(|one| (format!("x/{}.html", one.slug), one.slug.clone()));
    above.into_iter().collect()
}

fn head(site: PageSite, content: &EpisodeContent, episode: &Episode) -> Markup {
    let header = &content.header;
    html! {
        p.lead {
            "Agent " (line(&header.agent.id)) ", window " (line(&header.window.id)) ", mask "
            (header.mask.level_label()) "/" (header.mask.numeric.label()) ", " (header.mode.label()) ", seed " (header.seed) ". "
            (episode.steps.len()) " of " (header.window.steps) " steps"
            @match &episode.reason { Some(reason) => { ", ended: " (line(reason)) "." } None => ", not ended." }
        }
        @if site.is_live() {
            form.search role="search" action="search.html" method="get" {
                label { "Search this episode " input type="search" name="q" data-key="search" maxlength="200"; }
                button type="submit" { "Search" }
            }
            @if content.tells_hidden { (switch(site, "?", "?real=1")) }
        }
    }
}

/// Why an episode has no net asset value.
fn without_curve(entry: &EpisodeEntry) -> &'static str {
    match &entry.content {
        Ok(content) if content.closed_steps() == 0 => {
            "No step has reached its close yet: the curve begins with the first one."
        }
        _ => {
            "The net asset value is not part of what this bundle shows: the mask hides it, and the private part is missing or \
             left out."
        }
    }
}

/// The switch between aliases and real names: a link, so that an address says which it is.
pub(super) fn switch(site: PageSite, shown: &str, real: &str) -> Markup {
    html! {
        p.switch {
            @if site.shows_real {
                a href=(shown) { "Show aliases alone" }
            } @else {
                a.real href=(real) { "Show real names and days" }
            }
        }
    }
}

fn figures(episode: &Episode) -> Markup {
    let Some(summary) = episode
        .entry
        .content
        .as_ref()
        .ok()
        .and_then(EpisodeContent::summary)
    else {
        return html! { p.nothing { "Metrics are computed when the episode has ended." } };
    };
    let two: fn(f64) -> String = |value| decimals(value, 2);
    let account = summary.account.as_ref();
    let counters = &summary.counters;
    let tokens = counters.prompt_tokens.saturating_add(counters.completion_tokens);
    html! {
        dl.figures {
            @if let Some(account) = account {
                div { dt { "return" } dd { (metric(Some(&account.total_return), change)) } }
                div { dt { "Sharpe" } dd { (metric(Some(&account.sharpe_ratio), two)) } }
                div { dt { "drawdown" } dd { (metric(Some(&account.max_drawdown), percent)) } }
                div { dt { "turnover" } dd { (metric(Some(&account.turnover), two)) } }
                div { dt { "cash" } dd { (metric(Some(&account.cash_ratio), percent)) } }
                div { dt { "fees" } dd { (metric(Some(&account.fee_drag), percent)) } }
                div { dt { "orders filled" } dd { (account.orders_filled) } }
                div { dt { "orders rejected" } dd { (account.orders_rejected) } }
            }
            div { dt { "abstained" } dd { (metric(Some(&summary.metrics.abstention), percent)) } }
            div { dt { "parse failures" } dd { (metric(Some(&summary.metrics.parse_failure), percent)) } }
            div { dt { "turns" } dd { (counters.turns) } }
            div { dt { "tokens" } dd { (grouped(usize::try_from(tokens).unwrap_or(usize::MAX))) } }
            div { dt { "spent" } dd { (money(&summary.money)) } }
        }
    }
}

fn timeline(site: PageSite, episode: &Episode) -> Markup {
    let marks: BTreeSet<StepMark> = episode.steps.iter().map(TimelineStep::mark).collect();
    html! {
        ol.timeline {
            @for step in &episode.steps {
                @let mark = step.mark();
                @let faults = step.record.model_faults.len() + step.record.infrastructure_faults.len();
                @let words = format!("step {}: {}{}", step.record.step, mark.label(), if 0 < faults { ", with faults" } else { "" });
                li { a class={ "m-" (mark.label()) @if 0 < faults { " faulty" } } href=(site.step(step.record.step))
                    title=(words) aria-label=(words) {} }
            }
        }
        p.legend {
            @for mark in StepMark::ALL.iter().filter(|mark| marks.contains(mark)) {
                span.key { span class={ "box m-" (mark.label()) } {} (mark.label()) ": " (mark.meaning()) }
            }
            span.key { span.box.m-hold.faulty {} "with a fault on the way" }
        }
    }
}

fn filters(episode: &Episode) -> Markup {
    let steps = || episode.steps.iter();
    let marks: BTreeSet<&str> = steps().map(|step| step.mark().label()).collect();
    let tools: BTreeSet<&str> = steps()
        .flat_map(|step| &step.record.calls)
        .map(|(tool, _)| tool.as_str())
        .collect();
    let faults: BTreeSet<&str> = steps().flat_map(faults_of).map(|(code, _)| code).collect();
    html! {
        form.filters role="search" data-filter="#steps tbody tr" {
            (choice("outcome", "mark", &marks)) (choice("tool", "tool", &tools)) (choice("fault", "fault", &faults))
            label { "stock or word " input type="search" name="words" data-key="filter"; }
            span.count aria-live="polite" {}
        }
    }
}

fn choice(label: &str, key: &str, options: &BTreeSet<&str>) -> Markup {
    html! {
        @if !options.is_empty() {
            label { (label) " " select name=(key) {
                option value="" { "any" }
                @for option in options.iter().take(200) { option value=(option) { (line(option)) } }
            } }
        }
    }
}

/// Codes of what went wrong in a step, with the meaning of each that is known.
fn faults_of(step: &TimelineStep) -> BTreeMap<&str, Option<&'static str>> {
    let record = &step.record;
    let refused = record.calls.iter().filter_map(|(_, refused)| refused.as_deref());
    let model = record
        .model_faults
        .iter()
        .map(|(code, detail)| detail.as_deref().unwrap_or(code));
    let model = refused.chain(model).map(|code| (code, of_submission(code)));
    let rejected = step.rejections.iter().map(|code| (code.as_str(), of_order(code)));
    let infrastructure = record.infrastructure_faults.iter();
    let infrastructure = infrastructure.map(|code| (code.as_str(), of_infrastructure(code)));
    model.chain(rejected).chain(infrastructure).collect()
}

fn table(site: PageSite, episode: &Episode) -> Markup {
    let mut before = Some(1.0);
    html! {
        table {
            thead { tr {
                th.l scope="col" { "step" } th.l scope="col" { "day" } th.l scope="col" { "outcome" }
                th scope="col" { "calls" } th scope="col" { "orders" } th scope="col" { "rejected" }
                th scope="col" { "NAV" } th scope="col" { "change" } th scope="col" { "tokens" } th.l scope="col" { "faults" }
            } }
            tbody { @for step in &episode.steps {
                (row(site, step, episode, before))
                @let () = before = step.nav;
            } }
        }
    }
}

fn row(site: PageSite, step: &TimelineStep, episode: &Episode, before: Option<f64>) -> Markup {
    let record = &step.record;
    let mark = step.mark();
    let faults = faults_of(step);
    let codes: Vec<&str> = faults.keys().copied().collect();
    let tools: BTreeSet<&str> = record.calls.iter().map(|(tool, _)| tool.as_str()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let words: Vec<&str> = step
        .stocks()
        .into_iter()
        .chain(record.overall_reason.as_deref())
        .collect();
    let words: String = words.join(" ").chars().take(4_000).collect();
    let day = record.day.as_str().unwrap_or_default();
    let tokens = record.tokens.0.saturating_add(record.tokens.1);
    html! {
        tr data-mark=(mark.label()) data-tool=(tools.join("\n")) data-fault=(codes.join("\n")) data-words=(words) {
            th.l scope="row" { a href=(site.step(record.step)) { (record.step) } }
            td.l { (name(day, &episode.real)) }
            td.l { span class={ "box m-" (mark.label()) } {} (mark.label()) }
            td { (record.calls.len()) } td { (record.orders.len()) } td { @if 0 < step.rejected() { (step.rejected()) } }
            td { @if let Some(nav) = step.nav { (decimals(nav, 4)) } }
            td { @if let (Some(nav), Some(before)) = (step.nav, before) { (change(nav / before - 1.0)) } }
            td { (grouped(usize::try_from(tokens).unwrap_or(usize::MAX))) }
            td.l { @for (place, (code, meaning)) in faults.iter().enumerate() { @if 0 < place { ", " } (short(code, *meaning)) } }
        }
    }
}

/// Other episodes to lay beside this one: the same agent under other masks first.
fn beside(experiment: Option<&ExperimentEntry>, episode: &Episode) -> Markup {
    let own = &episode.entry;
    let others = experiment.into_iter().flat_map(|experiment| &experiment.episodes);
    let mut others: Vec<_> = others.filter(|other| other.slug != own.slug).collect();
    let agent = |content: &EpisodeContent| content.header.agent.id.clone();
    let mine = own.content.as_ref().ok().map(agent);
    others.sort_by_key(|other| other.content.as_ref().ok().map(agent) != mine);
    html! {
        section #beside {
            h2 { "Side by side" }
            @if !others.is_empty() {
                form action="../../compare.html" method="get" {
                    input type="hidden" name="a" value=(own.slug);
                    label { "with " select name="b" { @for other in others { option value=(other.slug) { (line(&other.name)) } } } }
                    " " button type="submit" { "Compare" }
                }
            }
            p { (experiment::choice(own)) " Lay it beside one that is chosen in the grid of another experiment." }
        }
    }
}

/// A step's end in a sentence.
pub(crate) const fn outcome_text(outcome: Option<StepOutcome>) -> &'static str {
    match outcome {
        Some(StepOutcome::Submitted) => "submitted",
        Some(StepOutcome::Hold) => "held: the model submitted no order",
        Some(StepOutcome::Fallback) => "no trade: no valid submission within the retries",
        Some(StepOutcome::Uncovered) => "no trade: the model could not be reached",
        None => "not decided yet",
    }
}
