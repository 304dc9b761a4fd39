//! What is judged: a card and a source.

use crate::reply::{ReplyProblem, StrategyReply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Card and source of one version, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct StrategySubmission {
    /// Text of the card.
    pub card: String,
    /// Text of the program.
    pub source: String,
}

impl StrategySubmission {
    /// The submission in a reply. A reply without a card has that of the version before, where there is one.
    ///
    /// # Errors
    /// [`ReplyProblem`] where the reply is none.
    pub fn of_reply(reply: &str, card_before: Option<&str>) -> Result<Self, ReplyProblem> {
        let parsed = StrategyReply::parse(reply)?;
        let card = parsed.card.or_else(|| card_before.map(str::to_owned));
        Ok(Self {
            card: card.ok_or(ReplyProblem::NoCard)?,
            source: parsed.source,
        })
    }
}
