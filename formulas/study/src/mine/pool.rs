//! The pool that a search leaves.

use super::config::MineStudy;
use super::days::MineDays;
use super::figures::TrainFormula;
use super::market::OpenMine;
use crate::language::LostCounts;
use ktd_alphas::{DayTable, FigureRow, Trial, TrialBook, TrialFault, highest, mean_rank_correlation};
use ktd_expressions::{CheckedFormula, FormulaRole, check_formula};
use ktd_io::parallel::in_parallel;
use ktd_record::spending::Tokens;
use ktd_study::StudyError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the layout.
pub(super) const FORMAT: u32 = 3;

/// A formula of a pool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MinedFormula {
    /// Its name: its place in the pool.
    pub id: String,
    /// Its canonical form.
    pub expression: String,
    /// Its nodes.
    pub nodes: usize,
    /// The size of its train rank correlation less the cost of its nodes.
    pub fitness: f64,
    /// Whether its values were multiplied by -1 for the figures, since it predicts the wrong way round on train days.
    pub is_turned: bool,
    /// Its figures on train days; `correlation` is the largest with a formula above it.
    pub train: FigureRow,
    /// Its figures on valid days.
    pub valid: FigureRow,
}

/// A model that found a pool, and how it went.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelFinder {
    /// The vendor's name of the model.
    pub model: String,
    /// The last day of its training data as its maker states it, or `unknown`: a test split that begins before it may be
    /// known to the model.
    pub known_until: String,
    /// Rounds that were held.
    pub rounds: usize,
    /// Rounds that were lost.
    pub lost: LostCounts,
    /// Tokens of all requests and replies.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub tokens: Tokens,
}

/// What a search leaves for `ktd alpha eval`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MinedPool {
    /// The version of this layout.
    pub format: u32,
    /// The search.
    pub name: String,
    /// How it found its formulas.
    pub method: String,
    /// Its seed.
    pub seed: u64,
    /// Hash of the panel.
    pub panel: String,
    /// The last day whose values decided what is in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_until: Option<String>,
    /// Distinct formulas that were evaluated: what a test of the pool must count.
    pub tried: usize,
    /// Distinct formulas by what became of them: `fit`, or why they have no fitness.
    pub outcomes: BTreeMap<String, usize>,
    /// SHA-256 of the trials' file.
    pub trials: String,
    /// The model that found it, where one did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelFinder>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The formulas, the best on valid days first.
    pub formulas: Vec<MinedFormula>,
}

/// Formulas whose scores on valid days stand in memory together, beside those that are kept.
const AT_ONCE: usize = 64;
/// Formulas of which each orders the names in its own way that are kept, at most.
const KEPT_MAX: usize = 200;

/// A formula on valid days that orders the names unlike every fitter one.
struct Contender<'t> {
    trial: &'t Trial,
    formula: TrainFormula,
    scores: DayTable,
    valid: FigureRow,
}

impl OpenMine {
    /// Chooses the pool of everything that was tried. This is where valid days are read.
    pub(crate) fn pool(&self, book: &TrialBook, trials_hash: String) -> Result<MinedPool, StudyError> {
        let days = self.valid()?;
        let contenders = self.contenders(self.hall(book)?, &days)?;
        // They differ already: whose correlation with a fitter one is large, or undefined, is none of them.
        let scores = contenders.iter().map(|formula| formula.valid.get("pps"));
        let chosen = highest(scores, self.mine.select.take);
        let chosen: Vec<&Contender<'_>> = chosen.iter().filter_map(|place| contenders.get(*place)).collect();
        let formulas: Vec<TrainFormula> = chosen.iter().map(|contender| contender.formula.clone()).collect();
        let train = self.train_figures(&formulas)?;
        let formulas = chosen.iter().zip(train).zip(1..);
        let formulas = formulas.map(|((contender, train), place)| mined(contender, train, place));
        let mine: &MineStudy = &self.mine;
        Ok(MinedPool {
            format: FORMAT,
            name: mine.name.clone(),
            method: mine.method.label().to_owned(),
            seed: mine.seed,
            panel: self.panel_hash().to_owned(),
            read_until: days.data.panel.calendar.last().map(|day| day.reveal()),
            tried: book.evaluated(),
            outcomes: outcomes(book),
            trials: trials_hash,
            model: None,
            notes: self.notes().to_vec(),
            formulas: formulas.collect(),
        })
    }

