//! Experiments, and the grid of one's cells.

use super::frame::{Page, PageSite};
use super::value::{line, unreadable};
use crate::catalogue::{Catalogue, ExperimentEntry};
use crate::entry::{EpisodeContent, EpisodeEntry, EpisodeProgress};
use crate::overview::{FolderState, ListedDocument, Overview};
use ktd_bundle::summary::{Counters, Metric};
use ktd_record::budget_file::BudgetFile;
use ktd_record::spending::Spending;
use ktd_view::draw::{change, counted, decimals, grouped, percent, real, scroll};
use maud::{Markup, html};
use std::time::Duration;

/// The page of all experiments; of one alone, its grid.
#[must_use]
pub(crate) fn index(site: PageSite, catalogue: &Catalogue, overview: &Overview) -> String {
    let site = PageSite {
        is_running: overview.is_any_running(),
        ..site
    };
    // What holds documents alone has no episodes to list.
    let all = catalogue.experiments.iter();
    let experiments: Vec<_> = all.filter(|one| !one.episodes.is_empty()).collect();
    let has_studies = catalogue.other_studies().next().is_some();
    let body = html! {
        h1 { "Results" }
        @if catalogue.is_cut { p.warning { "There are more episodes than are listed: name fewer directories." } }
        @if !overview.documents.is_empty() { (listed(&overview.documents)) }
        @if has_studies { (super::study::list(catalogue.other_studies(), overview)) }
        @if experiments.is_empty() && !has_studies && overview.documents.is_empty() {
            p.nothing { "No results lie below the named directories. " code { "ktd demo" } " makes some." }
        }
        @if let [only] = experiments.as_slice() {
            @let state = overview.state(&only.folder);
            (grid(PageSite { is_running: state.is_running, ..site }, (only, &state), ""))
        } @else if !experiments.is_empty() {
            (list(&experiments, overview))
        }
    };
    let page = Page {
        site,
        title: "ktd view: results",
        root: "",
        above: &[],
        changes: true,
        body: &body,
    };
    page.html()
}

/// The page of one experiment.
#[must_use]
pub(crate) fn page(site: PageSite, experiment: &ExperimentEntry, state: &FolderState) -> String {
    let body = html! {
        h1 { (line(&experiment.slug)) }
        (documents(experiment, "../"))
        (grid(site, (experiment, state), "../"))
    };
    let title = format!("ktd view: {}", experiment.slug);
    let page = Page {
        site,
        title: &title,
        root: "../",
        above: &[],
        changes: true,
        body: &body,
    };
    page.html()
}

/// Boards, certificates and reports, each with what it says first.
fn listed(documents: &[ListedDocument]) -> Markup {
    let table = html! {
        table {
            thead { tr { th.l scope="col" { "document" } th.l scope="col" { "kind" } th.l scope="col" { "verdict" } } }
            tbody { @for one in documents { tr {
                th.l scope="row" { a href=(one.address) { (line(&one.name)) } }
                td.l { (one.kind) }
                td.l.wide { @if let Some(verdict) = &one.verdict { (line(verdict)) } }
            } } }
        }
    };
    html! { h2 { "Boards, certificates and reports" } (scroll("boards, certificates and reports", &table)) }
}

fn list(experiments: &[&ExperimentEntry], overview: &Overview) -> Markup {
    let table = html! {
        table {
            thead { tr {
                th.l scope="col" { "experiment" } th.l scope="col" { "state" } th scope="col" { "episodes" } th scope="col" { "ended" }
                th scope="col" { "open" } th scope="col" { "unreadable" } th scope="col" { "spent" } th scope="col" { "time left" }
            } }
            tbody { @for experiment in experiments {
                @let totals = Totals::of(experiment);
                @let state = overview.state(&experiment.folder);
                tr {
                    th.l scope="row" { a href={ "x/" (experiment.slug) ".html" } { (line(&experiment.slug)) } }
                    td.l { (super::value::state(state.label(totals.open == 0 && totals.unreadable == 0))) }
                    td { (grouped(experiment.episodes.len())) } td { (grouped(totals.ended)) }
                    td { (grouped(totals.open)) } td { (grouped(totals.unreadable)) }
                    td { (state.spent().unwrap_or_else(|| totals.spent())) }
                    td { @if state.is_running { (totals.time_left.map(duration).unwrap_or_default()) } }
                }
            } }
        }
    };
    html! { h2 { "Experiments" } (scroll("experiments", &table)) }
}

/// What the episodes of an experiment come to.
#[derive(Debug, Default)]
struct Totals {
    ended: usize,
    open: usize,
    unreadable: usize,
    steps: usize,
    closed: usize,
    covered: usize,
    spending: Option<Spending>,
    time_left: Option<Duration>,
}

