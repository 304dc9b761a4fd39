//! Picture 5: selection with its uncertainty, beside what luck alone would give.

use super::{Heading, Picture, View, figure, is_set_apart, legend, numbers};
use crate::sheet::{self, TableKind};
use crate::{Bounds, LeaderboardRow, Selection};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Edges, Plane, basis_points, decimals, fitted, padded, real,
};
use maud::html;
use std::ops::Range;

pub(super) const SECTION: Heading = Heading {
    id: "forest",
    title: "Selection against luck",
    lead: "A dot is what an agent selected a day, in basis points, its line the 95 % interval of its own days. The shaded band holds 95 % of \
           random portfolios with the same count, weights and holding periods: luck is not zero, so look at the band \
           and not at the zero line. A dot inside its band is no sign of skill. \
           \u{201c}Beats 97 %\u{201d} counts the random portfolios below it.",
};

const WIDTH: f64 = 720.0;
const ROW: f64 = 24.0;
const NAMES: f64 = 180.0;
const RIGHT: f64 = 196.0;

pub(super) fn body(view: View<'_>) -> Picture {
    let rows: Vec<Row<'_>> = view
        .track
        .leaders
        .iter()
        .filter_map(|leader| Row::of(leader, view.track.dates.len()))
        .collect();
    if rows.is_empty() {
        return Err("Nobody's selection is known.");
    }
    let description = format!("Selection of {} agents with intervals and luck bands", rows.len());
    Ok(html! {
        (legend(&[
            ("k-dot", "selection"),
            ("ci", "95 % interval"),
            ("k-luck", "luck: 95 % of random portfolios"),
            ("k-mean", "their mean"),
            ("k-apart", "control or reference, unranked"),
        ]))
        (figure(&draw(&rows), "Selection with intervals and luck bands", &description))
        (numbers(&sheet::table(view.board, TableKind::Ranking, view.track, WeightBasis::HEADLINE).html()))
    })
}

struct Row<'b> {
    leader: &'b LeaderboardRow,
    value: f64,
    selection: Option<&'b Selection>,
}

impl<'b> Row<'b> {
    fn of(leader: &'b LeaderboardRow, days: usize) -> Option<Self> {
        let selection = leader.selection.as_ref();
        let value = leader.selection_a_day(days)?;
        value.is_finite().then_some(Self {
            leader,
            value,
            selection,
        })
    }

    fn is_set_apart(&self) -> bool {
        is_set_apart(self.leader)
    }

    /// What the axis must hold.
    fn extent(&self) -> Vec<f64> {
        let ends = |range: Option<Bounds>| range.map_or_else(Vec::new, |ends| vec![ends.low, ends.high]);
        let of = |selection: &Selection| [ends(selection.interval), ends(selection.null_band)].concat();
        let mut all = self.selection.map_or_else(Vec::new, of);
        all.push(self.value);
        all
    }
}

/// The ranked set the scale: a control that knows the future would press everyone else into a point.
fn scale(rows: &[Row<'_>]) -> Range<f64> {
    let ranked: Vec<f64> = rows
        .iter()
        .filter(|row| !row.is_set_apart())
        .flat_map(Row::extent)
        .collect();
    if ranked.is_empty() {
        padded(rows.iter().flat_map(Row::extent), 0.0)
    } else {
        padded(ranked, 0.0)
    }
}

fn draw(rows: &[Row<'_>]) -> Canvas {
    let count = real(rows.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 34.0));
    let x = scale(rows);
    let step = (x.end - x.start) / 6.0;
    let plane = Axes {
        edges: Edges::new(6.0, RIGHT, 28.0, NAMES),
        rows: None,
        x: Axis::new(x, 6, &|value| decimals(value * 1e4, usize::from(step < 1e-4))),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    let zero = plane.x(0.0);
    canvas.line("zero", (zero, plane.down.start), (zero, plane.down.end));
    for (place, row) in rows.iter().enumerate() {
        let y = plane.y(count - real(place) - 0.5);
        let told = told(row);
        canvas.explained(&told, |canvas| marks(canvas, &plane, row, y));
        let follows = rows.get(place + 1).is_some_and(Row::is_set_apart);
        if follows && !row.is_set_apart() {
            canvas.line("cut", (8.0, y + ROW / 2.0), (WIDTH - 4.0, y + ROW / 2.0));
        }
    }
    canvas
}

fn told(row: &Row<'_>) -> String {
    let range = |name: &str, range: Option<Bounds>| {
        range.map_or_else(String::new, |Bounds { low, high }| {
            format!(", {name} {} to {}", basis_points(low), basis_points(high))
        })
    };
    let interval = row.selection.and_then(|selection| selection.interval);
    let luck = row.selection.and_then(|selection| selection.null_band);
    format!(
        "{}: selection {} a day{}{}",
        row.leader.agent,
        basis_points(row.value),
        range("95 % interval", interval),
        range("luck", luck)
    )
}

fn marks(canvas: &mut Canvas, plane: &Plane, row: &Row<'_>, y: f64) {
    let label = if row.is_set_apart() { "t q" } else { "t" };
    canvas.text(
        label,
        Anchor::End,
        (plane.across.start - 8.0, y + 4.0),
        &fitted(&row.leader.agent, 27),
    );
    let inside = |value: f64| plane.x(value).clamp(plane.across.start, plane.across.end);
    if let Some(selection) = row.selection {
        if let Some(Bounds { low, high }) = selection.null_band {
            canvas.rect("luck", (inside(low), y - 8.0), (inside(high), y + 8.0));
        }
        if let Some(mean) = selection.null_mean.filter(|mean| mean.is_finite()) {
            canvas.line("mean", (inside(mean), y - 8.0), (inside(mean), y + 8.0));
        }
        if let Some(Bounds { low, high }) = selection.interval {
            canvas.line("ci", (inside(low), y), (inside(high), y));
        }
    }
    let x = plane.x(row.value);
    if x < plane.across.start || plane.across.end < x {
        // What lies outside is pointed at, with its value.
        let (tip, back) = if x < plane.across.start {
            (plane.across.start, 7.0)
        } else {
            (plane.across.end, -7.0)
        };
        canvas.area(
            "hollow",
            &[(tip, y), (tip + back, y - 5.0), (tip + back, y + 5.0)],
        );
    } else if row.is_set_apart() {
        canvas.diamond("hollow", (x, y), 5.5);
    } else {
        canvas.dot("dot", (x, y), 4.5);
    }
    let [value, t, luck] = beside(row);
    canvas.text(label, Anchor::End, (plane.across.end + 68.0, y + 4.0), &value);
    canvas.text("t q", Anchor::End, (plane.across.end + 116.0, y + 4.0), &t);
    canvas.text("t q", Anchor::End, (WIDTH - 4.0, y + 4.0), &luck);
}

fn beside(row: &Row<'_>) -> [String; 3] {
    let t = row.selection.and_then(|selection| selection.newey_west_t.value);
    let luck = row.selection.and_then(|selection| selection.null_percentile);
    [
        basis_points(row.value),
        t.map_or_else(String::new, |t| format!("t {}", decimals(t, 1))),
        luck.map_or_else(String::new, |share| {
            format!("beats {} %", decimals(share * 100.0, 0))
        }),
    ]
}
