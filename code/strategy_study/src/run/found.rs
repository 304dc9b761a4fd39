//! What decides a submission, and what it comes to.

use super::event::{VersionEvent, VersionReport};
use super::reviewed_start::ReviewedStart;
use crate::bar_traces::MarketTrace;
use crate::bars::RealVersion;
use crate::rows::{SubmissionRows, VersionRow};
use crate::submission::StrategySubmission;
use ktd_record::spending::Spending;
use ktd_sandbox::BoxHeader;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// SHA-256 of files by their names.
pub(crate) type FileDigests = BTreeMap<String, String>;

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

/// Requests and tokens of one iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct IterationTokens {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// The document of a strategy of one's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct OwnDocument {
    pub(crate) spec: String,
    pub(crate) text: String,
}

/// What a submission came to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct SubmissionFound {
    /// Its iterations as rows.
    pub(crate) rows: SubmissionRows,
    /// What ended it early, by no fault of the model.
    pub(crate) lost: Option<String>,
    /// Verdicts by iteration.
    pub(crate) events: Vec<VersionEvent>,
    /// Card and source by iteration; none where the reply had none.
    pub(crate) versions: Vec<Option<StrategySubmission>>,
    /// Traces by iteration; none of what does not run.
    pub(crate) traces: Vec<Vec<MarketTrace>>,
    /// What every iteration earned on real bars, where there are some.
    pub(crate) real: Option<Vec<RealVersion>>,
    pub(crate) spending: Spending,
    /// Tokens by iteration.
    pub(crate) tokens: BTreeMap<usize, IterationTokens>,
    /// Who serves the model, and its name there.
    pub(crate) vendor: String,
    pub(crate) served: String,
    pub(crate) document_sha256: String,
    pub(crate) own_sha256: Option<FileDigests>,
    pub(crate) own: Option<OwnDocument>,
    /// Whether it starts with a version of another experiment.
    pub(crate) is_continued: bool,
    pub(crate) sandbox: BoxHeader,
}

impl SubmissionFound {
    /// The version that is ranked.
    pub(crate) fn ranked(&self) -> Option<&VersionRow> {
        self.rows.versions.get(self.rows.ranked?)
    }

    /// The version that is ranked, where it passes all gates: others have no scores.
    pub(crate) fn valid(&self) -> Option<&VersionRow> {
        self.ranked().filter(|version| version.valid)
    }

    /// What an iteration came to; none of what was not judged.
    pub(crate) fn report(&self, iteration: usize) -> Option<&VersionReport> {
        self.events.get(iteration)?.verdict.report.as_ref()
    }

    /// The iteration that stood after another, or after the last one there was.
    pub(crate) fn standing_after(&self, iteration: usize) -> Option<usize> {
        let last = iteration.min(self.events.len().checked_sub(1)?);
        self.events.get(last)?.standing
    }

    /// Card and source of an iteration.
    pub(crate) fn version(&self, iteration: usize) -> Option<&StrategySubmission> {
        self.versions.get(iteration)?.as_ref()
    }

    /// The source of an iteration.
    pub(crate) fn source(&self, iteration: usize) -> Option<&str> {
        Some(self.version(iteration)?.source.as_str())
    }
}
