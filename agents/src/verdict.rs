//! The six outcomes of an attempt. Which of the three, a model's mistake, an infrastructure fault or neither, is
//! decided here and nowhere else.

use crate::arguments::{ARGUMENTS_BYTES_MAX, ARGUMENTS_DEPTH_MAX, ArgumentsForm, is_object};
use crate::chat::{ModelTurn, Normalised, StopReason, ToolCall};
use crate::force::ForceLevel;
use crate::model_fault::ModelFault;
use crate::wire::{FaultClass, FaultKind, ReplyFault};
use ktd_masking::JsonExtent;

/// What an attempt at a request came to.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// A turn that can be used as it is.
    Valid,
    /// a turn that can be used after what is listed was repaired.
    Normalised(Vec<Normalised>),
    /// The model's mistake: it uses up a retry and is fed back.
    ModelFault(ModelFault),
    /// The provider's or the network's: the same bytes are sent again under a budget of their own.
    InfraFault(FaultKind),
    /// The configuration's: the cell stops, and sending again would change nothing.
    ConfigFault(FaultKind),
    /// The harness's: the cell stops and the defect is to be reported.
    HarnessBug(FaultKind),
}

/// What was asked of the model, as far as its reply is judged by it.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Names of the tools offered to the model.
    pub tools: &'a [&'a str],
    /// How a submission was forced; `None` where the model may answer as it likes.
    pub forced: Option<ForceLevel>,
    /// The tool that submits, where there is one: the only one that a forced answer may call, and once.
    pub submission: Option<&'a str>,
    /// Whether the server is one that the user runs, whose parser may lose calls.
    pub self_hosted: bool,
}

impl Verdict {
    /// The verdict on what came back.
    #[must_use]
    pub fn of(reply: Result<&ModelTurn, &ReplyFault>, expected: &Expected<'_>) -> Self {
        let turn = match reply {
            Ok(turn) => turn,
            Err(fault) => return Self::of_fault(fault.kind()),
        };
        if let Some(leak) = parser_leak(turn, expected) {
            return Self::InfraFault(leak);
        }
        match fault_of_turn(turn, expected) {
            Some(fault) => Self::ModelFault(fault),
            None if turn.normalised().is_empty() => Self::Valid,
            None => Self::Normalised(turn.normalised().to_vec()),
        }
    }

    /// The verdict on a reply that holds no turn.
    #[must_use]
    pub const fn of_fault(kind: FaultKind) -> Self {
        match kind.class() {
            FaultClass::Infrastructure => Self::InfraFault(kind),
            FaultClass::Configuration => Self::ConfigFault(kind),
            FaultClass::Harness => Self::HarnessBug(kind),
        }
    }

    /// The stable name of the outcome: one of six.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.into()
    }

    /// The stable names of what exactly it is; none for [`Self::Valid`].
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        match self {
            Self::Valid => Vec::new(),
            Self::Normalised(list) => list.iter().map(|one| one.code()).collect(),
            Self::ModelFault(fault) => vec![fault.code()],
            Self::InfraFault(kind) | Self::ConfigFault(kind) | Self::HarnessBug(kind) => vec![kind.code()],
        }
    }
}

/// A call that the server's own parser lost or mangled although it had promised one: its fault, not the model's.
#[must_use]
pub fn parser_leak(turn: &ModelTurn, expected: &Expected<'_>) -> Option<FaultKind> {
    let is_promised = expected.forced.is_some_and(ForceLevel::is_enforced) && expected.self_hosted;
    let leaks = |text: &str| LEAKED_MARKS.iter().any(|mark| text.contains(mark));
    let in_arguments = || {
        let arguments = turn.tool_calls().iter().map(|call| &call.arguments);
        arguments
            .filter(|arguments| !arguments.is_object())
            .any(|arguments| leaks(arguments.as_str()))
    };
    let in_text = || turn.tool_calls().is_empty() && turn.text().is_some_and(leaks);
    (is_promised && (in_arguments() || in_text())).then_some(FaultKind::ParserLeak)
}

/// What templates put around a call; in an answer they mean that the server did not read it.
const LEAKED_MARKS: [&str; 6] = [
    "<tool_call",
    "<function=",
    "<|tool_call",
    "<|channel|>",
    "[TOOL_CALLS]",
    "<\u{ff5c}tool",
];

/// The model's mistake in a turn, if it made one that shows without the tools' schemas.
#[must_use]
pub fn fault_of_turn(turn: &ModelTurn, expected: &Expected<'_>) -> Option<ModelFault> {
    let calls = turn.tool_calls();
    if calls.is_empty() {
        return fault_without_call(turn, expected);
    }
    if 0 < turn.calls_dropped() {
        return Some(ModelFault::TooManyCalls);
    }
    let cut = turn.stop() == StopReason::Length;
    if cut && has_lost_arguments(turn) {
        return Some(ModelFault::Truncated);
    }
    if let Some(fault) = calls.iter().find_map(|call| fault_of_arguments(call, cut)) {
        return Some(fault);
    }
    let is_known =
        |call: &ToolCall| expected.tools.is_empty() || expected.tools.contains(&call.name.as_str());
    if !calls.iter().all(is_known) {
        return Some(ModelFault::UnknownTool);
    }
    let submission = expected.submission?;
    if 1 < calls.iter().filter(|call| call.name == submission).count() {
        return Some(ModelFault::MultipleCalls);
    }
    expected.forced?;
    match calls {
        [call] if call.name == submission => None,
        [_] => Some(ModelFault::WrongTool),
        _ => Some(ModelFault::MultipleCalls),
    }
}

