//! What one send is charged: what was reported, or the most that it can have cost.

use crate::exchanges::{ExchangeOutcome, RequestPlace, Sent};
use ktd_agents::{DecodedReply, FaultKind, PROMPT_TOKENS_OVERHEAD, ReplyFault, Usage, UsageBound};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::price_row::Priced;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;

/// How the sends of a record are charged.
#[derive(Debug, Clone)]
pub struct Tariff {
    /// How replies are read.
    provider: Provider,
    /// What tokens cost.
    basis: TokenPricing,
    /// The most tokens that a reply may have, where there is a bound.
    max_output_tokens: Option<u32>,
    /// The first request that was not copied from another record: 1-based step, and place in the step.
    first_own_request: (usize, u32),
}

/// The first request of a record of which nothing was copied.
const FROM_THE_START: (usize, u32) = (1, 0);

/// What one send is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charge {
    /// Nothing: it never left, or the provider itself said that it did not answer.
    Nothing,
    /// A reply whose tokens are known.
    Used {
        /// The tokens.
        usage: Usage,
        /// What they cost; `None` without a price.
        cost: Option<Priced>,
    },
    /// A reply whose tokens nobody reported: at most so much.
    Incomplete {
        /// The most that it can have cost; `None` without a price or without a bound on the output.
        most: Option<Picodollars>,
    },
    /// Nobody knows whether it was answered: at most so much.
    Unknown {
        /// The most that it can have cost; `None` without a price or without a bound on the output.
        most: Option<Picodollars>,
    },
}

/// What a decoded reply holds for its charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded {
    /// The provider refused: nothing is charged.
    Refused,
    /// The provider may charge for it: these tokens, where it reports them.
    Answered(Option<Usage>),
}

impl Decoded {
    /// Of a reply.
    #[must_use]
    pub fn of(reply: &DecodedReply) -> Self {
        match reply.turn() {
            Err(fault) if !is_charged(fault) => Self::Refused,
            Ok(_) | Err(_) => Self::Answered(reply.usage()),
        }
    }
}

impl Charge {
    /// What it counts against a budget; `None` where nobody knows.
    #[must_use]
    pub fn amount(&self) -> Option<Picodollars> {
        match self {
            Self::Nothing => Some(Picodollars::ZERO),
            Self::Used { cost, .. } => cost.map(|priced| priced.amount),
            Self::Incomplete { most } | Self::Unknown { most } => *most,
        }
    }
}

impl Tariff {
    /// The tariff of a model whose replies may have so many tokens.
    #[must_use]
    pub const fn new(provider: Provider, basis: TokenPricing, max_output_tokens: Option<u32>) -> Self {
        Self {
            provider,
            basis,
            max_output_tokens,
            first_own_request: FROM_THE_START,
        }
    }

    /// The same with a first request of its own, 1-based step and place in the step: what lies before it was copied from another
    /// record, which was charged for it.
    #[must_use]
    pub fn copied_before(self, first_own_request: (usize, u32)) -> Self {
        Self {
            first_own_request,
            ..self
        }
    }

    /// The same at other prices.
    #[must_use]
    pub fn at(self, basis: TokenPricing) -> Self {
        Self { basis, ..self }
    }

    /// What tokens cost.
    #[must_use]
    pub const fn basis(&self) -> &TokenPricing {
        &self.basis
    }

    /// 1-based first step that was not copied from another record.
    #[must_use]
    pub const fn first_own_step(&self) -> usize {
        let (step, _) = self.first_own_request;
        step
    }

    /// The most that a request of so many bytes can cost; `None` without a price or without a bound on the output.
    ///
    /// Tokenizers that work on bytes never need more tokens than there are bytes.
    #[must_use]
    pub fn most(&self, request_bytes: usize) -> Option<Picodollars> {
        let bytes = u64::try_from(request_bytes).unwrap_or(u64::MAX);
        let prompt_tokens = bytes.saturating_add(PROMPT_TOKENS_OVERHEAD);
        self.basis.most(prompt_tokens, self.most_output_tokens())
    }

    /// The most tokens that a reply may have, where the agent says so.
    #[must_use]
    pub fn most_output_tokens(&self) -> Option<u64> {
        self.max_output_tokens.map(u64::from)
    }

    /// What a recorded send is charged. What was copied was charged to the record that it was copied from.
    #[must_use]
    pub fn charge_of(&self, sent: &Sent) -> Charge {
        self.charge_at(sent.intent.at, sent.intent.request.len(), sent.outcome.as_ref())
    }

