//! Strategies of one's own: a folder is shown, judged, asked of a scripted model, replayed, and refused where it is wrong.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use crate::strategy_card::{error_of, json_of, strategy_card, told_of};
use ktd_kit::folder::copy;
use ktd_kit::vendor::said;
use ktd_kit::{Folder, Vendor, has_boxes, quiet};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Where a test puts the folder.
const OWN: &str = "my/channel";

/// A folder with the strategy of the examples.
fn with_example() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("my")).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/strategies/channel");
    copy(&example, &folder.at(OWN));
    folder
}

fn card(folder: &Folder) -> String {
    strategy_card(folder, OWN, "channel").to_string()
}

/// The reference with channels that include the bar itself, which no close leaves, and without a column that is required.
fn flawed(reference: &str) -> String {
    let flawed = reference
        .replace(".shift(1)", "")
        .replace("                \"upper\": upper.iloc[bar],\n", "");
    assert_eq!(reference.lines().count(), flawed.lines().count() + 1);
    flawed
}

/// A model that answers what a function makes of a message.
fn answering(reply: impl Fn(&str) -> String + Send + Sync + 'static) -> Vendor {
    Vendor::answering(move |request| said(&reply(request["messages"][1]["content"].as_str().unwrap())))
}

/// A model that builds the flawed program and mends it; what it was sent goes into `asked`.
fn model(card: String, reference: String, asked: Arc<Mutex<Vec<String>>>) -> Vendor {
    answering(move |message| {
        asked.lock().unwrap().push(message.to_owned());
        if message.contains("This is the version that stands") {
            format!("```python\n{reference}```\n")
        } else {
            format!("```json\n{card}\n```\n```python\n{}```\n", flawed(&reference))
        }
    })
}

/// Writes the file of an experiment on these strategies.
fn experiment(folder: &Folder, strategies: &[&str], base_url: &str) {
    let text = format!(
        "kind = 'strategy-code'\nname = 'x'\nstrategies = {strategies:?}\niterations = 1\n[[agents]]\nid = 'writer'\n\
         model = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{base_url}'\n"
    );
    folder.write("x.toml", text);
}

/// An experiment on the folder as it is, asked of the scripted model; what the model was sent.
fn asked_of_a_model(folder: &Folder, reference: &str) -> (Value, Vendor, Vec<String>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let vendor = model(card(folder), reference.to_owned(), Arc::clone(&asked));
    experiment(folder, &[OWN], &vendor.base_url());
    let results = json_of(folder, &["run", "x.toml"]);
    let sent = asked.lock().unwrap().clone();
    (results, vendor, sent)
}

/// The report in Markdown, table by table.
fn tables(folder: &Folder) -> Vec<String> {
    let text = folder.text("results/x/report.md");
    text.split("\n## ").skip(1).map(str::to_owned).collect()
}

#[test]
fn an_own_strategy_is_asked_judged_mended_and_replayed() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    let lint = json_of(&folder, &["lint", OWN]);
    assert_eq!(
        (&lint["reference"], &lint["findings"]),
        (&json!(true), &json!([]))
    );
    let (results, vendor, sent) = asked_of_a_model(&folder, &reference);
    assert!(sent[0].contains(folder.text("my/channel/spec.md").trim_end()));
    assert!(sent[0].contains("`channel`") && !sent[0].contains("None as its document means it"));
    let versions = results["submissions"][0]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2, "{versions:?}");
    assert_eq!(
        (&versions[0]["gates"], &versions[1]["gates"]),
        (&json!("audit"), &json!("passed"))
    );
    assert_eq!(
        (&versions[1]["state"], &versions[1]["drift"]),
        (&json!("kept"), &json!("towards"))
    );
    let fidelity = |version: &Value| version["measured"][0].as_f64().unwrap();
    assert!(fidelity(&versions[0]) < 0.95, "{versions:?}");
    assert!((fidelity(&versions[1]) - 1.0).abs() < 1e-12, "{versions:?}");
    assert_eq!(json_of(&folder, &["run", "x.toml"]), results);
    assert_eq!(vendor.count(), 2);

    assert_eq!(json_of(&folder, &["report", "results/x"]), results);
    assert!(
        tables(&folder)
            .iter()
            .all(|table| !table.contains("there is no reference"))
    );
    assert!(folder.text("results/x/index.html").contains("channel_follower"));
    assert_replayed_without_the_folder(&folder, &results);
}

