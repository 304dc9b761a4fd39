//! Alphas chosen on valid days, together on test days: what each figure is good for.

use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, SelectionRow};
use crate::open_study::OpenStudy;
use crate::pool_products::PoolTask;
use crate::split_tables::SplitTables;
use ktd_alphas::{FigureRow, equal_weights, evaluate_alpha, highest};
use ktd_expressions::CheckedFormula;
use ktd_formulas::ScoreTask;
use ktd_study::StudyError;
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
    ) -> Result<(Vec<SelectionRow>, Vec<String>), StudyError> {
        let test = splits.iter().find(|split| split.name == "test");
        let valid: Vec<&AlphaRow> = alphas.iter().filter(|row| row.split == "valid").collect();
        let Some(test) = test.filter(|_| !valid.is_empty()) else {
            return Ok(Default::default());
        };
        let choices = self.choices(&valid);
        let together: BTreeSet<usize> = choices
            .iter()
            .flat_map(|(_, _, chosen)| chosen)
            .copied()
            .collect();
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
            .map(|(_, _, alphas)| weights(alphas, &together))
            .collect();
        let weights: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
        let combined = chosen.combinations(&weights, &mut || ())?;
        let mut selections = Vec::new();
        for ((by, beta, alphas), combined) in choices.into_iter().zip(combined) {
            let evaluation = evaluate_alpha(&combined, &test.split);
            let mut row = FigureRow::default();
            evaluation.add_figures(&mut row, self.label_words().1);
            let returns: BTreeMap<usize, f64> = evaluation.returns().into_iter().collect();
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
        Ok((selections, days.map(|day| self.day_of(Some(day))).collect()))
    }

    fn choices(&self, valid: &[&AlphaRow]) -> Vec<Choice> {
        // Of one formula under several names the first counts.
        let mut seen = BTreeSet::new();
        let distinct = valid
            .iter()
            .map(|row| seen.insert(row.formula.as_str()).then_some(&row.row));
        let distinct: Vec<Option<&FigureRow>> = distinct.collect();
        let best = |figure: &dyn Fn(&FigureRow) -> Option<f64>| {
            highest(distinct.iter().map(|row| row.and_then(figure)), CHOSEN)
        };
        let by_figure = FIGURES.map(|name| (name, self.study.beta, best(&|row| row.get(name))));
        let by_beta = BETAS.map(|beta| {
            let score = |row: &FigureRow| Some(beta * row.get("ic")? + (1.0 - beta) * row.get("rank_ic")?);
            ("pps by beta", beta, best(&score))
        });
        let choices = by_figure.into_iter().chain(by_beta);
        choices.filter(|(_, _, chosen)| !chosen.is_empty()).collect()
    }
}

/// The equal weights of some alphas among all that are chosen by anything.
fn weights(alphas: &[usize], together: &BTreeSet<usize>) -> Vec<f64> {
    let weight = equal_weights(alphas.len()).first().copied().unwrap_or(0.0);
    let of = |alpha: &usize| if alphas.contains(alpha) { weight } else { 0.0 };
    together.iter().map(of).collect()
}
