//! Pictures of first answers: shares on one scale, a row a bundle or a category (`AlphaQT`'s figures 3 to 6).

use super::cells::ReportedCell;
use ktd_factor_code::{FactorCategory, FailureClass, Funnel, JudgeRule, LayersPassed, TaskGroup, TaskRate};
use ktd_view::draw::{Anchor, Axes, Axis, Canvas, Edges, axis_percent, fitted, percent, real};
use maud::{Markup, html};

/// Colours that the style sheet of figures has.
pub(super) const COLOURS: usize = 8;

/// A row of a picture: its name, and what stands on it.
struct ShareRow {
    name: String,
    marks: Vec<ShareMark>,
}

/// A share, or all between two of them.
struct ShareMark {
    colour: usize,
    from: f64,
    to: f64,
    text: String,
}

impl ShareMark {
    /// A dot; none of nothing.
    fn dot(colour: usize, share: Option<f64>, name: &str) -> Option<Self> {
        let share = share?;
        let text = format!("{name}: {}", percent(share));
        Some(Self {
            colour,
            from: share,
            to: share,
            text,
        })
    }

    fn is_dot(&self) -> bool {
        self.to <= self.from
    }
}

/// All pictures of first answers.
pub(super) fn pictures(cells: &[ReportedCell<'_>]) -> Vec<Markup> {
    let bundles: Vec<&str> = cells.iter().map(ReportedCell::name).collect();
    vec![
        picture(
            "Strict VAcc of first answers, with 95 % intervals (T1_ranks.csv)",
            &[],
            &of_cells(cells, headline),
        ),
        picture(
            "Strict VAcc of first answers by family of tasks (T2_categories.csv)",
            &bundles,
            &categories(cells),
        ),
        picture(
            "Causal tasks: what runs, and what of it does not look ahead (T3_causal.csv)",
            &["runs", "safe"],
            &of_cells(cells, causal),
        ),
        picture(
            "The first layer that is failed, shares of all first answers (T4_failures.csv)",
            &FailureClass::ALL.map(FailureClass::code),
            &of_cells(cells, failures),
        ),
        picture(
            "Vectorised functions among those that run and among the safe ones (T5_structure.csv)",
            &["of those that run", "of the safe"],
            &of_cells(cells, structure),
        ),
    ]
}

fn of_cells(cells: &[ReportedCell<'_>], marks: fn(&ReportedCell<'_>) -> Vec<ShareMark>) -> Vec<ShareRow> {
    let row = |cell: &ReportedCell<'_>| ShareRow {
        name: cell.name().to_owned(),
        marks: marks(cell),
    };
    cells.iter().map(row).collect()
}

fn headline(cell: &ReportedCell<'_>) -> Vec<ShareMark> {
    let rate = cell.verified();
    let span = rate.interval().map(|interval| ShareMark {
        colour: 0,
        from: interval.lower,
        to: interval.upper,
        text: format!("95 %: {} to {}", percent(interval.lower), percent(interval.upper)),
    });
    let dot = ShareMark::dot(2, rate.share(), cell.name());
    span.into_iter().chain(dot).collect()
}

fn categories(cells: &[ReportedCell<'_>]) -> Vec<ShareRow> {
    let row = |category: FactorCategory| {
        let mark = |(colour, cell): (usize, &ReportedCell<'_>)| {
            let funnel = Funnel::of(&cell.first(), TaskGroup::Category(category), &cell.rules);
            let rate = funnel.rate(JudgeRule::Strict, LayersPassed::Verified);
            ShareMark::dot(colour, rate.share(), cell.name())
        };
        ShareRow {
            name: category.name().to_owned(),
            marks: cells
                .iter()
                .enumerate()
                .filter_map(|(place, cell)| mark((place % COLOURS, cell)))
                .collect(),
        }
    };
    FactorCategory::ALL.map(row).into()
}

fn causal(cell: &ReportedCell<'_>) -> Vec<ShareMark> {
    let group = TaskGroup::Category(FactorCategory::Causal);
    let funnel = Funnel::of(&cell.first(), group, &cell.rules);
    let share = |layer| funnel.rate(JudgeRule::Strict, layer).share();
    [
        ShareMark::dot(0, share(LayersPassed::Runs), "runs"),
        ShareMark::dot(1, share(LayersPassed::Safe), "safe"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn failures(cell: &ReportedCell<'_>) -> Vec<ShareMark> {
    let funnel = cell.funnel();
    let mut from = 0.0;
    let mut marks = Vec::new();
    for (colour, class) in FailureClass::ALL.into_iter().enumerate() {
        let passed = funnel.failures.get(&class).copied().unwrap_or(0);
        let share = TaskRate {
            passed,
            tasks: funnel.answers(),
        }
        .share()
        .unwrap_or(0.0);
        if 0.0 < share {
            let text = format!("{}: {}", class.code(), percent(share));
            marks.push(ShareMark {
                colour,
                from,
                to: from + share,
                text,
            });
            from += share;
        }
    }
    marks
}

fn structure(cell: &ReportedCell<'_>) -> Vec<ShareMark> {
    let share = |layer| cell.funnel().vectorised_among(layer).share();
    [
        ShareMark::dot(0, share(LayersPassed::Runs), "of those that run"),
        ShareMark::dot(1, share(LayersPassed::Safe), "of the safe"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Rows on a scale from 0 to 100 %, with the names of colours below.
fn picture(caption: &str, names: &[&str], rows: &[ShareRow]) -> Markup {
    const ROW: f64 = 22.0;
    let count = real(rows.len());
    let mut canvas = Canvas::new(680.0, count.mul_add(ROW, 34.0));
    let plane = Axes {
        edges: Edges::new(6.0, 14.0, 28.0, 190.0),
        rows: None,
        x: Axis::new(0.0..1.0, 5, &|value| axis_percent(value, 0.2)),
        y: Axis::unseen(0.0..count),
    }
    .draw(&mut canvas);
    for (place, row) in rows.iter().enumerate() {
        let y = plane.y(count - real(place) - 0.5);
        let name = (plane.across.start - 8.0, y + 4.0);
        canvas.text("t", Anchor::End, name, &fitted(&row.name, 28));
        for mark in &row.marks {
            let colour = mark.colour;
            canvas.explained(&mark.text, |canvas| {
                if mark.is_dot() {
                    let y = y + beside(names.len(), colour);
                    canvas.dot(&format!("dots f{colour}"), (plane.x(mark.from), y), 4.0);
                } else {
                    let (from, to) = (plane.x(mark.from), plane.x(mark.to));
                    canvas.rect(&format!("span f{colour}"), (from, y - 5.0), (to, y + 5.0));
                }
            });
        }
    }
    html! {
        figure {
            (canvas.figure("wide", caption, "a row a bundle or a family of tasks, from 0 to 100 %"))
            @if !names.is_empty() { (legend(names.iter().copied())) }
            figcaption { (caption) }
        }
    }
}

/// How far below the middle of a row the dot of a colour stands, so that equal shares are all seen.
fn beside(colours: usize, colour: usize) -> f64 {
    const HEIGHT: f64 = 12.0;
    match colours.min(COLOURS) {
        0 | 1 => 0.0,
        colours => HEIGHT * (real(colour) / real(colours - 1) - 0.5),
    }
}

/// The names of colours in their order.
pub(super) fn legend<'n>(names: impl Iterator<Item = &'n str>) -> Markup {
    html! {
        ul.legend {
            @for (place, name) in names.enumerate() {
                li { span class=(format!("k{}", place % COLOURS)) {} bdi { (name) } }
            }
        }
    }
}