/// The record is reported and replayed without the folder, whose files it keeps, and not continued with another one.
fn assert_replayed_without_the_folder(folder: &Folder, results: &Value) {
    let scenarios = folder.text("my/channel/scenarios.jsonl");
    folder.write("my/channel/scenarios.jsonl", format!("{scenarios}\n"));
    let error = error_of(folder, &["run", "x.toml"], 2);
    assert!(
        error.contains("of other settings, or over another world"),
        "{error}"
    );
    std::fs::remove_dir_all(folder.at("my")).unwrap();
    assert_eq!(
        json_of(folder, &["replay", "results/x", "--deep"])["matches"],
        true
    );
    assert_eq!(json_of(folder, &["report", "results/x"]), *results);
    let study: Value = serde_json::from_str(&folder.text("results/x/study.json")).unwrap();
    assert_eq!(study["inputs"].as_object().unwrap().len(), 4);
    let kept = study["inputs"]["my/channel/scenarios.jsonl"].as_str().unwrap();
    let kept = format!("results/x/inputs/{kept}");
    assert_eq!(folder.text(&kept), scenarios);
    folder.write(&kept, format!("{scenarios}\n"));
    let error = error_of(folder, &["replay", "results/x"], 1);
    assert!(
        error.contains("my/channel/scenarios.jsonl was changed"),
        "{error}"
    );
}

#[test]
fn without_a_reference_behaviour_is_not_judged_and_every_table_says_so() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    std::fs::remove_file(folder.at("my/channel/reference.py")).unwrap();
    let (results, _vendor, _) = asked_of_a_model(&folder, &reference);
    let submission = &results["submissions"][0];
    assert_eq!(submission["without_reference"], true);
    let versions = submission["versions"].as_array().unwrap();
    // The card holds in both, and what they do is measured by nothing.
    assert_eq!(
        (&versions[0]["measured"][0], &versions[1]["measured"][0]),
        (&json!(1.0), &json!(1.0))
    );
    assert_eq!(
        (&versions[1]["drift"], &versions[1]["published_drift"]),
        (&json!("n/a"), &json!("suspicious"))
    );
    for table in tables(&folder) {
        assert!(table.contains("channel: there is no reference"), "{table}");
    }
    assert_eq!(json_of(&folder, &["replay", "results/x"])["matches"], true);

    folder.write("old.py", flawed(&reference));
    folder.write("new.py", &reference);
    folder.write("card.json", card(&folder));
    let drift = json_of(&folder, &["drift", "old.py", "new.py", "--strategy", OWN]);
    assert_eq!(
        (&drift["anchored"], &drift["to_reference"], &drift["published"]),
        (&json!("n/a"), &Value::Null, &json!("suspicious"))
    );
    let gate = json_of(
        &folder,
        &["gate", "new.py", "--card", "card.json", "--strategy", OWN],
    );
    assert_eq!((&gate["valid"], &gate["distances"]), (&json!(true), &Value::Null));
    let error = error_of(&folder, &["scenario", OWN, "rises"], 2);
    assert!(error.contains("channel has no reference to show"), "{error}");
}

