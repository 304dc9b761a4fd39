//! A reply of a provider, decoded once on its way from the transport to the session and the record.

use crate::chat::ModelTurn;
use crate::dialect::Dialect;
use crate::transport::WireReply;
use crate::usage::{Usage, UsageBound};
use crate::verdict::{Expected, Verdict};
use crate::wire::{FaultKind, ReplyFault};
use crate::wire_format::Wire;

/// A turn of the model or the fault in its place, with token counts that can be.
#[derive(Debug)]
pub struct DecodedReply(Result<ModelTurn, ReplyFault>);

impl DecodedReply {
    /// Decodes `reply` to a request with this bound. Token counts beyond it are cut to it and listed as
    /// [`crate::Normalised::UsageImplausible`].
    #[must_use]
    pub fn read(wire: Wire, dialect: &Dialect, reply: &WireReply, bound: UsageBound) -> Self {
        let mut read = wire.decode(reply.status, &reply.body, dialect);
        match &mut read {
            Ok(turn) => turn.bound_usage(bound),
            Err(fault) => {
                fault.bound_usage(bound);
                if fault.kind() == FaultKind::Redirected {
                    fault.name_target(reply.headers.get("location"));
                }
            }
        }
        Self(read)
    }

    /// The turn, or the fault in its place.
    ///
    /// # Errors
    /// The fault.
    pub const fn turn(&self) -> Result<&ModelTurn, &ReplyFault> {
        self.0.as_ref()
    }

    /// The turn, or the fault in its place.
    ///
    /// # Errors
    /// The fault.
    pub fn into_turn(self) -> Result<ModelTurn, ReplyFault> {
        self.0
    }

    /// The tokens of the exchange, where the reply reports them: those of the turn, or of a reply with nothing in it.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let turn = match &self.0 {
            Ok(turn) => Some(turn),
            Err(fault) => fault.blank_turn(),
        };
        turn.map(ModelTurn::usage).filter(Usage::is_known)
    }

    /// The verdict on the reply to a request that asked for this.
    #[must_use]
    pub fn verdict(&self, expected: &Expected<'_>) -> Verdict {
        Verdict::of(self.0.as_ref(), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Normalised;

    fn read(reply: &WireReply) -> DecodedReply {
        DecodedReply::read(
            Wire::ChatCompletions,
            &Dialect::plain(),
            reply,
            UsageBound::of(100, Some(10)),
        )
    }

    fn with_usage(content: &str, prompt: u64, completion: u64) -> WireReply {
        let body = format!(
            r#"{{"choices":[{{"finish_reason":"stop","message":{{"content":"{content}"}}}}],"usage":{{"prompt_tokens":{prompt},"completion_tokens":{completion}}}}}"#
        );
        WireReply::new(200, body.into_bytes())
    }

    #[test]
    fn usage_is_bounded_by_what_was_sent_and_allowed_and_flagged() {
        let plausible = read(&with_usage("ok", 90, 10));
        assert!(plausible.turn().unwrap().normalised().is_empty());
        let huge = read(&with_usage("ok", u64::MAX / 2, u64::MAX / 2));
        let turn = huge.turn().unwrap();
        assert_eq!((turn.usage().input(), turn.usage().output()), (4_196, 1_000_000));
        assert_eq!(turn.normalised(), [Normalised::UsageImplausible]);
        let blank = read(&with_usage("", u64::MAX / 2, 0));
        assert_eq!(blank.turn().unwrap_err().kind(), FaultKind::ZeroOutput);
        assert_eq!(blank.usage().unwrap().input(), 4_196);
    }

    #[test]
    fn a_redirect_names_where_it_leads_without_its_query() {
        let mut reply = WireReply::new(307, b"<html>moved</html>".to_vec());
        let location = "https://new.example/v1/chat/completions?key=canary#x";
        reply.headers.insert("location".to_owned(), location.to_owned());
        let fault = read(&reply).into_turn().unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Redirected);
        let text = fault.to_string();
        assert!(text.contains("https://new.example/v1/chat/completions") && !text.contains("canary"));
        assert!(fault.hint().contains("base_url"));
        assert!(read(&WireReply::new(302, Vec::new())).into_turn().is_err());
    }
}
