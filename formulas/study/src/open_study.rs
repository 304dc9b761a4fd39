//! A study that is ready to be evaluated: its market, pools and days.

use crate::FormulaStudyError;
use crate::alpha_study::{AlphaStudy, NoiseMode, StudyLabel, StudyOrientation};
use crate::formula_file::check_count;
use crate::judge::StudyLogic;
use crate::study_data::StudyData;
use crate::study_pool::StudyPool;
use crate::study_split::{SplitSpan, split_spans};
use ktd_expressions::CheckedFormula;
use ktd_io::sha256::sha256_hex;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The version of the report's layout.
pub(crate) const FORMAT: u32 = 3;

/// How an evaluation is run; nothing of it changes a figure that both ways have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationRun {
    /// Whether the test split is read.
    pub is_test_open: bool,
    /// Threads.
    pub threads: usize,
    /// Bytes that the scores of the alphas evaluated together may take; [`EvaluationRun::BATCH_BYTES`] is usual.
    pub batch_bytes: usize,
}

impl EvaluationRun {
    /// 256 MiB.
    pub const BATCH_BYTES: usize = 1 << 28;
}

/// A study with its market, pools and days.
#[derive(Debug, Clone)]
pub struct OpenStudy {
    pub(crate) study: AlphaStudy,
    pub(crate) data: StudyData,
    pub(crate) pools: Vec<StudyPool>,
    pub(crate) splits: Vec<SplitSpan>,
    pub(crate) run: EvaluationRun,
    /// What judges found.
    pub(crate) logic: StudyLogic,
}

impl OpenStudy {
    /// Reads the pools of a study and finds its days.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a pool or a split that is invalid, or a test split that is asked for alone and closed.
    pub fn new(study: AlphaStudy, data: StudyData, run: EvaluationRun) -> Result<Self, FormulaStudyError> {
        let mut splits = split_spans(&study.splits, &data.panel.calendar)?;
        splits.retain(|split| run.is_test_open || split.name != "test");
        if splits.is_empty() {
            return Err(FormulaStudyError::input(
                "the test split is closed, and there is no other",
                "give a train or valid split, or leave --no-test out",
            ));
        }
        if study.orientation == StudyOrientation::Train && study.splits.train.is_none() {
            return Err(FormulaStudyError::input(
                "orientation = \"train\" needs a train split",
                "give splits.train, or write orientation = \"none\"",
            ));
        }
        for field in ["open", "high", "low", "close", "volume"] {
            if !data.panel.fields.iter().any(|known| known == field) {
                return Err(FormulaStudyError::input(
                    format_args!("the panel has no field {field:?}, which labels and noise need"),
                    "add its bins",
                ));
            }
        }
        let fields = &data.panel.fields;
        let pools = study.pools.iter().map(|pool| StudyPool::read(pool, fields));
        let pools: Vec<StudyPool> = pools.collect::<Result<_, _>>()?;
        let formulas = pools.iter().map(|pool| pool.set.checked.len()).sum();
        check_count(&"the study", formulas)?;
        let open = Self {
            study,
            data,
            pools,
            splits,
            run,
            logic: StudyLogic::default(),
        };
        open.sigma()?;
        Ok(open)
    }

    /// The study with what its judges found.
    #[must_use]
    pub fn with_logic(self, logic: StudyLogic) -> Self {
        Self { logic, ..self }
    }

    pub(crate) fn formulas(&self) -> Vec<CheckedFormula> {
        self.pools.iter().flat_map(|pool| pool.set.formulas()).collect()
    }

    /// SHA-256 of the canonical forms of all pools: the set of formulas, whatever their names and order are.
    #[must_use]
    pub fn formulas_hash(&self) -> String {
        let formulas = self.pools.iter().flat_map(|pool| &pool.set.checked);
        let forms: BTreeSet<&str> = formulas.map(|(_, formula)| formula.canonical()).collect();
        let forms: Vec<&str> = forms.into_iter().collect();
        sha256_hex(forms.join("\n").as_bytes())
    }

    /// Everything that decides the figures, but the program.
    pub(crate) fn inputs(&self) -> Value {
        let pools = self.pools.iter().map(|pool| {
            let checked = pool.set.checked.iter();
            let checked: Vec<[&str; 2]> = checked
                .map(|(line, formula)| [line.id.as_str(), formula.canonical()])
                .collect();
            let refused = pool.set.refused.iter();
            let refused: Vec<[&str; 3]> = refused
                .map(|refused| {
                    let (line, error) = (&refused.line, &refused.error);
                    [line.id.as_str(), line.expression.as_str(), error.fault.code()]
                })
                .collect();
            json!({ "id": pool.id, "tried": pool.tried, "formulas": checked, "refused": refused })
        });
        json!({
            "study": self.study.without_places(),
            "panel": self.data.panel.source,
            "pools": pools.collect::<Vec<_>>(),
            "is_test_open": self.run.is_test_open,
            "logic": self.logic.sha256(),
        })
    }

    /// Instruments that are evaluated in all, those of perturbed panels with them.
    #[must_use]
    pub fn work(&self) -> usize {
        let is_input = matches!(self.study.noise.mode, NoiseMode::Input | NoiseMode::Bar);
        let draws = if is_input { 2 * self.study.noise.draws } else { 0 };
        let batches = self.formulas().len().div_ceil(self.batch());
        self.data.stocks().count() * (batches * (1 + draws) + 2 * self.pools.len())
    }

    /// The deviation of the noise; none where no draw is made. Test days take no part in it unless there are no others, so that
    /// figures of other splits do not depend on whether test is open.
    pub(crate) fn sigma(&self) -> Result<Option<f64>, FormulaStudyError> {
        if self.study.noise.draws == 0 {
            return Ok(None);
        }
        let is_alone = self.splits.len() == 1;
        let splits = self.splits.iter();
        let sessions: Vec<usize> = splits
            .filter(|split| is_alone || split.name != "test")
            .flat_map(|split| split.sessions.clone())
            .collect();
        let of_index = || match self.study.noise.mode {
            NoiseMode::Code => self.data.index_level_deviation(&sessions),
            NoiseMode::Input | NoiseMode::Bar | NoiseMode::Output => self.data.index_deviation(&sessions),
        };
        self.study.noise.sigma.or_else(of_index).map(Some).ok_or_else(|| {
            FormulaStudyError::input(
                "the panel has no index, from which the deviation of the noise is taken",
                "give noise = { sigma = 0.01 }, or noise = { draws = 0 } to leave robustness out",
            )
        })
    }

    /// The words of the label and of the other one.
    pub(crate) const fn label_words(&self) -> (&'static str, &'static str) {
        match self.study.label {
            StudyLabel::NextOpen => ("next_open", "close"),
            StudyLabel::Close => ("close", "next_open"),
        }
    }
}
