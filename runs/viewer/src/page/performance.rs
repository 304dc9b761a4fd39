//! How an account fared by months, in its worst falls, over rolling days and from day to day.

use super::exposures::shade;
use super::frame::PageSite;
use super::nav::{AXIS_NAME, name_steps};
use super::ranked_row::RankedRow;
use super::value::line;
use crate::performance::{
    Fall, change_over, daily_returns, falls, rolling_beta, rolling_days, rolling_sharpe, spread,
};
use ktd_view::draw::{
    Axes, Axis, Canvas, Edges, MONTH_DAYS, axis_percent, change, decimals, months, padded, real, scroll,
};
use maud::{Markup, html};
use std::ops::RangeInclusive;

/// Falls that are listed.
const FALLS: usize = 5;
const WIDTH: f64 = 900.0;
const STRIP: f64 = 120.0;
const LEFT: f64 = 52.0;
/// A month's return of 3 % is as dark as an exposure of 0.6.
const SHADE_OF_RETURN: f64 = 20.0;

/// An account with what it is held against, and the days of both where they may be named.
struct DailyAccount<'a> {
    name: &'static str,
    /// Seeds of which it is the mean.
    seeds: usize,
    values: &'a [f64],
    index: Option<(&'a str, &'a [f64])>,
    dates: &'a [String],
}

/// The sections of a row that traded; none of another. Without days they are called by their steps.
pub(super) fn sections(ranked: RankedRow<'_>, site: PageSite) -> Markup {
    let Some(curves) = ranked.row.curves.as_ref().filter(|curves| !curves.nav.is_empty()) else {
        return html! {};
    };
    let track = ranked.track;
    let price_index = track
        .price_index_name
        .as_deref()
        .map(|name| (name, track.price_index.as_slice()));
    // Excess return is measured against the benchmark: a price index, which leaves dividends out, stands in where that has a gap.
    let indices = [
        Some((track.benchmark_name.as_str(), track.benchmark.as_slice())),
        price_index,
    ];
    let account = DailyAccount {
        name: ranked.account_name(),
        seeds: ranked.row.seeds.len(),
        values: &curves.nav,
        index: indices
            .into_iter()
            .flatten()
            .find(|(_, values)| values.len() == curves.nav.len()),
        dates: ranked.dates(site),
    };
    html! {
        section #months { h2 { "Months" } (account.months()) }
        section #rolling { h2 { "Rolling Sharpe ratio and beta" } (account.rolling()) }
        section #falls { h2 { "Worst drawdowns" } (account.falls()) }
        section #spread { h2 { "Daily returns" } (account.spread()) }
    }
}

