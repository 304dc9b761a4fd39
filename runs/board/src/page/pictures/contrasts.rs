//! Picture 10: bright against blinded, window by window.

use super::{Heading, Picture, View, figure, legend, numbers};
use crate::sheet::{self, TableKind};
use crate::{Contrast, ContrastMetric, ContrastSides};
use ktd_attribution::account::WeightBasis;
use ktd_masking::{Mode, Numeric};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{
    Anchor, Axes, Axis, Canvas, Edges, Plane, TableCell, TableData, axis_percent, change, counted, decimals,
    display_width, fitted, named, p_value, padded, real,
};
use maud::html;

pub(super) const SECTION: Heading = Heading {
    id: "contrasts",
    title: "Bright against blinded",
    lead: "The same agent on the same windows, with real names and dates (bright) and without (blinded). What is lost \
           with the names was memory and not skill where both runs show the same numbers; where the blinded ones are coarser, it \
           is signal and memory, and says nothing of either alone. Signed-rank tests over windows, adjusted by Holm over all agents; \
           with few windows no p can be small, and the row says so.",
};

const WIDTH: f64 = 720.0;
const PAIR: f64 = 8.0;
/// Least height of an agent's block: its text has five lines.
const BLOCK: f64 = 80.0;
/// Lines of text after which no further one is begun, their distance, and letters in one.
const LINES: usize = 4;
const LINE: f64 = 14.0;
const LETTERS: usize = 40;
const NAMES: f64 = 158.0;
const RIGHT: f64 = 262.0;

pub(super) fn body(view: View<'_>) -> Picture {
    let contrasts = &view.board.contrasts;
    let Some((mode, numeric)) = chosen(view) else {
        return Err("No agent has run both bright and blinded.");
    };
    let metrics = [ContrastMetric::Selection, ContrastMetric::TotalReturn].map(|metric| {
        let is_shown = |contrast: &&Contrast| {
            contrast.sides == ContrastSides::BrightBlinded
                && contrast.metric == metric
                && contrast.mode == mode
                && contrast.numeric == numeric
        };
        (metric, contrasts.iter().filter(is_shown).collect::<Vec<_>>())
    });
    Ok(html! {
        (legend(&[
            ("k-hollow", "blinded"),
            ("k-dot", "bright"),
            ("k-pair", "the same window (arrows: beyond the axis)"),
        ]))
        @for (metric, shown) in metrics.iter().filter(|(_, shown)| !shown.is_empty()) {
            @let title = format!("{}, {}, blinded/{}", named(metric.label()), mode.label(), numeric.label());
            @let description = format!("{} agents, each window a pair of bright and blinded", shown.len());
            h3 { (title) }
            (figure(&draw(shown), &title, &description))
        }
        (numbers(&html! {
            (sheet::table(view.board, TableKind::Contrasts, view.track, WeightBasis::HEADLINE).html())
            (pairs(contrasts).html())
        }))
    })
}

/// The mode and numbers that are drawn: the headline's where it has contrasts, else the first; none without contrasts.
fn chosen(View { board, track }: View<'_>) -> Option<(Mode, Numeric)> {
    let whole = |contrast: &&Contrast| contrast.sides == ContrastSides::BrightBlinded;
    let own = |contrast: &&Contrast| contrast.mode == track.mode && contrast.numeric == track.numeric;
    let mode = |contrast: &&Contrast| contrast.mode == track.mode;
    let contrasts = &board.contrasts;
    let drawn = || contrasts.iter().filter(whole);
    let found = drawn()
        .find(own)
        .or_else(|| drawn().find(mode))
        .or_else(|| drawn().next());
    found.map(|contrast| (contrast.mode, contrast.numeric))
}

fn height(contrast: &Contrast) -> f64 {
    real(contrast.pairs.len()).mul_add(PAIR, 14.0).max(BLOCK)
}

fn draw(contrasts: &[&Contrast]) -> Canvas {
    let whole: f64 = contrasts.iter().map(|contrast| height(contrast)).sum();
    let mut canvas = Canvas::new(WIDTH, whole + 34.0);
    let limit = limit(contrasts);
    let x = padded(
        contrasts
            .iter()
            .flat_map(|contrast| values(contrast))
            .map(|value| value.clamp(-limit, limit)),
        0.0,
    );
    let step = (x.end - x.start) / 5.0;
    let plane = Axes {
        edges: Edges::new(6.0, RIGHT, 28.0, NAMES),
        rows: None,
        x: Axis::new(x, 5, &|value| axis_percent(value, step)),
        y: Axis::unseen(0.0..1.0),
    }
    .draw(&mut canvas);
    canvas.line(
        "zero",
        (plane.x(0.0), plane.down.start),
        (plane.x(0.0), plane.down.end),
    );
    let mut top = plane.down.start;
    for (place, contrast) in contrasts.iter().enumerate() {
        if 0 < place {
            canvas.line("cut", (8.0, top), (WIDTH - 4.0, top));
        }
        block(&mut canvas, &plane, contrast, top);
        top += height(contrast);
    }
    canvas
}

fn values(contrast: &Contrast) -> impl Iterator<Item = f64> {
    let all = contrast.pairs.iter().flat_map(|pair| [pair.bright, pair.blinded]);
    all.filter(|value| value.is_finite())
}

