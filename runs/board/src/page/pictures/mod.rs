//! The ten pictures (docs/attribution.md), one file each.

mod calibration;
mod contrasts;
mod curves;
mod exposures;
mod forest;
mod health;
mod leaders;
mod ranks;
mod sensitivity;
mod slope;
mod waterfall;

pub(crate) use leaders::table as leaderboard;

use ktd_view::draw::{Markup, short_hash};
use super::table;
use crate::sheet::{Cell, Sheet};
use crate::{Board, Cohort, Leader, Track};
use ktd_view::table::Align;

/// What a picture is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'b> {
    /// The board.
    pub board: &'b Board,
    /// Its headline.
    pub track: &'b Track,
}

/// One section of the page with a picture.
struct Section {
    /// Its anchor.
    id: &'static str,
    /// Its head.
    title: &'static str,
    /// What it shows and how it is read.
    lead: &'static str,
}

/// Pictures by their anchors and heads, in the order of the page.
pub(crate) const CONTENTS: [(&str, &str); 10] = [
    (leaders::SECTION.id, leaders::SECTION.title),
    (waterfall::SECTION.id, waterfall::SECTION.title),
    (curves::SECTION.id, curves::SECTION.title),
    (slope::SECTION.id, slope::SECTION.title),
    (forest::SECTION.id, forest::SECTION.title),
    (exposures::SECTION.id, exposures::SECTION.title),
    (calibration::SECTION.id, calibration::SECTION.title),
    (health::SECTION.id, health::SECTION.title),
    (sensitivity::SECTION.id, sensitivity::SECTION.title),
    (contrasts::SECTION.id, contrasts::SECTION.title),
];

/// Writes all ten.
pub(crate) fn write(page: &mut Markup, view: View<'_>) {
    leaders::SECTION.write(page, view, leaders::write);
    waterfall::SECTION.write(page, view, waterfall::write);
    curves::SECTION.write(page, view, curves::write);
    slope::SECTION.write(page, view, slope::write);
    forest::SECTION.write(page, view, forest::write);
    exposures::SECTION.write(page, view, exposures::write);
    calibration::SECTION.write(page, view, calibration::write);
    health::SECTION.write(page, view, health::write);
    sensitivity::SECTION.write(page, view, sensitivity::write);
    contrasts::SECTION.write(page, view, contrasts::write);
}

impl Section {
    fn write(&self, page: &mut Markup, view: View<'_>, body: fn(&mut Markup, View<'_>)) {
        page.element("section", &[("id", self.id)], |page| {
            page.leaf("h2", &[], self.title);
            page.leaf("p", &[("class", "lead")], self.lead);
            body(page, view);
            page.leaf("p", &[("class", "source")], &source(view));
        });
    }
}

/// What the numbers of a picture come from, so that it can be quoted alone.
fn source(View { board, track }: View<'_>) -> String {
    let mut seeds: Vec<u64> = track
        .leaders
        .iter()
        .flat_map(|leader| leader.seeds.iter().copied())
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let seeds = if seeds.is_empty() {
        "none".to_owned()
    } else {
        seeds.join(", ")
    };
    format!(
        "Data {} \u{b7} metrics {} \u{b7} fit {} \u{b7} seeds {seeds} \u{b7} {} resamples, seed {}. For programs: \
         leaderboard.json and tables/*.csv.",
        short_hash(&board.protocol.data),
        short_hash(&board.protocol.metrics),
        short_hash(&board.model.fit_sha256),
        ktd_view::table::grouped(board.resampling.replicates),
        board.resampling.seed,
    )
}

/// The numbers of a picture, folded away.
fn numbers(page: &mut Markup, inner: impl FnOnce(&mut Markup)) {
    page.element("details", &[("class", "numbers")], |page| {
        page.leaf("summary", &[], "The numbers");
        inner(page);
    });
}

/// A picture as wide as the page.
fn figure(page: &mut Markup, canvas: ktd_view::draw::Canvas, title: &str, description: &str) {
    let attributes = [
        ("class", "scroll picture"),
        ("role", "region"),
        ("tabindex", "0"),
        ("aria-label", title),
    ];
    page.element("div", &attributes, |page| {
        canvas.write(page, "wide", title, description);
    });
}

