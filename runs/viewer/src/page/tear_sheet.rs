//! One agent of a board on one page: where its return came from, what it leaned on, and what luck alone would have done.

use super::frame::{Page, PageSite};
use super::nav::{NavLine, figure};
use super::ranked_row::RankedRow;
use super::value::{line, unreadable};
use super::{performance, waterfall};
use crate::board::{ConfidenceBin, Known, Track, TrackRow};
use crate::catalogue::ExperimentEntry;
use ktd_view::draw::{basis_points, change, decimals, percent, scroll};
use maud::{Markup, html};

/// The page.
#[must_use]
pub(crate) fn page(
    site: PageSite,
    experiments: &[&ExperimentEntry],
    ranked: RankedRow<'_>,
    has_private: bool,
) -> String {
    let RankedRow {
        document, track, row, ..
    } = ranked;
    let body = html! {
        h1 { (line(&row.agent)) }
        p.lead {
            "Window " (line(&track.window)) ", mask " (line(&track.mask("/"))) ", " (line(&track.mode)) ", "
            (line(row.cohort()))
            @for (place, seed) in row.seeds.iter().enumerate() { @if 0 < place { ", " } @else { ", seeds " } (seed) } ". "
            @if let Some(rank) = row.return_rank { "Rank by return " (rank) ". " }
            @if let Some(rank) = row.alpha_rank {
                "Rank by selection " (rank)
                @if let Some(between) = row.rank_interval { ", plausibly " (between.low) " to " (between.high) }
                "."
            }
        }
        (verdict(row))
        @if has_private && ranked.board.hides_days(&track.window) { p.switch {
            @if site.shows_real { a href="?" { "Show what was shown" } } @else { a.real href="?real=1" { "Show real days" } }
        } }
        section #account { h2 { "Account" } (account(ranked)) }
        (performance::sections(ranked, site))
        section #parts { h2 { "Where the return came from" } (parts(ranked)) }
        section #selection { h2 { "Selection" } (selection(ranked)) }
        section #exposures { h2 { "Exposures" } (ranked.exposures(site)) }
        section #calibration { h2 { "Confidence" } (calibration(ranked)) }
        section #episodes { h2 { "Episodes" } (episodes(experiments, track, row)) }
    };
    let mut above = super::board::above(experiments);
    above.push((
        format!("board/{}.html", document.slug),
        format!("Board {}", document.slug),
    ));
    let page = Page {
        site,
        title: "ktd view: tear sheet",
        root: "../../",
        above: &above,
        changes: false,
        body: &body,
    };
    page.html()
}

fn account(ranked: RankedRow<'_>) -> Markup {
    let Some(curves) = &ranked.row.curves else {
        return ranked.nothing("Nothing was traded.");
    };
    let mut lines = vec![NavLine::of_days(ranked.account_name(), "nav-a", &curves.nav)];
    lines.extend(ranked.market(curves.nav.len()));
    let added: Vec<(&str, &str, Vec<f64>)> = [
        ("selection", "nav-selection", &curves.selection),
        ("market", "nav-a", &curves.common),
        ("style", "nav-style", &curves.style),
        ("other", "nav-other", &curves.other),
    ]
    .into_iter()
    .map(|(name, class, values)| (name, class, values.iter().map(|value| value + 1.0).collect()))
    .collect();
    let parts: Vec<NavLine<'_>> = added
        .iter()
        .map(|(name, class, values)| NavLine::of_days(name, class, values))
        .collect();
    html! {
        (figure(&lines, "No close is known."))
        // An index has no holdings that could be split.
        @if !curves.selection.is_empty() {
            h3 { "What each part added so far" }
            p.lead { "Selection first, with its fall from the highest value below." }
            (figure(&parts, "No day was split."))
        }
    }
}

fn parts(ranked: RankedRow<'_>) -> Markup {
    let row = ranked.row;
    let Some(bases) = &row.attribution else {
        let reason = row
            .unattributed_reason
            .as_deref()
            .unwrap_or("no return could be split");
        return ranked.nothing(reason);
    };
    let parts = &bases.two.carino;
    html! {
        p.lead { "Overnight on the weights before, intraday on the weights after the day's trades; linked by Carino; means over seeds." }
        div.columns {
            div { (waterfall::figure(parts)) }
            @if !parts.styles.is_empty() {
                div { h3 { "Style by style" } (waterfall::styles(&ranked.board.model.styles, parts)) }
            }
        }
    }
}

