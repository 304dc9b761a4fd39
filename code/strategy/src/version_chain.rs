//! Versions of one submission: which stand, which drifted, which is ranked.

use crate::card::StrategyCard;
use crate::iteration::{IterationState, VersionScores, ranked_version};
use crate::parameters::Parameters;
use crate::patch::PatchSize;
use crate::submission::StrategySubmission;
use crate::submission_report::SubmissionReport;
use crate::version_drift::{StrategyTraces, StrategyVersion, VersionDrift};
use ktd_sandbox::BoxLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Judge of the versions of one task: what runs programs.
pub trait VersionJudge {
    /// What keeps it from judging, by no fault of a program.
    type Error;

    /// The report on a submission.
    ///
    /// # Errors
    /// [`Self::Error`] where nothing can be run.
    fn report(&self, submission: &StrategySubmission) -> Result<SubmissionReport, Self::Error>;

    /// The traces of the reference with these values; none where it refuses them: such a card was never run.
    ///
    /// # Errors
    /// [`Self::Error`] where nothing can be run.
    fn reference(&self, values: &Parameters) -> Result<Option<StrategyTraces>, Self::Error>;
}

/// What makes an iteration void.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftRule {
    /// A version that moved away from the reference strategy.
    #[default]
    Reference,
    /// The published one: a distance of 0.15 or more between the two versions.
    Published,
}

/// One iteration of a submission.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SubmissionVersion {
    /// Its number, from 0.
    pub iteration: usize,
    /// What became of it.
    pub state: IterationState,
    /// Why there is no submission: a stable word.
    pub problem: Option<String>,
    /// Card and source.
    pub submission: Option<StrategySubmission>,
    /// Against the version that stood before.
    pub patch: Option<PatchSize>,
    /// Against the version that stood before.
    pub drift: Option<VersionDrift>,
    /// What it came to; `None` for a patch that is too large, which is not run.
    pub report: Option<SubmissionReport>,
}

impl SubmissionVersion {
    const fn without_report(iteration: usize, state: IterationState) -> Self {
        Self {
            iteration,
            state,
            problem: None,
            submission: None,
            patch: None,
            drift: None,
            report: None,
        }
    }

    /// Measured D1, D2 and D3; 0 where nothing was run.
    #[must_use]
    pub fn measured(&self) -> [Option<f64>; 3] {
        let has_drifted = self.state == IterationState::Drifted;
        self.report
            .as_ref()
            .map_or([Some(0.0); 3], |report| report.measured(has_drifted))
    }

    /// Whether it passes all gates.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.gates.is_valid())
    }

    /// The version as the choice between versions sees it.
    #[must_use]
    pub fn scores(&self) -> VersionScores {
        VersionScores {
            iteration: self.iteration,
            state: self.state,
            is_valid: self.is_valid(),
            scores: self.measured().map(Option::unwrap_or_default),
        }
    }
}

/// All iterations of one submission, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VersionChain {
    /// The iterations.
    pub versions: Vec<SubmissionVersion>,
    rule: DriftRule,
}

impl VersionChain {
    /// No iteration yet.
    #[must_use]
    pub const fn new(rule: DriftRule) -> Self {
        Self {
            versions: Vec::new(),
            rule,
        }
    }

    /// The version that stands: the last one that was kept.
    #[must_use]
    pub fn standing(&self) -> Option<&SubmissionVersion> {
        let mut versions = self.versions.iter().rev();
        versions.find(|version| version.state == IterationState::Kept)
    }

    /// The version that is ranked.
    #[must_use]
    pub fn ranked(&self) -> Option<&SubmissionVersion> {
        let scores: Vec<VersionScores> = self.versions.iter().map(SubmissionVersion::scores).collect();
        let iteration = ranked_version(&scores)?;
        self.versions.get(iteration)
    }

    /// Whether another iteration is asked for, of so many after the first.
    #[must_use]
    pub fn wants_patch(&self, iterations: usize) -> bool {
        let Some(last) = self.versions.last() else {
            return true;
        };
        let stands = self.standing().map(SubmissionVersion::scores);
        VersionScores {
            iteration: last.iteration,
            ..stands.unwrap_or_else(|| last.scores())
        }
        .wants_patch(iterations)
    }

    /// The card that later ones must agree with: the first that is as its document wants it. One that is not may be mended.
    fn anchor(&self) -> Option<StrategyCard> {
        let kept = self
            .versions
            .iter()
            .filter(|version| version.state == IterationState::Kept);
        let is_sound = |version: &&SubmissionVersion| {
            let report = version.report.as_ref();
            report.is_some_and(|report| {
                !report.checks.is_empty() && report.checks.iter().all(|check| check.holds)
            })
        };
        let first = kept
            .filter(is_sound)
            .find_map(|version| version.submission.as_ref())?;
        StrategyCard::parse(&first.card).ok()
    }