    /// The same of a send at a place, of so many bytes, when this came back.
    #[must_use]
    pub fn charge_at(
        &self,
        at: RequestPlace,
        request_bytes: usize,
        outcome: Option<&ExchangeOutcome>,
    ) -> Charge {
        if (at.step, at.ordinal) < self.first_own_request {
            return Charge::Nothing;
        }
        self.charge(request_bytes, outcome)
    }

    /// What a send of so many bytes is charged when this came back.
    #[must_use]
    pub fn charge(&self, request_bytes: usize, outcome: Option<&ExchangeOutcome>) -> Charge {
        let decoded = outcome.and_then(|outcome| self.decode(outcome, request_bytes));
        self.charge_decoded(request_bytes, outcome, decoded)
    }

    /// As [`Self::charge`], of a reply that was decoded before.
    #[must_use]
    pub fn charge_decoded(
        &self,
        request_bytes: usize,
        outcome: Option<&ExchangeOutcome>,
        decoded: Option<Decoded>,
    ) -> Charge {
        let most = || self.most(request_bytes);
        match outcome {
            Some(ExchangeOutcome::Reply { .. }) => self.of_reply(decoded, request_bytes),
            Some(ExchangeOutcome::Refused { .. }) => Charge::Nothing,
            Some(ExchangeOutcome::Failed { code, .. })
                if matches!(code.as_str(), "connect" | "not_sent" | "not_running") =>
            {
                Charge::Nothing
            }
            Some(ExchangeOutcome::Failed { .. }) | None => Charge::Unknown { most: most() },
        }
    }

    fn decode(&self, outcome: &ExchangeOutcome, request_bytes: usize) -> Option<Decoded> {
        let provider = &self.provider;
        let most = provider.wire.max_output_tokens(self.max_output_tokens);
        let bound = UsageBound::of(request_bytes, most);
        let reply = outcome.reply()?;
        let decoded = DecodedReply::read(provider.wire, &provider.dialect, &reply, bound);
        Some(Decoded::of(&decoded))
    }

    fn of_reply(&self, decoded: Option<Decoded>, request_bytes: usize) -> Charge {
        match decoded {
            None | Some(Decoded::Refused) => Charge::Nothing,
            Some(Decoded::Answered(Some(usage))) => Charge::Used {
                cost: self.basis.cost(&usage),
                usage,
            },
            Some(Decoded::Answered(None)) => Charge::Incomplete {
                most: self.most(request_bytes),
            },
        }
    }
}

