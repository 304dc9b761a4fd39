//! `summary.json` and `private/summary.json`: metrics and counters, always recomputable from events and ledger; money from
//! header and exchanges.

use crate::event::{COMPLETED, Mark, ReadEvent, StepOutcome};
use ktd_attribution::metric::Undefined;
use ktd_env::exchange::RejectCode;
use ktd_record::spending::PerStep;
use ktd_record::spending::Spending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ends the name of a file whose hash hangs on the episode's key, so that nobody without it can try out contents.
pub const KEYED: &str = " (keyed)";

/// `summary.json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// [`super::FORMAT_VERSION`].
    pub format: u32,
    /// How the episode ended.
    pub reason: String,
    /// How the model decided.
    pub metrics: Metrics,
    /// What the model and the infrastructure did.
    pub counters: Counters,
    /// What the account did. The file holds it where [`publishes_account`](crate::event::publishes_account) says so; of
    /// other levels it is in `private/summary.json`, and `None` where that is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub account: Option<AccountSummary>,
    /// What its own requests cost: those that a branch copied are another episode's.
    pub money: Spending,
    /// The same for each of its own steps; `null` when it has none.
    pub per_step: Option<PerStep>,
    /// SHA-256 of the bundle's other files, by name.
    pub sha256: BTreeMap<String, String>,
}

impl Summary {
    /// Whether every step was lost to the infrastructure: no decision of the model is in it.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        let counters = &self.counters;
        0 < counters.uncovered && counters.submitted == 0 && counters.hold == 0 && counters.fallback == 0
    }

    /// Whether it was played to its last step.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.reason == COMPLETED
    }

    /// How it ended before the last of so many steps.
    #[must_use]
    pub fn told_early(&self, steps: usize) -> String {
        format!(
            "ended after {} of {steps} steps ({})",
            self.metrics.days, self.reason
        )
    }

    /// The model's mistakes: of its replies, and of its calls of tools.
    #[must_use]
    pub fn model_faults(&self) -> usize {
        self.counters.all_model_faults()
    }

    /// Faults of the infrastructure.
    #[must_use]
    pub fn infrastructure_faults(&self) -> usize {
        self.counters.all_infrastructure_faults()
    }
}

/// `private/summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateSummary {
    /// [`super::FORMAT_VERSION`].
    pub format: u32,
    /// What the account did.
    pub account: AccountSummary,
}

/// A metric: a value, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The value; `null` where it is not defined.
    pub value: Option<f64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

impl Metric {
    /// The metric of a result.
    #[must_use]
    pub fn of(result: Result<f64, Undefined>) -> Self {
        match result {
            Ok(value) => Self {
                value: Some(value),
                reason: None,
            },
            Err(reason) => Self::missing(reason.to_string()),
        }
    }

    /// A metric without a value, and why.
    #[must_use]
    pub const fn missing(reason: String) -> Self {
        Self {
            value: None,
            reason: Some(reason),
        }
    }
}

/// Metrics of the model's decisions (docs/spec/statistics.md#metrics).
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Trading days.
    pub days: usize,
    /// Share of steps without an emitted order.
    pub abstention: Metric,
    /// Share of emissions whose form stayed unreadable after all retries, what was repaired counting as good (lenient).
    pub parse_failure: Metric,
    /// The same with what was repaired counting as bad (strict).
    pub parse_failure_strict: Metric,
    /// Share of emissions that could be read and still broke a rule of the exchange after all retries.
    pub rule_breach: Metric,
}

/// The account's metrics (docs/spec/statistics.md#metrics) and what the exchange did.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountSummary {
    /// Net asset value at the end, fen.
    pub final_nav_fen: i64,
    /// `NAV_T / NAV_0 - 1`.
    pub total_return: Metric,
    /// Annualised, risk-free rate 0.
    pub sharpe_ratio: Metric,
    /// Largest fall from a peak, positive.
    pub max_drawdown: Metric,
    /// Two-way traded value over NAV, annualised.
    pub turnover: Metric,
    /// Mean sum of squared weights.
    pub hhi: Metric,
    /// Mean cash over NAV.
    pub cash_ratio: Metric,
    /// Fees over initial NAV.
    pub fee_drag: Metric,
    /// Orders that traded.
    pub orders_filled: usize,
    /// Orders that did not.
    pub orders_rejected: usize,
    /// Orders cut down by cash or a corporate action.
    pub orders_clipped: usize,
    /// Holdings delisted; at `last_close` that is optimistic.
    pub delistings: usize,
    /// Marks at an old close: name-days held without a bar.
    pub stale_name_days: usize,
}