/// Whether the budget ran out before the first byte of the last call's arguments, which then were read as `{}`.
fn has_lost_arguments(turn: &ModelTurn) -> bool {
    let last = turn.tool_calls().last();
    turn.normalised().contains(&Normalised::ArgumentsEmpty)
        && last.is_some_and(|call| call.arguments.as_str() == "{}")
}

fn fault_without_call(turn: &ModelTurn, expected: &Expected<'_>) -> Option<ModelFault> {
    match turn.stop() {
        StopReason::MalformedCall => return Some(ModelFault::ArgumentsMalformed),
        StopReason::ContentFilter | StopReason::Refusal => return Some(ModelFault::Refusal),
        StopReason::Length => return Some(ModelFault::Truncated),
        StopReason::Stop | StopReason::ToolCalls | StopReason::Other => {}
    }
    let force = expected.forced?;
    if turn.is_blank() && turn.usage().output() == 0 && turn.reasoning().is_none() {
        return Some(ModelFault::NoAnswer);
    }
    if !force.is_by_call() {
        return None;
    }
    let leaks = turn
        .text()
        .is_some_and(|text| LEAKED_MARKS.iter().any(|mark| text.contains(mark)));
    Some(if leaks {
        ModelFault::CallInText
    } else {
        ModelFault::NoCall
    })
}

/// A cut call is not the same mistake as a wrong one.
const fn fault_of_arguments(call: &ToolCall, is_cut: bool) -> Option<ModelFault> {
    match call.arguments.form() {
        ArgumentsForm::Object => None,
        ArgumentsForm::TooLarge => Some(ModelFault::ArgumentsTooLarge),
        ArgumentsForm::Malformed if is_cut => Some(ModelFault::Truncated),
        ArgumentsForm::Malformed => Some(ModelFault::ArgumentsMalformed),
    }
}

/// The object in a text that holds exactly one, and whether anything but white space stood around it.
///
/// It is how submissions of the levels F3 and F4 are read, and a call that was printed as text. Two objects are no
/// answer: which one is meant is not guessed.
#[must_use]
pub fn object_in_text(text: &str) -> Option<(String, bool)> {
    // Without a bound on the depth, every bracket of a deep text would be read to its end anew.
    if ARGUMENTS_BYTES_MAX < text.len() || ARGUMENTS_DEPTH_MAX < JsonExtent::of(text.as_bytes()).depth {
        return None;
    }
    let bare = text.trim();
    if is_object(bare) {
        return Some((bare.to_owned(), false));
    }
    let mut objects = Vec::new();
    let mut at = 0;
    while let Some(start) = text
        .get(at..)
        .and_then(|rest| rest.find('{'))
        .map(|found| at + found)
    {
        let rest = text.get(start..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let end = start + values.byte_offset();
                objects.push(text.get(start..end)?);
                at = end;
            }
            _ => at = start + 1,
        }
        if 1 < objects.len() {
            return None;
        }
    }
    objects.pop().map(|object| (object.to_owned(), true))
}

/// The arguments in a printed call of `tool`, `{"name": "TOOL", "arguments": {...}}`, or the object itself.
#[must_use]
pub fn arguments_of_printed_call(object: &str, tool: &str) -> Option<String> {
    let call: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(object).ok()?;
    let arguments = call.get("arguments").or_else(|| call.get("parameters"));
    let Some(arguments) = arguments else {
        return Some(object.to_owned());
    };
    let name: String = serde_json::from_str(call.get("name")?.get()).ok()?;
    (name == tool && is_object(arguments.get())).then(|| arguments.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_the_budget_cut_away_are_not_empty_ones() {
        let fault = |finish: &str| {
            let body = format!(
                r#"{{"choices":[{{"finish_reason":"{finish}","message":{{"tool_calls":[{{"id":"a","function":{{"name":"t","arguments":""}}}}]}}}}]}}"#
            );
            let turn = crate::Wire::ChatCompletions
                .decode(200, body.as_bytes(), &crate::Dialect::plain())
                .unwrap();
            let expected = Expected {
                tools: &["t"],
                forced: None,
                submission: None,
                self_hosted: false,
            };
            fault_of_turn(&turn, &expected)
        };
        assert_eq!(fault("length"), Some(ModelFault::Truncated));
        assert_eq!(fault("tool_calls"), None);
    }

    #[test]
    fn one_object_is_taken_out_of_text_and_two_are_not() {
        assert_eq!(
            object_in_text(" {\"a\":1}\n"),
            Some(("{\"a\":1}".to_owned(), false))
        );
        let fenced = "Here:\n```json\n{\"a\":{\"b\":\"}\"}}\n```";
        assert_eq!(
            object_in_text(fenced),
            Some(("{\"a\":{\"b\":\"}\"}}".to_owned(), true))
        );
        assert_eq!(object_in_text("{\"a\":1} or {\"a\":2}"), None);
        assert_eq!(object_in_text("{'a':1}"), None);
        assert_eq!(object_in_text("none"), None);
        let nested = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(object_in_text(&nested(ARGUMENTS_DEPTH_MAX)).is_some());
        assert_eq!(object_in_text(&nested(ARGUMENTS_DEPTH_MAX + 1)), None);
    }

    #[test]
    fn a_printed_call_gives_its_arguments() {
        let arguments = |object| arguments_of_printed_call(object, "score");
        let bare = Some(r#"{"points":[]}"#.to_owned());
        assert_eq!(arguments(r#"{"name":"score","arguments":{"points":[]}}"#), bare);
        assert_eq!(arguments(r#"{"points":[]}"#), bare);
        assert_eq!(arguments(r#"{"name":"buy","arguments":{}}"#), None);
    }
}
