//! Batch files, written and read back, on every wire.

use crate::attackers::scene::{BLINDED, ask, scene};
use crate::attackers::scripted::{Say, Script};
use ktd_certify::language_attackers::{LanguageAttackers, read_batch, write_batch};
use ktd_probes::ProbeKind;
use serde_json::{Value, json};
use std::path::Path;

/// A vendor with batches, and how it writes requests and results.
struct Vendor {
    agent: &'static str,
    /// Id, body and address of each request of a batch file.
    requests: fn(&str) -> Vec<(String, Value, String)>,
    /// A result line with these arguments of `submit_action`.
    answer: fn(&str, &Value) -> Value,
    /// A result line without an answer.
    error: fn(&str) -> Value,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn lines(file: &str) -> Vec<Value> {
    file.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn openai_requests(file: &str) -> Vec<(String, Value, String)> {
    let row = |row: &Value| {
        assert_eq!(row["method"], "POST");
        (text(&row["custom_id"]), row["body"].clone(), text(&row["url"]))
    };
    lines(file).iter().map(row).collect()
}

fn openai_row(id: &str, body: &Value) -> Value {
    json!({"id": "b", "custom_id": id, "response": {"status_code": 200, "request_id": "r", "body": body}, "error": null})
}

const VENDORS: [Vendor; 4] = [
    Vendor {
        agent: r#"vendor = "openai", wire = "chat-completions""#,
        requests: openai_requests,
        answer: |id, arguments| {
            let function = json!({"name": "submit_action", "arguments": arguments.to_string()});
            let call = json!({"id": "c", "type": "function", "function": function});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            openai_row(
                id,
                &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}),
            )
        },
        error: |id| json!({"custom_id": id, "response": null, "error": {"code": "batch_expired", "message": "m"}}),
    },
    Vendor {
        agent: r#"vendor = "openai""#,
        requests: openai_requests,
        answer: |id, arguments| {
            let call = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "submit_action",
                "arguments": arguments.to_string(), "status": "completed"});
            openai_row(
                id,
                &json!({"object": "response", "status": "completed", "output": [call]}),
            )
        },
        error: |id| {
            let body = json!({"error": {"message": "m", "type": "server_error"}});
            json!({"custom_id": id, "response": {"status_code": 500, "body": body}, "error": null})
        },
    },
    Vendor {
        agent: r#"vendor = "anthropic", max_output_tokens = 500"#,
        requests: |file| {
            let file: Value = serde_json::from_str(file).unwrap();
            let row = |row: &Value| (text(&row["custom_id"]), row["params"].clone(), String::new());
            file["requests"].as_array().unwrap().iter().map(row).collect()
        },
        answer: |id, arguments| {
            let call = json!({"type": "tool_use", "id": "t", "name": "submit_action", "input": arguments});
            let message = json!({"type": "message", "role": "assistant", "content": [call], "stop_reason": "tool_use",
                "usage": {"input_tokens": 10, "output_tokens": 5}});
            json!({"custom_id": id, "result": {"type": "succeeded", "message": message}})
        },
        error: |id| json!({"custom_id": id, "result": {"type": "expired"}}),
    },
    Vendor {
        agent: r#"vendor = "google""#,
        requests: |file| {
            let row = |row: &Value| (text(&row["key"]), row["request"].clone(), String::new());
            lines(file).iter().map(row).collect()
        },
        answer: |id, arguments| {
            let part = json!({"functionCall": {"name": "submit_action", "args": arguments}});
            let content = json!({"role": "model", "parts": [part]});
            json!({"key": id, "response": {"candidates": [{"content": content, "finishReason": "STOP"}]}})
        },
        error: |id| json!({"key": id, "error": {"code": 13, "message": "m"}}),
    },
];

fn attackers(agent: &str, output: &Path) -> LanguageAttackers {
    let language = format!("schema_retries = 2\nagents = [{{ id = \"m\", model = \"m-1\", {agent} }}]");
    scene().attackers(&language, output)
}