fn selection(ranked: RankedRow<'_>) -> Markup {
    let Some(selection) = &ranked.row.selection else {
        return ranked.nothing("No selection was measured.");
    };
    let number = |known: Known| {
        known
            .value
            .map_or_else(|| "n/a".to_owned(), |value| decimals(value, 2))
    };
    html! {
        dl.figures {
            div { dt { "selection a day" } dd { (basis_points(selection.a_day)) } }
            @if let Some(between) = selection.interval { div { dt { "95 % interval" } dd { (basis_points(between.low)) " to " (basis_points(between.high)) } } }
            @if let Some(band) = selection.null_band { div { dt { "luck alone, 95 %" } dd { (basis_points(band.low)) " to " (basis_points(band.high)) } } }
            @if let Some(share) = selection.null_percentile { div { dt { "random portfolios below it" } dd { (percent(share)) } } }
            div { dt { "Newey-West t" } dd { (number(selection.newey_west_t)) } }
            div { dt { "deflated Sharpe ratio" } dd { (number(selection.dsr)) } }
            @if let Some(count) = selection.independent_decisions { div { dt { "independent decisions" } dd { (decimals(count, 1)) } } }
        }
    }
}

/// What its selection proves, where that is not skill.
fn verdict(row: &TrackRow) -> Markup {
    let ends = row.selection.as_ref().and_then(|selection| {
        let (interval, band) = (selection.interval?, selection.null_band?);
        Some((interval.low <= 0.0, selection.a_day <= band.high))
    });
    let Some((has_zero, is_luck)) = ends.filter(|(has_zero, is_luck)| *has_zero || *is_luck) else {
        return html! {};
    };
    html! {
        p { b { "This is no proof of skill" } ": " @if has_zero { "the interval of its selection has 0 in it" }
            @if has_zero && is_luck { ", and " }
            @if is_luck { "luck alone reaches as far" } "." }
    }
}

fn calibration(ranked: RankedRow<'_>) -> Markup {
    let reliability = ranked.row.reliability.as_ref();
    let Some(reliability) = reliability.filter(|one| 0 < one.orders) else {
        return ranked.nothing("No order with a stated confidence has a known outcome.");
    };
    let bins = reliability.bins.iter().filter(|bin| 0 < bin.orders);
    let share = |value: Option<f64>| value.map(percent).unwrap_or_default();
    let table = html! {
        table {
            caption { "Orders by stated confidence" }
            thead { tr { th.l scope="col" { "orders" } th scope="col" { "confidence" } th scope="col" { "came true" } th scope="col" { "difference" } } }
            tbody { @for bin in bins { tr {
                th.l scope="row" { (bin.orders) } td { (share(bin.confidence)) } td { (share(bin.accuracy)) } td { (difference(bin)) }
            } } }
        }
    };
    let number = |known: Known| {
        known
            .value
            .map_or_else(|| "n/a".to_owned(), |value| decimals(value, 3))
    };
    html! {
        p { "Expected calibration error " (number(reliability.ece)) ", Brier score " (number(reliability.brier)) ", " (reliability.orders) " orders." }
        (scroll("confidence", &table))
    }
}

fn difference(bin: &ConfidenceBin) -> String {
    match (bin.confidence, bin.accuracy) {
        (Some(confidence), Some(accuracy)) => change(accuracy - confidence),
        _ => String::new(),
    }
}

fn episodes(experiments: &[&ExperimentEntry], track: &Track, row: &TrackRow) -> Markup {
    let all = || experiments.iter().flat_map(|experiment| &experiment.episodes);
    let own = all().filter(|episode| {
        let content = episode.content.as_ref();
        content.is_ok_and(|content| row.holds(track, content))
    });
    let own: Vec<_> = own.collect();
    let damaged = all().filter_map(|episode| Some((episode, episode.content.as_ref().err()?)));
    html! {
        @if own.is_empty() { p.nothing { "None of them lies here." } }
        ul { @for episode in own {
            li { a href={ "../../e/" (episode.slug) "/index.html" } { (line(&episode.name)) } }
        } @for (episode, what) in damaged {
            li { a href={ "../../e/" (episode.slug) "/index.html" } { (line(&episode.name)) } ", of this row or another: " (unreadable(what)) }
        } }
    }
}
