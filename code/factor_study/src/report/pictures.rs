//! Pictures of first answers: shares on one scale, a row a bundle or a category (`AlphaQT`'s figures 3 to 6).

use super::cells::ReportedCell;
use ktd_factor_code::{FactorCategory, FailureClass, Funnel, JudgeRule, LayersPassed, TaskGroup, TaskRate};
use ktd_view::draw::{COLOURS, ShareMark, ShareRow, percent, share_rows};
use maud::Markup;

/// All pictures of first answers.
pub(super) fn pictures(cells: &[ReportedCell<'_>]) -> Vec<Markup> {
    let bundles: Vec<&str> = cells.iter().map(ReportedCell::name).collect();
    let all: [(&str, &[&str], Vec<ShareRow>); 5] = [
        (
            "Strict VAcc of first answers, with 95 % intervals (T1_ranks.csv)",
            &[],
            of_cells(cells, headline),
        ),
        (
            "Strict VAcc of first answers by family of tasks (T2_categories.csv)",
            &bundles,
            categories(cells),
        ),
        (
            "Causal tasks: what runs, and what of it does not look ahead (T3_causal.csv)",
            &["runs", "safe"],
            of_cells(cells, causal),
        ),
        (
            "The first layer that is failed, shares of all first answers (T4_failures.csv)",
            &FailureClass::ALL.map(FailureClass::code),
            of_cells(cells, failures),
        ),
        (
            "Vectorised functions among those that run and among the safe ones (T5_structure.csv)",
            &["of those that run", "of the safe"],
            of_cells(cells, structure),
        ),
    ];
    // Of a family without tasks there is nothing to see.
    let shown = all
        .iter()
        .filter(|(_, _, rows)| rows.iter().any(|row| !row.marks.is_empty()));
    shown
        .map(|(caption, legend, rows)| share_rows(caption, legend, rows))
        .collect()
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
    let span = rate.interval().map(|interval| {
        let text = format!("95 %: {} to {}", percent(interval.lower), percent(interval.upper));
        ShareMark::span(0, (interval.lower, interval.upper), text)
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
            marks.push(ShareMark::span(colour, (from, from + share), text));
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
