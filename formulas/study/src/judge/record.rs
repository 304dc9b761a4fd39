//! What judges found.

use super::config::JudgeWording;
use crate::language::LostCounts;
use ktd_alphas::FigureRow;
use ktd_record::spending::Tokens;
use ktd_view::draw::{decimals, joined};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The score of a formula by one judge.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedBy {
    /// The judge.
    pub judge: String,
    /// By order; null where the answer was lost.
    pub scores: Vec<Option<f64>>,
    /// Their median.
    pub median: Option<f64>,
    /// The largest less the smallest.
    pub spread: Option<f64>,
}

/// A judged formula.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedFormula {
    /// Its canonical form.
    pub formula: String,
    /// Its operators, fields and numbers.
    pub nodes: usize,
    /// Logic: the mean of the judges' medians.
    pub score: Option<f64>,
    /// Why it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// By judge.
    pub by: Vec<JudgedBy>,
}

/// A formula that no model is shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnjudgedFormula {
    /// Its canonical form.
    pub formula: String,
    /// Why.
    pub reason: String,
}

/// A judge and its controls.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct JudgeRecord {
    /// The agent.
    pub id: String,
    /// Its model.
    pub model: String,
    /// The last day of its training data, where its maker states one.
    pub known_until: Option<String>,
    /// Whether its model has found formulas of one of the pools.
    pub is_miner: bool,
    /// Questions that were put.
    pub questions: usize,
    /// Answers that were lost.
    pub lost: LostCounts,
    /// Mistakes on the way, by their code.
    pub mistakes: BTreeMap<String, usize>,
    /// Tokens of all its requests and replies.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub tokens: Tokens,
    /// Means, controls of length, nonsense and repeat, the slope on length, agreement with people.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// The mean score of a pool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedPool {
    /// The pool.
    pub pool: String,
    /// Its alphas.
    pub alphas: usize,
    /// Of them, those with a score.
    pub judged: usize,
    /// The mean of their scores.
    pub score: Option<f64>,
    /// Models that found it, where models did.
    pub miners: Vec<String>,
}

/// How alike two judges rank formulas.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeAgreement {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// Formulas that both have scored.
    pub formulas: usize,
    /// Kendall's tau-b.
    pub tau: Option<f64>,
}

/// What judges found about the formulas of pools.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogicJudgement {
    /// The version of this layout.
    pub format: u32,
    /// How the judges were instructed.
    pub prompt: JudgeWording,
    /// SHA-256 of all texts for judges.
    pub prompts_sha256: String,
    /// Seed of orders and controls.
    pub seed: u64,
    /// Orders.
    pub orders: usize,
    /// The judges.
    pub judges: Vec<JudgeRecord>,
    /// The pools.
    pub pools: Vec<JudgedPool>,
    /// Pairs of judges.
    pub agreement: Vec<JudgeAgreement>,
    /// Formulas by their place in the pools, each once.
    pub formulas: Vec<JudgedFormula>,
    /// Formulas that no model is shown.
    pub unjudged: Vec<UnjudgedFormula>,
}

impl LogicJudgement {
    /// What the judges' scores are worth, in a sentence.
    pub(super) fn verdict(&self) -> String {
        let judged = self
            .formulas
            .iter()
            .filter(|formula| formula.score.is_some())
            .count();
        let likes = self
            .judges
            .iter()
            .filter(|judge| judge.row.get("length_p").is_some_and(|p| p < 0.05))
            .count();
        let words = match likes {
            0 => "no judge is shown to score an equal formula by its length".to_owned(),
            _ => format!(
                "{likes} of {} judges score an equal formula by its length",
                self.judges.len()
            ),
        };
        let nonsense = self.nonsense_words();
        format!(
            "{nonsense}{judged} of {} formulas have a score; {words}.",
            self.formulas.len()
        )
    }

    /// A sentence on the judges that tell formulas from nonsense, and on those that do not; empty where none scored both.
    fn nonsense_words(&self) -> String {
        let means = |judge: &'_ JudgeRecord| Some((judge.row.get("mean")?, judge.row.get("nonsense_mean")?));
        let scored = self
            .judges
            .iter()
            .filter_map(|judge| Some((judge, means(judge)?)));
        let (failed, passed): (Vec<_>, Vec<_>) =
            scored.partition(|(_, (formulas, nonsense))| formulas <= nonsense);
        let all = self.judges.len();
        if failed.is_empty() {
            return match passed.len() {
                0 => String::new(),
                passed => format!("{passed} of {all} judges score nonsense below formulas on average. "),
            };
        }
        let each = failed.iter().map(|(judge, (formulas, nonsense))| {
            let (formulas, nonsense) = (decimals(*formulas, 1), decimals(*nonsense, 1));
            format!("{} scores nonsense {nonsense} and formulas {formulas}", judge.id)
        });
        let each: Vec<String> = each.collect();
        format!(
            "{} of {all} judges do not tell formulas from nonsense, and their scores say nothing of logic: on average {}. ",
            failed.len(),
            joined(&each)
        )
    }

    /// Logic of a formula, by its canonical form.
    ///
    /// # Errors
    /// A stable word: the judge's last mistake, `refusal`, why no model is shown the formula, or `not_judged`.
    pub fn logic(&self, canonical: &str) -> Result<f64, String> {
        if let Some(judged) = self.formulas.iter().find(|judged| judged.formula == canonical) {
            let reason = || judged.reason.clone().unwrap_or_else(|| "not_judged".to_owned());
            return judged.score.ok_or_else(reason);
        }
        let unjudged = self.unjudged.iter().find(|formula| formula.formula == canonical);
        Err(unjudged.map_or_else(|| "not_judged".to_owned(), |formula| formula.reason.clone()))
    }
}