/// Whether a provider that sent this may charge for it: it took the request, and what it sent is no refusal.
fn is_charged(fault: &ReplyFault) -> bool {
    let is_success = (200..=299).contains(&fault.status());
    match fault.kind() {
        FaultKind::NotJson
        | FaultKind::BodyTruncated
        | FaultKind::BodyTooLarge
        | FaultKind::BodyTooDeep
        | FaultKind::StreamTruncated
        | FaultKind::ParserLeak
        | FaultKind::EmptyEnvelope
        | FaultKind::ZeroOutput => is_success,
        FaultKind::RateLimited
        | FaultKind::QuotaExhausted
        | FaultKind::Overloaded
        | FaultKind::BadGateway
        | FaultKind::ServerError
        | FaultKind::RequestExpired
        | FaultKind::Unauthorized
        | FaultKind::Forbidden
        | FaultKind::Redirected
        | FaultKind::NotFound
        | FaultKind::ContextOverflow
        | FaultKind::ToolChoiceRefused
        | FaultKind::BadRequest
        | FaultKind::LostOpaqueState => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::exchanges::{Intent, RequestPlace};
    use ktd_agents::{TransportError, WireReply};
    use ktd_experiment::config::ExperimentConfig;
    use ktd_experiment::price_table::PriceTable;

    /// One dollar a million tokens of input, two of output: a token of input costs a millionth of a dollar.
    pub(crate) const PRICES: &str =
        r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;

    /// A tariff of an agent that may generate `max_output_tokens`.
    pub(crate) fn tariff(max_output_tokens: Option<u32>, basis: TokenPricing) -> Tariff {
        let text = "name = \"x\"\nwindows = [{ id = \"w\", last_days = 2 }]\n\
                    agents = [{ id = \"a\", model = \"m\", base_url = \"http://127.0.0.1:1\" }]\n";
        let config = ExperimentConfig::parse(text).unwrap();
        let provider = Provider::of(&config.agents[0], &config.dialect_table().unwrap()).unwrap();
        Tariff {
            provider,
            basis,
            max_output_tokens,
            first_own_request: FROM_THE_START,
        }
    }

    pub(crate) fn basis() -> TokenPricing {
        TokenPricing::of(
            false,
            PriceTable::parse(PRICES).unwrap().record("compatible", "m"),
        )
    }

    fn reply(status: u16, body: &str) -> ExchangeOutcome {
        ExchangeOutcome::of(&Ok(WireReply::new(status, body.as_bytes().to_vec())))
    }

    const TURN: &str =
        r#"{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]USAGE}"#;

    fn turn(usage: &str) -> ExchangeOutcome {
        reply(200, &TURN.replace("USAGE", usage))
    }

    #[test]
    fn a_reply_is_charged_by_its_tokens_or_by_its_bound() {
        let tariff = tariff(Some(10), basis());
        let charge = |outcome: Option<ExchangeOutcome>| tariff.charge(100, outcome.as_ref());
        let used = charge(Some(turn(
            r#","usage":{"prompt_tokens":30,"completion_tokens":5,"total_tokens":35}"#,
        )));
        assert_eq!(used.amount(), Some(Picodollars(40_000_000)));
        assert!(matches!(used, Charge::Used { usage, .. } if usage.input() == 30));
        // 1,124 tokens of input at the price of an hour's cache write, 10 of output.
        let most = Some(Picodollars(1_124 * 2_000_000 + 20_000_000));
        assert_eq!(tariff.most(100), most);
        let silent = charge(Some(turn("")));
        assert_eq!(silent, Charge::Incomplete { most });
        for (status, body) in [
            (200, "<html>"),
            (200, r#"{"choices":[{"mess"#),
            (200, r#"{"choices":[]}"#),
        ] {
            assert_eq!(
                charge(Some(reply(status, body))),
                Charge::Incomplete { most },
                "{body}"
            );
        }
        assert_eq!(charge(None), Charge::Unknown { most });
        let failed = |error| charge(Some(ExchangeOutcome::of(&Err(error))));
        assert_eq!(failed(TransportError::Timeout), Charge::Unknown { most });
        let nowhere = TransportError::Connect {
            detail: String::new(),
        };
        assert_eq!(failed(nowhere), Charge::Nothing);
    }

    #[test]
    fn what_a_reply_says_beyond_what_was_sent_or_any_model_writes_is_not_charged() {
        let tariff = tariff(Some(10), basis());
        let usage =
            r#","usage":{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}"#;
        // 4,196 tokens of input, a million of output.
        let bound = Some(Picodollars(4_196 * 1_000_000 + 1_000_000 * 2_000_000));
        assert_eq!(tariff.charge(100, Some(&turn(usage))).amount(), bound);
        // Twice what was allowed, and more, is charged as it is reported.
        let usage = r#","usage":{"prompt_tokens":7,"completion_tokens":500}"#;
        let reported = Some(Picodollars(7 * 1_000_000 + 500 * 2_000_000));
        assert_eq!(tariff.charge(100, Some(&turn(usage))).amount(), reported);
    }

    #[test]
    fn what_a_branch_copied_is_not_charged_up_to_the_request_at_which_it_left() {
        let tariff = Tariff {
            first_own_request: (2, 1),
            ..tariff(Some(10), basis())
        };
        let charge = |step, ordinal| {
            tariff.charge_of(&Sent {
                intent: Intent {
                    at: RequestPlace {
                        step,
                        ordinal,
                        attempt: 0,
                    },
                    key: String::new(),
                    path: String::new(),
                    request: "{}".to_owned(),
                },
                outcome: None,
            })
        };
        for copied in [(1, 0), (1, 7), (2, 0)] {
            assert_eq!(charge(copied.0, copied.1), Charge::Nothing, "{copied:?}");
        }
        for own in [(2, 1), (3, 0)] {
            assert!(matches!(charge(own.0, own.1), Charge::Unknown { .. }), "{own:?}");
        }
    }

    #[test]
    fn what_a_provider_refused_is_not_charged() {
        let tariff = tariff(Some(10), basis());
        let error = r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#;
        for outcome in [
            reply(429, error),
            reply(503, "busy"),
            reply(200, error),
            reply(502, "<html>"),
            ExchangeOutcome::Refused { status: Some(401) },
        ] {
            assert_eq!(tariff.charge(100, Some(&outcome)), Charge::Nothing, "{outcome:?}");
        }
    }

    #[test]
    fn without_a_price_or_a_bound_nobody_knows() {
        let unbounded = tariff(None, basis());
        assert_eq!(unbounded.charge(100, None).amount(), None);
        let unpriced = tariff(Some(10), TokenPricing::Unknown);
        let usage = r#","usage":{"prompt_tokens":30,"completion_tokens":5}"#;
        assert_eq!(unpriced.charge(100, Some(&turn(usage))).amount(), None);
        let free = tariff(None, TokenPricing::Free);
        assert_eq!(free.charge(100, None).amount(), Some(Picodollars::ZERO));
    }
}
