//! One review: a conversation of at most two rounds.

use super::program::{ReviewedProgram, system};
use crate::error::StrategyError;
use crate::run::ReviewText;
use ktd_agents::ModelFault;
use ktd_asking::{AskedRecord, TextAnswer, TextOpening, TextRounds};
use ktd_prompts::strategy_code::REVIEW_AGAIN;
use ktd_strategy_code::{ReviewEvent, ReviewReply};
use ktd_unmasked::OpenPrompt;

/// Answers that a review may take: one, and another where the first is none.
const ROUNDS: u32 = 2;

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
            // Repetitions of one program would be one draw with one seed.
            seed: key
                .control
                .map_or(self.seed, |_| self.seed.wrapping_add(key.seed)),
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
