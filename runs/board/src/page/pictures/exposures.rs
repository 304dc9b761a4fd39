//! Picture 6: which styles the portfolios leaned on, on the mean and over time.

use super::{
    Daily, Section, View, card, day_label, figure, legend, mean_of, monthly, months, nothing, numbers,
};
use crate::LeaderboardRow;
use crate::sheet::{self, TableKind};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, TableCell, TableData, decimals, fitted, real, thin};
use maud::{Markup, html};

pub(super) const SECTION: Section = Section {
    id: "exposures",
    title: "6. Exposures to the styles",
    lead: "Mean z-scores of what was held, weighted by shares of the net asset value (cash counts as 0), over invested \
           days; rows of cohorts are means of their agents. Below, day by day, means over seeds.",
};

const WIDTH: f64 = 720.0;
const NAMES: f64 = 186.0;
const ROW: f64 = 24.0;
const HEAD: f64 = 24.0;

/// Exposures that part the steps of the colours: both signs have the same.
const STEPS: [f64; 5] = [0.05, 0.2, 0.4, 0.7, 1.1];
/// Classes below and above zero, the weakest first.
const BELOW: [&str; 5] = ["n1", "n2", "n3", "n4", "n5"];
const ABOVE: [&str; 5] = ["p1", "p2", "p3", "p4", "p5"];

pub(super) fn body(view: View<'_>) -> Markup {
    let table = sheet::table(
        view.board,
        TableKind::Exposures,
        view.track,
        WeightBasis::HEADLINE,
    );
    let styles = &view.board.model.styles;
    if table.rows.is_empty() || styles.is_empty() {
        return nothing("No exposures are known.");
    }
    let description = format!(
        "{} rows by {} styles; each cell shows its number",
        table.rows.len(),
        styles.len()
    );
    html! {
        (figure(&heat(&table, styles), "Mean exposures to the styles", &description))
        (legend(&[
            ("k-n5", "\u{2264} \u{2212}1.1"),
            ("k-n3", "\u{2212}0.4"),
            ("k-z", "about 0"),
            ("k-p3", "0.4"),
            ("k-p5", "\u{2265} 1.1"),
        ]))
        (numbers(&table.html()))
        (daily(view))
    }
}

/// The class of an exposure's cell.
fn step(value: f64) -> &'static str {
    let side = if value < 0.0 { BELOW } else { ABOVE };
    let passed = STEPS
        .iter()
        .zip(side)
        .take_while(|(least, _)| **least <= value.abs());
    passed.last().map_or("z0", |(_, class)| class)
}

fn heat(table: &TableData, styles: &[String]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, real(table.rows.len()).mul_add(ROW, HEAD + 4.0));
    let width = (WIDTH - NAMES - 4.0) / real(styles.len());
    let letters = if width < 48.0 { 6 } else { 10 };
    for (column, style) in styles.iter().enumerate() {
        let middle = real(column).mul_add(width, NAMES + width / 2.0);
        canvas.text(
            "t q",
            Anchor::Middle,
            (middle, HEAD - 8.0),
            &fitted(style, letters),
        );
    }
    for (place, row) in table.rows.iter().enumerate() {
        let top = real(place).mul_add(ROW, HEAD);
        let mut cells = row.iter();
        let (name, kind) = (cells.next(), cells.next());
        let (name, kind) = (
            name.map_or_else(String::new, TableCell::on_page),
            kind.map_or_else(String::new, TableCell::on_page),
        );
        let class = if name.starts_with("mean of ") { "t b" } else { "t" };
        canvas.text(class, Anchor::End, (NAMES - 8.0, top + 16.0), &fitted(&name, 27));
        for ((column, style), cell) in styles.iter().enumerate().zip(cells) {
            let left = real(column).mul_add(width, NAMES);
            let TableCell::Ratio(value) = cell else { continue };
            let told = format!("{name} ({kind}), {style}: {}", decimals(*value, 3));
            canvas.explained(&told, |canvas| {
                let class = step(*value);
                canvas.rect(
                    &format!("heat {class}"),
                    (left + 1.0, top + 1.0),
                    (left + width - 1.0, top + ROW - 1.0),
                );
                let at = (left + width / 2.0, top + 16.0);
                canvas.text(&format!("t on-{class}"), Anchor::Middle, at, &decimals(*value, 2));
            });
        }
    }
    canvas
}