/// How far the axis reaches at most: an agent that remembers everything must not press all others into a point.
fn limit(contrasts: &[&Contrast]) -> f64 {
    const TIMES_THE_MIDDLE: f64 = 4.0;
    let mut reaches: Vec<f64> = contrasts
        .iter()
        .map(|contrast| values(contrast).fold(0.0, |most: f64, value| most.max(value.abs())))
        .filter(|reach| 0.0 < *reach)
        .collect();
    reaches.sort_by(f64::total_cmp);
    let middle = reaches.get(reaches.len() / 2).copied();
    middle.map_or(f64::MAX, |middle| middle * TIMES_THE_MIDDLE)
}

/// Where a value lies, held inside the plot.
fn held(plane: &Plane, value: f64) -> f64 {
    plane.x(value).clamp(plane.across.start, plane.across.end)
}

/// A dot where the value lies; an arrow at the edge where it lies beyond.
fn mark(canvas: &mut Canvas, plane: &Plane, (class, value, radius): (&str, f64, f64), y: f64) {
    let (x, edge) = (plane.x(value), held(plane, value));
    if (x - edge).abs() < 0.5 {
        canvas.dot(class, (x, y), radius);
    } else {
        let back = edge - 7.0 * (x - edge).signum();
        canvas.area(class, &[(edge, y), (back, y - 3.6), (back, y + 3.6)]);
    }
}

fn block(canvas: &mut Canvas, plane: &Plane, contrast: &Contrast, top: f64) {
    let middle = top + height(contrast) / 2.0;
    canvas.text(
        "t b",
        Anchor::End,
        (plane.across.start - 8.0, middle),
        &fitted(&contrast.agent, 22),
    );
    let count = counted(contrast.pairs.len(), "window");
    canvas.text(
        "t q",
        Anchor::End,
        (plane.across.start - 8.0, middle + 14.0),
        &count,
    );
    let first = middle - real(contrast.pairs.len().saturating_sub(1)) * PAIR / 2.0;
    let finite = |pair: &&crate::Pair| pair.bright.is_finite() && pair.blinded.is_finite();
    for (place, pair) in contrast.pairs.iter().filter(finite).enumerate() {
        let y = first + real(place) * PAIR;
        let told = format!(
            "{}, window {}: bright {}, blinded {}",
            contrast.agent,
            pair.window,
            change(pair.bright),
            change(pair.blinded)
        );
        canvas.explained(&told, |canvas| {
            canvas.line(
                "pair",
                (held(plane, pair.blinded), y),
                (held(plane, pair.bright), y),
            );
            // The smaller dot lies in the larger where nothing changed.
            mark(canvas, plane, ("hollow", pair.blinded, 3.6), y);
            mark(canvas, plane, ("dot", pair.bright, 2.6), y);
        });
    }
    let lines = in_words(contrast);
    let above = real(lines.len().saturating_sub(1)) * LINE / 2.0;
    for (place, line) in lines.iter().enumerate() {
        let class = if place == 0 { "t" } else { "t q" };
        let y = real(place).mul_add(LINE, middle - above + 4.0);
        canvas.text(class, Anchor::Start, (plane.across.end + 12.0, y), line);
    }
}

/// Lines beside a block: shift and p, then what to make of them.
fn in_words(contrast: &Contrast) -> Vec<String> {
    let number = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(|| "n/a".to_owned(), form);
    let exact = if contrast.is_exact { "exact" } else { "approximate" };
    let mut lines = vec![
        format!(
            "shift {}, r {}",
            number(contrast.shift, change),
            number(contrast.rank_biserial, |r| decimals(r, 2))
        ),
        format!(
            "p {} ({exact}), Holm {}",
            number(contrast.p, p_value),
            number(contrast.holm_p, p_value)
        ),
    ];
    let mut line = format!("least p {}:", p_value(contrast.least_p));
    for word in contrast.reading.split_whitespace() {
        if LETTERS < display_width(&line) + 1 + display_width(word) && lines.len() < LINES {
            lines.push(std::mem::take(&mut line));
        } else {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(fitted(&line, LETTERS));
    lines
}

fn pairs(contrasts: &[Contrast]) -> TableData {
    let heads = [
        ("agent", Left),
        ("mode", Left),
        ("arms", Left),
        ("numbers", Left),
        ("of", Left),
        ("window", Left),
        ("first", Right),
        ("second", Right),
        ("difference", Right),
    ];
    let rows = contrasts.iter().flat_map(|contrast| {
        contrast.pairs.iter().map(|pair| {
            vec![
                TableCell::Text(contrast.agent.clone()),
                TableCell::Text(contrast.mode.label().to_owned()),
                TableCell::Text(contrast.sides.label().to_owned()),
                TableCell::Text(contrast.numbers()),
                TableCell::Text(named(contrast.metric.label())),
                TableCell::Text(pair.window.clone()),
                TableCell::Change(pair.bright),
                TableCell::Change(pair.blinded),
                TableCell::Change(pair.bright - pair.blinded),
            ]
        })
    });
    TableData::new("Pairs: medians over seeds", heads).with_rows(rows)
}
