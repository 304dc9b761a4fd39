//! Submissions that are led together: asked, then judged, iteration by iteration.

use super::cell::{SubmissionCell, SubmissionResult};
use super::led::Led;
use crate::error::StrategyError;
use futures::StreamExt;
use ktd_asking::{AskedRecord, TextAnswer, pause};
use ktd_boxed::BoxLauncher;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Submissions that are open together, each with its lock and its record.
pub(super) const SUBMISSIONS_AT_ONCE: usize = 60;

/// A submission on its way.
pub(super) struct OpenSubmission<'a> {
    pub(super) place: usize,
    pub(super) cell: SubmissionCell<'a>,
    pub(super) record: AskedRecord<'a>,
    pub(super) led: Led,
}

/// Submissions that are led together: all are asked for their next iteration, then all answers are judged. Nobody waits for an
/// answer while a box works, so that none comes too late to be read.
#[derive(Default)]
pub(super) struct Waves<'a> {
    pub(super) submissions: Vec<OpenSubmission<'a>>,
}

impl Waves<'_> {
    /// Leads them to their ends. One that is stopped stops no answer that came from being judged; then the first reason is the
    /// error.
    pub(super) async fn lead(
        mut self,
        (parallel, launcher): (usize, &BoxLauncher),
        advance: &(dyn Fn() + Sync),
    ) -> Result<BTreeMap<usize, SubmissionResult>, StrategyError> {
        let mut done = BTreeMap::new();
        self.started(launcher).await?;
        loop {
            let (going_on, ended): (Vec<_>, Vec<_>) = self
                .submissions
                .into_iter()
                .partition(|own| own.cell.wants_answer(&own.led));
            for own in ended {
                done.insert(own.place, own.cell.finish(&own.record, &own.led)?);
                advance();
            }
            self.submissions = going_on;
            if self.submissions.is_empty() {
                return Ok(done);
            }
            let answers = self.asked(parallel).await;
            let (answers, stopped) = self.judged(answers, launcher).await?;
            if let Some(error) = stopped {
                // What is whole is written before the run ends.
                for own in self
                    .submissions
                    .iter()
                    .filter(|own| !own.cell.wants_answer(&own.led))
                {
                    own.cell.finish(&own.record, &own.led)?;
                }
                return Err(error);
            }
            if answers == 0 {
                return Ok(done);
            }
        }
    }

    /// Judges the versions that submissions start with.
    async fn started(&mut self, launcher: &BoxLauncher) -> Result<(), StrategyError> {
        let starting = self.submissions.iter_mut().filter(|own| own.cell.start.is_some());
        let jobs: Vec<_> = starting
            .map(|own| Mutex::new((&own.cell, &mut own.led)))
            .collect();
        for part in jobs.chunks(launcher.side_by_side().max(1)) {
            let judged = launcher.each(part, |launcher, job| {
                let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
                let (cell, led) = &mut *job;
                cell.start(led, launcher)
            });
            judged.into_iter().collect::<Result<(), StrategyError>>()?;
            pause().await;
        }
        Ok(())
    }

    /// The answers of a wave, in the order of the submissions.
    async fn asked(&mut self, parallel: usize) -> Vec<Result<TextAnswer, StrategyError>> {
        let asked = self
            .submissions
            .iter_mut()
            .map(|own| own.cell.ask(&mut own.led, &own.record));
        futures::stream::iter(asked).buffered(parallel).collect().await
    }

    /// Judges the answers of a wave; how many there were, and the first reason why one has none.
    async fn judged(
        &mut self,
        answers: Vec<Result<TextAnswer, StrategyError>>,
        launcher: &BoxLauncher,
    ) -> Result<(usize, Option<StrategyError>), StrategyError> {
        let mut stopped = None;
        let mut jobs = Vec::new();
        for (own, answer) in self.submissions.iter_mut().zip(answers) {
            match answer {
                Ok(TextAnswer::Stopped) => {}
                Ok(answer) => jobs.push(Mutex::new((&own.cell, &mut own.led, Some(answer)))),
                Err(error) => {
                    stopped.get_or_insert(error);
                }
            }
        }
        for part in jobs.chunks(launcher.side_by_side().max(1)) {
            let judged = launcher.each(part, |launcher, job| {
                let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
                let (cell, led, answer) = &mut *job;
                answer
                    .take()
                    .map_or(Ok(()), |answer| cell.judge(led, launcher, answer))
            });
            judged.into_iter().collect::<Result<(), StrategyError>>()?;
            // Whoever wants this process to end is listened to between two parts.
            pause().await;
        }
        Ok((jobs.len(), stopped))
    }
}