    /// Adds an iteration without a submission: the model's own mistake, as a stable word.
    pub fn add_mistake(&mut self, problem: &str) {
        let version = SubmissionVersion::without_report(self.versions.len(), IterationState::NoSubmission);
        self.versions.push(SubmissionVersion {
            problem: Some(problem.to_owned()),
            ..version
        });
    }

    /// Judges a reply as the next iteration.
    ///
    /// # Errors
    /// Those of the judge; nothing is added then.
    pub fn add_reply<J: VersionJudge>(&mut self, judge: &J, reply: &str) -> Result<(), J::Error> {
        let before = self.standing();
        let card_before = before.and_then(|version| version.submission.as_ref());
        match StrategySubmission::of_reply(reply, card_before.map(|before| before.card.as_str())) {
            Ok(submission) => self.add(judge, submission),
            Err(problem) => {
                self.add_mistake(problem.code());
                Ok(())
            }
        }
    }

    /// Judges a submission as the next iteration.
    ///
    /// # Errors
    /// Those of the judge; nothing is added then.
    pub fn add<J: VersionJudge>(
        &mut self,
        judge: &J,
        submission: StrategySubmission,
    ) -> Result<(), J::Error> {
        let iteration = self.versions.len();
        let before = self.standing().and_then(|version| {
            let submission = version.submission.as_ref()?;
            Some((submission, version.report.as_ref()?))
        });
        // A source beyond the box's limit is not run: its lines are not worth the comparison.
        let is_readable = u64::try_from(submission.source.len())
            .is_ok_and(|bytes| bytes <= u64::from(BoxLimits::STRATEGIES.source_kb) << 10);
        let before_read = before.filter(|_| is_readable);
        let patch = before_read.map(|(before, _)| PatchSize::between(&before.source, &submission.source));
        if patch.is_some_and(|patch| !patch.is_within_budget()) {
            self.versions.push(SubmissionVersion {
                patch,
                submission: Some(submission),
                ..SubmissionVersion::without_report(iteration, IterationState::PatchTooLarge)
            });
            return Ok(());
        }
        let report = judge.report(&submission)?;
        let drift = match before_read {
            Some(before) => self.drift(judge, before, (&submission, &report))?,
            None => None,
        };
        // What says nothing of its strategy is no base for the next version: any strategy would be nearer to the reference.
        let is_unsaid = before.is_some() && StrategyCard::parse(&submission.card).is_err();
        let has_drifted = drift.as_ref().is_some_and(|drift| match self.rule {
            DriftRule::Reference => drift.is_drift(),
            DriftRule::Published => drift.is_published_drift(),
        });
        let state = if is_unsaid || has_drifted {
            IterationState::Drifted
        } else {
            IterationState::Kept
        };
        self.versions.push(SubmissionVersion {
            submission: Some(submission),
            patch,
            drift,
            report: Some(report),
            ..SubmissionVersion::without_report(iteration, state)
        });
        Ok(())
    }

    fn drift<J: VersionJudge>(
        &self,
        judge: &J,
        (before, report_before): (&StrategySubmission, &SubmissionReport),
        (after, report): (&StrategySubmission, &SubmissionReport),
    ) -> Result<Option<VersionDrift>, J::Error> {
        let anchor = self.anchor();
        let card = StrategyCard::parse(&after.card).ok();
        let Some(values) = anchor.as_ref().or(card.as_ref()).map(StrategyCard::parameters) else {
            return Ok(None);
        };
        let Some(reference) = judge.reference(&values)? else {
            return Ok(None);
        };
        let earlier = StrategyVersion {
            card: anchor.as_ref(),
            source: &before.source,
            traces: &report_before.traces,
        };
        let later = StrategyVersion {
            card: card.as_ref(),
            source: &after.source,
            traces: &report.traces,
        };
        let mut drift = VersionDrift::between(earlier, later, &reference);
        if card.is_none() {
            drift.changed_fields.push("card".to_owned());
        }
        Ok(Some(drift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_asks_until_its_iterations_are_used_up() {
        let mut chain = VersionChain::new(DriftRule::Reference);
        assert!(chain.wants_patch(0));
        chain.add_mistake("no_source");
        assert!(chain.wants_patch(3) && !chain.wants_patch(0));
        for _ in 0..3 {
            chain.add_mistake("refusal");
        }
        assert!(!chain.wants_patch(3));
        assert_eq!((chain.standing(), chain.ranked()), (None, None));
        assert_eq!(chain.versions.last().unwrap().iteration, 3);
    }
}
