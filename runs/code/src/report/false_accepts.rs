//! How many wrong factors each accuracy rule takes.

use super::bundles::ReportedBundle;
use super::rates::text;
use crate::error::CodeError;
use ktd_factor_code::{AccuracyFigures, AccuracyRules, FactorPanels, FactorTask, GoldenColumns, PanelKind};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;

/// A wrong ending of right code, by its name.
type WrongEnding = (&'static str, fn(&[f64]) -> Vec<f64>);

const ENDINGS: [WrongEnding; 7] = [
    ("2 y + 1", |cells| {
        cells.iter().map(|cell| 2.0 * cell + 1.0).collect()
    }),
    ("the other sign", |cells| cells.iter().map(|cell| -cell).collect()),
    ("a row late", |cells| {
        let late = std::iter::once(f64::NAN).chain(cells.iter().copied());
        late.take(cells.len()).collect()
    }),
    ("a row early", |cells| {
        cells.iter().skip(1).copied().chain([f64::NAN]).collect()
    }),
    ("warm-up filled with 0", |cells| {
        let filled = |cell: &f64| if cell.is_nan() { 0.0 } else { *cell };
        cells.iter().map(filled).collect()
    }),
    ("warm-up filled with later values", |cells| {
        let mut next = f64::NAN;
        let mut filled: Vec<f64> = Vec::with_capacity(cells.len());
        for cell in cells.iter().rev() {
            next = if cell.is_nan() { next } else { *cell };
            filled.push(next);
        }
        filled.reverse();
        filled
    }),
    ("0.1 % larger", |cells| {
        cells.iter().map(|cell| 1.001 * cell).collect()
    }),
];

/// Table 12, on the tasks and panels of the first bundle: no model has a part in it.
pub(super) fn table(bundles: &[ReportedBundle]) -> Result<ReportTable, CodeError> {
    let heads = [
        ("wrong ending", Left),
        ("tasks", Right),
        ("published rule takes", Right),
        ("strict rule takes", Right),
    ];
    let mut rows = Vec::new();
    if let Some(reported) = bundles.first() {
        let mut columns = Vec::new();
        for task in reported.bundle.tasks.as_slice() {
            columns.push((task, GoldenColumns::of(task, &reported.panels)?));
        }
        for (name, ending) in ENDINGS {
            let taken = |is_right: fn(&AccuracyFigures, &AccuracyRules) -> bool| {
                let takes = columns.iter().filter(|(task, golden)| {
                    is_taken((task, golden), &reported.panels, ending, |figures| {
                        is_right(figures, &reported.rules)
                    })
                });
                TableCell::Count(takes.count())
            };
            rows.push(vec![
                text(name),
                TableCell::Count(columns.len()),
                taken(AccuracyFigures::is_published_right),
                taken(AccuracyFigures::is_right),
            ]);
        }
    }
    let data = TableData::new("T12. Wrong factors that each accuracy rule takes", heads)
        .with_rows(rows)
        .with_note("a warm-up that has no missing value is not changed by filling it");
    Ok(ReportTable::new("T12_false_accepts", data))
}

/// Whether a rule takes a wrong ending on all panels that are judged.
fn is_taken(
    (task, golden): (&FactorTask, &GoldenColumns),
    panels: &FactorPanels,
    ending: fn(&[f64]) -> Vec<f64>,
    is_right: impl Fn(&AccuracyFigures) -> bool,
) -> bool {
    PanelKind::JUDGED.into_iter().all(|panel| {
        let right = golden.on(panel);
        let rows = panels.bars(panel).rows();
        let figures = AccuracyFigures::of(&ending(right), right, task.warm_up.min(rows));
        is_right(&figures)
    })
}