#[test]
fn a_folder_is_judged_by_its_own_reference() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    folder.write("old.py", &reference);
    folder.write("new.py", flawed(&reference));
    folder.write("card.json", card(&folder));
    let drift = told_of(&folder, &["drift", "old.py", "new.py", "--strategy", OWN], 1);
    assert_eq!(
        (&drift["anchored"], &drift["drift"]),
        (&json!("away"), &json!(true))
    );
    assert_eq!(drift["to_reference"]["before"]["two_trades"], 0.0);
    let moved = drift["moved_away"].as_array().unwrap();
    assert!(
        moved.contains(&json!("rises")) && !moved.contains(&json!("quiet")),
        "{moved:?}"
    );
    // The reference runs with the card's value.
    let tuned = card(&folder).replace("\"M\":{\"value\":10}", "\"M\":{\"value\":5}");
    folder.write("tuned.json", tuned);
    let gate = json_of(
        &folder,
        &["gate", "old.py", "--card", "tuned.json", "--strategy", OWN],
    );
    let distances = gate["distances"].as_object().unwrap();
    assert_eq!(distances.len(), 5, "{gate}");
    assert!(
        distances.values().all(|distance| *distance == json!(0.0)),
        "{gate}"
    );
    let strip = json_of(&folder, &["scenario", OWN, "rises"]);
    let reference = strip["reference"].as_array().unwrap();
    assert!(
        reference
            .iter()
            .any(|token| token.as_str().unwrap().contains("|EXIT|"))
    );
}

#[test]
fn a_strategy_with_findings_is_refused_before_anybody_is_asked() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    let vendor = answering(|_| "I have no idea.".to_owned());
    experiment(&folder, &[OWN], &vendor.base_url());
    for (source, part) in [
        (
            reference.replace("\"CHANNEL_DOWN\"]", "\"STOP\"]"),
            "the rule CHANNEL_DOWN fires in no scenario",
        ),
        (
            reference.replace("config[\"M\"]", "{10: 10}[config[\"M\"]]"),
            "the reference of channel fails in \"rises\" with M = 5, N = 20: KeyError: 5",
        ),
        (
            reference.replace(
                "        capital = float",
                "        import random\n        lower = lower - (100 if random.random() < 0.3 else 0)\n        capital = float",
            ),
            "the reference of channel does otherwise in",
        ),
        (
            reference.replace("pd.DataFrame(audit)", "pd.DataFrame(audit[:-1])"),
            "with M = 10, N = 20: the log of bars has",
        ),
        (
            reference.replace(
                "        capital = float",
                "        assert len(bars) < 400\n        capital = float",
            ),
            "the reference of channel fails in \"long\"",
        ),
    ] {
        assert_ne!(source, reference);
        folder.write("my/channel/reference.py", source);
        let error = error_of(&folder, &["run", "x.toml"], 2);
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(vendor.count(), 0);
    // A folder that was mended is asked for in the same place.
    folder.write("my/channel/reference.py", &reference);
    json_of(&folder, &["run", "x.toml"]);
    assert_eq!(vendor.count(), 2);
}

#[test]
fn a_reference_that_fails_with_the_value_of_a_card_is_no_fault_of_the_model() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    let at_seven = "        assert config[\"M\"] != 7\n        self.entry_bars";
    let failing = reference.replace("        self.entry_bars", at_seven);
    folder.write("my/channel/reference.py", failing);
    let card = card(&folder).replace("\"M\":{\"value\":10}", "\"M\":{\"value\":7}");
    let vendor = answering(move |_| format!("```json\n{card}\n```\n```python\n{reference}```\n"));
    experiment(&folder, &[OWN], &vendor.base_url());
    for command in [["run", "x.toml"], ["run", "x.toml"]] {
        let output = quiet(
            folder.path(),
            &[&["--json", "strategy-code"], &command[..]].concat(),
        );
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(results["submissions"][0]["versions"], json!([]));
        let lost = results["submissions"][0]["lost"].as_str().unwrap();
        assert!(
            lost.starts_with(
                "the reference of channel fails in \"rises\" with M = 7, N = 20: AssertionError"
            ),
            "{lost}"
        );
    }
    assert_eq!(vendor.count(), 1);
    assert_eq!(json_of(&folder, &["replay", "results/x"])["matches"], true);
    assert!(
        folder
            .text("results/x/T1_gates.csv")
            .contains("\nall models,0,0,")
    );
}

