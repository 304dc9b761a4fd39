//! How many wrong factors each accuracy rule takes, whatever a model writes.

use crate::accuracy::{AccuracyFigures, AccuracyRules};
use crate::judge::GoldenColumns;
use crate::panel::{FactorPanels, PanelKind};
use crate::task::FactorTask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Of how many tasks each accuracy rule takes a wrong ending of right code on all panels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FalseAccepts {
    /// What is wrong.
    pub ending: String,
    /// Tasks.
    pub tasks: usize,
    /// Of them, those that the published rule takes.
    pub published: usize,
    /// Of them, those that the strict rule takes.
    pub strict: usize,
}

/// Of how many tasks each rule takes each wrong ending.
#[must_use]
pub fn false_accepts(
    columns: &[(&FactorTask, GoldenColumns)],
    panels: &FactorPanels,
    rules: &AccuracyRules,
) -> Vec<FalseAccepts> {
    let each = ENDINGS.into_iter().map(|(name, ending)| {
        let taken = |is_right: fn(&AccuracyFigures, &AccuracyRules) -> bool| {
            let takes = columns.iter().filter(|(task, golden)| {
                is_taken((task, golden), panels, ending, |figures| is_right(figures, rules))
            });
            takes.count()
        };
        FalseAccepts {
            ending: name.to_owned(),
            tasks: columns.len(),
            published: taken(AccuracyFigures::is_published_right),
            strict: taken(AccuracyFigures::is_right),
        }
    });
    each.collect()
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
