//! Open conversations over every wire.

use crate::{Open, OpenPrompt};
use ktd_agents::{Dialect, Sampling, TextConversation, TextPlan, Thinking, Wire};
use ktd_masking::Prompt;
use serde_json::Value;

/// Texts that break whatever puts them into JSON by hand.
const TASK: &str = "Rank by \"turnover\" \\ of 600519.SH.\r\n\tReturn {\"code\": …}\u{0}\u{2028}";
const TRACEBACK: &str =
    "File \"factor.py\", line 3\n    return {'a': \"b\"\nSyntaxError: '{' was never closed";

/// Every text of a request's body, those inside of JSON texts not among them.
fn texts(body: &Value, found: &mut Vec<String>) {
    match body {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn outside_text_arrives_as_it_is_over_every_wire() {
    let mut conversation = TextConversation::<Open>::open(TextPlan {
        model: "m".to_owned(),
        sampling: Sampling::default(),
        thinking: Thinking::VendorDefault,
        cache_key: None,
        system: Prompt::new().text("Write code.").into(),
        user: OpenPrompt::new().text("The task: ").outside(TASK),
    });
    conversation.reply(OpenPrompt::new().outside(TRACEBACK));
    for wire in Wire::ALL {
        let sent = wire.encode(conversation.request(), &Dialect::plain());
        let mut found = Vec::new();
        texts(&serde_json::from_slice(sent.body()).unwrap(), &mut found);
        for wanted in ["Write code.", &format!("The task: {TASK}"), TRACEBACK] {
            assert!(
                found.iter().any(|text| text == wanted),
                "{wire:?}: {wanted:?} is not among {found:#?}"
            );
        }
    }
}

#[test]
fn slots_are_filled_once() {
    let filled = |slots: &[(&str, &str)]| {
        OpenPrompt::new()
            .filled("{{ a }} and {{b}}, {{c}} {{\n", slots)
            .as_str()
            .to_owned()
    };
    assert_eq!(filled(&[("a", "{{b}}"), ("b", "2")]), "{{b}} and 2, {{c}} {{");
}