/// Several pictures side by side, one an agent.
fn cards(page: &mut Markup, inner: impl FnOnce(&mut Markup)) {
    page.element("div", &[("class", "cards")], inner);
}

/// One of them, under the agent's name.
fn card(page: &mut Markup, leader: &Leader, detail: &str, inner: impl FnOnce(&mut Markup)) {
    page.element("figure", &[("class", "card")], |page| {
        page.element("figcaption", &[], |page| {
            page.leaf("bdi", &[("class", "agent")], &leader.agent);
            page.leaf("span", &[("class", "tag")], kind(leader.cohort));
            page.leaf("span", &[("class", "detail")], detail);
        });
        inner(page);
    });
}

/// Colours and marks in words.
fn legend(page: &mut Markup, entries: &[(&'static str, &str)]) {
    page.element("ul", &[("class", "legend")], |page| {
        for (class, text) in entries {
            page.element("li", &[], |page| {
                page.leaf("span", &[("class", class)], "");
                page.text(text);
            });
        }
    });
}

/// A line instead of a picture that has nothing to show.
fn nothing(page: &mut Markup, why: &str) {
    page.leaf("p", &[("class", "nothing")], why);
}

/// What an agent is, in a word.
pub(crate) const fn kind(cohort: Cohort) -> &'static str {
    match cohort {
        Cohort::Model => "model",
        Cohort::Builtin => "built-in",
        Cohort::Control => "control",
        Cohort::Reference => "reference",
    }
}

/// Whether it stands below the ranked.
pub(crate) const fn is_set_apart(leader: &Leader) -> bool {
    matches!(leader.cohort, Cohort::Control | Cohort::Reference)
}

/// The ranked agents, best first.
fn ranked(track: &Track) -> impl Iterator<Item = &Leader> + Clone {
    track.leaders.iter().filter(|leader| leader.alpha_rank.is_some())
}

/// Places of the last day of each month: daily numbers are shown for these days alone.
fn month_ends(dates: &[String]) -> Vec<usize> {
    let month = |date: &String| date.get(..7).map(str::to_owned);
    (0..dates.len())
        .filter(|place| {
            let next = dates.get(place + 1).and_then(month);
            next.is_none() || next != dates.get(*place).and_then(month)
        })
        .collect()
}

/// A daily series: its name, its values and how a value is shown.
type Daily<'a> = (&'a str, &'a [f64], fn(f64) -> Cell);

/// A table of daily series at the last day of each month.
fn monthly(title: &str, dates: &[String], series: &[Daily<'_>]) -> Sheet {
    let columns = std::iter::once(("month's last day".to_owned(), Align::Left))
        .chain(series.iter().map(|(name, ..)| ((*name).to_owned(), Align::Right)));
    let row = |place: usize| {
        let date = Cell::Text(dates.get(place).cloned().unwrap_or_default());
        let cells = series
            .iter()
            .map(|(_, values, form)| values.get(place).copied().map_or(Cell::Empty, form));
        std::iter::once(date).chain(cells).collect()
    };
    Sheet {
        title: title.to_owned(),
        columns: columns.collect(),
        rows: month_ends(dates).into_iter().map(row).collect(),
        notes: Vec::new(),
    }
}

/// Tables by month side by side.
fn months(page: &mut Markup, inner: impl FnOnce(&mut Markup)) {
    page.element("div", &[("class", "months")], inner);
}

/// Writes a table of daily series at the last day of each month.
fn monthly_table(page: &mut Markup, title: &str, dates: &[String], series: &[Daily<'_>]) {
    table::plain(page, &monthly(title, dates, series));
}

/// The month of a day, by its place: a label of an axis on which the first day is 1 and 0 lies before it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, and held between 0 and the number of days"
)]
fn day_label(dates: &[String], value: f64) -> String {
    let days = ktd_view::draw::real(dates.len());
    let is_day = (value - value.round()).abs() < 1e-6 && 0.0 <= value && value <= days;
    let place = if is_day {
        (value.round() as usize).max(1) - 1
    } else {
        return String::new();
    };
    let date = dates.get(place).map_or("", String::as_str);
    // Months suffice on a long window.
    let digits = if 90 < dates.len() { 7 } else { 10 };
    date.get(..digits).unwrap_or(date).to_owned()
}
