//! A study that is ready to be evaluated: its market, pools and days.

use crate::StudyError;
use crate::alpha_study::{AlphaStudy, StudyLabel, StudyOrientation};
use crate::judge::StudyLogic;
use crate::study_data::StudyData;
use crate::study_pool::StudyPool;
use crate::study_split::{SplitSpan, split_spans};
use ktd_alphas::{DayTable, MemberTable};
use ktd_expressions::CheckedFormula;
use ktd_io::sha256::sha256_hex;
use std::ops::Range;

/// The version of the report's layout.
pub(crate) const FORMAT: u32 = 1;

/// How an evaluation is run; nothing of it changes a figure that both ways have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationRun {
    /// Whether the test split is read.
    pub is_test_open: bool,
    /// Threads.
    pub threads: usize,
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

/// Everything that splits share.
#[derive(Debug)]
pub(crate) struct StudyTables {
    pub(crate) window: Range<usize>,
    pub(crate) labels: DayTable,
    pub(crate) other_labels: DayTable,
    pub(crate) members: MemberTable,
    /// By formula, those of all pools one after another.
    pub(crate) scores: Vec<DayTable>,
    /// Whether a formula's scores were multiplied by -1.
    pub(crate) turned: Vec<bool>,
    /// By split, law and formula: the mean over draws; none where one of them is undefined, or none was made.
    pub(crate) robustness: Vec<[Vec<Option<f64>>; 2]>,
}

impl OpenStudy {
    /// Reads the pools of a study and finds its days.
    ///
    /// # Errors
    /// [`StudyError`] for a pool or a split that is invalid, or a test split that is asked for alone and closed.
    pub fn new(study: AlphaStudy, data: StudyData, run: EvaluationRun) -> Result<Self, StudyError> {
        let mut splits = split_spans(&study.splits, &data.panel.calendar)?;
        splits.retain(|split| run.is_test_open || split.name != "test");
        if splits.is_empty() {
            return Err(StudyError::input(
                "the test split is closed, and there is no other",
                "give a train or valid split, or leave --no-test out",
            ));
        }
        if study.orientation == StudyOrientation::Train && study.splits.train.is_none() {
            return Err(StudyError::input(
                "orientation = \"train\" needs a train split",
                "give splits.train, or write orientation = \"none\"",
            ));
        }
        for field in ["open", "high", "low", "close", "volume"] {
            if !data.panel.fields.iter().any(|known| known == field) {
                return Err(StudyError::input(
                    format_args!("the panel has no field {field:?}, which labels and noise need"),
                    "add its bins",
                ));
            }
        }
        let fields = &data.panel.fields;
        let pools: Result<_, _> = study
            .pools
            .iter()
            .map(|pool| StudyPool::read(pool, fields))
            .collect();
        let open = Self {
            pools: pools?,
            study,
            data,
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

    /// SHA-256 of the canonical forms of all pools.
    #[must_use]
    pub fn formulas_hash(&self) -> String {
        let lines = self.pools.iter().flat_map(|pool| {
            let formulas = pool.set.checked.iter();
            formulas.map(|(line, formula)| format!("{}\t{}\t{}\n", pool.id, line.id, formula.canonical()))
        });
        sha256_hex(lines.collect::<String>().as_bytes())
    }

    /// SHA-256 of everything that decides the figures.
    pub(crate) fn inputs_hash(&self) -> Result<String, StudyError> {
        let study = serde_json::to_string(&self.study).map_err(StudyError::invalid)?;
        let refused: Vec<usize> = self.pools.iter().map(|pool| pool.set.refused.len()).collect();
        let parts = format!(
            "{FORMAT}\n{}\n{study}\n{}\n{}\n{refused:?}\n{}\n{:?}",
            env!("CARGO_PKG_VERSION"),
            self.data.panel.source,
            self.formulas_hash(),
            self.run.is_test_open,
            self.logic.sha256()
        );
        Ok(sha256_hex(parts.as_bytes()))
    }

    /// Instruments that are evaluated in all, those of perturbed panels with them.
    #[must_use]
    pub fn work(&self) -> usize {
        self.data.stocks().count() * (1 + 2 * self.study.noise.draws)
    }

    /// The deviation of the noise; none where no draw is made.
    pub(crate) fn sigma(&self) -> Result<Option<f64>, StudyError> {
        if self.study.noise.draws == 0 {
            return Ok(None);
        }
        let sessions: Vec<usize> = self
            .splits
            .iter()
            .flat_map(|split| split.sessions.clone())
            .collect();
        let of_index = || self.data.index_deviation(&sessions);
        self.study.noise.sigma.or_else(of_index).map(Some).ok_or_else(|| {
            StudyError::input(
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