#[test]
fn what_is_wrong_with_a_folder_is_named() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let error = |strategies: &[&str]| {
        experiment(&folder, strategies, "http://127.0.0.1:9/v1");
        error_of(&folder, &["plan", "x.toml"], 2)
    };
    let unknown = error(&["S01", "my/none"]);
    assert!(
        unknown.contains("unknown strategy \"my/none\": neither S01 to S12 nor a folder"),
        "{unknown}"
    );
    std::fs::create_dir(folder.at("my/empty")).unwrap();
    let empty = error(&["my/empty"]);
    assert!(
        empty.contains("\"my/empty\": neither S01 to S12 nor a folder with spec.json"),
        "{empty}"
    );
    copy(&folder.at(OWN), &folder.at("my/again"));
    let twice = error(&[OWN, "my/again"]);
    assert!(
        twice.contains("strategies") && twice.contains("channel"),
        "{twice}"
    );
    let spec = folder.text("my/again/spec.json");
    folder.write("my/again/spec.json", spec.replace("\"channel\"", "\"S01\""));
    let clash = error(&["my/again"]);
    assert!(
        clash.contains("my/again/spec.json") && clash.contains("S01 is a strategy of the benchmark"),
        "{clash}"
    );
    folder.write("my/again/spec.json", spec.replace("\"channel\"", "\"../x\""));
    let word = error(&["my/again"]);
    assert!(word.contains("`strategy_id` is \"../x\""), "{word}");
    folder.write("my/again/spec.json", spec.replace("\"min\": 5", "\"min\": 50"));
    let bounds = error(&["my/again"]);
    assert!(
        bounds.contains("params.M: `min` 50 is above `max` 20"),
        "{bounds}"
    );
    std::fs::remove_file(folder.at("my/channel/spec.md")).unwrap();
    let text = error(&[OWN]);
    assert!(text.contains("spec.md"), "{text}");
}

#[test]
fn programs_of_an_own_strategy_are_reviewed_with_its_document() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    std::fs::remove_file(folder.at("my/channel/reference.py")).unwrap();
    let (card, shown) = (card(&folder), folder.text("my/channel/spec.md"));
    let vendor = answering(move |message| {
        if !message.contains("Review it.") {
            let source = "class Strategy:\n    def __init__(self, config):\n        raise KeyError('x')\n";
            return format!("```json\n{card}\n```\n```python\n{source}```\n");
        }
        let mark = if message.contains(shown.trim_end()) { 9 } else { 5 };
        format!("{{\"D1\": {mark}, \"D2\": {mark}, \"strengths\": \"clear\", \"weaknesses\": \"\"}}")
    });
    let base_url = vendor.base_url();
    experiment(&folder, &[OWN], &base_url);
    let text = folder.text("x.toml").replace(
        "iterations = 1",
        "iterations = 0\narena = { repetitions = 5 }\nreal = { bars = 'bars.csv', symbols = 'all' }",
    );
    let bars = "date,symbol,open,high,low,close,volume\n2024-01-02,X,1,1,1,1,1\n2025-01-02,X,1,1,1,1,1\n";
    folder.write("bars.csv", bars);
    let second = format!(
        "[[agents]]\nid = 'second'\nmodel = 'n'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{base_url}'\n"
    );
    folder.write("x.toml", format!("{text}{second}"));
    let held = json_of(&folder, &["run", "x.toml"]);
    assert_eq!(
        held["submissions"][0]["real"][0]["rows"],
        json!([]),
        "there are no real bars for a strategy of one's own"
    );
    let scores = held["arena"]["scores"].as_array().unwrap();
    let marks: Vec<(&str, u64)> = scores
        .iter()
        .map(|score| (score["strategy"].as_str().unwrap(), score["d1"].as_u64().unwrap()))
        .collect();
    assert_eq!(marks, [("channel", 9); 4]);
    json_of(&folder, &["replay", "results/x", "--deep"]);
}

