//! What a recorded request asked of the model, read from its own JSON.

use ktd_agents::{ForceLevel, Wire};
use serde_json::Value;

/// The tools that a request lists, and how it forces a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) tools: Vec<String>,
    pub(super) forced: Option<ForceLevel>,
    pub(super) wanted: Option<String>,
}

impl Asked {
    pub(super) fn read(wire: Wire, request: &Value) -> Self {
        let choice = request.get("tool_choice").unwrap_or(&Value::Null);
        match wire {
            Wire::ChatCompletions => Self::with(
                names(request, "/function/name"),
                by_type(choice, "/function/name"),
            ),
            Wire::Responses => Self::with(names(request, "/name"), by_type(choice, "/name")),
            Wire::Messages => Self::with(names(request, "/name"), of_messages(choice)),
            Wire::GenerateContent => Self::with(declared(request), of_gemini(request)),
        }
    }

    fn with(tools: Vec<String>, (forced, wanted): (Option<ForceLevel>, Option<String>)) -> Self {
        Self {
            tools,
            forced,
            wanted,
        }
    }
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

fn names(request: &Value, pointer: &str) -> Vec<String> {
    let tools = request.get("tools").and_then(Value::as_array);
    tools
        .into_iter()
        .flatten()
        .filter_map(|tool| text(tool, pointer))
        .collect()
}

type Forced = (Option<ForceLevel>, Option<String>);

/// `"required"`, a named function, or a list of allowed tools of which one is required.
fn by_type(choice: &Value, name: &str) -> Forced {
    let kind = text(choice, "/type");
    let is_required = choice == "required"
        || (kind.as_deref() == Some("allowed_tools")
            && ["/mode", "/allowed_tools/mode"]
                .iter()
                .any(|mode| text(choice, mode).as_deref() == Some("required")));
    if is_required {
        (Some(ForceLevel::Required), None)
    } else if kind.as_deref() == Some("function") {
        (Some(ForceLevel::Named), text(choice, name))
    } else {
        (None, None)
    }
}

fn of_messages(choice: &Value) -> Forced {
    match text(choice, "/type").as_deref() {
        Some("any") => (Some(ForceLevel::Required), None),
        Some("tool") => (Some(ForceLevel::Named), text(choice, "/name")),
        _ => (None, None),
    }
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The functions that all tools of a Gemini request declare.
fn declared(request: &Value) -> Vec<String> {
    list(request, "/tools")
        .iter()
        .flat_map(|tool| list(tool, "/functionDeclarations"))
        .filter_map(|function| text(function, "/name"))
        .collect()
}

/// Any call is required; where one function alone is allowed, that one is.
fn of_gemini(request: &Value) -> Forced {
    let config = request
        .pointer("/toolConfig/functionCallingConfig")
        .unwrap_or(&Value::Null);
    if text(config, "/mode").as_deref() != Some("ANY") {
        return (None, None);
    }
    let allowed = ["/allowedFunctionNames", "/allowed_function_names"];
    match allowed.iter().find_map(|key| list(config, key).split_first()) {
        Some((name, [])) => (Some(ForceLevel::Named), name.as_str().map(str::to_owned)),
        _ => (Some(ForceLevel::Required), None),
    }
}