impl Totals {
    fn of(experiment: &ExperimentEntry) -> Self {
        let mut totals = Self::default();
        for episode in &experiment.episodes {
            let Ok(content) = &episode.content else {
                totals.unreadable += 1;
                continue;
            };
            totals.steps += content.header.window.steps;
            totals.closed += content.closed_steps();
            match &content.progress {
                EpisodeProgress::Finished(summary) => {
                    totals.ended += 1;
                    totals.covered += summary.metrics.days.saturating_sub(summary.counters.uncovered);
                    match &mut totals.spending {
                        Some(spending) => spending.add(&summary.money),
                        None => totals.spending = Some(summary.money.clone()),
                    }
                }
                EpisodeProgress::Unfinished(tail) => {
                    totals.open += 1;
                    totals.covered += tail.closed_step;
                    // Cells run beside each other: the last one to end says when all have.
                    totals.time_left = totals.time_left.max(content.time_left());
                }
            }
        }
        totals
    }

    fn spent(&self) -> String {
        self.spending
            .as_ref()
            .map_or_else(|| "\u{2013}".to_owned(), money)
    }
}

fn grid(site: PageSite, (experiment, state): (&ExperimentEntry, &FolderState), root: &str) -> Markup {
    let totals = Totals::of(experiment);
    html! {
        p.lead {
            (counted(experiment.episodes.len(), "episode")) ": " (totals.ended) " ended, " (totals.open) " open"
            @if 0 < totals.unreadable { ", " (totals.unreadable) " unreadable" }
            "; " (grouped(totals.closed)) " of " (grouped(totals.steps)) " steps, " (grouped(totals.covered)) " of them covered"
            @match state.spent() {
                Some(spent) => { "; spent: " (spent) }
                None => { "; spent in ended ones: " (totals.spent()) }
            }
            @if let Some(budget) = BudgetFile::find(&experiment.folder) {
                @for cap in &budget.caps { ", of " (cap.cap_picodollars) " for " (line(&cap.scope)) }
            }
            @if site.is_live() && 0 < totals.open && !state.is_running { "; nobody runs it now" }
            @if let Some(left) = totals.time_left.filter(|_| state.is_running) { "; about " (duration(left)) " left at the pace so far" }
            "."
        }
        (filters())
        @if !experiment.episodes.is_empty() { (scroll("episodes", &table(site, experiment, root))) }
    }
}

fn documents(experiment: &ExperimentEntry, root: &str) -> Markup {
    html! {
        @if !experiment.boards.is_empty() || !experiment.certificates.is_empty() {
            p {
                @for board in &experiment.boards { a href={ (root) "board/" (board.slug) ".html" } { "Board " (line(&board.slug)) } " " }
                @for one in &experiment.certificates {
                    a href={ (root) "certificate/" (one.slug) ".html" } { "Certificate " (line(&one.slug)) } " "
                }
            }
        }
    }
}

fn filters() -> Markup {
    html! {
        form.filters role="search" data-filter="tbody tr[data-words]" {
            label { "Filter " input type="search" name="words" data-key="filter" placeholder="agent, mask, window, state \u{2026}"; }
            span.count aria-live="polite" {}
        }
    }
}

fn table(site: PageSite, experiment: &ExperimentEntry, root: &str) -> Markup {
    html! {
        table.grid.sortable {
            thead { tr {
                @for head in ["agent", "window", "mask", "mode"] { th.l scope="col" { (head) } }
                th scope="col" { "seed" }
                th.l scope="col" { "state" }
                @for head in ["steps", "return", "drawdown", "orders", "hold", "fallback", "uncovered", "model faults", "infra faults",
                    "tokens", "spent"] { th scope="col" { (head) } }
            } }
            tbody { @for episode in &experiment.episodes { (row(site, episode, root)) } }
        }
    }
}

fn row(site: PageSite, episode: &EpisodeEntry, root: &str) -> Markup {
    let address = format!("{root}e/{}/index.html", episode.slug);
    match &episode.content {
        Ok(content) => readable(site, episode, content, &address),
        Err(what) => html! {
            tr data-words={ (episode.name) " unreadable" } {
                th.l scope="row" colspan="5" { a href=(address) { (line(&episode.name)) } }
                td.l colspan="12" { (unreadable(what)) }
            }
        },
    }
}

