//! Picture 8: how the factor model fared.

use super::{Heading, Picture, View, day_label, figure, monthly, months, nothing, numbers};
use crate::{DateBounds, FactorVif, ModelHealth, ModelRecord};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Column, Edges, TableCell, TableData, basis_points, counted, decimals, joined,
    padded, portion, real, thin,
};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "health",
    title: "Health of the factor model",
    lead: "A split is worth what its model is worth: how much of a day's returns the factors explain, on how many names \
           it rests, and how often a factor says anything.",
};

const WIDTH: f64 = 720.0;
const STRIP: f64 = 92.0;
const LEFT: f64 = 64.0;

pub(super) fn body(View { board, .. }: View<'_>) -> Picture {
    let health = &board.health;
    if health.dates.is_empty() && health.factors.is_empty() {
        return Err("No day was fitted.");
    }
    let days = format!(
        "R squared, names and imputed exposures on each of {} days",
        health.dates.len()
    );
    let (names, imputed) = (counts(&health.names), counts(&health.imputed));
    let fits = monthly(
        "Daily fits",
        &health.dates,
        &[
            ("R\u{b2}", &health.r_squared, TableCell::Fine),
            ("names", &names, whole),
            ("imputed", &imputed, whole),
        ],
    );
    Ok(html! {
        p { (in_words(health)) }
        @if !health.dates.is_empty() { (figure(&daily(health), "Daily fits", &days)) }
        @if !health.factors.is_empty() {
            h3 { "How often each factor says anything" }
            p.lead { "Share of days with |t| above 2; NW t is that of the mean factor return." }
            (figure(
                &telling(health),
                "Share of telling days by factor",
                "Share of days on which the absolute t of a factor is above 2, by factor",
            ))
        }
        (numbers(&html! { (factors(health).html()) (months([fits])) }))
        (screen(&board.model))
    })
}

fn counts(values: &[usize]) -> Vec<f64> {
    values.iter().map(|count| real(*count)).collect()
}

fn whole(value: f64) -> TableCell {
    TableCell::Text(decimals(value, 0))
}

fn in_words(health: &ModelHealth) -> String {
    let days = health.r_squared.iter().filter(|value| value.is_finite());
    let count = days.clone().count();
    let mean = days.sum::<f64>() / real(count.max(1));
    let thin = match health.thin_days {
        0 => "no day was too thin to fit".to_owned(),
        days => format!(
            "{} too thin to fit, whose returns are unattributed",
            counted(days, "day")
        ),
    };
    format!(
        "{} with a mean R\u{b2} of {}; {thin}.",
        counted(health.dates.len(), "day"),
        decimals(mean, 3)
    )
}

fn daily(health: &ModelHealth) -> Canvas {
    let strips: [(&str, Vec<f64>, usize); 3] = [
        ("R\u{b2}", health.r_squared.clone(), 2),
        ("names", counts(&health.names), 0),
        ("imputed", counts(&health.imputed), 0),
    ];
    let mut canvas = Canvas::new(WIDTH, real(strips.len()).mul_add(STRIP, 16.0));
    let days = real(health.dates.len().max(2));
    for (place, (name, values, places)) in strips.iter().enumerate() {
        let is_last = place + 1 == strips.len();
        let top = real(place) * STRIP;
        let bottom = if is_last { 22.0 } else { 6.0 };
        let plane = Axes {
            edges: Edges::new(8.0, 12.0, bottom, LEFT),
            rows: Some((top, top + STRIP + if is_last { 16.0 } else { 0.0 })),
            x: Axis::new(0.0..days, if is_last { 8 } else { 0 }, &|day| {
                day_label(&health.dates, day)
            }),
            y: Axis::new(padded(values.iter().copied(), 0.0), 3, &|value| {
                decimals(value, *places)
            }),
        }
        .draw(&mut canvas);
        canvas.upright(
            "tk",
            Anchor::Middle,
            (12.0, f64::midpoint(plane.down.start, plane.down.end)),
            name,
        );
        let points = values
            .iter()
            .enumerate()
            .map(|(day, value)| plane.at(real(day + 1), *value));
        canvas.path("line", &thin(points));
    }
    canvas
}