/// Lines as a vendor's file has them.
fn file(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

#[tokio::test]
async fn a_batch_is_written_and_read_back_on_every_wire() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day, ProbeKind::Linked], 2);
    for vendor in VENDORS {
        let who = vendor.agent;
        let folder = tempfile::tempdir().unwrap();
        let attackers = attackers(who, folder.path());
        let attacker = attackers.find("m").unwrap();
        let written = write_batch(&attackers, attacker, &set.questions()).unwrap();
        let requests = (vendor.requests)(&written.text);
        let ids: Vec<&str> = requests.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["day-0", "day-1", "linked-0", "linked-1"], "{who}");
        let asked = format!("Which stock is {}?", set.probes[1].exhibits[0].target.to_inline());
        assert!(requests[1].1.to_string().contains(&asked), "{who}");
        // Out of order; one errored, one bad, one missing.
        let good = json!({"stocks": [scene().code(&set.gold[1])], "date": "", "confidence": 0.5});
        let results = file(&[
            (vendor.answer)("linked-0", &json!({"confidence": 1.0})),
            (vendor.answer)("day-1", &good),
            (vendor.error)("day-0"),
        ]);
        let given = (Path::new("results.jsonl"), results.as_str());
        let read = read_batch(&attackers, attacker, &set.questions(), given)
            .await
            .unwrap();
        assert_eq!((read.recorded, read.known, read.errors.len()), (3, 0, 1), "{who}");
        assert_eq!(
            (read.errors[0].id.as_str(), read.missing.as_slice()),
            ("day-0", ["linked-1".to_owned()].as_slice())
        );
        let reasons: Vec<Option<&str>> = read
            .answers
            .iter()
            .map(|answer| answer.reason.as_deref())
            .collect();
        assert_eq!(
            reasons,
            [
                Some("batch_row"),
                None,
                Some("answer_incomplete"),
                Some("not_asked")
            ],
            "{who}"
        );
        assert_eq!(set.tally(&read.answers).answered, 1);
        // Read again, it changes nothing, and what is left for another batch is what was never answered.
        let again = read_batch(&attackers, attacker, &set.questions(), given)
            .await
            .unwrap();
        assert_eq!((again.recorded, again.known), (0, 3));
        assert_eq!(again.answers, read.answers);
        let rest = write_batch(&attackers, attacker, &set.questions()).unwrap();
        assert_eq!((rest.requests, rest.recorded), (1, 3));
    }
}

#[tokio::test]
async fn a_file_that_is_not_of_this_batch_is_refused_whole() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 2);
    for vendor in VENDORS {
        let folder = tempfile::tempdir().unwrap();
        let attackers = attackers(vendor.agent, folder.path());
        let attacker = attackers.find("m").unwrap();
        let row = |id: &str| {
            (vendor.answer)(
                id,
                &json!({"stocks": ["SH600000"], "date": "", "confidence": 0.5}),
            )
        };
        for (rows, part) in [
            (
                [row("day-0"), row("episode-7")],
                "results.jsonl:2: \"episode-7\" is no probe",
            ),
            (
                [row("day-1"), row("day-1")],
                "results.jsonl:2: \"day-1\" is there twice",
            ),
            (
                [row("day-0"), json!({})],
                "results.jsonl:2: it is no row of this vendor's results",
            ),
        ] {
            let results = file(&rows);
            let given = (Path::new("results.jsonl"), results.as_str());
            let error = read_batch(&attackers, attacker, &set.questions(), given)
                .await
                .unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let written = write_batch(&attackers, attacker, &set.questions()).unwrap();
        assert_eq!(
            (written.requests, written.recorded),
            (2, 0),
            "nothing of them was kept"
        );
    }
}

#[tokio::test]
async fn a_live_run_goes_on_where_a_batch_ended() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 4);
    let vendor = &VENDORS[0];
    let folder = tempfile::tempdir().unwrap();
    let attackers = attackers(vendor.agent, folder.path());
    let attacker = attackers.find("m").unwrap();
    let guess =
        |place: usize| json!({"stocks": [scene().code(&set.gold[place])], "date": "", "confidence": 0.5});
    let results = file(&[
        (vendor.answer)("day-0", &guess(0)),
        (vendor.answer)(
            "day-1",
            &json!({"stocks": ["bank"], "date": "", "confidence": 0.5}),
        ),
        (vendor.error)("day-2"),
    ]);
    read_batch(&attackers, attacker, &set.questions(), (Path::new("r"), &results))
        .await
        .unwrap();
    let says = (0..4).map(|place| vec![Say::Call(guess(place).to_string())]);
    let script = Script::new(set.probes.iter().zip(says));
    let answers = ask(&attackers, &set, &script).await.unwrap();
    assert_eq!(set.tally(&answers).answered, 4);
    let asked: Vec<usize> = set
        .probes
        .iter()
        .map(|probe| script.requests_about(probe).len())
        .collect();
    assert_eq!(asked, [0, 1, 1, 1]);
    assert_eq!(answers[1].mistakes, ["stock_code_form"]);
    assert_eq!(
        attackers.recall(attacker, &set.questions()).await.unwrap(),
        answers
    );
}

#[tokio::test]
async fn the_address_of_a_request_is_the_endpoints_and_others_have_no_batches() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 1);
    let folder = tempfile::tempdir().unwrap();
    let written = |agent: &str| {
        let attackers = attackers(agent, folder.path());
        write_batch(&attackers, attackers.find("m").unwrap(), &set.questions())
    };
    let url = |agent: &str| openai_requests(&written(agent).unwrap().text)[0].2.clone();
    assert_eq!(url(VENDORS[0].agent), "/v1/chat/completions");
    assert_eq!(url(VENDORS[1].agent), "/v1/responses");
    for agent in [
        "vendor = \"deepseek\"",
        "vendor = \"vllm\", base_url = \"http://127.0.0.1:9/v1\"",
    ] {
        let error = written(agent).unwrap_err();
        assert!(error.to_string().contains("no batch interface"), "{error}");
        assert!(error.hint().contains("openai, anthropic, google"));
    }
}