fn readable(site: PageSite, episode: &EpisodeEntry, content: &EpisodeContent, address: &str) -> Markup {
    let header = &content.header;
    let mask = format!("{}/{}", header.mask.level_label(), header.mask.numeric.label());
    let (mode, state) = (header.mode.label(), state(site, content));
    let words = [
        &header.agent.id,
        &header.window.id,
        &mask,
        mode,
        state.1.as_str(),
        &episode.name,
    ]
    .join(" ");
    let account = content.summary().and_then(|summary| summary.account.as_ref());
    html! {
        tr data-words=(words) {
            th.l scope="row" { @if site.is_live() { (choice(episode)) " " } a href=(address) { (line(&header.agent.id)) } }
            td.l { (line(&header.window.id)) } td.l { (mask) } td.l { (mode) } td { (header.seed) }
            td.l { span class={ "state " (state.0) } { (line(&state.1)) } }
            td data-value=(content.closed_steps()) { (content.closed_steps()) "/" (header.window.steps) }
            (metric_cell(account.map(|account| &account.total_return), change))
            (metric_cell(account.map(|account| &account.max_drawdown), percent))
            @match content.summary() {
                Some(summary) => {
                    (counts(&summary.counters))
                    (money_cell(&summary.money))
                }
                None => { td.quiet colspan="8" { "counted when it has ended" } }
            }
        }
    }
}

/// The box that chooses an episode to lay beside another one, of whatever experiment.
pub(crate) fn choice(episode: &EpisodeEntry) -> Markup {
    html! { input.choose type="checkbox" value=(episode.slug) aria-label={ "Lay " (episode.name) " beside another" }; }
}

fn counts(counters: &Counters) -> Markup {
    let tokens = counters.prompt_tokens.saturating_add(counters.completion_tokens);
    html! {
        td { (counters.submitted) } td { (counters.hold) } td { (counters.fallback) } td { (counters.uncovered) }
        (count_cell(counters.all_model_faults())) (count_cell(counters.all_infrastructure_faults()))
        (count_cell(usize::try_from(tokens).unwrap_or(usize::MAX)))
    }
}

/// A count, with the number that it sorts by.
fn count_cell(count: usize) -> Markup {
    html! { td data-value=(count) { (grouped(count)) } }
}

/// A metric, with the number that it sorts by.
fn metric_cell(figure: Option<&Metric>, form: fn(f64) -> String) -> Markup {
    let value = figure.and_then(|figure| figure.value);
    html! { td data-value=(value.map(|value| value.to_string()).unwrap_or_default()) { (metric(figure, form)) } }
}

/// Why a cost is no more than a bound.
const BOUND: &str = "an upper bound: for some requests no token counts, or no reply at all, are recorded";

/// What was spent, with the number that it sorts by.
fn money_cell(spending: &Spending) -> Markup {
    let total = spending.total().map(|total| total.0.to_string());
    let is_bound = spending.cost.is_some_and(|cost| cost.is_bound());
    html! { td data-value=(total.unwrap_or_default()) {
        @if is_bound { abbr title=(BOUND) { (money(spending)) } } @else { (money(spending)) }
    } }
}

/// Class and words of a state.
fn state(site: PageSite, content: &EpisodeContent) -> (&'static str, String) {
    match &content.progress {
        EpisodeProgress::Finished(summary) if 0 < summary.counters.uncovered => (
            "partial",
            format!("ended, {} uncovered", summary.counters.uncovered),
        ),
        EpisodeProgress::Finished(summary) if summary.is_whole() => ("ended", "ended".to_owned()),
        EpisodeProgress::Finished(summary) => ("partial", format!("ended: {}", summary.reason)),
        EpisodeProgress::Unfinished(tail) if site.is_live() && !site.is_running => {
            ("partial", format!("stopped at step {}", tail.step))
        }
        EpisodeProgress::Unfinished(tail) => ("open", format!("open at step {}", tail.step)),
    }
}

/// A metric, with the reason where there is none.
pub(crate) fn metric(metric: Option<&Metric>, form: fn(f64) -> String) -> Markup {
    html! {
        @match metric {
            Some(Metric { value: Some(value), .. }) => (form(*value)),
            Some(Metric { reason, .. }) => abbr title=[reason.as_deref()] { "n/a" },
            None => abbr title="private, or not known before the end" { "\u{2013}" },
        }
    }
}

/// What was spent, with a mark where that is a bound or an estimate, or that nobody knows.
pub(crate) fn money(spending: &Spending) -> String {
    spending.text()
}

/// A time in words.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        _ => format!(
            "{} h",
            decimals(
                real(usize::try_from(seconds / 60).unwrap_or(usize::MAX)) / 60.0,
                1
            )
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_faults_are_those_of_reports_with_refused_calls_of_tools() {
        let three = |code: &str| std::collections::BTreeMap::from([(code.to_owned(), 3)]);
        let counters = Counters {
            model_faults: three("no_tool_call"),
            tool_calls_refused: three("unknown_stock"),
            infrastructure_faults: three("timeout"),
            ..Counters::default()
        };
        let cells = counts(&counters).into_string();
        let both = "<td data-value=\"6\">6</td><td data-value=\"3\">3</td>";
        assert!(cells.contains(both), "{cells}");
    }

    #[test]
    fn times_are_short() {
        let shown = [59, 600, 9_000].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(shown, ["59 s", "10 min", "2.5 h"]);
    }
}