/// Two symbols that swing, on the first 28 days of four months of the train and of the test year.
fn swinging_bars() -> String {
    let mut bars = "date,symbol,open,high,low,close,volume\n".to_owned();
    let mut day = 0_i32;
    for month in [
        "2024-01", "2024-02", "2024-03", "2024-04", "2025-01", "2025-02", "2025-03", "2025-04",
    ] {
        for date in 1..=28 {
            day += 1;
            for (symbol, period) in [("AAPL", 50), ("MSFT", 70)] {
                let place = day % period;
                // Steps that are larger than a bar is wide: each leaves the channel.
                let close = 100 + 2 * place.min(period - place);
                let (open, high, low) = (close - 1, close + 1, close - 1);
                writeln!(bars, "{month}-{date:02},{symbol},{open},{high},{low},{close},100").unwrap();
            }
        }
    }
    bars
}

/// An experiment on the folder that runs on real bars too, asked of a model that answers with this program.
fn on_real_bars(folder: &Folder, program: &str) -> (Value, Vendor) {
    let reply = format!("```json\n{}\n```\n```python\n{program}```\n", card(folder));
    let vendor = answering(move |_| reply.clone());
    experiment(folder, &[OWN], &vendor.base_url());
    let text = folder
        .text("x.toml")
        .replace("[[agents]]", "real = { bars = 'bars.csv' }\n[[agents]]");
    folder.write("x.toml", text.replace("iterations = 1", "iterations = 0"));
    folder.write("bars.csv", swinging_bars());
    (json_of(folder, &["run", "x.toml"]), vendor)
}

#[test]
fn an_own_strategy_and_its_reference_earn_on_each_symbol_of_real_bars() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    // The reference does not run on falling starts, and the program has nothing to do with that.
    let fails = "        assert float(market_data[\"close\"].iloc[0]) != 102.0 or len(market_data) != 112\n        bars = market_data";
    folder.write(
        "my/channel/reference.py",
        reference.replace("        bars = market_data", fails),
    );
    let (results, _vendor) = on_real_bars(&folder, &reference);
    let rows = results["submissions"][0]["real"][0]["rows"].as_array().unwrap();
    let named = |row: &Value| (row["split"].clone(), row["symbols"].clone());
    let all: Vec<(Value, Value)> = rows.iter().map(named).collect();
    let wanted = |split: &str, symbol: &str| (json!(split), json!([symbol]));
    assert_eq!(
        all,
        [
            wanted("train", "AAPL"),
            wanted("train", "MSFT"),
            wanted("test", "AAPL"),
            wanted("test", "MSFT")
        ]
    );
    for row in rows {
        assert_eq!(row["fault"], Value::Null, "{row}");
        assert!(
            row["program"]["own_close"]["trades"].as_u64().unwrap() > 0,
            "{row}"
        );
        if row["split"] == "train" {
            assert_eq!(row["reference"], Value::Null, "{row}");
            assert!(
                row["reference_fault"]
                    .as_str()
                    .unwrap()
                    .contains("AssertionError"),
                "{row}"
            );
        } else {
            assert_eq!(row["reference"], row["program"], "{row}");
        }
    }
    let report = folder.text("results/x/report.md");
    assert!(
        report.contains("the reference of channel on AAPL, train: n/a"),
        "{report}"
    );
    assert_eq!(
        json_of(&folder, &["replay", "results/x", "--deep"])["matches"],
        true
    );
}