impl DailyAccount<'_> {
    /// What figures are of that are no means of those of its seeds.
    fn of_seeds(&self) -> Markup {
        html! { @if 1 < self.seeds { "Of the mean over its " (self.seeds) " seeds." } }
    }

    /// What a step is called.
    fn day(&self, step: usize) -> String {
        let date = step.checked_sub(1).and_then(|place| self.dates.get(place));
        date.cloned().unwrap_or_else(|| format!("step {step}"))
    }

    fn month(&self, steps: &RangeInclusive<usize>) -> String {
        if steps.start() == steps.end() && self.dates.is_empty() {
            self.day(*steps.start())
        } else if self.dates.is_empty() {
            format!("steps {}\u{2013}{}", steps.start(), steps.end())
        } else {
            self.day(*steps.start()).chars().take(7).collect()
        }
    }

    fn months(&self) -> Markup {
        let months = months(self.values.len(), self.dates);
        let rows: Vec<(&str, &[f64])> = std::iter::once((self.name, self.values))
            .chain(self.index)
            .collect();
        // Twelve blocks stand in a row, or the months of a calendar's year.
        let year = |month: &RangeInclusive<usize>, place: usize| {
            if self.dates.is_empty() {
                let last = months.iter().skip(place / 12 * 12).take(12).next_back();
                let first = months.get(place / 12 * 12).unwrap_or(month);
                self.month(&(*first.start()..=*last.unwrap_or(month).end()))
            } else {
                self.day(*month.start()).chars().take(4).collect()
            }
        };
        let mut years: Vec<(String, Vec<&RangeInclusive<usize>>)> = Vec::new();
        for (place, month) in months.iter().enumerate() {
            let name = year(month, place);
            match years.last_mut() {
                Some((known, own)) if *known == name => own.push(month),
                _ => years.push((name, vec![month])),
            }
        }
        html! {
            p.lead { @if self.dates.is_empty() { "Blocks of 21 trading days, because a mask hides which months they are." }
                @else { "Calendar months; the first and the last may be parts of one." } }
            @for (name, months) in &years { (scroll(&format!("returns of {name}"), &self.year(name, months, &rows))) }
        }
    }

    fn year(&self, name: &str, months: &[&RangeInclusive<usize>], rows: &[(&str, &[f64])]) -> Markup {
        let whole = months
            .first()
            .zip(months.last())
            .map(|(first, last)| *first.start()..=*last.end());
        let cell = |values: &[f64], steps: &RangeInclusive<usize>| {
            let value = change_over(values, steps);
            html! { td class=[value.and_then(|value| shade(value * SHADE_OF_RETURN))] { (value.map(change).unwrap_or_default()) } }
        };
        html! {
            table.months {
                caption { (name) }
                thead { tr { th.l scope="col" { @if self.dates.is_empty() { "steps" } @else { "month" } }
                    @for month in months { th scope="col" { (self.month(month).trim_start_matches("steps ").trim_start_matches("step ")) } } th scope="col" { "together" } } }
                tbody { @for (name, values) in rows { tr {
                    th.l scope="row" { (line(name)) }
                    @for month in months { (cell(values, month)) }
                    @if let Some(whole) = &whole { (cell(values, whole)) }
                } } }
            }
        }
    }

    fn rolling(&self) -> Markup {
        let Some(length) = rolling_days(self.values.len()) else {
            return html! { p.nothing { "The window has fewer than 42 trading days." } };
        };
        let returns = daily_returns(self.values);
        let beta = self
            .index
            .map(|(name, values)| (name, rolling_beta(&returns, &daily_returns(values), length)));
        let mut strips = vec![("Sharpe", "nav-a", rolling_sharpe(&returns, length))];
        strips.extend(beta.as_ref().map(|(_, runs)| ("beta", "nav-b", runs.clone())));
        let last = real(self.values.len());
        let mut canvas = Canvas::new(WIDTH, real(strips.len()).mul_add(STRIP, 16.0 + AXIS_NAME));
        for (place, (name, class, runs)) in strips.iter().enumerate() {
            let is_last = place + 1 == strips.len();
            let top = real(place) * STRIP;
            let values = padded(runs.iter().flatten().map(|(_, value)| *value), 0.0);
            let places = match values.end - values.start {
                wide if 0.5 <= wide => 1,
                middle if 0.05 <= middle => 2,
                _ => 3,
            };
            let plane = Axes {
                edges: Edges::new(14.0, 10.0, if is_last { 22.0 } else { 6.0 }, LEFT),
                rows: Some((top, top + STRIP + if is_last { 16.0 } else { 0.0 })),
                x: Axis::new(0.0..last, if is_last { 8 } else { 0 }, &|step| {
                    format!("{step:.0}")
                }),
                y: Axis::new(values, 4, &|value| decimals(value, places)),
            }
            .draw(&mut canvas);
            canvas.text(
                "tk",
                ktd_view::draw::Anchor::Start,
                (LEFT + 4.0, top + 11.0),
                name,
            );
            canvas.line("zero", plane.at(0.0, 0.0), plane.at(last, 0.0));
            for run in runs {
                let points = run.iter().map(|(step, value)| plane.at(real(*step), *value));
                canvas.path(class, &points.collect::<Vec<_>>());
            }
        }
        name_steps(&mut canvas, LEFT);
        html! {
            p.lead { "Over the " (length) " trading days up to each step: the Sharpe ratio of a year, riskless rate 0"
                @if let Some((name, _)) = &beta { ", and the slope of daily returns on those of " (line(name)) } ". "
                (self.of_seeds()) }
            (scroll("rolling figures", &canvas.figure("wide", "Rolling Sharpe ratio and beta", "by step; Sharpe ratio above, beta below")))
        }
    }

    fn falls(&self) -> Markup {
        let falls = falls(self.values);
        if falls.is_empty() {
            return html! { p.nothing { "The account never fell below its highest value." } };
        }
        let row = |fall: &Fall| {
            html! { tr {
                th.l scope="row" { (change(fall.depth)) }
                td.l { (self.day(fall.begin)) } td.l { (self.day(fall.low)) }
                td.l { @match fall.recovered { Some(step) => (self.day(step)), None => "not by the end" } }
                td { (fall.days) }
            } }
        };
        let table = html! { table {
            thead { tr { th.l scope="col" { "depth" } th.l scope="col" { "first day below" } th.l scope="col" { "lowest" }
                th.l scope="col" { "recovered" } th scope="col" { "days below" } } }
            tbody { @for fall in falls.iter().take(FALLS) { (row(fall)) } }
        } };
        let shown = falls.len().min(FALLS);
        html! {
            p.lead { "From the highest close so far; the " (shown) " deepest of " (falls.len()) ". " (self.of_seeds()) }
            (scroll("drawdowns", &table))
        }
    }

    fn spread(&self) -> Markup {
        let returns = daily_returns(self.values);
        let by_month = months(self.values.len(), self.dates);
        // The last block may be of one day: the best and the worst are of whole ones, and called by their days.
        let is_whole = |steps: &&RangeInclusive<usize>| {
            !self.dates.is_empty() || steps.end() - steps.start() + 1 == MONTH_DAYS
        };
        let of_months = by_month
            .iter()
            .filter(is_whole)
            .filter_map(|steps| Some((self.month(steps), change_over(self.values, steps)?)));
        let of_days = returns
            .iter()
            .zip(1..)
            .map(|(value, step)| (self.day(step), *value));
        let month = if self.dates.is_empty() {
            format!("block of {MONTH_DAYS} days")
        } else {
            "month".to_owned()
        };
        let gained = returns.iter().filter(|value| 0.0 < **value).count();
        html! {
            @if 1 < self.seeds { p.lead { (self.of_seeds()) } }
            dl.figures {
                (ends("day", of_days.collect())) (ends(&month, of_months.collect()))
                div { dt { "days with a gain" } dd { (gained) " of " (returns.len()) } }
            }
            (scroll("daily returns", &histogram(&returns)))
        }
    }
}

