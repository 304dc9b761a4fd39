//! What decides a submission, and what it comes to.

use super::reviewed_start::ReviewedStart;
use crate::own_strategy::FileDigests;
use ktd_record::spending::Spending;
use ktd_strategy_code::{
    MarketTrace, PaperScores, RealVersion, StrategyDocument, StrategySubmission, SubmissionReport,
    SubmissionRows, SubmissionVersion, VersionRow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What decides a submission.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmissionUnit {
    pub(crate) model: String,
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    pub(crate) document_sha256: String,
    /// Of the files of a strategy of one's own.
    pub(crate) own_sha256: Option<FileDigests>,
    /// Of all real bars that programs are given.
    pub(crate) real_sha256: Option<String>,
    /// The version that it starts with, where it continues another experiment.
    pub(crate) start: Option<ReviewedStart>,
}

/// A line of a submission's `events.jsonl`: one iteration, with the reply that it is of and the version that stands after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionEvent {
    #[serde(flatten)]
    pub(crate) row: VersionRow,
    /// None where there was no reply.
    pub(crate) reply_sha256: Option<String>,
    pub(crate) standing: Option<usize>,
}

/// Requests and tokens of one iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct IterationTokens {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// The document of a strategy of one's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub(crate) struct OwnDocument {
    pub(crate) spec: String,
    pub(crate) text: String,
}

/// What a submission came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SubmissionFound {
    /// Its iterations as rows.
    #[serde(flatten)]
    pub(crate) rows: SubmissionRows,
    /// What ended it early, by no fault of the model.
    pub(crate) lost: Option<String>,
    /// Its iterations whole: card and source, what runs showed, traces as letters.
    pub(crate) judged: Vec<SubmissionVersion>,
    /// What every iteration earned on real bars, where there are some.
    pub(crate) real: Option<Vec<RealVersion>>,
    /// What its requests cost.
    #[schemars(with = "Value")]
    pub(crate) spending: Spending,
    /// Tokens by iteration.
    pub(crate) tokens: BTreeMap<usize, IterationTokens>,
    /// Who serves the model.
    pub(crate) vendor: String,
    /// The model's name there, and who serves it, in words.
    pub(crate) served: String,
    /// SHA-256 of the document.
    pub(crate) document_sha256: String,
    /// SHA-256 of the files of a strategy of one's own.
    pub(crate) own_sha256: Option<FileDigests>,
    /// Its document.
    pub(crate) own: Option<OwnDocument>,
    /// Whether it starts with a version of another experiment.
    pub(crate) is_continued: bool,
    /// Whether programs ran in a box that counts.
    pub(crate) is_boxed: bool,
}

impl SubmissionFound {
    /// What an iteration came to; none of what was not judged.
    pub(crate) fn report(&self, iteration: usize) -> Option<&SubmissionReport> {
        self.judged.get(iteration)?.report.as_ref()
    }

    /// Card and source of an iteration.
    pub(crate) fn version(&self, iteration: usize) -> Option<&StrategySubmission> {
        self.judged.get(iteration)?.submission.as_ref()
    }

    /// The source of an iteration.
    pub(crate) fn source(&self, iteration: usize) -> Option<&str> {
        Some(self.version(iteration)?.source.as_str())
    }

    /// What an iteration and the reference did bar by bar; none of what does not run, or is left out of a report.
    pub(crate) fn markets(&self, iteration: usize) -> &[MarketTrace] {
        self.report(iteration).map_or(&[], |report| &report.markets)
    }

    /// The document that it was judged by.
    pub(crate) fn document(&self) -> Option<StrategyDocument> {
        if let Some(own) = &self.own {
            return StrategyDocument::parse(&own.spec).ok();
        }
        StrategyDocument::built_in(ktd_strategy_code::DocumentId::parse(&self.rows.strategy)?).ok()
    }

    /// The published static scores of an iteration with their parts.
    pub(crate) fn published(&self, iteration: usize) -> Option<PaperScores> {
        self.report(iteration)?
            .paper(self.source(iteration)?, &self.document()?)
    }
}
