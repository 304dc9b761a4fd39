//! All rounds of all tasks of one bundle: asked together, judged together, round by round.

use super::event::{FactorCodeEvent, RoundPlace};
use super::feedback::feedback_text;
use super::header::FactorCodeHeader;
use super::style::CodeStyle;
use super::verdicts::VerdictBook;
use crate::boxed_reply::JudgedReply;
use crate::error::CodeError;
use futures::StreamExt;
use ktd_agents::ModelFault;
use ktd_asking::{Answerer, AskedRecord, TextAnswer, TextOpening, TextRounds, pause};
use ktd_factor_code::{
    FactorTask, FactorTasks, FactorVerdict, JudgeRule, LayersPassed, ReplyFlag, ReplySource, SourceProblem,
};
use ktd_io::sha256::sha256_hex;
use ktd_unmasked::OpenPrompt;
use std::collections::BTreeMap;

/// Callback that is called with the number of rounds that are done, or will not be needed.
pub(super) type RoundsFn<'a> = &'a (dyn Fn(u64) + Sync);

/// One bundle on its way.
pub(super) struct CellRun<'a> {
    pub(super) header: &'a FactorCodeHeader,
    pub(super) tasks: &'a FactorTasks,
    pub(super) book: &'a VerdictBook<'a>,
    pub(super) record: &'a AskedRecord<'a>,
    /// What was sent back in the recorded run, which a replay sends again.
    pub(super) recorded_feedback: &'a BTreeMap<RoundPlace, String>,
    /// Who answers; none in a replay.
    pub(super) answerer: Option<&'a Answerer>,
    /// Requests at once.
    pub(super) parallel: usize,
    pub(super) progress: RoundsFn<'a>,
}

/// What a bundle came to.
#[derive(Debug, Default)]
pub(super) struct CellOutcome {
    /// By task, sample and round.
    pub(super) events: Vec<FactorCodeEvent>,
    /// The sources by round.
    pub(super) sources: BTreeMap<RoundPlace, String>,
}

/// A sample of a task.
struct Sample<'a> {
    at: (usize, u64),
    task: &'a FactorTask,
    rounds: TextRounds,
    is_over: bool,
}

/// An answer that is to be judged.
struct Answer<'a> {
    place: RoundPlace,
    task: &'a FactorTask,
    said: TextAnswer,
}