    fn hall<'b>(&self, book: &'b TrialBook) -> Result<Vec<(&'b Trial, TrainFormula)>, StudyError> {
        let fields = &self.train.data.panel.fields;
        let formula = |trial: &'b Trial| {
            let checked = check_formula(&trial.form, fields, FormulaRole::Alpha);
            let checked = checked.map_err(|error| StudyError::input(&error, &error.hint))?;
            let rank_ic = trial.outcome.map_or(0.0, |score| score.rank_ic);
            Ok((trial, TrainFormula { checked, rank_ic }))
        };
        let best = book.hall_of_fame(self.mine.select.hall);
        best.into_iter().map(formula).collect()
    }

    /// Of the fittest formulas, from the fittest on, each that orders the names of valid days unlike those before it: a search
    /// that converges tries hundreds of variants of its best formula, and the pool shall not be these alone.
    fn contenders<'b>(
        &self,
        hall: Vec<(&'b Trial, TrainFormula)>,
        days: &MineDays,
    ) -> Result<Vec<Contender<'b>>, StudyError> {
        let mut kept: Vec<Contender<'b>> = Vec::new();
        let mut hall = hall.into_iter().peekable();
        while hall.peek().is_some() && kept.len() < KEPT_MAX {
            let batch: Vec<(&Trial, TrainFormula)> = hall.by_ref().take(AT_ONCE).collect();
            let checked: Vec<CheckedFormula> =
                batch.iter().map(|(_, formula)| formula.checked.clone()).collect();
            let tables = days.scores(&self.mine, (&days.data.panel, self.threads), &checked)?;
            for ((trial, formula), scores) in batch.into_iter().zip(tables) {
                if kept.len() < KEPT_MAX && self.differs(&kept, &scores, days) {
                    let valid = days.figures(&self.mine, &scores, formula.is_turned());
                    kept.push(Contender {
                        trial,
                        formula,
                        scores,
                        valid,
                    });
                }
            }
        }
        Ok(kept)
    }

    /// Whether scores order the names unlike all that are kept.
    fn differs(&self, kept: &[Contender<'_>], scores: &DayTable, days: &MineDays) -> bool {
        let (members, min_names) = (&days.members, self.mine.min_names);
        let correlation = self.mine.select.correlation;
        let unlike = |other: &Contender<'_>| {
            let found = mean_rank_correlation(&other.scores, scores, members, &days.days, min_names);
            found.is_some_and(|found| found.abs() < correlation)
        };
        // Few at a time: the first that is alike ends it.
        kept.chunks(self.threads.max(1))
            .all(|few| in_parallel(few, self.threads, unlike).into_iter().all(|one| one))
    }
}

fn mined(contender: &Contender<'_>, train: FigureRow, place: usize) -> MinedFormula {
    let trial = contender.trial;
    MinedFormula {
        id: format!("a{place}"),
        expression: trial.form.clone(),
        nodes: trial.nodes,
        fitness: trial.outcome.map_or(f64::NAN, |score| score.fitness),
        is_turned: contender.formula.is_turned(),
        train,
        valid: contender.valid.clone(),
    }
}

fn outcomes(book: &TrialBook) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for trial in book.trials() {
        let outcome = trial.outcome.map_or_else(TrialFault::code, |_| "fit");
        *counts.entry(outcome.to_owned()).or_insert(0) += 1;
    }
    counts
}
