//! What units came to, and all of them: `report.json`.

use super::cell::FactorCodeCell;
use super::event::FactorCodeEvent;
use super::gates::GatesFound;
use ktd_factor_code::{FactorCategory, FactorLevel, FalseAccepts, FunnelCounts, PassAtK};
use ktd_record::spending::Spending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorCodeFound {
    /// What functions are judged on.
    Tasks(JudgedOn),
    /// One model, asked in one style with one seed.
    Cell(Box<CellFound>),
    /// What planted programs say of the gates.
    Gates(GatesFound),
}

/// What all units came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeReport {
    /// The name of the experiment.
    pub name: String,
    /// What functions were judged on.
    pub world: JudgedOn,
    /// Model by model, by the names of their units.
    pub cells: Vec<CellFound>,
    /// What planted programs say of the gates; none where they were not asked for, or are to come.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gates: Option<GatesFound>,
}

/// What functions are judged on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedOn {
    /// Python and its packages.
    pub environment: String,
    /// Whether functions ran in a box that counts.
    pub is_boxed: bool,
    /// Whether panel Q is a real stock.
    pub is_real: bool,
    /// SHA-256 of the texts of all tasks.
    pub tasks_sha256: String,
    /// SHA-256 of all texts that a model is sent.
    pub prompts_sha256: String,
    /// The tasks in their order.
    pub tasks: Vec<TaskFacts>,
    /// How many wrong factors each accuracy rule takes.
    pub false_accepts: Vec<FalseAccepts>,
}

/// A task, as a report shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFacts {
    /// Its name.
    pub id: String,
    /// What kind of factor it asks for.
    #[schemars(with = "String")]
    pub category: FactorCategory,
    /// How hard it is.
    #[schemars(with = "u8")]
    pub level: FactorLevel,
    /// The name of its function.
    pub function: String,
    /// What a model is told.
    pub prompt: String,
    /// The definition.
    pub fx: String,
    /// The right values on panel G at every eighth row.
    pub golden: Vec<Option<f64>>,
}

/// What one model came to, asked in one style with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellFound {
    /// Who was asked, and how.
    pub cell: FactorCodeCell,
    /// The model.
    pub model: String,
    /// Tasks of which an answer was lost to the infrastructure.
    pub uncovered: usize,
    /// Round by round, of all samples of each task.
    pub rounds: Vec<RoundCounts>,
    /// Of the first answers of all samples.
    pub pass_at: Vec<PassAtK>,
    /// Tokens and money.
    #[schemars(with = "Value")]
    pub spending: Spending,
    /// Requests and tokens, round by round.
    pub spent_in_rounds: Vec<RoundSpending>,
    /// Every answer, by task, sample and round.
    pub answers: Vec<JudgedAnswer>,
}

/// The counts of a round, by level and over all tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundCounts {
    /// The round, from 1.
    pub round: u32,
    /// Groups of tasks with how many of them pass each layer.
    pub counts: BTreeMap<String, FunnelCounts>,
}

/// What a round cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundSpending {
    /// The round, from 1.
    pub round: u32,
    /// Requests.
    pub requests: u64,
    /// Tokens of requests.
    pub tokens_in: u64,
    /// Tokens of replies.
    pub tokens_out: u64,
}

impl RoundSpending {
    pub(crate) fn of(round: u32, spent: &Spending) -> Self {
        let sends = &spent.sends;
        Self {
            round,
            requests: sends.reported + sends.estimated + sends.incomplete + sends.unknown + sends.uncharged,
            tokens_in: spent.tokens.input(),
            tokens_out: spent.tokens.all() - spent.tokens.input(),
        }
    }
}

/// An answer with the verdict on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedAnswer {
    /// What became of it.
    pub event: FactorCodeEvent,
    /// The function; none where the answer held none.
    pub source: Option<String>,
    /// The verdict in words; none where there is none.
    pub words: Option<String>,
}
