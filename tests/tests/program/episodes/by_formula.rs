//! `screen_by_expression` in an episode: in the tool set and in the record where an experiment asks for it, and nowhere else.

use ktd_baselines::{BuiltinTransport, ChatModel};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_client::progress::Silent;
use ktd_episode::verify::verify;
use ktd_episode::{EpisodeInput, replay_episode, run_episode};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::mask_hash::{mask_hash, tools_sha256};
use ktd_kit::episode::{experiment, key, market, prepare, runtime, shared};
use ktd_kit::this_program;
use ktd_record::chain::LogReader;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const STEPS: usize = 3;
/// Calls of a step, each of another formula: two more than are answered.
const CALLS: usize = 10;

const GRID: &str = r#"
synthetic = { seed = 5, names = 40, days = 420 }
masks = [{ level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
agents = [{ id = "a", builtin = "hold" }]
"#;

/// Asks about formulas, and holds.
struct Asker;

impl ChatModel for Asker {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request: Value = serde_json::from_slice(request).unwrap();
        let names = |list: &str| -> Vec<String> {
            let tools = request[list].as_array().cloned().unwrap_or_default();
            tools
                .iter()
                .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
                .collect()
        };
        let messages = request["messages"].as_array().unwrap();
        let asked = messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .count();
        let call = |name: &str, arguments: Value| {
            json!([{ "id": format!("c{asked}"), "type": "function",
                     "function": { "name": name, "arguments": arguments.to_string() } }])
        };
        let has_it = names("tools").iter().any(|name| name == "screen_by_expression");
        let (text, calls) = if has_it && asked < CALLS {
            let formula = format!("Mean($close,{})/$close", asked + 2);
            let arguments = json!({ "expression": formula, "side": "high", "top_k": 5 });
            (Value::Null, call("screen_by_expression", arguments))
        } else if has_it {
            (json!("I have asked."), Value::Null)
        } else {
            let arguments = json!({ "orders": [], "overall_reason": "nothing to trade" });
            (Value::Null, call("submit_action", arguments))
        };
        let message = match calls {
            Value::Null => json!({ "role": "assistant", "content": text }),
            calls => json!({ "role": "assistant", "content": text, "tool_calls": calls }),
        };
        let reason = if message.get("tool_calls").is_some() {
            "tool_calls"
        } else {
            "stop"
        };
        json!({ "id": "x", "object": "chat.completion", "created": 0, "model": "asker",
                "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
                "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 } })
        .to_string()
        .into_bytes()
    }
}

fn config(more: &str) -> ExperimentConfig {
    experiment(STEPS, &format!("{GRID}{more}"))
}

fn played(config: &ExperimentConfig, bundle: &Path) -> (Value, Vec<Option<String>>) {
    let prepared = prepare(config, market(5), key(6));
    let shared = shared(&prepared);
    let input = EpisodeInput {
        shared: &shared,
        cell: &prepared.cells[0],
        key: key(6),
    };
    let paths = BundlePaths::new(bundle);
    runtime().block_on(async {
        let asker = BuiltinTransport::new(Arc::new(Asker));
        run_episode(&input, &paths, &asker, &Silent).await.unwrap();
        replay_episode(&input, &paths, &Silent).await.unwrap();
        let verified = verify(bundle, None, &this_program()).await;
        assert!(verified.is_ok(), "{verified:?}");
    });
    let header = serde_json::from_slice(&std::fs::read(paths.header()).unwrap()).unwrap();
    let events: Vec<ReadEvent> = LogReader::open(&paths.events()).unwrap().bodies().unwrap();
    let refusals = events.into_iter().filter_map(|event| match event {
        ReadEvent::ToolCall { name, refused, .. } => {
            assert_eq!(name, "screen_by_expression");
            Some(refused)
        }
        _ => None,
    });
    (header, refusals.collect())
}

#[test]
fn formulas_are_calls_of_the_record_eight_a_step_and_the_protocol_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let config = config("[tools]\nexpressions = true\n");
    let (header, refusals) = played(&config, &folder.path().join("with"));
    assert_eq!(header["tools"]["expressions"], true);
    assert_ne!(header["tools_sha256"], tools_sha256());
    assert_eq!(refusals.len(), STEPS * CALLS);
    for step in refusals.chunks(CALLS) {
        let refused: Vec<&str> = step.iter().filter_map(Option::as_deref).collect();
        assert_eq!(refused, ["too_many_formulas"; 2]);
        assert!(step[..8].iter().all(Option::is_none));
    }
}

#[test]
fn without_the_switch_nothing_of_it_is_in_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let config = config("");
    let (header, refusals) = played(&config, &folder.path().join("without"));
    assert!(refusals.is_empty());
    assert_eq!(header["tools_sha256"], tools_sha256());
    assert!(header["tools"].get("expressions").is_none());
    assert_eq!(header["mask"]["hash"], mask_hash(config.masks[0].settings));
}

#[test]
fn masks_that_show_no_bars_take_no_formulas() {
    for numeric in ["ranked", "banded-5", "banded"] {
        let text = format!(
            "name = \"try\"\nwindows = [{{ id = \"w\", last_days = 3 }}]\n{GRID}[tools]\nexpressions = true\n"
        )
        .replace("rescaled", numeric);
        let error = ExperimentConfig::parse(&text).unwrap_err();
        assert!(
            error.to_string().contains("`tools.expressions` does not go with"),
            "{error}"
        );
    }
}
