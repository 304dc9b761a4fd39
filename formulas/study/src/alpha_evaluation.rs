//! The evaluation of a study's formulas and pools.

use crate::alpha_batch::BatchTask;
use crate::alpha_exchange::AlphaExchange;
use crate::alpha_found::{AlphaFound, AlphaUnit, EvaluatedBlock, SplitFound};
use crate::alpha_inference::{best_alphas, mark_alike, pool_inference, rank_rows};
use crate::alpha_report::{AlphaReport, AlphaRow, AlphaYearRow, CombinationRow, PoolRow, RefusedRow};
use crate::alpha_rows::{alpha_rows, combination_row, pool_row, split_row};
use crate::open_study::{FORMAT, OpenStudy};
use crate::pool_products::PoolTask;
use crate::split_tables::{SplitTables, StudyTables};
use crate::study_pool::StudyPool;
use ktd_alphas::NoiseMode;
use ktd_alphas::{DaySeries, FigureRow, evaluate_alpha, exact_series};
use ktd_expressions::{CheckedFormula, RowsBack};
use ktd_formulas::ScoreTask;
use ktd_io::sha256::sha256_hex;
use ktd_study::{Hands, StudyError};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Bytes of an alpha's cell while it is evaluated: its score, the perturbed one, and its rank.
const BATCH_CELL_BYTES: usize = 12;

/// The name of a pool's equal-weight combination among its alphas.
const EQUAL: &str = "equal";

/// A pool and its combinations on a split.
#[derive(Debug, Serialize, Deserialize)]
struct PoolOfSplit {
    pool: PoolRow,
    combinations: Vec<CombinationRow>,
    /// The equal-weight combination by year.
    years: Vec<(String, FigureRow)>,
    /// Its daily returns.
    #[serde(with = "exact_series")]
    equal: DaySeries,
}

fn year_rows(
    (split, pool, id): (&str, &str, &str),
    years: &[(String, FigureRow)],
) -> impl Iterator<Item = AlphaYearRow> {
    years.iter().map(move |(year, row)| AlphaYearRow {
        split: split.to_owned(),
        pool: pool.to_owned(),
        id: id.to_owned(),
        year: year.clone(),
        row: row.clone(),
    })
}

impl OpenStudy {
    /// Evaluates the formulas of a block.
    ///
    /// # Errors
    /// [`StudyError`] for a formula that names an instrument that the panel lacks, and a universe without names.
    pub(crate) fn evaluate_block(
        &self,
        block: Range<usize>,
        hands: &Hands<'_, ()>,
    ) -> Result<EvaluatedBlock, StudyError> {
        let tables = self.tables();
        let exchange = AlphaExchange::of(self);
        let batch = BatchTask {
            open: self,
            task: &self.score_task(hands.threads()),
            splits: &self.split_tables(&tables)?,
            sigma: self.sigma()?,
            exchange: exchange.as_ref(),
        };
        batch.evaluate(self.formulas().get(block).unwrap_or_default(), hands)
    }

    /// What follows from what the blocks came to; pools and choices are works of `hands`.
    ///
    /// # Errors
    /// As [`Self::evaluate_block`].
    pub(crate) fn evaluate_pools(
        &self,
        blocks: &[EvaluatedBlock],
        hands: &Hands<'_, ()>,
    ) -> Result<AlphaReport, StudyError> {
        let tables = self.tables();
        let splits = self.split_tables(&tables)?;
        let task = self.score_task(hands.threads());
        let formulas = self.formulas();
        let found = self.alphas_of(blocks)?;
        let mut report = self.empty_report(blocks.last().map_or(0, |block| block.raised))?;
        for (place, split) in splits.iter().enumerate() {
            let mut rows = alpha_rows(self, &found, place, split);
            let returns: Vec<&DaySeries> = found
                .iter()
                .filter_map(|alpha| Some(&alpha.splits.get(place)?.returns))
                .collect();
            mark_alike(split, &mut rows, &returns);
            report.splits.push(split_row(self, split, &rows));
            self.add_inference(&mut report, (place, split), &found, &mut rows)?;
            report.alphas.extend(rows);
        }
        self.add_pools(&mut report, &task, &splits, (&formulas, &found), hands)?;
        (report.selections, report.curve_days) = hands.work("selections", &self.formulas_hash(), || {
            self.selections(&report.alphas, &task, &splits, (&formulas, &found))
        })?;
        Ok(report)
    }