/// Exposures of each agent over time.
fn daily(view: View<'_>) -> Markup {
    let leaders = view.track.leaders.iter();
    let shown: Vec<&LeaderboardRow> = leaders
        .filter(|leader| leader.daily_exposures.iter().any(|series| !series.is_empty()))
        .collect();
    let (styles, dates) = (&view.board.model.styles, &view.track.dates);
    let tables = shown.iter().map(|leader| {
        let series = styles.iter().zip(&leader.daily_exposures);
        let series: Vec<Daily<'_>> = series
            .map(|(style, series)| {
                (
                    style.as_str(),
                    series.as_slice(),
                    TableCell::Ratio as fn(f64) -> TableCell,
                )
            })
            .collect();
        monthly(&leader.agent, dates, &series)
    });
    html! {
        @if !shown.is_empty() {
            h3 { "Day by day" }
            p.lead { "One line a style, about its zero line; all lines of a card have one scale." }
            div.cards { @for leader in &shown { (picture(leader, styles, dates)) } }
            (numbers(&months(tables)))
        }
    }
}

fn picture(leader: &LeaderboardRow, styles: &[String], dates: &[String]) -> Markup {
    let largest = largest(leader);
    let detail = format!("{} \u{b7} \u{b1}{} a row", mean_of(leader), decimals(largest, 1));
    let title = format!("Daily exposures of {}", leader.agent);
    let description = format!("{} styles over {} days", styles.len(), dates.len());
    let drawn = lines(leader, largest, styles, dates);
    card(leader, &detail, &drawn.figure("small", &title, &description))
}

/// The largest exposure of any style on any day, at least a little.
fn largest(leader: &LeaderboardRow) -> f64 {
    let all = leader.daily_exposures.iter().flatten();
    all.filter(|value| value.is_finite())
        .fold(0.1, |most, value| most.max(value.abs()))
}

fn lines(leader: &LeaderboardRow, largest: f64, styles: &[String], dates: &[String]) -> Canvas {
    const STRIP: f64 = 22.0;
    let height = real(styles.len()) * STRIP;
    let mut canvas = Canvas::new(340.0, height + 26.0);
    let days = real(dates.len().max(2));
    let plane = Axes {
        edges: Edges::new(4.0, 44.0, 22.0, 74.0),
        rows: None,
        x: Axis::new(0.0..days, 4, &|day| day_label(dates, day)),
        y: Axis::unseen(0.0..1.0),
    }
    .draw(&mut canvas);
    for (place, (style, series)) in styles.iter().zip(&leader.daily_exposures).enumerate() {
        let zero = real(place).mul_add(STRIP, plane.down.start + STRIP / 2.0);
        let at =
            |(day, value): (usize, &f64)| (plane.x(real(day + 1)), zero - value / largest * STRIP * 0.48);
        canvas.line("gr", (plane.across.start, zero), (plane.across.end, zero));
        canvas.path("expo", &thin(series.iter().enumerate().map(at)));
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 6.0, zero + 4.0),
            &fitted(style, 11),
        );
        if let Some(last) = series.last() {
            canvas.text("t q", Anchor::End, (338.0, zero + 4.0), &decimals(*last, 2));
        }
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_with_the_exposure() {
        let shown = [-3.0, -0.4, -0.01, 0.0, 0.05, 0.69, 0.7, 1.1].map(step);
        assert_eq!(shown, ["n5", "n3", "z0", "z0", "p1", "p3", "p4", "p5"]);
    }
}
