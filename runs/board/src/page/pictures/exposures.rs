//! Picture 6: which styles the portfolios leaned on, on the mean and over time.

use super::{Daily, Heading, Picture, View, card, day_label, mean_of, monthly, months, numbers};
use crate::LeaderboardRow;
use crate::sheet::{self, TableKind};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, TableCell, decimals, fitted, real, thin};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "exposures",
    title: "Exposures to the styles",
    lead: "Mean z-scores of what was held, weighted by shares of the net asset value (cash counts as 0), over invested \
           days; rows of cohorts are means of their agents. Below, day by day, means over seeds.",
};

pub(super) fn body(view: View<'_>) -> Picture {
    let table = sheet::table(
        view.board,
        TableKind::Exposures,
        view.track,
        WeightBasis::HEADLINE,
    );
    let styles = &view.board.model.styles;
    if table.rows.is_empty() || styles.is_empty() {
        return Err("No exposures are known.");
    }
    Ok(html! {
        (table.html())
        (daily(view))
    })
}

/// Exposures of each agent over time.
fn daily(view: View<'_>) -> Markup {
    let leaders = view.track.leaders.iter();
    let shown: Vec<&LeaderboardRow> = leaders
        .filter(|leader| leader.daily_exposures.iter().flatten().any(Option::is_some))
        .collect();
    let (styles, dates) = (&view.board.model.styles, &view.track.dates);
    let tables = shown.iter().map(|leader| {
        let series = styles.iter().zip(&leader.daily_exposures);
        // A table says of what is no number that it is not known.
        let number = |day: &Option<f64>| day.unwrap_or(f64::NAN);
        let known: Vec<(&str, Vec<f64>)> = series
            .map(|(style, series)| (style.as_str(), series.iter().map(number).collect()))
            .collect();
        let series: Vec<Daily<'_>> = known
            .iter()
            .map(|(style, series)| {
                (
                    *style,
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
    let all = leader.daily_exposures.iter().flatten().flatten();
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
        let at = |(day, value): &(usize, Option<f64>)| {
            let value = value.unwrap_or(f64::NAN);
            (plane.x(real(day + 1)), zero - value / largest * STRIP * 0.48)
        };
        let days: Vec<(usize, Option<f64>)> = series.iter().copied().enumerate().collect();
        canvas.line("gr", (plane.across.start, zero), (plane.across.end, zero));
        // No line goes through days on which nothing is known.
        for known in days.split(|(_, value)| value.is_none()) {
            canvas.path("expo", &thin(known.iter().map(at)));
        }
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 6.0, zero + 4.0),
            &fitted(style, 11),
        );
        if let Some(Some(last)) = series.last() {
            canvas.text("t q", Anchor::End, (338.0, zero + 4.0), &decimals(*last, 2));
        }
    }
    canvas
}
