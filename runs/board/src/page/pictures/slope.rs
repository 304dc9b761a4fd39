//! Picture 4: from the rank by return to the rank by selection.

use super::{Heading, Picture, View, figure, legend, numbers, ranked};
use crate::LeaderboardRow;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Anchor, Canvas, TableCell, TableData, basis_points, change, fitted, real};
use maud::html;

pub(super) const SECTION: Heading = Heading {
    id: "slope",
    title: "From return to skill",
    lead: "The rank by total return on the left, by selection on the right. A line that rises belongs to an agent whose \
           skill the return hides; one that falls, to an agent that the market or a style carried.",
};

const WIDTH: f64 = 720.0;
const ROW: f64 = 24.0;
const TOP: f64 = 30.0;
const LEFT: f64 = 266.0;
const RIGHT: f64 = 454.0;

/// An agent with the rows of its two ends, from the top.
struct Line<'b> {
    leader: &'b LeaderboardRow,
    ranks: (usize, usize),
    rows: (usize, usize),
}

pub(super) fn body(View { track, .. }: View<'_>) -> Picture {
    let lines = lines(ranked(track));
    if lines.is_empty() {
        return Err("No agent has both ranks.");
    }
    let description = format!(
        "{} agents, each a line from its rank by return to its rank by selection",
        lines.len()
    );
    Ok(html! {
        (legend(&[
            ("up", "better by skill"),
            ("down", "worse by skill"),
            ("same", "the same"),
        ]))
        (figure(&draw(&lines), "Rank by return and rank by selection", &description))
        (numbers(&table(&lines).html()))
    })
}

fn lines<'b>(leaders: impl Iterator<Item = &'b LeaderboardRow>) -> Vec<Line<'b>> {
    let mut lines: Vec<Line<'b>> = leaders
        .filter_map(|leader| {
            let ranks = (leader.return_rank?, leader.alpha_rank?);
            Some(Line {
                leader,
                ranks,
                rows: (0, 0),
            })
        })
        .collect();
    // Tied ranks still need a row each.
    lines.sort_by(|a, b| a.ranks.0.cmp(&b.ranks.0).then(a.ranks.1.cmp(&b.ranks.1)));
    for (row, line) in lines.iter_mut().enumerate() {
        line.rows.0 = row;
    }
    lines.sort_by(|a, b| a.ranks.1.cmp(&b.ranks.1).then(a.ranks.0.cmp(&b.ranks.0)));
    for (row, line) in lines.iter_mut().enumerate() {
        line.rows.1 = row;
    }
    lines
}

fn total(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get(&crate::BoardMetric::TotalReturn)?.median.value
}

fn draw(lines: &[Line<'_>]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, real(lines.len()).mul_add(ROW, TOP + 6.0));
    canvas.text("t b", Anchor::End, (LEFT + 8.0, 14.0), "total return");
    canvas.text("t b", Anchor::Start, (RIGHT - 8.0, 14.0), "selection");
    for line in lines {
        let y = |row: usize| real(row).mul_add(ROW, TOP + ROW / 2.0);
        let (from, to) = (y(line.rows.0), y(line.rows.1));
        let class = match line.ranks.1.cmp(&line.ranks.0) {
            std::cmp::Ordering::Less => "up",
            std::cmp::Ordering::Greater => "down",
            std::cmp::Ordering::Equal => "same",
        };
        let leader = line.leader;
        let beside =
            |value: Option<f64>, shown: fn(f64) -> String| value.map_or_else(|| "n/a".to_owned(), shown);
        let selection = leader.selection.as_ref().map(|selection| selection.a_day);
        let name = fitted(&leader.agent, 24);
        let told = format!(
            "{}: {} by return, {} by selection",
            leader.agent, line.ranks.0, line.ranks.1
        );
        canvas.explained(&told, |canvas| {
            canvas.line(class, (LEFT + 12.0, from), (RIGHT - 12.0, to));
            for (x, y, rank) in [(LEFT, from, line.ranks.0), (RIGHT, to, line.ranks.1)] {
                canvas.dot("badge", (x, y), 9.5);
                canvas.text("t b", Anchor::Middle, (x, y + 4.0), &rank.to_string());
            }
            let left = format!("{name}  {}", beside(total(leader), change));
            let right = format!("{}  {name}", beside(selection, basis_points));
            canvas.text("t", Anchor::End, (LEFT - 15.0, from + 4.0), &left);
            canvas.text("t", Anchor::Start, (RIGHT + 15.0, to + 4.0), &right);
        });
    }
    canvas
}

fn table(lines: &[Line<'_>]) -> TableData {
    let heads = [
        ("agent", Left),
        ("return rank", Right),
        ("\u{3b1} rank", Right),
        ("\u{394} rank", Right),
        ("total return", Right),
        ("selection, bp a day", Right),
    ];
    let rows = lines.iter().map(|line| {
        let leader = line.leader;
        vec![
            TableCell::Text(leader.agent.clone()),
            TableCell::Count(line.ranks.0),
            TableCell::Count(line.ranks.1),
            leader.delta_rank.map_or(TableCell::Empty, TableCell::Signed),
            TableCell::optional(total(leader), TableCell::Change),
            TableCell::optional(
                leader.selection.as_ref().map(|selection| selection.a_day),
                crate::sheet::points,
            ),
        ]
    });
    TableData::new("Ranks by return and by selection", heads)
        .with_rows(rows)
        .with_note("\u{394} rank = return rank \u{2212} \u{3b1} rank: above 0 is better judged by skill.")
}
