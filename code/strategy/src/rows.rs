//! Iterations as rows that files and tables hold.

use crate::contract::StrategyContract;
use crate::document::StrategyDocument;
use crate::gates::Gate;
use crate::iteration::IterationState;
use crate::patch::PatchSize;
use crate::version_chain::{SubmissionVersion, VersionChain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is to be known of a strategy without a reference.
pub const NO_REFERENCE: &str = "there is no reference, so that D1 is the share of the card's checks that hold, and \
                                       drift is seen by the card and the published thresholds alone";

/// One iteration as a table shows it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionRow {
    /// Its number, from 0.
    pub iteration: usize,
    /// What became of it.
    pub state: IterationState,
    /// `passed`, the first gate that failed, or why nothing was run.
    pub gates: String,
    /// The gates that are passed; none where nothing was run.
    pub passed: Vec<String>,
    /// Whether all gates are passed.
    pub valid: bool,
    /// Measured D1, D2 and D3, of 1, the last two none for a program that hardly acts; none where nothing was run.
    pub measured: Option<[Option<f64>; 3]>,
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
    /// How its programs were handed their bars.
    #[serde(default, skip_serializing_if = "StrategyContract::is_default")]
    pub contract: StrategyContract,
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// The iterations.
    pub versions: Vec<VersionRow>,
}

impl VersionRow {
    /// The row of a version of a document.
    #[must_use]
    pub fn of(version: &SubmissionVersion, document: &StrategyDocument) -> Self {
        let report = version.report.as_ref();
        let gates = match report.map(|report| report.gates.first_failed()) {
            None => version.problem.as_deref().unwrap_or("not run"),
            Some(None) => "passed",
            Some(Some(gate)) => gate.label(),
        };
        let paper = report
            .zip(version.submission.as_ref())
            .and_then(|(report, submission)| report.paper(&submission.source, document));
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
            state: version.state,
            gates: gates.to_owned(),
            passed: passed.map(|gate| gate.label().to_owned()).collect(),
            valid: version.is_valid(),
            measured: report.map(|_| version.measured()),
            published_scores: paper.map(|paper| [paper.d3, paper.d4]),
            warnings: report.map_or(0, |report| report.warnings().len()),
            changed: version.patch.map(PatchSize::changed),
            drift: anchored.map(str::to_owned),
            published_drift: drift.map(|drift| drift.published().label().to_owned()),
        }
    }
}

impl VersionRow {
    /// A measured score by its place; none where it says nothing.
    #[must_use]
    pub fn score(&self, place: usize) -> Option<f64> {
        self.measured?.get(place).copied().flatten()
    }

    /// The mean of all three; none where one says nothing.
    #[must_use]
    pub fn overall(&self) -> Option<f64> {
        let [fidelity, risk, reliability] = self.measured?;
        Some((fidelity? + risk? + reliability?) / 3.0)
    }

    /// Whether it passes a gate.
    #[must_use]
    pub fn passes(&self, gate: Gate) -> bool {
        self.passed.iter().any(|name| name == gate.label())
    }
}

impl SubmissionRows {
    /// What every table says that shows submissions on strategies without a reference; `None` where all have one.
    #[must_use]
    pub fn reference_note<'r>(submissions: impl Iterator<Item = &'r Self>) -> Option<String> {
        let without = submissions.filter(|submission| submission.without_reference);
        let names: BTreeSet<&str> = without.map(|submission| submission.strategy.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| format!("{}: {NO_REFERENCE}", names.join(", ")))
    }

    /// What every table says of how programs were handed their bars; `None` without a submission.
    #[must_use]
    pub fn contract_note<'r>(mut submissions: impl Iterator<Item = &'r Self>) -> Option<String> {
        submissions.next().map(|first| first.contract.note().to_owned())
    }

    /// The rows of a chain of versions of a strategy: its identifier and document, and whether it has a reference.
    #[must_use]
    pub fn of(
        (model, seed): (&str, u64),
        chain: &VersionChain,
        (strategy, document, has_reference): (&str, &StrategyDocument, bool),
        contract: StrategyContract,
    ) -> Self {
        let versions = chain.versions.iter();
        Self {
            model: model.to_owned(),
            strategy: strategy.to_owned(),
            seed,
            without_reference: !has_reference,
            contract,
            ranked: chain.ranked().map(|version| version.iteration),
            versions: versions
                .map(|version| VersionRow::of(version, document))
                .collect(),
        }
    }

    /// The version that is ranked.
    #[must_use]
    pub fn ranked(&self) -> Option<&VersionRow> {
        self.versions.get(self.ranked?)
    }

    /// The version that is ranked, where it passes all gates: others have no scores.
    #[must_use]
    pub fn valid(&self) -> Option<&VersionRow> {
        self.ranked().filter(|version| version.valid)
    }

    /// The iteration that stood after another, or after the last one there was.
    #[must_use]
    pub fn standing_after(&self, iteration: usize) -> Option<usize> {
        let until = self.versions.iter().take(iteration.saturating_add(1));
        let kept = until.rev().find(|version| version.state == IterationState::Kept);
        kept.map(|version| version.iteration)
    }
}
