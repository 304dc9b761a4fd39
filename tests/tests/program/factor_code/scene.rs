//! A scripted writer of functions, and its experiment.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::vendor::{ended, reply};
use ktd_kit::{Folder, Vendor};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A message of the first function that no page may run.
pub(super) const HOSTILE: &str = "<script>alert(1)</script>";

/// What the model answers in a round, with the reason why it stopped: each of them is judged quickly.
fn answer(function: &str, round: usize) -> (String, &'static str) {
    match (function.contains("roc_10"), round) {
        // it fails, and then it looks ahead
        (true, 1) => (
            format!(
                "```python\ndef {function}(df):\n    raise ValueError('{HOSTILE} at /srv/somebody/x.py')\n```"
            ),
            "stop",
        ),
        (true, _) => (
            format!("def {function}(df):\n    return df['day_close'].shift(-1).rename('{function}')\n"),
            "stop",
        ),
        // it refuses, and then it is cut
        (false, 1) => ("I cannot help with that.".to_owned(), "content_filter"),
        (false, _) => (format!("def {function}(df):\n    return df["), "length"),
    }
}

/// The model behind an endpoint.
pub(super) fn model() -> Vendor {
    model_while(&Arc::new(AtomicBool::new(true)))
}

/// The same, whose endpoint answers to second rounds only while it is up.
pub(super) fn model_while(is_up: &Arc<AtomicBool>) -> Vendor {
    let is_up = Arc::clone(is_up);
    vendor(move |_, function, round| {
        let is_heard = round == 1 || is_up.load(Ordering::Relaxed);
        is_heard.then(|| answer(function, round))
    })
}

/// Models behind an endpoint, whose answers go by the model, the function and the round.
pub(super) fn answering(
    answer: impl Fn(&str, &str, usize) -> (String, &'static str) + Send + Sync + 'static,
) -> Vendor {
    vendor(move |request, function, round| Some(answer(request["model"].as_str().unwrap(), function, round)))
}

/// Models behind an endpoint, whose answers go by the request, the function and the round; without one it is overloaded.
pub(super) fn vendor(
    answer: impl Fn(&Value, &str, usize) -> Option<(String, &'static str)> + Send + Sync + 'static,
) -> Vendor {
    Vendor::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let opening = messages[1]["content"].as_str().unwrap();
        let (_, function) = opening.rsplit_once("Function name: ").unwrap();
        let round = messages
            .iter()
            .filter(|message| message["role"] == "user")
            .count();
        let Some((text, finish)) = answer(request, function.trim(), round) else {
            return reply("503 Service Unavailable", "", b"{}");
        };
        ended(&text, finish, (100, 20))
    })
}

/// The model's experiment of two tasks, with further keys.
pub(super) fn experiment(vendor: &Vendor, keys: &str) -> Folder {
    let agent = "[[agents]]\nid = 'writer'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100";
    let agent = format!("{agent}\nbase_url = '{}'\n", vendor.base_url());
    let prices = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;
    let folder = folder_of(&agent, &format!("prices = 'prices.json'\n{keys}"));
    folder.write("prices.json", prices);
    folder
}

/// The experiment of several models, each under its own name.
pub(super) fn experiment_of(vendor: &Vendor, models: &[&str], keys: &str) -> Folder {
    let agents = models.iter().map(|model| {
        let url = vendor.base_url();
        format!("[[agents]]\nid = '{model}'\nmodel = '{model}'\nvendor = 'vllm'\nbase_url = '{url}'\n")
    });
    folder_of(&agents.collect::<String>(), keys)
}

/// An experiment of two tasks and two rounds, with these agents and further keys.
pub(super) fn folder_of(agents: &str, keys: &str) -> Folder {
    let text = format!(
        "kind = 'factor-code'\nname = 'x'\ntasks = ['MOM-1-01', 'REV-1-01']\nrounds = 2\n\
         controls = 0\nsecret_file = 'gate.key'\n\
         retries = {{ attempts = 2, unanswered_hours = 0, first_wait_ms = 1 }}\n{keys}\n{agents}"
    );
    let folder = Folder::with(&[("code.toml", text.as_str())]);
    // one secret, so that runs can be compared byte by byte
    folder.write("gate.key", "5e".repeat(32));
    folder
}

/// Where its study lies.
pub(super) const STUDY: &str = "results/x";

/// Where the record of its model lies.
pub(super) const UNIT: &str = "results/x/units/writer__original__s1";

/// What the events of a unit say.
pub(super) fn events(folder: &Folder, unit: &str) -> Vec<Value> {
    let text = folder.text(&format!("{unit}/events.jsonl"));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|mut line| line["body"].take()).collect()
}

/// What a finished unit came to.
pub(super) fn found(folder: &Folder, unit: &str) -> Value {
    let mut result: Value = serde_json::from_slice(&folder.read(&format!("{unit}/result.json"))).unwrap();
    result["found"]["cell"].take()
}

/// The rows of a table of the report.
pub(super) fn table(folder: &Folder, id: &str) -> Vec<Vec<String>> {
    let bytes = folder.read(&format!("{STUDY}/{id}.csv"));
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}
