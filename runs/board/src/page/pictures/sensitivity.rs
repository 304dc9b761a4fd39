//! Picture 9: does the ranking hang on the settings of the factor model?

use super::{Section, View, figure, nothing, numbers, ranked};
use crate::SensitivityRow;
use crate::sheet::{Cell, Sheet};
use ktd_view::table::Align::{Left, Right};
use ktd_view::draw::{Anchor, Axes, Canvas, Edges, Markup, decimals, fitted, padded, real, scientific};
use crate::page::table;

pub(super) const SECTION: Section = Section {
    id: "sensitivity",
    title: "9. Other settings of the model",
    lead: "Selection under other settings, and how well the ranking holds: Kendall\u{2019}s tau against the default is 1 \
           where no pair of agents changes places. Centre and scale of the z-scores move nothing, by construction; \
           weights and winsorising may.",
};

const WIDTH: f64 = 720.0;
const ROW: f64 = 24.0;

pub(super) fn write(page: &mut Markup, View { board, track }: View<'_>) {
    let rows = &board.sensitivity;
    if rows.is_empty() {
        nothing(page, "No other setting was tried.");
        return;
    }
    let description = format!("Kendall's tau of {} settings against the default", rows.len());
    figure(page, draw(rows), "Ranks under other settings", &description);
    let defaults: Vec<(&str, f64)> = ranked(track)
        .filter_map(|leader| Some((leader.agent.as_str(), leader.selection.as_ref()?.value)))
        .collect();
    numbers(page, |page| table::plain(page, &sheet(rows, &defaults)));
}

fn draw(rows: &[SensitivityRow]) -> Canvas {
    let count = real(rows.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 34.0));
    let lowest = padded(rows.iter().filter_map(|row| row.kendall_tau.value), 1.0).start;
    let plane = Axes {
        edges: Edges {
            top: 6,
            right: 236,
            bottom: 28,
            left: 216,
        },
        rows: None,
        x: lowest.clamp(-1.0, 0.0)..1.04,
        y: 0.0..count,
        labels: (5, 0),
        x_label: &|tau| decimals(*tau, 1),
        y_label: &|_| String::new(),
    }
    .draw(&mut canvas);
    canvas.line(
        "zero",
        (plane.x(1.0), plane.down.start),
        (plane.x(1.0), plane.down.end),
    );
    for (place, row) in rows.iter().enumerate() {
        let y = plane.y(count - real(place) - 0.5);
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 8.0, y + 4.0),
            &fitted(&row.setting, 36),
        );
        let tau = row.kendall_tau.value.filter(|tau| tau.is_finite());
        if let Some(tau) = tau {
            canvas.line("stem", (plane.x(tau), y), (plane.x(1.0), y));
            canvas.dot("dot", (plane.x(tau), y), 4.5);
        }
        let tau = tau.map_or_else(|| "tau n/a".to_owned(), |tau| format!("tau {}", decimals(tau, 2)));
        canvas.text("t", Anchor::Start, (plane.across.end + 12.0, y + 4.0), &tau);
        let moved = if row.largest_daily_change < 1e-12 {
            "no day moves".to_owned()
        } else {
            format!("up to {} a day", basis_points(row.largest_daily_change))
        };
        canvas.text("t q", Anchor::End, (WIDTH - 4.0, y + 4.0), &moved);
    }
    canvas
}

fn basis_points(share: f64) -> String {
    let points = share * 10_000.0;
    if points.abs() < 0.01 {
        scientific(share)
    } else {
        format!("{} bp", decimals(points, 2))
    }
}

/// Selections by setting and agent, with the rank in brackets.
fn sheet(rows: &[SensitivityRow], defaults: &[(&str, f64)]) -> Sheet {
    let agents = defaults.iter().map(|(agent, _)| ((*agent).to_owned(), Right));
    let heads = [
        ("setting".to_owned(), Left),
        ("tau".to_owned(), Right),
        ("largest daily change".to_owned(), Right),
    ];
    let base: Vec<f64> = defaults.iter().map(|(_, value)| *value).collect();
    let first = [Cell::Text("default".to_owned()), Cell::Fine(1.0), Cell::Empty];
    let default = first.into_iter().chain(with_ranks(&base)).collect();
    let others = rows.iter().map(|row| {
        let head = [
            Cell::Text(row.setting.clone()),
            Cell::metric(&row.kendall_tau, Cell::Fine),
            Cell::Text(basis_points(row.largest_daily_change)),
        ];
        head.into_iter().chain(with_ranks(&row.selection)).collect()
    });
    Sheet {
        title: "Selection by setting, its rank in brackets".to_owned(),
        columns: heads.into_iter().chain(agents).collect(),
        rows: std::iter::once(default).chain(others).collect(),
        notes: Vec::new(),
    }
}

fn with_ranks(values: &[f64]) -> impl Iterator<Item = Cell> {
    values.iter().map(|value| {
        let above = values.iter().filter(|other| value < other).count();
        Cell::Text(format!("{} ({})", ktd_view::draw::change(*value), above + 1))
    })
}
