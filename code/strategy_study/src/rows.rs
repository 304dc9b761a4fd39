//! Iterations as rows that files and tables hold.

use crate::replies::ScoredStrategy;
use crate::task::StrategyTask;
use crate::versions::{SubmissionVersion, VersionChain};
use ktd_strategy_code::Gate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is to be known of a strategy without a reference.
pub(crate) const NO_REFERENCE: &str = "there is no reference, so that D1 is the share of the card's checks that hold, and \
                                       drift is seen by the card and the published thresholds alone";

/// One iteration as a table shows it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionRow {
    /// Its number, from 0.
    pub iteration: usize,
    /// What became of it.
    pub state: String,
    /// `passed`, the first gate that failed, or why nothing was run.
    pub gates: String,
    /// The gates that are passed; none where nothing was run.
    pub passed: Vec<String>,
    /// Whether all gates are passed.
    pub valid: bool,
    /// Measured D1, D2 and D3, of 1; none where nothing was run.
    pub measured: Option<[f64; 3]>,
    /// Published static D3 and D4, of 10.
    pub published_scores: Option<[f64; 2]>,
    /// Static warnings of look-ahead.
    pub warnings: usize,
    /// Lines that the patch changes.
    pub changed: Option<usize>,
    /// The drift seen from the reference; `card` where the card says something else.
    pub drift: Option<String>,
    /// The drift by the published thresholds.
    pub published_drift: Option<String>,
}

/// All iterations of one submission.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmissionRows {
    /// The model.
    pub model: String,
    /// The document.
    pub strategy: String,
    /// The seed; 0 where replies come from a file.
    pub seed: u64,
    /// Whether the strategy has no reference, so that D1 is of its card alone and drift is not seen from a reference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_reference: bool,
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// The iterations.
    pub versions: Vec<VersionRow>,
}

impl VersionRow {
    pub(crate) fn of(version: &SubmissionVersion, task: &StrategyTask) -> Self {
        let report = version.report.as_ref();
        let gates = match report.map(|report| report.gates.first_failed()) {
            None => version.problem.as_deref().unwrap_or("not run"),
            Some(None) => "passed",
            Some(Some(gate)) => gate.label(),
        };
        let paper = report
            .zip(version.submission.as_ref())
            .and_then(|(report, submission)| report.paper(&submission.source, &task.document));
        let passed = Gate::ALL
            .into_iter()
            .filter(|gate| report.is_some_and(|report| report.gates.is_passed(*gate)));
        let drift = version.drift.as_ref();
        let anchored = drift.map(|drift| {
            if drift.changed_fields.is_empty() {
                drift.anchored().label()
            } else {
                "card"
            }
        });
        Self {
            iteration: version.iteration,
            state: version.state.label().to_owned(),
            gates: gates.to_owned(),
            passed: passed.map(|gate| gate.label().to_owned()).collect(),
            valid: version.is_valid(),
            measured: report.map(|_| version.measured()),
            published_scores: paper.map(|paper| [paper.d3, paper.d4]),
            warnings: report.map_or(0, |report| report.warnings().len()),
            changed: version.patch.map(ktd_strategy_code::PatchSize::changed),
            drift: anchored.map(str::to_owned),
            published_drift: drift.map(|drift| drift.published().label().to_owned()),
        }
    }
}

impl SubmissionRows {
    /// What every table says that shows submissions on strategies without a reference; `None` where all have one.
    pub(crate) fn reference_note<'r>(submissions: impl Iterator<Item = &'r Self>) -> Option<String> {
        let without = submissions.filter(|submission| submission.without_reference);
        let names: BTreeSet<&str> = without.map(|submission| submission.strategy.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| format!("{}: {NO_REFERENCE}", names.join(", ")))
    }

    /// The rows of a chain.
    #[must_use]
    pub fn of(model: &str, seed: u64, chain: &VersionChain, task: &StrategyTask) -> Self {
        let versions = chain.versions.iter();
        Self {
            model: model.to_owned(),
            strategy: task.id.label().to_owned(),
            seed,
            without_reference: !task.has_reference(),
            ranked: chain.ranked().map(|version| version.iteration),
            versions: versions.map(|version| VersionRow::of(version, task)).collect(),
        }
    }

    /// The rows of replies in a file; `tasks` holds the tasks of all of them.
    #[must_use]
    pub fn of_replies(scored: &[ScoredStrategy], tasks: &[StrategyTask]) -> Vec<Self> {
        let rows = scored.iter().filter_map(|scored| {
            let task = tasks.iter().find(|task| task.id == scored.id)?;
            Some(Self::of(&scored.model, 0, &scored.chain, task))
        });
        rows.collect()
    }
}