fn telling(health: &ModelHealth) -> Canvas {
    const ROW: f64 = 20.0;
    let count = real(health.factors.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 26.0));
    let plane = Axes {
        edges: Edges::new(2.0, 190.0, 24.0, 110.0),
        rows: None,
        x: Axis::new(0.0..1.0, 5, &|value| format!("{} %", decimals(value * 100.0, 0))),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    for (place, factor) in health.factors.iter().enumerate() {
        let top = plane.down.start + real(place) * ROW;
        let base = top + ROW / 2.0 + 4.0;
        canvas.text("t", Anchor::End, (plane.across.start - 6.0, base), &factor.name);
        let share = if factor.significant_share.is_finite() {
            factor.significant_share
        } else {
            0.0
        };
        canvas.rect(
            "bar",
            (plane.x(0.0), top + 4.0),
            (plane.x(share), top + ROW - 4.0),
        );
        let t = factor
            .newey_west_t
            .map_or_else(|| "n/a".to_owned(), |t| decimals(t, 1));
        let beside = format!(
            "{}, mean |t| {}, NW t {t}",
            portion(factor.significant_share),
            decimals(factor.mean_abs_t, 1)
        );
        canvas.text("t q", Anchor::Start, (plane.across.end + 10.0, base), &beside);
    }
    canvas
}

fn factors(health: &ModelHealth) -> TableData {
    let heads = [
        ("factor", Left),
        ("mean daily return", Right),
        ("NW t", Right),
        ("mean |t|", Right),
        ("days with |t| > 2", Right),
        ("days dropped", Right),
    ];
    let rows = health.factors.iter().map(|factor| {
        vec![
            TableCell::Text(factor.name.clone()),
            TableCell::Text(basis_points(factor.mean_return)),
            TableCell::optional(factor.newey_west_t, TableCell::Ratio),
            TableCell::Ratio(factor.mean_abs_t),
            TableCell::Percent(factor.significant_share),
            TableCell::Count(factor.dropped_days),
        ]
    });
    TableData::new("Factors", heads)
        .with_rows(rows)
        .with_note("NW t: Newey\u{2013}West t of the mean daily factor return (Fama\u{2013}MacBeth).")
}

/// The path of the VIF screen: a column a round.
fn screen(model: &ModelRecord) -> Markup {
    html! {
        h3 { "VIF screen" }
        @if model.vif_path.is_empty() {
            (nothing("The factors were not screened."))
        } @else {
            p { (screened(model)) }
            (path(model).html())
        }
    }
}

fn screened(model: &ModelRecord) -> String {
    let window = model.calibration.as_ref().map_or_else(
        || "without calibration days".to_owned(),
        |DateBounds { first, last }| match first.as_str() {
            "" => "on days before the first evaluated one".to_owned(),
            first => format!("on {first} to {last}, before the first evaluated day"),
        },
    );
    let dropped: Vec<String> = model
        .vif_path
        .iter()
        .filter_map(|step| step.dropped.clone())
        .collect();
    let outcome = if dropped.is_empty() {
        "Nothing was dropped.".to_owned()
    } else {
        format!("Dropped: {}.", joined(&dropped))
    };
    format!(
        "Variance inflation of each factor {window}; while one is above {}, the largest is dropped. {outcome}",
        decimals(model.vif_threshold, 1)
    )
}

fn path(model: &ModelRecord) -> TableData {
    let names: Vec<&String> = model
        .vif_path
        .first()
        .map_or_else(Vec::new, |step| step.vif.iter().map(|row| &row.factor).collect());
    let rounds = (1..=model.vif_path.len()).map(|round| Column::new(format!("round {round}"), Right));
    let cell = |name: &String, step: &crate::VifRound| {
        let Some(FactorVif { vif, .. }) = step.vif.iter().find(|row| row.factor == *name) else {
            return TableCell::Empty;
        };
        let shown = vif.map_or_else(|| "infinite".to_owned(), |vif| decimals(vif, 2));
        let is_dropped = step.dropped.as_ref() == Some(name);
        TableCell::Text(if is_dropped {
            format!("{shown} \u{2192} dropped")
        } else {
            shown
        })
    };
    let rows = names.into_iter().map(|name| {
        let cells = model.vif_path.iter().map(|step| cell(name, step));
        std::iter::once(TableCell::Text(name.clone()))
            .chain(cells)
            .collect()
    });
    TableData::new(
        "VIF by round",
        [Column::new("factor", Left)].into_iter().chain(rounds),
    )
    .with_rows(rows)
}
