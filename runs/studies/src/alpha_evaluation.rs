//! The evaluation of a study's pools.

use crate::StudyError;
use crate::alpha_report::{AlphaReport, RefusedRow};
use crate::alpha_rows::{SplitTables, add_split};
use crate::alpha_study::{StudyLabel, StudyOrientation};
use crate::open_study::{FORMAT, OpenStudy, StudyTables};
use crate::study_values::{NoiseDraw, ScoreTask, perturbed_panel};
use ktd_alphas::{DayTable, LabelKind, NoiseLaw, daily_correlations, label_returns, rank_robustness};
use ktd_expressions::{CheckedFormula, RowsBack};
use ktd_io::parallel::in_parallel;
use ktd_stats::moments::mean;
use std::collections::BTreeMap;

impl OpenStudy {
    /// Evaluates everything; `advance` is called for each instrument.
    ///
    /// # Errors
    /// [`StudyError`] for a formula that names an instrument that the panel lacks, and a universe without names.
    pub fn evaluate(&self, test_looks: usize, advance: &mut dyn FnMut()) -> Result<AlphaReport, StudyError> {
        let (tables, raised) = self.tables(advance)?;
        let mut report = AlphaReport {
            format: FORMAT,
            name: self.study.name.clone(),
            inputs: self.inputs_hash()?,
            formulas: self.formulas_hash(),
            panel: self.data.panel.source.clone(),
            label: self.label_words().0.to_owned(),
            noise_mode: "input".to_owned(),
            noise_sigma: self.sigma()?,
            noise_draws: self.study.noise.draws,
            noise_raised: raised,
            test_looks,
            notes: self.notes(),
            splits: Vec::new(),
            pools: Vec::new(),
            combinations: Vec::new(),
            alphas: Vec::new(),
            refused: self.refused(),
            tables: BTreeMap::new(),
        };
        for (place, split) in self.splits.iter().enumerate() {
            let cells = tables.members.cells(&split.days(tables.window.start));
            if cells == 0 {
                return Err(StudyError::input(
                    format_args!("no name counts on any day of split {}", split.name),
                    "write universe = \"all\" where the panel has no members",
                ));
            }
            add_split(&mut report, self, &SplitTables::new(self, &tables, place))?;
        }
        Ok(report)
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
        if !self.run.is_test_open && self.study.splits.test.is_some() {
            notes.push("the test split is closed".to_owned());
        }
        notes.extend(self.logic.notes());
        notes.push("stability is turnover by another name: a high one is no independent merit".to_owned());
        notes
    }

    fn tables(&self, advance: &mut dyn FnMut()) -> Result<(StudyTables, usize), StudyError> {
        let start = self.splits.first().map_or(0, |split| split.sessions.start);
        let window = start..self.splits.last().map_or(0, |split| split.sessions.end);
        let table = |field| self.data.table(field, &window);
        let (opens, closes, volumes) = (table("open"), table("close"), table("volume"));
        let next_open = label_returns(LabelKind::NextOpen, &opens, &volumes, 1);
        let close = label_returns(LabelKind::Close, &closes, &volumes, 1);
        let (labels, other_labels) = match self.study.label {
            StudyLabel::NextOpen => (next_open, close),
            StudyLabel::Close => (close, next_open),
        };
        let formulas = self.formulas();
        let task = ScoreTask {
            data: &self.data,
            formulas: &formulas,
            precision: self.study.numeric.precision(),
            window: window.clone(),
            threads: self.run.threads,
        };
        let mut tables = StudyTables {
            labels,
            other_labels,
            members: self.data.universe(self.study.universe, &window),
            scores: task.scores(&self.data.panel, advance)?,
            turned: Vec::new(),
            robustness: Vec::new(),
            window,
        };
        let raised = self.add_robustness(&mut tables, &task, advance)?;
        tables.turned = self.turned(&tables);
        for (scores, is_turned) in tables.scores.iter_mut().zip(&tables.turned) {
            if *is_turned {
                *scores = scores.times(-1.0);
            }
        }
        Ok((tables, raised))
    }

    /// Which formulas predict the wrong way round on train days.
    fn turned(&self, tables: &StudyTables) -> Vec<bool> {
        let train = self.splits.iter().find(|split| split.name == "train");
        let train = train.filter(|_| self.study.orientation == StudyOrientation::Train);
        let Some(days) = train.map(|train| train.label_days(tables.window.start)) else {
            return vec![false; tables.scores.len()];
        };
        in_parallel(&tables.scores, self.run.threads, |scores| {
            let (labels, members) = (&tables.labels, &tables.members);
            let daily = daily_correlations(scores, labels, members, &days, self.study.min_names);
            daily.power(0.0).is_ok_and(|power| power.rank_ic < 0.0)
        })
    }

    /// Draw after draw, so that the scores on one perturbed panel stand in memory.
    fn add_robustness(
        &self,
        tables: &mut StudyTables,
        task: &ScoreTask<'_>,
        advance: &mut dyn FnMut(),
    ) -> Result<usize, StudyError> {
        let mut raised = 0;
        let empty = || vec![Vec::new(); task.formulas.len()];
        let mut found: Vec<[Vec<Vec<Option<f64>>>; 2]> =
            self.splits.iter().map(|_| [empty(), empty()]).collect();
        if let Some(sigma) = self.sigma()? {
            for (law_place, law) in [NoiseLaw::Normal, NoiseLaw::StudentT3].into_iter().enumerate() {
                for draw in 0..self.study.noise.draws {
                    let noise = NoiseDraw {
                        law,
                        sigma,
                        seed: self.study.seed,
                        draw,
                    };
                    let (panel, floor) = perturbed_panel(&self.data, noise);
                    raised += floor;
                    let perturbed = task.scores(&panel, advance)?;
                    self.add_draw(tables, &perturbed, law_place, &mut found);
                }
            }
        }
        let averaged = |draws: Vec<Vec<Option<f64>>>| -> Vec<Option<f64>> {
            let of_alpha = |draws: Vec<Option<f64>>| mean(&draws.into_iter().collect::<Option<Vec<f64>>>()?);
            draws.into_iter().map(of_alpha).collect()
        };
        tables.robustness = found.into_iter().map(|laws| laws.map(averaged)).collect();
        Ok(raised)
    }

    fn add_draw(
        &self,
        tables: &StudyTables,
        perturbed: &[DayTable],
        law: usize,
        found: &mut [[Vec<Vec<Option<f64>>>; 2]],
    ) {
        let pairs: Vec<(&DayTable, &DayTable)> = tables.scores.iter().zip(perturbed).collect();
        for (split, found) in self.splits.iter().zip(found) {
            let days = split.days(tables.window.start);
            let kept = in_parallel(&pairs, self.run.threads, |(scores, perturbed)| {
                rank_robustness(scores, perturbed, &tables.members, &days, self.study.min_names).ok()
            });
            for (draws, kept) in found.get_mut(law).into_iter().flatten().zip(kept) {
                draws.push(kept);
            }
        }
    }
}
