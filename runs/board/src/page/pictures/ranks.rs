//! Picture 1, below the table: rank intervals, groups that the data cannot separate, and who beats whom.

use super::{View, figure, legend, nothing, numbers, ranked};
use crate::{LeaderboardRow, RankBounds, Separation, SpaP};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Column, Edges, Plane, TableCell, TableData, decimals, fitted, p_value,
    portion, real,
};
use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const ROW: f64 = 24.0;
const NAMES: f64 = 190.0;
const RIGHT: f64 = 190.0;
/// Distance of the brackets of two groups that overlap.
const LANE: f64 = 14.0;

pub(super) fn body(View { track, .. }: View<'_>) -> Markup {
    let leaders: Vec<&LeaderboardRow> = ranked(track)
        .filter(|leader| leader.rank_interval.is_some())
        .collect();
    html! {
        h3 { "How sure the ranks are" }
        @if let Some(separation) = track.separation.as_ref().filter(|_| !leaders.is_empty()) {
            (sureness(&leaders, separation))
        } @else {
            (nothing("Ranks have no intervals here: there are too few days, agents or decisions."))
        }
    }
}

fn sureness(leaders: &[&LeaderboardRow], separation: &Separation) -> Markup {
    let description = format!(
        "Ranks by selection of {} agents with 95 % intervals; brackets join groups that cannot be separated.",
        leaders.len()
    );
    html! {
        (legend(&[
            ("k-dot", "rank by selection"),
            ("k-ci", "holds for all agents at once in 95 %"),
            ("k-group", "group that the data cannot separate"),
        ]))
        (figure(&intervals(leaders, separation), "Rank intervals and groups", &description))
        (verdict(separation))
        (numbers(&html! { (ranks(leaders).html()) (wins(separation).html()) }))
    }
}

fn intervals(leaders: &[&LeaderboardRow], separation: &Separation) -> Canvas {
    let count = real(leaders.len());
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 34.0));
    let plane = Axes {
        edges: Edges::new(6.0, RIGHT, 28.0, NAMES),
        rows: None,
        x: Axis::new(0.5..count.max(2.0) + 0.5, leaders.len().clamp(2, 12), &|rank| {
            if (rank - rank.round()).abs() < 1e-6 {
                decimals(rank, 0)
            } else {
                String::new()
            }
        }),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    for (place, leader) in leaders.iter().enumerate() {
        let y = plane.y(count - real(place) - 0.5);
        row(&mut canvas, &plane, leader, y);
    }
    groups(&mut canvas, &plane, separation, leaders);
    canvas
}

fn row(canvas: &mut Canvas, plane: &Plane, leader: &LeaderboardRow, y: f64) {
    let (Some(rank), Some(RankBounds { low, high })) = (leader.alpha_rank, leader.rank_interval) else {
        return;
    };
    let first = leader
        .first_share
        .map_or_else(String::new, |share| format!("first in {}", portion(share)));
    let told = format!(
        "{}: rank {rank}, 95 % {}, {first}",
        leader.agent,
        range(low, high)
    );
    canvas.explained(&told, |canvas| {
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 8.0, y + 4.0),
            &fitted(&leader.agent, 28),
        );
        let (left, right) = (plane.x(real(low)), plane.x(real(high)));
        canvas.line("ci", (left, y), (right, y));
        for end in [left, right] {
            canvas.line("ci", (end, y - 4.0), (end, y + 4.0));
        }
        canvas.dot("dot", (plane.x(real(rank)), y), 4.5);
        canvas.text("t q", Anchor::End, (WIDTH - 4.0, y + 4.0), &first);
    });
}