    pub(crate) fn split_tables<'t>(
        &'t self,
        tables: &'t StudyTables,
    ) -> Result<Vec<SplitTables<'t>>, StudyError> {
        let spans = self.splits.iter();
        let splits: Vec<SplitTables<'_>> = spans.map(|span| SplitTables::new(self, tables, span)).collect();
        let is_empty = |split: &&SplitTables<'_>| split.split.members.cells(&split.split.days) == 0;
        match splits.iter().find(is_empty) {
            None => Ok(splits),
            Some(empty) => Err(StudyError::input(
                format_args!("no name counts on any day of split {}", empty.name),
                "write universe = \"all\" where the panel has no members",
            )),
        }
    }

    /// The alphas of all blocks, in the order of the formulas.
    fn alphas_of(&self, blocks: &[EvaluatedBlock]) -> Result<Vec<AlphaFound>, StudyError> {
        let mut found = Vec::with_capacity(self.formulas().len());
        for (place, block) in blocks.iter().enumerate() {
            found.extend(block.alphas(&self.unit_folder(&AlphaUnit::block_id(place)))?);
        }
        Ok(found)
    }

    /// What may be concluded of the alphas of a split, and their figures by year.
    fn add_inference(
        &self,
        report: &mut AlphaReport,
        (place, split): (usize, &SplitTables<'_>),
        found: &[AlphaFound],
        rows: &mut [AlphaRow],
    ) -> Result<(), StudyError> {
        let of_split: Vec<&SplitFound> = found.iter().filter_map(|alpha| alpha.splits.get(place)).collect();
        let mut first = 0;
        for pool in &self.pools {
            let alphas = first..first + pool.set.checked.len();
            first = alphas.end;
            let of_pool = of_split.get(alphas.clone()).unwrap_or_default();
            let returns: Vec<&DaySeries> = of_pool.iter().map(|alpha| &alpha.returns).collect();
            let rows = rows.get_mut(alphas).unwrap_or_default();
            let row = pool_inference(self, split, pool, (rows, &returns))?;
            report.inference.push(row);
        }
        for (row, alpha) in rows.iter().zip(&of_split) {
            report
                .years
                .extend(year_rows((&row.split, &row.pool, &row.id), &alpha.years));
        }
        let best = best_alphas(rows, found, place);
        report.ranks.extend(rank_rows(self, split, "alphas", &best)?);
        Ok(())
    }

    fn empty_report(&self, raised: usize) -> Result<AlphaReport, StudyError> {
        Ok(AlphaReport {
            format: FORMAT,
            name: self.study.name.clone(),
            inputs: sha256_hex(self.inputs().to_string().as_bytes()),
            formulas: self.formulas_hash(),
            panel: self.data.panel.source.clone(),
            label: self.label_words().0.to_owned(),
            noise_mode: self.study.noise.mode.word().to_owned(),
            noise_sigma: self.sigma()?,
            noise_draws: self.study.draws(),
            noise_raised: raised,
            is_test_open: self.splits.iter().any(|split| split.name == "test"),
            notes: self.notes(),
            refused: self.refused(),
            ..AlphaReport::default()
        })
    }

    /// The sessions from the first split's first to the last one's last.
    pub(crate) fn window(&self) -> Range<usize> {
        let start = self.splits.first().map_or(0, |split| split.sessions.start);
        start..self.splits.last().map_or(0, |split| split.sessions.end)
    }

    /// Formulas that are evaluated together.
    pub(crate) fn batch(&self) -> usize {
        let cells = self.window().len().saturating_mul(self.data.stocks().count());
        let bytes = cells.saturating_mul(BATCH_CELL_BYTES).max(1);
        (self.batch_bytes() / bytes).max(1)
    }

    /// Their places.
    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        let (formulas, most) = (self.formulas().len(), self.batch());
        let blocks = (0..formulas).step_by(most);
        blocks.map(|first| first..formulas.min(first + most)).collect()
    }

    fn add_pools(
        &self,
        report: &mut AlphaReport,
        task: &ScoreTask<'_>,
        splits: &[SplitTables<'_>],
        (formulas, found): (&[CheckedFormula], &[AlphaFound]),
        hands: &Hands<'_, ()>,
    ) -> Result<(), StudyError> {
        let mut first = 0;
        let mut works: Vec<Vec<PoolOfSplit>> = Vec::new();
        for pool in &self.pools {
            let alphas = first..first + pool.set.checked.len();
            first = alphas.end;
            let of_pool = PoolTask {
                open: self,
                task,
                splits,
                formulas: formulas.get(alphas.clone()).unwrap_or_default().to_vec(),
                found: found.get(alphas).unwrap_or_default().iter().collect(),
            };
            let rows = &report.alphas;
            let made: Vec<PoolOfSplit> = hands.work("pool", &pool.id, || {
                self.pool_work(pool, (&of_pool, rows), &mut || hands.advance(1))
            })?;
            for (split, of_split) in splits.iter().zip(&made) {
                report
                    .years
                    .extend(year_rows((split.name, &pool.id, EQUAL), &of_split.years));
            }
            works.push(made);
        }
        // Split after split, as the alphas stand.
        for (place, split) in splits.iter().enumerate() {
            let of_split: Vec<&PoolOfSplit> = works.iter().filter_map(|made| made.get(place)).collect();
            report.pools.extend(of_split.iter().map(|made| made.pool.clone()));
            report
                .combinations
                .extend(of_split.iter().flat_map(|made| made.combinations.clone()));
            let ranked = of_split
                .iter()
                .map(|made| (made.pool.pool.clone(), EQUAL.to_owned(), &made.equal));
            let ranked: Vec<_> = ranked.collect();
            report.ranks.extend(rank_rows(self, split, "pools", &ranked)?);
        }
        Ok(())
    }

    /// A pool and its combinations by split.
    fn pool_work(
        &self,
        pool: &StudyPool,
        (of_pool, alphas): (&PoolTask<'_>, &[AlphaRow]),
        advance: &mut dyn FnMut(),
    ) -> Result<Vec<PoolOfSplit>, StudyError> {
        let exchange = AlphaExchange::of(self);
        let (diversities, weights) = of_pool.products(advance)?;
        let given = weights
            .each_ref()
            .map(|(_, weights)| weights.as_deref().unwrap_or_default());
        let combined = of_pool.combinations(&given, advance)?;
        let made = of_pool.splits.iter().zip(diversities).map(|(split, diversity)| {
            let rows = alphas.iter();
            let rows = rows.filter(|row| row.split == split.name && row.pool == pool.id);
            let mut made = PoolOfSplit {
                pool: pool_row(self, split, pool, &rows.collect::<Vec<_>>(), diversity),
                combinations: Vec::new(),
                years: Vec::new(),
                equal: DaySeries::new(),
            };
            for (weights, combined) in weights.iter().zip(&combined) {
                let evaluation = evaluate_alpha(combined, &split.split);
                let mut row = combination_row(self, split, pool, (weights, &evaluation));
                if let Some(exchange) = exchange.as_ref().filter(|_| weights.1.is_ok()) {
                    exchange.add_figures(&mut row.row, combined, split);
                }
                if row.weights == EQUAL {
                    made.years = evaluation.by_year(|day| self.year_of(day));
                    made.equal = evaluation.net_returns();
                }
                made.combinations.push(row);
            }
            made
        });
        Ok(made.collect())
    }

    pub(crate) fn tables(&self) -> StudyTables {
        let (window, label) = (self.window(), self.study.label);
        StudyTables {
            labels: self.data.labels(label, &window),
            other_labels: self.data.labels(label.other(), &window),
            members: self.data.universe(self.study.universe, &window),
            window,
        }
    }

    fn refused(&self) -> Vec<RefusedRow> {
        let rows = self.pools.iter().flat_map(|pool| {
            pool.set.refused.iter().map(|refused| RefusedRow {
                pool: pool.id.clone(),
                id: refused.line.id.clone(),
                code: refused.error.fault.code().to_owned(),
                error: refused.error.to_string(),
            })
        });
        rows.collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.data.panel.notes.clone();
        let before = self.splits.first().map_or(0, |split| split.sessions.start);
        let needs = |formula: &CheckedFormula| match formula.reach().back {
            RowsBack::Rows(rows) => rows,
            RowsBack::All => 0,
        };
        let most = self.formulas().iter().map(needs).max().unwrap_or(0);
        let lost = most.saturating_sub(u64::try_from(before).unwrap_or(u64::MAX));
        if 0 < lost {
            notes.push(format!(
                "formulas read up to {most} earlier sessions, and the panel has {before} before the first split: windows of its \
                 first {lost} sessions are shorter"
            ));
        }
        if self.study.test_closed && self.study.splits.test.is_some() {
            notes.push("the test split is closed".to_owned());
        }
        if let Some(exchange) = &self.study.exchange {
            notes.push(format!(
                "through the exchange: the {} members with the highest scores, {} CNY, splits {}, the simulation's lots, limits, T+1 and fees",
                exchange.top,
                exchange.cash,
                exchange.splits.join(", ")
            ));
        }
        if matches!(self.study.noise.mode, NoiseMode::Output | NoiseMode::Code) {
            notes
                .push("robustness is that of an alpha whose values are perturbed, not its inputs".to_owned());
        }
        notes.extend(self.logic_notes());
        notes.extend(self.trial_notes());
        notes.push("stability is turnover by another name: a high one is no independent merit".to_owned());
        notes
    }
}
