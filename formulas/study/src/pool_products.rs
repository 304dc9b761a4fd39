//! Pools: their directions, and their combinations, stock after stock, so that a pool of thousands needs no table of each alpha.

use crate::alpha_found::AlphaFound;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use ktd_alphas::{
    DayTable, Figure, GramMatrix, coded, daily_z_scores, diversity_of_products, equal_weights,
    products_of_rows, ridge_of_products,
};
use ktd_expressions::CheckedFormula;
use ktd_formulas::NameValues;
use ktd_formulas::ScoreTask;
use ktd_io::parallel::in_parallel;
use ktd_study::StudyError;
use std::ops::Range;

/// A pool whose alphas have been evaluated one by one.
#[derive(Debug)]
pub(crate) struct PoolTask<'s> {
    pub(crate) open: &'s OpenStudy,
    pub(crate) task: &'s ScoreTask<'s>,
    pub(crate) splits: &'s [SplitTables<'s>],
    pub(crate) formulas: Vec<CheckedFormula>,
    pub(crate) found: Vec<&'s AlphaFound>,
}

/// Weights of a pool's alphas, by the way they were found.
pub(crate) type Weights = (&'static str, Result<Vec<f64>, String>);

/// Products of all alphas over the days of a split, or a part of them.
#[derive(Debug)]
struct SplitProducts {
    days: Range<usize>,
    gram: GramMatrix,
    sums: Vec<f64>,
}

impl PoolTask<'_> {
    /// The diversity on each split, and the weights of the combinations.
    pub(crate) fn products(
        &self,
        advance: &mut dyn FnMut(),
    ) -> Result<(Vec<Figure>, [Weights; 3]), StudyError> {
        let mut parts = self.parts();
        let train = self.splits.iter().position(|split| split.name == "train");
        let z_labels = train.and_then(|train| {
            let split = &self.splits.get(train)?.split;
            Some(daily_z_scores(split.labels, split.members))
        });
        let mut with_label = vec![0.0; self.formulas.len()];
        self.task
            .each(&self.open.data.panel, &self.formulas, |name, values| {
                advance();
                for (place, part) in parts.iter_mut().enumerate() {
                    let (days, columns) = self.z_scores(name, &values, part.days.clone());
                    self.add(part, &columns);
                    let labels = z_labels
                        .as_ref()
                        .filter(|_| train.is_some_and(|train| place == 2 * train));
                    if let Some(labels) = labels {
                        let labels: Vec<f64> = days.iter().map(|day| labels.at(*day, name)).collect();
                        for (sum, column) in with_label.iter_mut().zip(&columns) {
                            *sum += column
                                .iter()
                                .zip(&labels)
                                .map(|(left, right)| left * right)
                                .sum::<f64>();
                        }
                    }
                }
            })?;
        let ridge = train.and_then(|train| parts.get(2 * train)).map_or_else(
            || Err("no_train_split".to_owned()),
            |part| {
                coded(ridge_of_products(
                    part.gram.clone(),
                    with_label,
                    self.open.study.ridge_penalty,
                ))
            },
        );
        let weights = [
            ("equal", Ok(equal_weights(self.formulas.len()))),
            ("ic", self.correlation_weights()),
            ("ridge", ridge),
        ];
        Ok((self.diversities(parts), weights))
    }

    /// Combinations by weights: the sum of z-scores on members' cells.
    pub(crate) fn combinations(
        &self,
        weights: &[&[f64]],
        advance: &mut dyn FnMut(),
    ) -> Result<Vec<DayTable>, StudyError> {
        let (days, names) = (self.task.window.len(), self.open.data.stocks().count());
        let mut tables = vec![DayTable::missing(days, names); weights.len()];
        self.task
            .each(&self.open.data.panel, &self.formulas, |name, values| {
                advance();
                let (counted, columns) = self.z_scores(name, &values, 0..days);
                for (table, weights) in tables.iter_mut().zip(weights) {
                    let mut sums = vec![0.0; counted.len()];
                    for (weight, column) in weights.iter().zip(&columns) {
                        for (sum, score) in sums.iter_mut().zip(column) {
                            *sum += weight * score;
                        }
                    }
                    let mut row = vec![f64::NAN; days];
                    for (day, sum) in counted.iter().zip(sums) {
                        row.get_mut(*day).into_iter().for_each(|slot| *slot = sum);
                    }
                    table.set_name(name, 0, row);
                }
            })?;
        Ok(tables)
    }

    /// For each split its days; of train those with labels, and then those without.
    fn parts(&self) -> Vec<SplitProducts> {
        let part = |days: &[usize]| {
            let first = days.first().copied().unwrap_or(0);
            let alphas = if days.is_empty() { 0 } else { self.formulas.len() };
            SplitProducts {
                days: first..days.last().map_or(first, |last| last + 1),
                gram: GramMatrix::new(alphas),
                sums: vec![0.0; alphas],
            }
        };
        let splits = self.splits.iter().flat_map(|split| {
            let days = &split.split.days;
            let labelled = if split.name == "train" {
                split.split.label_days.len()
            } else {
                days.len()
            };
            let (labelled, rest) = days.split_at_checked(labelled).unwrap_or((days, &[]));
            [part(labelled), part(rest)]
        });
        splits.collect()
    }

    fn add(&self, part: &mut SplitProducts, columns: &[Vec<f64>]) {
        let blocks = part.gram.blocks();
        let products = in_parallel(&blocks, self.task.threads, |rows| products_of_rows(columns, rows));
        for (rows, products) in blocks.iter().zip(products) {
            part.gram.add(rows, &products);
        }
        for (sum, column) in part.sums.iter_mut().zip(columns) {
            *sum += column.iter().sum::<f64>();
        }
    }

    /// Days on which a stock is a member, and every alpha's z-scores on them.
    fn z_scores(&self, name: usize, values: &NameValues, days: Range<usize>) -> (Vec<usize>, Vec<Vec<f64>>) {
        let Some(members) = self.splits.first().map(|split| split.split.members) else {
            return (Vec::new(), Vec::new());
        };
        let first = self.task.window.start;
        let is_member = |day: &usize| members.day(*day).get(name).copied().unwrap_or(false);
        let days: Vec<usize> = days.filter(is_member).collect();
        let row = |day: &usize| values.sessions.binary_search(&(first + day)).ok();
        let rows: Vec<Option<usize>> = days.iter().map(row).collect();
        let alphas: Vec<(&AlphaFound, &Vec<f32>)> = self.found.iter().copied().zip(&values.columns).collect();
        let columns = in_parallel(&alphas, self.task.threads, |(found, cells)| {
            let sign = if found.is_turned { -1.0 } else { 1.0 };
            let of_day = |(day, row): (&usize, &Option<usize>)| {
                let cell = row.and_then(|row| cells.get(row));
                let score = cell.map_or(f64::NAN, |cell| sign * f64::from(*cell));
                found
                    .spreads
                    .get(*day)
                    .map_or(0.0, |spread| spread.z_score(score))
            };
            days.iter().zip(&rows).map(of_day).collect()
        });
        (days, columns)
    }

    fn correlation_weights(&self) -> Result<Vec<f64>, String> {
        if !self.splits.iter().any(|split| split.name == "train") {
            return Err("no_train_split".to_owned());
        }
        let weight = |alpha: &&AlphaFound| alpha.train_rank_ic.map_or(0.0, |rank_ic| rank_ic.max(0.0));
        let weights: Vec<f64> = self.found.iter().map(weight).collect();
        if weights.iter().any(|weight| 0.0 < *weight) {
            Ok(weights)
        } else {
            Err("no_positive_weight".to_owned())
        }
    }

    fn diversities(&self, parts: Vec<SplitProducts>) -> Vec<Figure> {
        let mut parts = parts.into_iter();
        let of_split = |split: &SplitTables<'_>| {
            let (Some(mut whole), Some(rest)) = (parts.next(), parts.next()) else {
                return Err("no_alpha_has_it".to_owned());
            };
            whole.gram.add_all(&rest.gram);
            whole
                .sums
                .iter_mut()
                .zip(rest.sums)
                .for_each(|(sum, rest)| *sum += rest);
            let cells = split.split.members.cells(&split.split.days);
            coded(diversity_of_products(whole.gram, &whole.sums, cells)).map(|found| found.score)
        };
        self.splits.iter().map(of_split).collect()
    }
}
