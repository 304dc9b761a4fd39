//! Scores of recorded submissions, made again from what their records say the runs showed. No program runs.

use super::kind::StrategyStudy;
use super::unit::StrategyFound;
use crate::run::{SubmissionFound, VersionVerdict};
use crate::score_evidence::ScoreEvidence;
use ktd_strategy_code::{IterationState, PaperScores, VersionScores, ranked_version};
use ktd_study::{StudyError, UnitId, kind_of, recorded_study};
use std::path::Path;

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
/// [`StudyError`] naming a file or a score that differs; for a folder without finished submissions.
pub fn recorded_scores(folder: &Path) -> Result<Vec<RecordedScores>, StudyError> {
    // A folder below `units` is one submission of the study above.
    let above = folder.ancestors().nth(2).filter(|above| kind_of(above).is_some());
    let (root, only) = match above {
        Some(above) if kind_of(folder).is_none() => (above, folder.file_name()),
        _ => (folder, None),
    };
    let found = recorded_study::<StrategyStudy>(root)?;
    let is_wanted = |id: &UnitId| only.is_none_or(|only| only == id.as_str());
    let found = found.into_iter().filter(|(id, _)| is_wanted(id));
    let scores = found.filter_map(|(id, found)| match found {
        StrategyFound::Submission(found) => Some(of_submission(id.as_str(), *found)),
        StrategyFound::Reviews(_) => None,
    });
    let scores = scores.collect::<Result<Vec<_>, StudyError>>()?;
    if scores.is_empty() {
        return Err(StudyError::input(
            format_args!("{}: the folder holds no finished submission", folder.display()),
            "name the folder of results of `ktd strategy-code run`, or one below its `units`",
        ));
    }
    Ok(scores)
}

fn of_submission(own: &str, found: SubmissionFound) -> Result<RecordedScores, StudyError> {
    let SubmissionFound {
        rows,
        events,
        versions: texts,
        ..
    } = found;
    let sources = texts
        .iter()
        .map(|text| text.as_ref().map(|text| text.source.as_str()));
    let versions = events
        .into_iter()
        .zip(sources)
        .map(|(event, source)| version_of(own, event.verdict, source));
    let versions: Vec<VersionParts> = versions.collect::<Result<_, StudyError>>()?;
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

fn version_of(own: &str, event: VersionVerdict, source: Option<&str>) -> Result<VersionParts, StudyError> {
    let without = || difference(own, "a report has no `evidence`");
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
    let published = published
        .zip(source)
        .map(|(published, source)| published.scores(source));
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

fn difference(own: &str, what: &str) -> StudyError {
    StudyError::difference(
        format_args!("{own}: {what}"),
        "the record was changed; take the folder from whoever made it, or `ktd replay DIR --deep` makes it again",
    )
}