impl CellRun<'_> {
    /// Leads all tasks through their rounds.
    pub(super) async fn hold(&self) -> Result<CellOutcome, CodeError> {
        let mut samples = self.samples();
        let mut outcome = CellOutcome::default();
        let mut events = BTreeMap::new();
        for round in 1..=self.header.rounds {
            let answers = self.asked(&mut samples, round).await?;
            for part in answers.chunks(self.book.launcher.side_by_side().max(1) * 2) {
                let judged = self.book.launcher.each(part, |_, answer| self.judged(answer));
                for (answer, event) in part.iter().zip(judged) {
                    if let TextAnswer::Text(text) = &answer.said {
                        outcome.sources.insert(answer.place, ReplySource::of(text).text);
                    }
                    events.insert(answer.place, event?);
                }
                // whoever wants this process to end is listened to between two parts
                pause().await;
            }
            for sample in &mut samples {
                if !sample.is_over
                    && let Some(event) = events.get_mut(&(sample.at.0, sample.at.1, round))
                {
                    self.go_on(sample, event, round);
                }
            }
        }
        outcome.events = events.into_values().collect();
        Ok(outcome)
    }

    fn samples(&self) -> Vec<Sample<'_>> {
        let per_task = self.header.samples;
        let tasks = self.tasks.as_slice().iter().enumerate();
        let all = tasks.flat_map(|(place, task)| (1..=per_task).map(move |sample| (place, task, sample)));
        let opened = all.zip(1..).map(|((place, task, sample), step)| Sample {
            at: (place, sample),
            task,
            rounds: self.opened(task, sample, step),
            is_over: false,
        });
        opened.collect()
    }

    fn opened(&self, task: &FactorTask, sample: u64, step: usize) -> TextRounds {
        let opening = TextOpening {
            step,
            what: format!("task {}", task.id),
            seed: self.header.seed + sample - 1,
            cache_key: Some(format!("{}|{}", self.header.agent, self.header.benchmark)),
            system: self.header.style.system(task),
            user: CodeStyle::user(task),
        };
        TextRounds::open(self.record, opening)
    }

    /// The answers of a round.
    async fn asked<'s>(&self, samples: &mut [Sample<'s>], round: u32) -> Result<Vec<Answer<'s>>, CodeError> {
        let going_on = samples.iter_mut().filter(|sample| !sample.is_over);
        let put = going_on.map(|sample| async move {
            if let Some(answerer) = self.answerer {
                answerer.begin(sample.rounds.step());
            }
            let said = sample.rounds.ask(self.record).await;
            ((sample.at.0, sample.at.1, round), sample.task, said)
        });
        let mut put: Vec<_> = futures::stream::iter(put)
            .buffer_unordered(self.parallel)
            .collect()
            .await;
        put.sort_by_key(|(place, ..)| *place);
        let mut answers = Vec::with_capacity(put.len());
        for (place, task, said) in put {
            answers.push(Answer {
                place,
                task,
                said: said?,
            });
        }
        Ok(answers)
    }

    fn judged(&self, answer: &Answer<'_>) -> Result<FactorCodeEvent, CodeError> {
        let (_, sample, round) = answer.place;
        let named = (answer.task.id.as_str(), sample, round);
        let event = match &answer.said {
            TextAnswer::Text(text) => return self.of_text(answer, text),
            TextAnswer::Mistake(fault) => {
                let judged = JudgedReply::without_source(problem_of(*fault));
                self.event(named, None, judged)
            }
            TextAnswer::Lost(reason) => FactorCodeEvent::lost(named, reason.clone()),
            TextAnswer::Stopped => FactorCodeEvent::lost(named, "stopped".to_owned()),
        };
        (self.progress)(1);
        Ok(event)
    }

    fn of_text(&self, answer: &Answer<'_>, text: &str) -> Result<FactorCodeEvent, CodeError> {
        let (_, sample, round) = answer.place;
        let named = (answer.task.id.as_str(), sample, round);
        let reply_sha256 = sha256_hex(text.as_bytes());
        if let Some(known) = self.book.known(answer.place, &reply_sha256) {
            (self.progress)(1);
            return Ok(known);
        }
        let judged = self.book.judge(answer.task, text)?.ok_or_else(|| {
            CodeError::input(
                format!("the box failed again and again with an answer to task {}", answer.task.id),
                "`ktd box doctor` says what is wrong; give the command again: what was answered and judged is kept",
            )
        })?;
        let source = ReplySource::of(text).text;
        let event = self.event(named, Some(sha256_hex(source.as_bytes())), judged);
        self.book.keep(answer.place, &reply_sha256, &event)?;
        (self.progress)(1);
        Ok(event)
    }

    fn event(
        &self,
        named: (&str, u64, u32),
        source_sha256: Option<String>,
        judged: JudgedReply,
    ) -> FactorCodeEvent {
        let mut verdict = judged.verdict;
        if self.header.style.asks_for_a_fence() {
            verdict.flags.remove(&ReplyFlag::Markdown);
        }
        let mut event = FactorCodeEvent::judged(named, (source_sha256, verdict), &self.book.rules);
        event.curve = judged.curve;
        let (.., round) = named;
        if round < self.header.rounds && !self.passes(event.verdict.as_ref()) {
            event.feedback = judged
                .feedback
                .and_then(|facts| feedback_text(&facts, self.header.feedback));
        }
        event
    }

    fn passes(&self, verdict: Option<&FactorVerdict>) -> bool {
        verdict.is_some_and(|verdict| {
            verdict.passes(JudgeRule::Strict, &self.book.rules) == LayersPassed::Verified
        })
    }

    /// Sends feedback for the next round, or ends the task.
    fn go_on(&self, sample: &mut Sample<'_>, event: &FactorCodeEvent, round: u32) {
        let recorded = self.recorded_feedback.get(&(sample.at.0, sample.at.1, round));
        match recorded.or(event.feedback.as_ref()) {
            Some(text) if round < self.header.rounds => {
                sample.rounds.reply(OpenPrompt::new().outside(text));
            }
            _ => {
                sample.is_over = true;
                (self.progress)(u64::from(self.header.rounds - round));
            }
        }
    }
}

/// The class of an answer that is none.
const fn problem_of(fault: ModelFault) -> SourceProblem {
    match fault {
        ModelFault::Refusal => SourceProblem::Refusal,
        ModelFault::Truncated => SourceProblem::Truncated,
        ModelFault::BadToolCall
        | ModelFault::NoCall
        | ModelFault::UnknownTool
        | ModelFault::WrongTool
        | ModelFault::MultipleCalls
        | ModelFault::TooManyCalls
        | ModelFault::ArgumentsMalformed
        | ModelFault::ArgumentsTooLarge
        | ModelFault::Rejected
        | ModelFault::CallInText
        | ModelFault::NoAnswer => SourceProblem::NoAnswer,
    }
}
