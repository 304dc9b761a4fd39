//! Picture 1, below the table: rank intervals, groups that the data cannot separate, and who beats whom.

use super::{figure, legend, nothing, numbers, ranked};
use crate::{LeaderboardRow, PooledRanking, PooledRow, RankBounds, Separation, SpaP, Track};
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

/// An agent with its rank and the ranks that it may have.
struct RankLine<'b> {
    agent: &'b str,
    rank: usize,
    ends: RankBounds,
    first_share: Option<f64>,
}

/// Groups that data cannot separate, by places in a list of agents.
#[derive(Clone, Copy)]
struct Groups<'b> {
    agents: &'b [String],
    groups: &'b [Vec<usize>],
}

/// The picture of a track.
pub(super) fn of_track(track: &Track) -> Markup {
    let lines: Vec<RankLine<'_>> = ranked(track).filter_map(RankLine::of_window).collect();
    let separation = track.separation.as_ref();
    let groups = separation.map(|found| Groups {
        agents: &found.agents,
        groups: &found.groups,
    });
    let below = html! { @if let Some(separation) = separation { (verdict(separation)) } };
    let wins = separation.map(|found| wins(&found.agents, &found.win_share));
    sureness((&lines, why_nobody(track).as_deref()), groups, &below, wins)
}

/// Why nobody has a rank; none where somebody has one.
fn why_nobody(track: &Track) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in track
        .leaders
        .iter()
        .filter_map(|leader| leader.unranked_reason.as_deref())
    {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let is_known = ranked(track).next().is_none() && !reasons.is_empty();
    is_known.then(|| format!("nobody has a rank ({})", reasons.join("; ")))
}

/// The picture of a ranking over several windows.
pub(crate) fn of_pooled(pooled: &PooledRanking) -> Markup {
    let lines: Vec<RankLine<'_>> = pooled.rows.iter().filter_map(RankLine::of_several).collect();
    let separation = pooled.separation.as_ref();
    let groups = separation.map(|found| Groups {
        agents: &found.agents,
        groups: &found.groups,
    });
    let wins = separation.map(|found| wins(&found.agents, &found.win_share));
    sureness((&lines, None), groups, &html! {}, wins)
}

impl<'b> RankLine<'b> {
    fn of_window(leader: &'b LeaderboardRow) -> Option<Self> {
        Some(Self {
            agent: &leader.agent,
            rank: leader.alpha_rank?,
            ends: leader.rank_interval?,
            first_share: leader.first_share,
        })
    }

    fn of_several(row: &'b PooledRow) -> Option<Self> {
        Some(Self {
            agent: &row.agent,
            rank: row.rank?,
            ends: row.rank_interval?,
            first_share: row.first_share,
        })
    }
}

/// The picture where ranks have intervals, or why they have none; then what else is known of them.
fn sureness(
    (lines, why): (&[RankLine<'_>], Option<&str>),
    groups: Option<Groups<'_>>,
    below: &Markup,
    wins: Option<TableData>,
) -> Markup {
    let has_groups = groups.is_some_and(|found| !found.groups.is_empty());
    let mut entries = vec![
        ("k-dot", "rank by selection"),
        ("ci", "holds for all agents at once in 95 %"),
    ];
    entries.extend(has_groups.then_some((
        "k-group",
        "agents that share a letter: the data cannot separate them",
    )));
    let description = format!(
        "Ranks by selection of {} agents with 95 % intervals; brackets join groups that cannot be separated.",
        lines.len()
    );
    html! {
        h3 { "How sure the ranks are" }
        @if lines.is_empty() {
            (nothing(&format!(
                "Ranks have no intervals here: {}.",
                why.unwrap_or("there are too few days, agents or decisions")
            )))
        } @else {
            (legend(&entries))
            (figure(&intervals(lines, groups), "Rank intervals and groups", &description))
            (below)
            // Ranks and their intervals stand in the table above, and the share of first places in the picture.
            @if let Some(wins) = wins { (numbers(&wins.html())) }
        }
    }
}

fn intervals(lines: &[RankLine<'_>], grouped: Option<Groups<'_>>) -> Canvas {
    let count = real(lines.len());
    let last = lines.iter().map(|line| line.ends.high.max(line.rank)).max();
    let last = last.unwrap_or(0).max(2);
    let mut canvas = Canvas::new(WIDTH, count.mul_add(ROW, 34.0));
    let plane = Axes {
        edges: Edges::new(6.0, RIGHT, 28.0, NAMES),
        rows: None,
        x: Axis::new(0.5..real(last) + 0.5, last.min(12), &|rank| {
            if (rank - rank.round()).abs() < 1e-6 {
                decimals(rank, 0)
            } else {
                String::new()
            }
        }),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    for (place, line) in lines.iter().enumerate() {
        row(&mut canvas, &plane, line, plane.y(count - real(place) - 0.5));
    }
    if let Some(grouped) = grouped {
        groups(&mut canvas, &plane, grouped, lines);
    }
    canvas
}

fn row(canvas: &mut Canvas, plane: &Plane, line: &RankLine<'_>, y: f64) {
    let RankBounds { low, high } = line.ends;
    let first = line
        .first_share
        .map_or_else(String::new, |share| format!("first in {}", portion(share)));
    let comma = if first.is_empty() { "" } else { ", " };
    let told = format!(
        "{}: rank {}, 95 % {}{comma}{first}",
        line.agent,
        line.rank,
        range(low, high)
    );
    canvas.explained(&told, |canvas| {
        canvas.text(
            "t",
            Anchor::End,
            (plane.across.start - 8.0, y + 4.0),
            &fitted(line.agent, 28),
        );
        let (left, right) = (plane.x(real(low)), plane.x(real(high)));
        canvas.line("ci", (left, y), (right, y));
        for end in [left, right] {
            canvas.line("ci", (end, y - 4.0), (end, y + 4.0));
        }
        canvas.dot("dot", (plane.x(real(line.rank)), y), 4.5);
        canvas.text("t q", Anchor::End, (WIDTH - 4.0, y + 4.0), &first);
    });
}

/// Brackets beside the rows, in as many lanes as groups overlap.
fn groups(canvas: &mut Canvas, plane: &Plane, found: Groups<'_>, lines: &[RankLine<'_>]) {
    let row_of = |place: &usize| {
        let agent = found.agents.get(*place)?;
        lines.iter().position(|line| line.agent == agent)
    };
    let mut lanes: Vec<usize> = Vec::new();
    for (number, group) in found.groups.iter().enumerate() {
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

/// Who beats whom.
fn wins(agents: &[String], win_share: &[Vec<f64>]) -> TableData {
    let places = (1..=agents.len()).map(|place| Column::new(format!("beats {place}"), Right));
    let columns = [Column::new("place", Right), Column::new("agent", Left)]
        .into_iter()
        .chain(places);
    let rows = agents.iter().zip(win_share).enumerate();
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
