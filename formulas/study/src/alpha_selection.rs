//! Alphas chosen on valid days, together on test days: what each figure is good for.

use crate::FormulaStudyError;
use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, FigureRow, SelectionRow};
use crate::alpha_rows::{add_evaluation, portfolio_returns};
use crate::open_study::OpenStudy;
use crate::pool_products::PoolTask;
use crate::split_tables::SplitTables;
use crate::study_values::ScoreTask;
use ktd_alphas::{equal_weights, evaluate_alpha};
use ktd_expressions::CheckedFormula;
use std::collections::{BTreeMap, BTreeSet};

/// How many alphas are chosen.
const CHOSEN: usize = 20;

/// The figures that alphas are chosen by.
const FIGURES: [&str; 4] = ["pps", "rre", "pfs", "composite"];

/// Weights of values in PPS that alphas are chosen by as well.
const BETAS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A choice: its figure, the weight of values in it, and the places of its alphas.
type Choice = (&'static str, f64, Vec<usize>);

impl OpenStudy {
    /// The best alphas by each figure of valid days, with what their equal-weight combination earns on test days.
    pub(crate) fn selections(
        &self,
        alphas: &[AlphaRow],
        task: &ScoreTask<'_>,
        splits: &[SplitTables<'_>],
        (formulas, found): (&[CheckedFormula], &[AlphaFound]),
    ) -> Result<(Vec<SelectionRow>, Vec<String>), FormulaStudyError> {
        let Some(test) = splits.iter().find(|split| split.name == "test") else {
            return Ok(Default::default());
        };
        let valid: Vec<&AlphaRow> = alphas.iter().filter(|row| row.split == "valid").collect();
        if valid.is_empty() {
            return Ok(Default::default());
        }
        let choices = self.choices(&valid);
        let together: BTreeSet<usize> = choices
            .iter()
            .flat_map(|(_, _, chosen)| chosen.iter().copied())
            .collect();
        let places: BTreeMap<usize, usize> = together.iter().copied().zip(0..).collect();
        let chosen = PoolTask {
            open: self,
            task,
            splits,
            formulas: together
                .iter()
                .filter_map(|alpha| formulas.get(*alpha))
                .cloned()
                .collect(),
            found: together.iter().filter_map(|alpha| found.get(*alpha)).collect(),
        };
        let weights: Vec<Vec<f64>> = choices
            .iter()
            .map(|(_, _, alphas)| {
                let mut weights = vec![0.0; together.len()];
                for (alpha, weight) in alphas.iter().zip(equal_weights(alphas.len())) {
                    let place = places.get(alpha).and_then(|place| weights.get_mut(*place));
                    if let Some(slot) = place {
                        *slot = weight;
                    }
                }
                weights
            })
            .collect();
        let weights: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
        let combined = chosen.combinations(&weights, &mut || ())?;
        let mut selections = Vec::new();
        for ((by, beta, alphas), combined) in choices.into_iter().zip(combined) {
            let evaluation = evaluate_alpha(&combined, &test.split);
            let mut row = FigureRow::default();
            add_evaluation(&mut row, &evaluation, self.label_words().1);
            let returns: BTreeMap<usize, f64> = portfolio_returns(&evaluation).into_iter().collect();
            let mut value = 1.0;
            let curve = test.split.label_days.iter().map(|day| {
                value *= 1.0 + returns.get(day).copied().unwrap_or(0.0);
                value
            });
            let name = |alpha: usize| valid.get(alpha).map(|row| format!("{}/{}", row.pool, row.id));
            selections.push(SelectionRow {
                by: by.to_owned(),
                beta,
                curve: curve.collect(),
                alphas: alphas.into_iter().filter_map(name).collect(),
                row,
            });
        }
        let days = test.split.label_days.iter();
        Ok((selections, days.map(|day| self.day_of(test, Some(day))).collect()))
    }

    fn choices(&self, valid: &[&AlphaRow]) -> Vec<Choice> {
        let beta = self.study.beta;
        let by_figure = FIGURES
            .into_iter()
            .map(|figure| (figure, beta, best(valid, |row| row.row.get(figure))));
        let by_beta = BETAS.into_iter().map(|beta| {
            let score =
                |row: &AlphaRow| Some(beta * row.row.get("ic")? + (1.0 - beta) * row.row.get("rank_ic")?);
            ("pps by beta", beta, best(valid, score))
        });
        by_figure
            .chain(by_beta)
            .filter(|(_, _, chosen)| !chosen.is_empty())
            .collect()
    }
}

/// The places of the best distinct alphas, the best first.
fn best(valid: &[&AlphaRow], figure: impl Fn(&AlphaRow) -> Option<f64>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let distinct = valid
        .iter()
        .enumerate()
        .filter(|(_, row)| seen.insert(row.formula.as_str()));
    let mut order: Vec<(f64, usize)> = distinct
        .filter_map(|(place, row)| Some((figure(row)?, place)))
        .collect();
    order.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    order.into_iter().take(CHOSEN).map(|(_, place)| place).collect()
}
