//! Scores of recorded submissions, made again from what their records say the runs showed. No program runs.

use super::cell::{EVENTS, RESULT, SubmissionResult, check_files};
use super::event::VersionVerdict;
use super::experiment::SUBMISSIONS;
use crate::error::StrategyError;
use crate::score_evidence::ScoreEvidence;
use ktd_asking::AskingError;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::{list_if_exists, parse_json, read_bounded, read_if_exists};
use ktd_strategy_code::{IterationState, PaperScores, VersionScores, ranked_version};
use std::path::{Path, PathBuf};

/// The most that a file of a submission may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 26;
/// Scores that lie farther from each other differ: numbers of files are not read to their last digit.
const TOLERANCE: f64 = 1e-9;

/// The scores of one submission's iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedScores {
    /// The model.
    pub model: String,
    /// The document.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// Its iterations.
    pub versions: Vec<VersionParts>,
}

/// The scores of one iteration and what they are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionParts {
    /// Its number, from 0.
    pub iteration: usize,
    /// What became of it.
    pub state: IterationState,
    /// Whether it passes all gates.
    pub is_valid: bool,
    /// The evidence of its scores; none where nothing was judged.
    pub evidence: Option<ScoreEvidence>,
    /// D1, D2 and D3 as measured; none where nothing was judged.
    pub measured: Option<[f64; 3]>,
    /// The published static scores; none where the source was not looked at.
    pub published: Option<PaperScores>,
}

/// The scores of a submission's folder, or of all submissions of an experiment's folder. Every file is compared with its
/// digest first, and every score with the one that the result names.
///
/// # Errors
/// [`AskingError::Difference`] naming a file or a score that differs; other errors for a folder without submissions, and for a
/// submission that is not finished.
pub fn recorded_scores(folder: &Path) -> Result<Vec<RecordedScores>, StrategyError> {
    let own = submissions_of(folder)?;
    own.iter().map(|own| of_submission(own)).collect()
}

/// The folders of the submissions that a folder is, or holds.
fn submissions_of(folder: &Path) -> Result<Vec<PathBuf>, StrategyError> {
    if read_if_exists(&folder.join(EVENTS))?.is_some() {
        return Ok(vec![folder.to_owned()]);
    }
    let own = list_if_exists(&folder.join(SUBMISSIONS))?;
    if own.is_empty() {
        return Err(StrategyError::input(
            format_args!("{}: the folder holds no finished submission", folder.display()),
            "name the folder of results of `ktd strategy-code run`, or one below its `submissions`",
        ));
    }
    Ok(own)
}

fn of_submission(own: &Path) -> Result<RecordedScores, StrategyError> {
    check_files(own)?;
    let path = own.join(RESULT);
    let result: SubmissionResult = parse_json(&path, &read_bounded(&path, FILE_LIMIT_BYTES)?)?;
    let path = own.join(EVENTS);
    let events: Vec<VersionVerdict> = LineKind::Log.open(&path)?.values()?;
    let versions = events.into_iter().map(|event| version_of(own, event));
    let versions: Vec<VersionParts> = versions.collect::<Result<_, StrategyError>>()?;
    let rows = result.rows;
    let differs = || difference(own, "the result has other iterations than the events");
    if rows.versions.len() != versions.len() {
        return Err(differs());
    }
    for (row, version) in rows.versions.iter().zip(&versions) {
        let published = version.published.map(|scores| [scores.d3, scores.d4]);
        if (row.iteration, row.state.as_str()) != (version.iteration, version.state.label()) {
            return Err(differs());
        }
        if !is_same(row.measured, version.measured) || !is_same(row.published_scores, published) {
            let what = format!("the result names other scores of iteration {}", row.iteration);
            return Err(difference(own, &what));
        }
    }
    if rows.ranked != ranked(&versions) {
        return Err(difference(
            own,
            "the result ranks another iteration than the scores do",
        ));
    }
    Ok(RecordedScores {
        model: rows.model,
        strategy: rows.strategy,
        seed: rows.seed,
        ranked: rows.ranked,
        versions,
    })
}

/// The iteration that is ranked by its scores.
fn ranked(versions: &[VersionParts]) -> Option<usize> {
    let kept = versions
        .iter()
        .filter(|version| version.state == IterationState::Kept);
    let scores: Vec<VersionScores> = kept
        .map(|version| VersionScores {
            iteration: version.iteration,
            state: IterationState::Kept,
            is_valid: version.is_valid,
            scores: version.measured.unwrap_or_default(),
        })
        .collect();
    ranked_version(&scores)
}

fn version_of(own: &Path, event: VersionVerdict) -> Result<VersionParts, StrategyError> {
    let without = || StrategyError::damaged(&own.join(EVENTS), "a report has no `evidence`".to_owned());
    let evidence = event.report.map(|report| report.evidence.ok_or_else(without));
    let evidence = evidence.transpose()?;
    if evidence
        .as_ref()
        .is_some_and(|evidence| !evidence.measured.is_of_shares())
    {
        let what = format!(
            "evidence of iteration {} is no share from 0 to 1",
            event.iteration
        );
        return Err(difference(own, &what));
    }
    let has_drifted = event.state == IterationState::Drifted;
    let published = evidence.as_ref().and_then(|evidence| evidence.published.as_ref());
    let published = match published {
        Some(published) => Some(published.scores(&source_of(own, event.iteration)?)),
        None => None,
    };
    Ok(VersionParts {
        iteration: event.iteration,
        state: event.state,
        is_valid: event.valid,
        measured: evidence
            .as_ref()
            .map(|evidence| evidence.measured.scores(has_drifted)),
        evidence,
        published,
    })
}

fn source_of(own: &Path, iteration: usize) -> Result<String, StrategyError> {
    let version = own.join("versions").join(iteration.to_string());
    let path = version.join("strategy.py");
    let bytes = read_bounded(&path, FILE_LIMIT_BYTES)?;
    String::from_utf8(bytes).map_err(|error| StrategyError::damaged(&path, error.to_string()))
}

fn is_same<const N: usize>(recorded: Option<[f64; N]>, made: Option<[f64; N]>) -> bool {
    match (recorded, made) {
        (None, None) => true,
        (Some(recorded), Some(made)) => recorded
            .iter()
            .zip(made)
            .all(|(recorded, made)| (recorded - made).abs() <= TOLERANCE),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn difference(own: &Path, what: &str) -> StrategyError {
    StrategyError::Asking(AskingError::Difference {
        what: format!("{}: {what}", own.display()),
        hint: "the record was changed; take the folder from whoever made it, or `ktd strategy-code replay` makes it again",
    })
}
