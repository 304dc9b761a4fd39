//! All rounds of all tasks of one unit: asked together, judged together, round by round.

use super::cell::FactorCodeCell;
use super::config::BENCHMARK;
use super::event::{FactorCodeEvent, RoundPlace};
use super::found::JudgedAnswer;
use super::style::CodeStyle;
use super::world::{FactorCodeWorld, Judgement};
use crate::boxed_reply::JudgedReply;
use crate::tables::verdict_text;
use futures::StreamExt;
use ktd_agents::ModelFault;
use ktd_asking::{AskedRecord, TextAnswer, TextOpening, TextRounds, pause};
use ktd_factor_code::{
    FactorTask, FactorVerdict, GatedPanels, JudgeRule, LayersPassed, ReplyFlag, ReplySource, SourceProblem,
};
use ktd_io::parallel::in_parallel;
use ktd_io::sha256::sha256_hex;
use ktd_study::{Hands, StudyError};
use ktd_unmasked::OpenPrompt;
use std::collections::BTreeMap;

/// One unit on its way.
pub(crate) struct CellRun<'a> {
    pub(crate) world: &'a FactorCodeWorld,
    pub(crate) cell: &'a FactorCodeCell,
    pub(crate) hands: &'a Hands<'a, FactorCodeEvent>,
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
    /// Leads all tasks through their rounds: the answers by task, sample and round.
    pub(crate) async fn hold(&self) -> Result<Vec<JudgedAnswer>, StudyError> {
        let record = self.hands.asked()?;
        let mut samples = self.samples(record);
        let mut judged = BTreeMap::new();
        for round in 1..=self.world.config.rounds {
            let answers = self.asked(record, &mut samples, round).await?;
            let side_by_side = self.world.boxes()?.side_by_side();
            for part in answers.chunks(side_by_side * 2) {
                let each = in_parallel(part, side_by_side, |answer| self.judged(answer));
                for (answer, event) in part.iter().zip(each) {
                    judged.insert(answer.place, self.told(answer, event?));
                }
                // whoever wants this process to end is listened to between two parts
                pause().await;
            }
            for sample in &mut samples {
                if !sample.is_over
                    && let Some(answer) = judged.get(&(sample.at.0, sample.at.1, round))
                {
                    self.go_on(sample, &answer.event, round);
                }
            }
        }
        Ok(judged.into_values().collect())
    }

    fn samples<'s>(&'s self, record: &AskedRecord<'_>) -> Vec<Sample<'s>> {
        let per_task = self.world.config.samples;
        let tasks = self.world.sources.tasks.as_slice().iter().enumerate();
        let all = tasks.flat_map(|(place, task)| (1..=per_task).map(move |sample| (place, task, sample)));
        let opened = all.zip(1..).map(|((place, task, sample), step)| Sample {
            at: (place, sample),
            task,
            rounds: self.opened(record, (task, sample), step),
            is_over: false,
        });
        opened.collect()
    }

    fn opened(
        &self,
        record: &AskedRecord<'_>,
        (task, sample): (&FactorTask, u64),
        step: usize,
    ) -> TextRounds {
        let opening = TextOpening {
            step,
            what: format!("task {}", task.id),
            seed: self.cell.seed + sample - 1,
            cache_key: Some(format!("{}|{BENCHMARK}", self.cell.agent)),
            system: self.cell.style.system(task),
            user: CodeStyle::user(task),
        };
        TextRounds::open(record, opening)
    }

    /// The answers of a round.
    async fn asked<'s>(
        &self,
        record: &AskedRecord<'_>,
        samples: &mut [Sample<'s>],
        round: u32,
    ) -> Result<Vec<Answer<'s>>, StudyError> {
        let answerer = self.hands.answerer();
        let wanted = self.world.config.parallel;
        let going_on = samples.iter_mut().filter(|sample| !sample.is_over);
        let put = going_on.map(|sample| async move {
            if let Some(answerer) = answerer {
                answerer.begin(sample.rounds.step());
            }
            let said = sample.rounds.ask(record).await;
            ((sample.at.0, sample.at.1, round), sample.task, said)
        });
        let mut put: Vec<_> = futures::stream::iter(put)
            .buffer_unordered(answerer.map_or(1, |answerer| answerer.at_once(wanted)))
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

    fn judged(&self, answer: &Answer<'_>) -> Result<FactorCodeEvent, StudyError> {
        let (_, sample, round) = answer.place;
        let named = (answer.task.id.as_str(), sample, round);
        let event = match &answer.said {
            TextAnswer::Text(text) => {
                let input = (answer.task.id.as_str(), text);
                let judged = self
                    .hands
                    .work("judge", &input, || self.world.judge(answer.task, text))?;
                let source = ReplySource::of(text).text;
                self.event(named, Some(sha256_hex(source.as_bytes())), judged)
            }
            TextAnswer::Mistake(fault) => {
                let judged = JudgedReply::without_source(problem_of(*fault));
                let judged = Judgement::of(judged, self.world.config.feedback_key());
                self.event(named, None, judged)
            }
            TextAnswer::Lost(reason) => FactorCodeEvent::lost(named, reason.clone()),
            TextAnswer::Stopped => FactorCodeEvent::lost(named, "stopped".to_owned()),
        };
        self.hands.advance(1);
        Ok(event)
    }

    fn event(
        &self,
        named: (&str, u64, u32),
        source_sha256: Option<String>,
        judged: Judgement,
    ) -> FactorCodeEvent {
        let mut verdict = judged.verdict;
        if self.cell.style.asks_for_a_fence() {
            verdict.flags.remove(&ReplyFlag::Markdown);
        }
        let rules = self.world.config.rules();
        let mut event = FactorCodeEvent::judged(named, (source_sha256, verdict), &rules);
        event.curve = judged.curve;
        let (.., round) = named;
        let passes =
            |verdict: &FactorVerdict| verdict.passes(JudgeRule::Strict, &rules) == LayersPassed::Verified;
        if round < self.world.config.rounds && !event.verdict.as_ref().is_some_and(passes) {
            event.feedback = judged.feedback;
        }
        event
    }

    /// An event with the function, and with its verdict in words.
    fn told(&self, answer: &Answer<'_>, event: FactorCodeEvent) -> JudgedAnswer {
        let source = match &answer.said {
            TextAnswer::Text(text) => Some(ReplySource::of(text).text),
            TextAnswer::Mistake(_) | TextAnswer::Lost(_) | TextAnswer::Stopped => None,
        };
        let rules = self.world.config.rules();
        let by = self.world.judged_by(&rules);
        let gated = match &answer.said {
            TextAnswer::Text(text) => by.gated(text).ok(),
            TextAnswer::Mistake(_) | TextAnswer::Lost(_) | TextAnswer::Stopped => None,
        };
        let panels = gated.as_ref().map_or(by.panels, GatedPanels::panels);
        let words = event
            .verdict
            .as_ref()
            .map(|verdict| verdict_text(verdict, panels, &rules));
        JudgedAnswer { event, source, words }
    }

    /// Sends feedback for the next round, or ends the task.
    fn go_on(&self, sample: &mut Sample<'_>, event: &FactorCodeEvent, round: u32) {
        if let Some(text) = &event.feedback {
            sample.rounds.reply(OpenPrompt::new().outside(text));
        } else {
            sample.is_over = true;
            self.hands.advance(u64::from(self.world.config.rounds - round));
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