/// Brackets beside the rows, in as many lanes as groups overlap.
fn groups(canvas: &mut Canvas, plane: &Plane, separation: &Separation, leaders: &[&LeaderboardRow]) {
    let row_of = |place: &usize| {
        let agent = separation.agents.get(*place)?;
        leaders.iter().position(|leader| leader.agent == *agent)
    };
    let mut lanes: Vec<usize> = Vec::new();
    for (number, group) in separation.groups.iter().enumerate() {
        let rows: Vec<usize> = group.iter().filter_map(row_of).collect();
        let (Some(first), Some(last)) = (rows.iter().min(), rows.iter().max()) else {
            continue;
        };
        let lane = lanes.iter().position(|end| end < first).unwrap_or(lanes.len());
        match lanes.get_mut(lane) {
            Some(end) => *end = *last,
            None => lanes.push(*last),
        }
        let x = real(lane).mul_add(LANE, plane.across.end + 16.0);
        let y = |row: usize, inside: f64| plane.down.start + real(row) * ROW + inside;
        let (top, bottom) = (y(*first, 4.0), y(*last, ROW - 4.0));
        canvas.rect("band", (x - 4.0, top), (x + 4.0, bottom));
        canvas.text(
            "t b",
            Anchor::Middle,
            (x, f64::midpoint(top, bottom) + 4.0),
            &letter(number),
        );
    }
}

/// Tests of the best against many tries.
fn verdict(separation: &Separation) -> Markup {
    let mut parts: Vec<String> = Vec::new();
    if let Some(pbo) = separation.pbo.value {
        parts.push(format!(
            "Probability that the best in one half of the days is below the median in the other (PBO): {}.",
            portion(pbo)
        ));
    }
    if let Some(p) = separation.reality_check_p.value {
        parts.push(format!(
            "Reality check of the best selection of all trials against the mean of luck: p = {}.",
            p_value(p)
        ));
    }
    if let Some(SpaP {
        lower: low,
        consistent: middle,
        upper: high,
    }) = separation.spa_p
    {
        let [low, middle, high] = [low, middle, high].map(p_value);
        parts.push(format!(
            "Superior ability (Hansen): p = {middle} (bounds {low} and {high})."
        ));
    }
    html! { @if !parts.is_empty() { p { (parts.join(" ")) } } }
}

fn ranks(leaders: &[&LeaderboardRow]) -> TableData {
    let heads = [
        ("agent", Left),
        ("\u{3b1} rank", Right),
        ("low", Right),
        ("high", Right),
        ("first in", Right),
    ];
    let rows = leaders.iter().map(|leader| {
        vec![
            TableCell::Text(leader.agent.clone()),
            leader.alpha_rank.map_or(TableCell::Empty, TableCell::Count),
            leader
                .rank_interval
                .map_or(TableCell::Empty, |rank| TableCell::Count(rank.low)),
            leader
                .rank_interval
                .map_or(TableCell::Empty, |rank| TableCell::Count(rank.high)),
            leader
                .first_share
                .map_or(TableCell::Empty, |share| TableCell::Text(portion(share))),
        ]
    });
    TableData::new("Ranks that hold for all at once", heads).with_rows(rows)
}

/// Who beats whom.
fn wins(separation: &Separation) -> TableData {
    let places = (1..=separation.agents.len()).map(|place| Column::new(format!("beats {place}"), Right));
    let columns = [Column::new("place", Right), Column::new("agent", Left)]
        .into_iter()
        .chain(places);
    let rows = separation.agents.iter().zip(&separation.win_share).enumerate();
    let rows = rows.map(|(own, (agent, shares))| {
        let cells = shares.iter().enumerate().map(|(other, share)| {
            if own == other {
                TableCell::Text("\u{2013}".to_owned())
            } else {
                TableCell::Text(portion(*share))
            }
        });
        [TableCell::Count(own + 1), TableCell::Text(agent.clone())]
            .into_iter()
            .chain(cells)
            .collect()
    });
    TableData::new(
        "How sure it is that the row's selection is above the column's",
        columns,
    )
    .with_rows(rows)
    .with_note(
        "Between 5 % and 95 % two agents cannot be separated; nor can they where a setting of the declared family turns \
         their order.",
    )
}

/// `3`, or `2–5`.
pub(super) fn range(low: usize, high: usize) -> String {
    if low == high {
        low.to_string()
    } else {
        format!("{low}\u{2013}{high}")
    }
}

/// The name of a group: A to Z, then AA.
pub(super) fn letter(place: usize) -> String {
    let letter = |place: usize| u8::try_from(place % 26).map_or('?', |offset| char::from(b'A' + offset));
    if place < 26 {
        letter(place).to_string()
    } else {
        format!("{}{}", letter(place / 26 - 1), letter(place))
    }
}
