//! The ten sections of the page, one file each.

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

pub(crate) use leaders::on_page as leaderboard;
pub(crate) use ranks::of_pooled as pooled_ranks;

use crate::conceal::{CLOSED, is_concealed};
use crate::days::is_numbered;
use crate::{Leaderboard, LeaderboardRow, Track};
use ktd_study::Section;
use ktd_view::draw::{Align, Canvas, TableCell, TableData, grouped, line_key, real, scroll, short_hash};
use maud::{Markup, html};

/// What a picture is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'b> {
    /// The board.
    pub board: &'b Leaderboard,
    /// Its headline.
    pub track: &'b Track,
}

/// What a section of the page begins with.
#[derive(Debug, Clone, Copy)]
struct Heading {
    /// Its anchor.
    id: &'static str,
    /// Its head.
    title: &'static str,
    /// What it shows and how it is read.
    lead: &'static str,
}

/// A section's picture, or why there is none.
type Picture = Result<Markup, &'static str>;
/// What draws it.
type Draw = fn(View<'_>) -> Picture;

/// Those of the ten that show something, in the order of the page; what the others lack is a section of its own after them.
pub(crate) fn all(view: View<'_>) -> Vec<Section> {
    let sections: [(Heading, Draw); 10] = [
        (leaders::SECTION, leaders::body),
        (waterfall::SECTION, waterfall::body),
        (curves::SECTION, curves::body),
        (slope::SECTION, slope::body),
        (forest::SECTION, forest::body),
        (exposures::SECTION, exposures::body),
        (calibration::SECTION, calibration::body),
        (health::SECTION, health::body),
        (sensitivity::SECTION, sensitivity::body),
        (contrasts::SECTION, contrasts::body),
    ];
    let mut shown = Vec::new();
    let mut absent: Vec<(&str, &str)> = Vec::new();
    for (heading, body) in sections {
        match body(view) {
            Ok(picture) => {
                let source = html! { p.source { (source(view)) } };
                let section = Section::new(heading.title).at(heading.id, heading.lead);
                shown.push(section.picture(picture).picture(source));
            }
            Err(_) if is_concealed(view.board) => absent.push((heading.title, CLOSED)),
            Err(why) => absent.push((heading.title, why)),
        }
    }
    let list = html! { dl { @for (title, why) in &absent { dt { (title) } dd { (why) } } } };
    let section = Section::new("What is not shown").at("absent", "");
    shown.extend((!absent.is_empty()).then(|| section.picture(list)));
    shown
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
    let fit = if is_concealed(board) {
        CLOSED.to_owned()
    } else {
        short_hash(&board.model.fit_sha256)
    };
    format!(
        "Data {} \u{b7} metrics {} \u{b7} fit {fit} \u{b7} seeds {seeds} \u{b7} {} random turns, seed {}. For programs: \
         leaderboard.json and tables/*.csv.",
        short_hash(&board.protocol.data),
        short_hash(&board.protocol.metrics),
        grouped(super::count(board.resampling.replicates)),
        board.resampling.seed,
    )
}

/// The numbers of a picture, folded away.
fn numbers(tables: &Markup) -> Markup {
    html! { details.numbers { summary { "The numbers" } (tables) } }
}

/// A picture as wide as the page.
fn figure(canvas: &Canvas, title: &str, description: &str) -> Markup {
    scroll(title, &canvas.figure("wide", title, description))
}

/// A picture of one agent, under its name.
fn card(leader: &LeaderboardRow, detail: &str, inner: &Markup) -> Markup {
    html! {
        figure.card {
            figcaption {
                bdi.agent { (leader.agent) }
                span.tag { (leader.cohort.label()) }
                span.detail { (detail) }
            }
            (inner)
        }
    }
}

/// Colours and marks in words: a mark by a class of legends, `k-dot`, and a line by the class that its curve has.
fn legend(entries: &[(&'static str, &str)]) -> Markup {
    html! {
        ul.legend { @for (class, text) in entries { li {
            @if class.starts_with("k-") { span class=(class) {} } @else { (line_key(class)) }
            (text)
        } } }
    }
}

/// A line instead of a picture that has nothing to show.
fn nothing(why: &str) -> Markup {
    html! { p.nothing { (why) } }
}

/// Of which seeds a daily series is the mean; a reference has none.
fn mean_of(leader: &LeaderboardRow) -> String {
    match leader.seeds.as_slice() {
        [] => "no seeds".to_owned(),
        [seed] => format!("seed {seed}"),
        seeds => format!("mean of {} seeds", seeds.len()),
    }
}

/// Whether it stands below the ranked.
pub(crate) const fn is_set_apart(leader: &LeaderboardRow) -> bool {
    leader.alpha_rank.is_none()
}

/// The ranked agents, best first.
pub(crate) fn ranked(track: &Track) -> impl Iterator<Item = &LeaderboardRow> + Clone {
    track.leaders.iter().filter(|leader| leader.alpha_rank.is_some())
}

/// Places of the last day of each month, and of the last one: daily numbers are shown for these days alone.
fn month_ends(dates: &[String]) -> impl Iterator<Item = usize> {
    let named = dates.iter().all(|date| !is_numbered(date));
    let months = ktd_view::draw::months(dates.len(), if named { dates } else { &[] });
    months.into_iter().map(|month| month.end() - 1)
}

/// A daily series: its name, its values and how a value is shown.
type Daily<'a> = (&'a str, &'a [f64], fn(f64) -> TableCell);

/// A table of daily series at the last day of each month.
fn monthly(title: &str, dates: &[String], series: &[Daily<'_>]) -> TableData {
    let names = series.iter().map(|(name, ..)| (*name, Align::Right));
    let row = |place: usize| {
        let date = TableCell::Text(dates.get(place).cloned().unwrap_or_default());
        let cells = series
            .iter()
            .map(|(_, values, form)| values.get(place).copied().map_or(TableCell::Empty, form));
        std::iter::once(date).chain(cells).collect()
    };
    let head = if dates.first().is_some_and(|date| is_numbered(date)) {
        "day"
    } else {
        "month's last day"
    };
    TableData::new(title, std::iter::once((head, Align::Left)).chain(names))
        .with_rows(month_ends(dates).map(row))
}

/// Tables of daily series side by side.
fn months(tables: impl IntoIterator<Item = TableData>) -> Markup {
    html! { div.months { @for table in tables { div { (table.html()) } } } }
}

/// The month of a day, by its place: a label of an axis on which the first day is 1 and 0 lies before it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, and held between 0 and the number of days"
)]
fn day_label(dates: &[String], value: f64) -> String {
    let days = real(dates.len());
    let is_day = (value - value.round()).abs() < 1e-6 && 0.0 <= value && value <= days;
    let place = if is_day {
        (value.round() as usize).max(1) - 1
    } else {
        return String::new();
    };
    let date = dates.get(place).map_or("", String::as_str);
    // Months suffice on a long window.
    let digits = if 90 < dates.len() && !is_numbered(date) {
        7
    } else {
        10
    };
    date.get(..digits).unwrap_or(date).to_owned()
}
