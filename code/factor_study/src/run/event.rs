//! A line of `events.jsonl`: what became of one round of one task.

use ktd_factor_code::{AccuracyRules, FactorVerdict, JudgeRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of one round of one sample of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeEvent {
    /// The task.
    pub task: String,
    /// The sample, from 1.
    pub sample: u64,
    /// The round, from 1.
    pub round: u32,
    /// SHA-256 of the source; none where the answer held none.
    pub source_sha256: Option<String>,
    /// The layers that it passes by the published rules; none where it was lost.
    pub published: Option<String>,
    /// The layers that it passes by the strict rules; none where it was lost.
    pub strict: Option<String>,
    /// The verdict; none where the answer was lost.
    #[schemars(with = "Option<Value>")]
    pub verdict: Option<FactorVerdict>,
    /// Why there is no verdict, which is never a fault of the model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<String>,
    /// Its values on panel G at every eighth row.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub curve: Vec<Option<f64>>,
    /// What was sent in the next round; none where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feedback: Option<String>,
}

/// The place of a round: place of the task, sample, round.
pub(super) type RoundPlace = (usize, u64, u32);

impl FactorCodeEvent {
    /// The file of its function; the sample is named where there are several.
    pub(super) fn source_name(&self, samples: u64) -> String {
        let sample = if 1 < samples {
            format!("-s{}", self.sample)
        } else {
            String::new()
        };
        format!("sources/{}{sample}-{}.py", self.task, self.round)
    }

    pub(crate) fn lost((task, sample, round): (&str, u64, u32), reason: String) -> Self {
        Self {
            task: task.to_owned(),
            sample,
            round,
            lost: Some(reason),
            ..Self::default()
        }
    }

    pub(crate) fn judged(
        (task, sample, round): (&str, u64, u32),
        (source_sha256, verdict): (Option<String>, FactorVerdict),
        rules: &AccuracyRules,
    ) -> Self {
        let passes = |rule| Some(verdict.passes(rule, rules).name().to_owned());
        Self {
            task: task.to_owned(),
            sample,
            round,
            source_sha256,
            published: passes(JudgeRule::Published),
            strict: passes(JudgeRule::Strict),
            verdict: Some(verdict),
            ..Self::default()
        }
    }
}
