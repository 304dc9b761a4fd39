//! A conversation in text alone with one model, round after round.

use crate::AskingError;
use crate::asked_record::AskedRecord;
use ktd_agents::{ModelFault, TextConversation, TextPlan, Thinking, ThinkingPolicy};
use ktd_client::NothingHidden;
use ktd_client::conversations::Answered;
use ktd_unmasked::{Open, OpenPrompt};

/// What a conversation in text is opened with.
#[derive(Debug, Clone)]
pub struct TextOpening {
    /// The place of its requests among the exchanges, from 1: no two conversations of a record share one.
    pub step: usize,
    /// What it is, for errors.
    pub what: String,
    /// Sent to vendors that take one, where the agent asks for it.
    pub seed: u64,
    /// Groups requests that share a prefix, for providers that take such a hint.
    pub cache_key: Option<String>,
    /// The standing instructions.
    pub system: OpenPrompt,
    /// The message that opens the conversation.
    pub user: OpenPrompt,
}

/// What became of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextAnswer {
    /// The model's words, which are foreign text.
    Text(String),
    /// A mistake of the model: a refusal, an answer that was cut, or none.
    Mistake(ModelFault),
    /// A fault of the infrastructure that asking again cannot help, or nobody was asked: a stable word.
    Lost(String),
    /// Nothing was sent, for another conversation was stopped: a later run continues.
    Stopped,
}

/// Conversation with one model in text alone: an opening, an answer, a further message, and so on.
#[derive(Debug, Clone)]
pub struct TextRounds {
    conversation: TextConversation<Open>,
    step: usize,
    what: String,
    asked: u32,
}

impl TextRounds {
    /// A conversation with the model of a record, before its first request.
    #[must_use]
    pub fn open(record: &AskedRecord<'_>, opening: TextOpening) -> Self {
        let model = record.conversations().model();
        let conversation = TextConversation::open(TextPlan {
            model: model.agent.model_name().to_owned(),
            sampling: model.agent.sampling(opening.seed),
            thinking: thinking(model.provider.thinking),
            cache_key: opening.cache_key,
            system: opening.system,
            user: opening.user,
        });
        Self {
            conversation,
            step: opening.step,
            what: opening.what,
            asked: 0,
        }
    }

    /// The place of its requests among the exchanges.
    #[must_use]
    pub const fn step(&self) -> usize {
        self.step
    }

    /// How many answers there were.
    #[must_use]
    pub const fn asked(&self) -> u32 {
        self.asked
    }

    /// Puts the next request of the conversation, or reads its answer from the record.
    ///
    /// # Errors
    /// [`AskingError::Conversation`] for a budget without room, a request that the endpoint does not take, and faults of
    /// the infrastructure beyond the attempts. No other conversation sends anything new then; the same call later
    /// continues.
    pub async fn ask(&mut self, record: &AskedRecord<'_>) -> Result<TextAnswer, AskingError> {
        let asking = record.conversations();
        let client = asking.client(&NothingHidden, self.step);
        let place = (self.step, self.asked);
        let answered = asking
            .ask(&client, place, self.conversation.request(), None)
            .await;
        let answered = answered.map_err(|source| {
            asking.stop();
            AskingError::Conversation {
                agent: asking.model().id().to_owned(),
                what: self.what.clone(),
                source: Box::new(source),
            }
        })?;
        Ok(match answered {
            Answered::Nothing(reason) => TextAnswer::Lost(reason),
            Answered::Stopped => TextAnswer::Stopped,
            Answered::Turn(turn) => {
                self.asked += 1;
                match self.conversation.feed_turn(*turn) {
                    Ok(text) => TextAnswer::Text(text),
                    Err(fault) => TextAnswer::Mistake(fault),
                }
            }
        })
    }

    /// Says something to the model's last answer.
    pub fn reply(&mut self, prompt: OpenPrompt) {
        self.conversation.reply(prompt);
    }
}

/// There is no submission to think before: thinking is on or off throughout.
const fn thinking(policy: ThinkingPolicy) -> Thinking {
    match policy {
        ThinkingPolicy::VendorDefault => Thinking::VendorDefault,
        ThinkingPolicy::Always | ThinkingPolicy::ThinkThenForce => Thinking::On,
        ThinkingPolicy::Never => Thinking::Off,
    }
}
