//! Picture 9: does the ranking hang on the settings of the factor model?

use super::{Section, View, figure, nothing, numbers, ranked};
use crate::SensitivityRow;
use crate::sheet::metric_cell;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Edges, TableCell, TableData, change, decimals, fitted, padded, real,
    scientific,
};
use maud::{Markup, html};

pub(super) const SECTION: Section = Section {
    id: "sensitivity",
    title: "9. Other settings of the model",
    lead: "Selection under other settings, and how well the ranking holds: Kendall\u{2019}s tau against the default is 1 \
           where no pair of agents changes places. Centre and scale of the z-scores move nothing, by construction; \
           weights and winsorising may.",
};

const WIDTH: f64 = 720.0;
const ROW: f64 = 24.0;

pub(super) fn body(View { board, track }: View<'_>) -> Markup {
    let rows = &board.sensitivity;
    if rows.is_empty() {
        return nothing("No other setting was tried.");
    }
    let description = format!("Kendall's tau of {} settings against the default", rows.len());
    let defaults: Vec<(&str, f64)> = ranked(track)
        .filter_map(|leader| Some((leader.agent.as_str(), leader.selection.as_ref()?.value)))
        .collect();
    html! {
        (figure(&draw(rows), "Ranks under other settings", &description))
        (numbers(&table(rows, &defaults).html()))
    }
}

fn draw(rows: &[SensitivityRow]) -> Canvas {
    let count = real(rows.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 34.0));
    let lowest = padded(rows.iter().filter_map(|row| row.kendall_tau.value), 1.0).start;
    let plane = Axes {
        edges: Edges::new(6.0, 236.0, 28.0, 216.0),
        rows: None,
        x: Axis::new(lowest.clamp(-1.0, 0.0)..1.04, 5, &|tau| decimals(tau, 1)),
        y: Axis::unseen(0.0..count),
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
fn table(rows: &[SensitivityRow], defaults: &[(&str, f64)]) -> TableData {
    let agents = defaults.iter().map(|(agent, _)| (*agent, Right));
    let heads = [("setting", Left), ("tau", Right), ("largest daily change", Right)];
    let base: Vec<f64> = defaults.iter().map(|(_, value)| *value).collect();
    let first = [
        TableCell::Text("default".to_owned()),
        TableCell::Fine(1.0),
        TableCell::Empty,
    ];
    let default = first.into_iter().chain(with_ranks(&base)).collect();
    let others = rows.iter().map(|row| {
        let head = [
            TableCell::Text(row.setting.clone()),
            metric_cell(&row.kendall_tau, TableCell::Fine),
            TableCell::Text(basis_points(row.largest_daily_change)),
        ];
        head.into_iter().chain(with_ranks(&row.selection)).collect()
    });
    TableData::new(
        "Selection by setting, its rank in brackets",
        heads.into_iter().chain(agents),
    )
    .with_rows(std::iter::once(default).chain(others))
}

fn with_ranks(values: &[f64]) -> impl Iterator<Item = TableCell> {
    values.iter().map(|value| {
        let above = values.iter().filter(|other| value < other).count();
        TableCell::Text(format!("{} ({})", change(*value), above + 1))
    })
}