/// The best and the worst of named returns; nothing of one alone, which is neither.
fn ends(what: &str, mut named: Vec<(String, f64)>) -> Markup {
    if named.len() < 2 {
        return html! {};
    }
    named.sort_by(|one, other| one.1.total_cmp(&other.1));
    html! { @for (kind, found) in [("best", named.last()), ("worst", named.first())] { @if let Some((name, value)) = found {
        div { dt { (kind) " " (what) } dd { (change(*value)) " " span.quiet { (name) } } }
    } } }
}

fn histogram(returns: &[f64]) -> Markup {
    let parts = spread(returns);
    let ends = parts
        .first()
        .zip(parts.last())
        .map_or(0.0..1.0, |(first, last)| first.0.start..last.0.end);
    let step = (ends.end - ends.start) / 8.0;
    let most = parts.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let mut canvas = Canvas::new(WIDTH, 200.0);
    let plane = Axes {
        edges: Edges::new(8.0, 10.0, 22.0, LEFT),
        rows: None,
        x: Axis::new(ends, 10, &|value| axis_percent(value, step)),
        y: Axis::new(0.0..real(most.max(1)) * 1.05, 4, &|value| decimals(value, 0)),
    }
    .draw(&mut canvas);
    for (part, count) in parts.iter().filter(|(_, count)| 0 < *count) {
        let class = if part.start < 0.0 { "neg" } else { "pos" };
        let words = format!("{} to {}: {count} days", change(part.start), change(part.end));
        canvas.explained(&words, |canvas| {
            canvas.rect(class, plane.at(part.start, 0.0), plane.at(part.end, real(*count)));
        });
    }
    canvas.figure("wide", "Daily returns", "how many days had a return of each size")
}
