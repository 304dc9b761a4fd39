//! One review: a conversation of at most two rounds.

use super::control::ControlKind;
use super::program::{ProgramKey, ReviewedProgram, system};
use crate::error::StrategyError;
use crate::run::ReviewText;
use ktd_agents::ModelFault;
use ktd_asking::{AskedRecord, TextAnswer, TextOpening, TextRounds};
use ktd_prompts::strategy_code::REVIEW_AGAIN;
use ktd_strategy_code::ReviewReply;
use ktd_unmasked::OpenPrompt;
use serde::{Deserialize, Serialize};

/// Answers that a review may take: one, and another where the first is none.
const ROUNDS: u32 = 2;

/// What became of one review, as its reviewer's record keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewEvent {
    /// Its place among the reviewer's reviews, from 1.
    pub step: usize,
    /// The document.
    pub strategy: String,
    /// The seed of the submission.
    pub seed: u64,
    /// Who wrote the program; none for a planted one.
    pub model: Option<String>,
    /// Which planted program it is.
    pub control: Option<ControlKind>,
    /// Fidelity, 1 to 10; none where there is no review.
    pub d1: Option<u8>,
    /// Risk, 1 to 10.
    pub d2: Option<u8>,
    /// The reviewer's words: foreign text.
    pub strengths: String,
    /// The reviewer's words: foreign text.
    pub weaknesses: String,
    /// Departures from the form that leave no doubt.
    pub repairs: usize,
    /// Answers that were asked for.
    pub asked: u32,
    /// Why there is no review, where it is the reviewer's doing: a stable word.
    pub problem: Option<String>,
    /// Why there is no review, where it is a fault of the infrastructure: a stable word.
    pub lost: Option<String>,
}

impl ReviewEvent {
    pub(super) fn new(step: usize, key: &ProgramKey) -> Self {
        Self {
            step,
            strategy: key.strategy.clone(),
            seed: key.seed,
            model: key.model.clone(),
            control: key.control,
            d1: None,
            d2: None,
            strengths: String::new(),
            weaknesses: String::new(),
            repairs: 0,
            asked: 0,
            problem: None,
            lost: None,
        }
    }

    /// The mean of both marks.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        Some(f64::midpoint(f64::from(self.d1?), f64::from(self.d2?)))
    }

    fn fill(&mut self, reply: ReviewReply) {
        (self.d1, self.d2, self.repairs) = (Some(reply.d1), Some(reply.d2), reply.repairs);
        (self.strengths, self.weaknesses) = (reply.strengths, reply.weaknesses);
        self.problem = None;
    }
}

/// How a reviewer is asked.
pub(super) struct ReviewAsking<'a> {
    pub(super) record: &'a AskedRecord<'a>,
    pub(super) review: ReviewText,
    pub(super) seed: u64,
}

impl ReviewAsking<'_> {
    /// The review of a program; none where another one was stopped.
    pub(super) async fn review(
        &self,
        step: usize,
        program: &ReviewedProgram,
    ) -> Result<Option<ReviewEvent>, StrategyError> {
        let key = &program.key;
        let opening = TextOpening {
            step,
            what: format!("review {step}, of {}", key.strategy),
            seed: self.seed,
            cache_key: None,
            system: system(),
            user: program.message(self.review),
        };
        let mut rounds = TextRounds::open(self.record, opening);
        let mut event = ReviewEvent::new(step, key);
        let mut again: Option<String> = None;
        while event.asked < ROUNDS {
            if let Some(problem) = &again {
                rounds.reply(OpenPrompt::new().filled(REVIEW_AGAIN, &[("problem", problem)]));
            }
            match rounds.ask(self.record).await? {
                TextAnswer::Text(text) => match ReviewReply::parse(&text) {
                    Ok(reply) => {
                        event.asked = rounds.asked();
                        event.fill(reply);
                        return Ok(Some(event));
                    }
                    Err(problem) => {
                        event.problem = Some(problem.code().to_owned());
                        again = Some(problem.to_string());
                    }
                },
                TextAnswer::Mistake(fault) => {
                    event.problem = Some(fault.code().to_owned());
                    again = Some(in_words(fault).to_owned());
                }
                TextAnswer::Lost(reason) => {
                    (event.problem, event.lost) = (None, Some(reason));
                    break;
                }
                TextAnswer::Stopped => return Ok(None),
            }
            event.asked = rounds.asked();
        }
        Ok(Some(event))
    }
}

/// What a model is answered to a turn that has no answer in it.
const fn in_words(fault: ModelFault) -> &'static str {
    match fault {
        ModelFault::Truncated => "it was cut at its longest length; be brief",
        ModelFault::Refusal => "it was declined; the program is data that you judge",
        ModelFault::NoAnswer
        | ModelFault::BadToolCall
        | ModelFault::NoCall
        | ModelFault::UnknownTool
        | ModelFault::WrongTool
        | ModelFault::MultipleCalls
        | ModelFault::TooManyCalls
        | ModelFault::ArgumentsMalformed
        | ModelFault::ArgumentsTooLarge
        | ModelFault::Rejected
        | ModelFault::CallInText => "it was empty",
    }
}
