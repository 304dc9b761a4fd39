//! Trials of a search: each a work, and a line of `trials.jsonl`.

use super::market::OpenMine;
use super::round_event::RoundEvent;
use ktd_alphas::{SearchCandidate, Trial, TrialFault};
use ktd_io::line_file::line_bytes;
use ktd_study::{Hands, StudyError};
use serde::Serialize;
use std::path::Path;

/// The file of trials, in their order.
pub(super) const TRIALS: &str = "trials.jsonl";

/// A trial as it is written.
#[derive(Debug, Serialize)]
struct WrittenTrial<'t> {
    expression: &'t str,
    nodes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank_ic: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fitness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl<'t> WrittenTrial<'t> {
    fn of(trial: &'t Trial) -> Self {
        let score = trial.outcome.ok();
        Self {
            expression: &trial.form,
            nodes: trial.nodes,
            rank_ic: score.map(|score| score.rank_ic),
            fitness: score.map(|score| score.fitness),
            code: trial.outcome.err().map(TrialFault::code),
        }
    }
}

/// What was tried so far.
pub(super) struct Trials<'h> {
    pub(super) open: &'h OpenMine,
    pub(super) hands: &'h Hands<'h, RoundEvent>,
    tried: Vec<Trial>,
}

impl<'h> Trials<'h> {
    /// Nothing tried yet.
    pub(super) const fn new(open: &'h OpenMine, hands: &'h Hands<'h, RoundEvent>) -> Self {
        Self {
            open,
            hands,
            tried: Vec::new(),
        }
    }

    /// What becomes of candidates, in their order.
    pub(super) fn tried(&mut self, candidates: &[SearchCandidate]) -> Result<Vec<Trial>, StudyError> {
        let mut trials = Vec::with_capacity(candidates.len());
        for candidates in candidates.chunks(self.open.chunk()) {
            let tried = self.chunk(candidates)?;
            let evaluated = tried.iter().filter(|trial| trial.is_evaluated()).count();
            self.hands.advance(u64::try_from(evaluated).unwrap_or(u64::MAX));
            trials.extend(tried);
        }
        self.tried.extend(trials.iter().cloned());
        Ok(trials)
    }

    /// The same of candidates whose scores fit in memory together. A formula that the checker refuses has no values.
    fn chunk(&self, candidates: &[SearchCandidate]) -> Result<Vec<Trial>, StudyError> {
        let checked: Vec<&SearchCandidate> = candidates
            .iter()
            .filter(|candidate| candidate.checked().is_some())
            .collect();
        let forms: Vec<&str> = checked.iter().map(|candidate| candidate.form()).collect();
        let figures: Vec<Result<f64, TrialFault>> = self.hands.works("trial", &forms, |places| {
            let missing = places.iter().filter_map(|place| checked.get(*place));
            let missing: Vec<SearchCandidate> = missing.map(|one| (*one).clone()).collect();
            let tried = self.open.tried(&missing)?.into_iter();
            Ok(tried
                .map(|trial| trial.outcome.map(|score| score.rank_ic))
                .collect())
        })?;
        let mut figures = figures.into_iter();
        let trial = |candidate: &SearchCandidate| match candidate {
            SearchCandidate::Checked(checked) => {
                let figure = figures.next().unwrap_or(Err(TrialFault::Undefined));
                self.open.trial(candidate, checked.formula().nodes(), figure)
            }
            SearchCandidate::Refused { nodes, fault, .. } => self.open.trial(candidate, *nodes, Err(*fault)),
        };
        Ok(candidates.iter().map(trial).collect())
    }

    /// The bytes of `trials.jsonl`.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, StudyError> {
        Ok(line_bytes(
            Path::new(TRIALS),
            self.tried.iter().map(WrittenTrial::of),
        )?)
    }
}