/// Three things that are never mixed: a model's mistakes, infrastructure faults, and decisions to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Steps in which orders were submitted.
    pub submitted: usize,
    /// Steps in which the model decided to hold.
    pub hold: usize,
    /// Steps without a good submission.
    pub fallback: usize,
    /// Of the fallbacks, those whose last submission could be read and broke a rule of the exchange; the form of the
    /// others stayed unreadable.
    pub rule_fallback: usize,
    /// Steps lost to the infrastructure.
    pub uncovered: usize,
    /// Of the submitted and the held steps, those read only after the model's words were repaired: good in the lenient
    /// column, bad in the strict one.
    pub repaired: usize,
    /// Turns of the model.
    pub turns: usize,
    /// Turns whose token counts nobody reported.
    pub turns_without_usage: usize,
    /// What was repaired to read replies, by code; most of it is the provider's doing.
    pub normalised: BTreeMap<String, usize>,
    /// Tool calls answered with data.
    pub tool_calls_ok: usize,
    /// Tool calls refused, by code.
    pub tool_calls_refused: BTreeMap<String, usize>,
    /// The model's mistakes in submissions, by code.
    pub model_faults: BTreeMap<String, usize>,
    /// Failed attempts, by code.
    pub infrastructure_faults: BTreeMap<String, usize>,
    /// Tokens of requests, as far as reported.
    pub prompt_tokens: u64,
    /// Tokens generated, as far as reported.
    pub completion_tokens: u64,
}

impl Counters {
    /// The model's mistakes: of its replies, and of its calls of tools.
    #[must_use]
    pub fn all_model_faults(&self) -> usize {
        self.model_faults
            .values()
            .chain(self.tool_calls_refused.values())
            .sum()
    }

    /// Faults of the infrastructure.
    #[must_use]
    pub fn all_infrastructure_faults(&self) -> usize {
        self.infrastructure_faults.values().sum()
    }
}

/// What a fold over the events of an episode gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFold {
    /// Cash before the first day, fen.
    pub initial_cash_fen: i64,
    /// Steps that ended.
    pub steps: usize,
    /// The marks of those that the events hold.
    pub marks: Vec<Mark>,
    /// Counters.
    pub counters: Counters,
    /// How the episode ended, if it did.
    pub reason: Option<String>,
    /// Steps in which a model's emission was judged: submitted, held or fallen back.
    pub emissions: usize,
    /// Whether the last mistake of the step was a rule broken by a submission that could be read.
    breaks_rule: bool,
}

impl EpisodeFold {
    /// Folds events, in order.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = &'a ReadEvent>) -> Self {
        let mut fold = Self::default();
        events.into_iter().for_each(|event| fold.add(event));
        fold
    }

    /// Adds the next event.
    pub fn add(&mut self, event: &ReadEvent) {
        let counters = &mut self.counters;
        match event {
            ReadEvent::EpisodeBegin { initial_cash_fen, .. } => self.initial_cash_fen = *initial_cash_fen,
            ReadEvent::StepBegin { .. } => self.breaks_rule = false,
            ReadEvent::Fills { .. } => {}
            ReadEvent::Turn {
                usage, normalised, ..
            } => {
                counters.turns += 1;
                // A stranger's log may hold any counts.
                counters.prompt_tokens = counters.prompt_tokens.saturating_add(usage.input());
                counters.completion_tokens = counters.completion_tokens.saturating_add(usage.output());
                counters.turns_without_usage += usize::from(!usage.is_known());
                for code in normalised {
                    count(&mut counters.normalised, code);
                }
            }
            ReadEvent::InfrastructureFault { code, .. } => count(&mut counters.infrastructure_faults, code),
            ReadEvent::ToolCall {
                refused: Some(code), ..
            } => count(&mut counters.tool_calls_refused, code),
            ReadEvent::ToolCall { refused: None, .. } => counters.tool_calls_ok += 1,
            ReadEvent::ModelFault { code, detail, .. } => {
                count(&mut counters.model_faults, code);
                self.breaks_rule = detail.as_deref().is_some_and(is_rule);
            }
            ReadEvent::Decision {
                outcome, is_repaired, ..
            } => {
                counters.repaired += usize::from(*is_repaired);
                match outcome {
                    StepOutcome::Submitted => counters.submitted += 1,
                    StepOutcome::Hold => counters.hold += 1,
                    StepOutcome::Fallback => {
                        counters.fallback += 1;
                        counters.rule_fallback += usize::from(self.breaks_rule);
                    }
                    StepOutcome::Uncovered => counters.uncovered += 1,
                }
                self.emissions += usize::from(*outcome != StepOutcome::Uncovered);
            }
            ReadEvent::StepEnd { mark, .. } => {
                self.steps += 1;
                self.marks.extend(*mark);
            }
            ReadEvent::EpisodeEnd { reason } => self.reason = Some(reason.clone()),
        }
    }
}

/// Whether what a refused submission broke is a rule of the exchange, and not its form.
fn is_rule(detail: &str) -> bool {
    RejectCode::ALL.iter().any(|code| code.code() == detail)
}

fn count(counts: &mut BTreeMap<String, usize>, code: &str) {
    *counts.entry(code.to_owned()).or_insert(0) += 1;
}