#[test]
fn without_a_reference_a_program_earns_alone_and_three_assets_have_no_series() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    std::fs::remove_file(folder.at("my/channel/reference.py")).unwrap();
    let (results, _vendor) = on_real_bars(&folder, &reference);
    let rows = results["submissions"][0]["real"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(
            (&row["reference"], &row["fault"]),
            (&Value::Null, &Value::Null),
            "{row}"
        );
        assert!(row["program"]["next_open"]["returns"].is_array(), "{row}");
    }

    // The same document says that it trades three assets.
    std::fs::remove_dir_all(folder.at("results")).unwrap();
    let spec = folder.text("my/channel/spec.json");
    folder.write(
        "my/channel/spec.json",
        spec.replace("\"assets\": [\"A\"]", "\"assets\": [\"A\", \"B\", \"C\"]"),
    );
    let frames = |line: &str| {
        let mut read: Value = serde_json::from_str(line).unwrap();
        let frame = read["data"].clone();
        read["data"] = json!({"A": frame, "B": frame, "C": frame});
        read.to_string()
    };
    let scenarios = folder.text("my/channel/scenarios.jsonl");
    let scenarios: Vec<String> = scenarios.lines().map(frames).collect();
    folder.write("my/channel/scenarios.jsonl", scenarios.join("\n"));
    let (results, _vendor) = on_real_bars(
        &folder,
        &reference.replace("bars = market_data", "bars = market_data[\"A\"]"),
    );
    let version = &results["submissions"][0]["real"][0];
    assert_eq!(version["rows"], json!([]));
    assert!(
        version["absent"]
            .as_str()
            .unwrap()
            .starts_with("it trades 3 assets"),
        "{version}"
    );
    assert!(
        folder
            .text("results/x/report.md")
            .contains("channel: n/a (it trades 3 assets")
    );
}

#[test]
fn replies_about_a_folder_of_ones_own_are_scored() {
    if !has_boxes() {
        return;
    }
    let folder = with_example();
    let reference = folder.text("my/channel/reference.py");
    let built = format!(
        "```json\n{}\n```\n```python\n{}```\n",
        card(&folder),
        flawed(&reference)
    );
    let mended = format!("```python\n{reference}```\n");
    let line = |(iteration, reply): (usize, &String)| {
        json!({"model": "m", "strategy": "channel", "iteration": iteration, "reply": reply}).to_string()
    };
    let lines: Vec<String> = [&built, &mended].into_iter().enumerate().map(line).collect();
    folder.write("replies.jsonl", lines.join("\n"));
    let named = ["score", "--replies", "replies.jsonl", "--strategy", OWN];
    let scored = json_of(&folder, &named);
    let versions = scored["submissions"][0]["versions"].as_array().unwrap();
    assert_eq!(scored["submissions"][0]["strategy"], "channel");
    assert_eq!(
        (
            &versions[0]["gates"],
            &versions[1]["gates"],
            &versions[1]["drift"]
        ),
        (&json!("audit"), &json!("passed"), &json!("towards"))
    );
    assert_eq!(versions[1]["measured"][0], json!(1.0));

    let unnamed = error_of(&folder, &named[..3], 2);
    assert!(
        unnamed.contains("line 1: the strategy \"channel\" is unknown") && unnamed.contains("--strategy"),
        "{unnamed}"
    );
    copy(&folder.at(OWN), &folder.at("my/other"));
    let twice = [&named[..], &["--strategy", "my/other"]].concat();
    let twice = error_of(&folder, &twice, 2);
    assert!(
        twice.contains("two folders are strategies of the identifier channel"),
        "{twice}"
    );
    let broken = reference.replace("\"CHANNEL_DOWN\"]", "\"STOP\"]");
    folder.write("my/channel/reference.py", broken);
    let findings = error_of(&folder, &named, 2);
    assert!(
        findings.contains("the rule CHANNEL_DOWN fires in no scenario"),
        "{findings}"
    );
    std::fs::remove_file(folder.at("my/channel/reference.py")).unwrap();
    folder.write("replies.jsonl", line((0, &"I have no program.".to_owned())));
    let alone = json_of(&folder, &named);
    assert_eq!(alone["submissions"][0]["without_reference"], true);
}
