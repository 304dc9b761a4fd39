//! `ktd strategy-code run`: a scripted model builds and mends, and is replayed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use crate::strategy_card::{json_of, strategy_card, strategy_command};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Market, NameId, TradeDate};
use ktd_kit::vendor::{reply, said};
use ktd_kit::{Folder, Need, Vendor, files, quiet, refused};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

const BROKEN: &str =
    "class Strategy:\n    def __init__(self, config):\n        raise KeyError(str(object()))\n";

/// The reply to a message: a program that does not run, no program, a patch that is too large, another that does not run.
fn reply_to(message: &str, card: &str) -> String {
    if !message.contains("This is the version that stands") {
        return format!("```json\n{card}\n```\n```python\n{BROKEN}```\n");
    }
    if message.contains("no_source") {
        return format!("```python\n{BROKEN}{}```\n", "x = 1\n".repeat(60));
    }
    if message.contains("patch_too_large") {
        return format!("```python\n{}```\n", BROKEN.replace("KeyError", "ValueError"));
    }
    "I have no idea.".to_owned()
}

fn model(card: String) -> Vendor {
    Vendor::answering(move |request| {
        said(&reply_to(
            request["messages"][1]["content"].as_str().unwrap(),
            &card,
        ))
    })
}

fn card(folder: &Folder) -> String {
    strategy_card(folder, "S01", "S01").to_string()
}

fn experiment(folder: &Folder, base_url: &str) {
    let text = format!(
        "kind = 'strategy-code'\nname = 'x'\nstrategies = ['S01']\n[[agents]]\nid = 'writer'\nmodel = 'm'\n\
         vendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{base_url}'\n"
    );
    std::fs::write(folder.path().join("x.toml"), text).unwrap();
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_model_goes_through_all_iterations_and_is_continued_and_replayed() {
    if !(Need::Boxes.is_met() && Need::BoxEnvironment.is_met()) {
        return;
    }
    let folder = Folder::new();
    let vendor = model(card(&folder));
    experiment(&folder, &vendor.base_url());
    let plan = json_of(&folder, &["plan", "x.toml"]);
    assert_eq!(
        (&plan["asked"][0]["usual"]["requests"], vendor.count()),
        (&json!(4), 0)
    );
    let results = json_of(&folder, &["run", "x.toml"]);
    let versions = results["submissions"][0]["versions"].as_array().unwrap();
    let states: Vec<&str> = versions
        .iter()
        .map(|version| version["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["kept", "no_submission", "patch_too_large", "kept"]);
    assert_eq!(
        (&versions[0]["gates"], &versions[3]["drift"]),
        (&json!("exec"), &json!("same"))
    );
    assert_eq!(vendor.count(), 4);

    let own = folder.path().join("results/x/units/writer__S01__1");
    let events = read(&own.join("events.jsonl"));
    let last: Value = serde_json::from_slice(events.split(|byte| *byte == b'\n').nth(3).unwrap()).unwrap();
    assert_eq!(last["body"]["standing"], 3);
    assert_eq!(json_of(&folder, &["report", "results/x"]), results);
    let gates = folder.text("results/x/T1_gates.csv");
    assert!(gates.starts_with("model,submissions,ranked,parse,"), "{gates}");
    assert!(gates.contains("\nwriter,1,1,1,1,0,0,0,0,0,0,0"), "{gates}");
    assert!(folder.text("results/x/T7_money.csv").contains("writer,40,20,"));
    assert_eq!(
        json_of(&folder, &["replay", "results/x", "--deep"])["matches"],
        true
    );
    assert_eq!(json_of(&folder, &["run", "x.toml"]), results);
    assert_eq!(vendor.count(), 4);

    assert_scores_are_made_again(&folder, &own);
}

/// What is not finished is no record.
#[test]
fn a_study_without_a_finished_submission_is_neither_replayed_nor_scored() {
    if !(Need::Boxes.is_met() && Need::BoxEnvironment.is_met()) {
        return;
    }
    let folder = Folder::new();
    let gone = br#"{"error": {"message": "no such model any more"}}"#;
    let vendor = Vendor::answering(move |_| reply("401 Unauthorized", "", gone));
    experiment(&folder, &vendor.base_url());
    let error = refused(&quiet(folder.path(), &["strategy-code", "run", "x.toml"]), 2);
    assert!(error.contains("401"), "{error}");
    for (verb, word) in [
        ("replay", "it is not finished"),
        ("score", "no finished submission"),
    ] {
        let output = quiet(folder.path(), &strategy_command(&[verb, "results/x"]));
        let error = refused(&output, 2);
        assert!(error.contains(word), "{error}");
    }
}

/// Scores of every iteration are shown by part, for an experiment and a submission alike; one that was changed in the result,
/// and a file that was changed, are named.
fn assert_scores_are_made_again(folder: &Folder, own: &Path) {
    let scores = json_of(folder, &["score", "results/x"]);
    assert_eq!(
        scores,
        json_of(folder, &["score", "results/x/units/writer__S01__1"])
    );
    // The card is right and the program does not run.
    let cells = |table: usize, row: usize, head: &str| {
        let table = &scores["tables"][table];
        let columns = table["columns"].as_array().unwrap();
        let place = columns.iter().position(|column| column == head).unwrap();
        table["rows"][row][place].clone()
    };
    assert_eq!(
        [cells(0, 0, "D1"), cells(0, 0, "card"), cells(0, 0, "near")],
        [0.0, 1.0, 0.0]
    );
    assert_eq!(cells(0, 0, "D2"), 0.0);
    assert_eq!(cells(0, 0, "kept"), Value::Null);
    let why = cells(0, 0, "missing");
    assert!(
        why.as_str().unwrap().contains("it was not run, or does not run"),
        "{why}"
    );
    assert_eq!(cells(1, 0, "log"), 5.0);
    assert_eq!(cells(0, 1, "D1"), Value::Null);
    assert_eq!(cells(0, 2, "state"), "patch_too_large");
    let refuse = |code: i32| {
        let arguments = ["strategy-code", "score", "results/x/units/writer__S01__1"];
        refused(&quiet(folder.path(), &arguments), code)
    };
    for (name, old, new, word) in [
        (
            "result.json",
            "0.0,",
            "0.5,",
            "the result names other scores of iteration 0",
        ),
        (
            "events.jsonl",
            "\"standing\":",
            "\"standing\": ",
            "events.jsonl: it differs",
        ),
    ] {
        let path = own.join(name);
        let kept = String::from_utf8(read(&path)).unwrap();
        let changed = kept.replacen(old, new, 1);
        assert_ne!(changed, kept, "{name}");
        std::fs::write(&path, changed).unwrap();
        let error = refuse(1);
        assert!(error.contains(word), "{error}");
        std::fs::write(&path, kept).unwrap();
    }
    let error = refused(&quiet(folder.path(), &["strategy-code", "score", "."]), 2);
    assert!(error.contains("holds no study"), "{error}");
}

/// A program that buys on the second bar and sells on the tenth, whatever the document says.
const HOLDER: &str = r#"
import pandas as pd

class Strategy:
    def __init__(self, config):
        pass

    def run(self, d, capital):
        close, times = d["close"], d["datetime"]
        quantity = capital / close.iloc[1]
        held = pd.Series(0.0, index=d.index)
        held.iloc[1:9] = quantity
        profit = quantity * (close.iloc[9] - close.iloc[1])
        equity = pd.Series(float(capital), index=d.index) + held * (close - close.iloc[1])
        equity.iloc[9:] = capital + profit
        signal = pd.Series("NONE", index=d.index)
        signal.iloc[1], signal.iloc[9] = "LONG", "EXIT"
        audit = pd.DataFrame({"datetime": times, "close": close, "signal": signal,
                              "position_state": ["LONG" if q > 0 else "FLAT" for q in held],
                              "exposure": held * close / equity, "equity": equity, "constraint_check": "OK"})
        trades = pd.DataFrame([{"trade_id": 1, "symbol": "A", "side": "LONG", "entry_datetime": times.iloc[1],
                                "exit_datetime": times.iloc[9], "entry_price": close.iloc[1], "exit_price": close.iloc[9],
                                "quantity": quantity, "pnl": profit, "reason_entry": "LOWER_CROSS",
                                "reason_exit": "MIDDLE_BAND"}])
        return trades, audit
"#;

/// A model that always answers with the same program; what it was sent goes into `asked`.
fn holder(card: String, asked: Arc<Mutex<Vec<String>>>) -> Vendor {
    Vendor::answering(move |request| {
        let message = request["messages"][1]["content"].as_str().unwrap();
        asked.lock().unwrap().push(message.to_owned());
        said(&format!("```json\n{card}\n```\n```python\n{HOLDER}```\n"))
    })
}

/// An experiment with the goal of profit on a synthetic panel; its symbols.
fn experiment_on_bars(folder: &Folder, base_url: &str) -> Vec<String> {
    let market = generate(&SynthConfig {
        seed: 3,
        names: 10,
        days: 480,
    })
    .unwrap();
    std::fs::write(folder.path().join("p.ktdp"), market.to_bytes()).unwrap();
    experiment(folder, base_url);
    let symbols = trading(&market);
    let keys = format!(
        "iterations = 1\ngoal = 'profit'\nreal = {{ panel = 'p.ktdp', symbols = {symbols:?}, \
         train = ['2022-01-01', '2023-01-01'], test = ['2023-01-01', '2024-01-01'] }}\n"
    );
    let path = folder.path().join("x.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[[agents]]", &format!("{keys}[[agents]]"))).unwrap();
    symbols
}

/// Two symbols of a market that trade on most sessions of 2023.
fn trading(market: &Market) -> Vec<String> {
    let year = |date: TradeDate| date.reveal().starts_with("2023");
    let days: Vec<_> = (0..market.calendar().len())
        .filter_map(|place| market.day_at(place))
        .filter(|day| market.date(*day).is_some_and(year))
        .collect();
    let traded = |name: NameId| {
        days.iter()
            .filter(|day| market.bar(name, **day).is_some())
            .count()
    };
    let whole = market.names().filter(|(name, _)| traded(*name) > 200);
    whole
        .take(2)
        .map(|(_, info)| info.ticker.reveal().to_owned())
        .collect()
}

/// Earnings of a program with one trade on two symbols over two splits; the return of the last row.
fn assert_earnings(real: &Value) -> f64 {
    let rows = real[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let mut last = f64::NAN;
    for row in rows {
        let (program, reference) = (&row["program"], &row["reference"]);
        assert_eq!(
            (&program["own_close"]["trades"], &row["fault"]),
            (&json!(1), &Value::Null)
        );
        let returns: Vec<f64> = serde_json::from_value(program["own_close"]["returns"].clone()).unwrap();
        assert!(
            returns.is_sorted_by(|before, after| before > after),
            "{returns:?}"
        );
        assert!(reference["next_open"]["returns"].is_array());
        last = returns[0];
    }
    last
}

#[test]
fn programs_earn_on_real_bars_and_every_file_of_the_record_is_verified() {
    if !(Need::Boxes.is_met() && Need::BoxEnvironment.is_met()) {
        return;
    }
    let folder = Folder::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let vendor = holder(card(&folder), Arc::clone(&asked));
    let symbols = experiment_on_bars(&folder, &vendor.base_url());
    let results = json_of(&folder, &["run", "x.toml"]);
    assert_eq!(results["submissions"][0]["versions"][0]["gates"], "audit");
    let own = folder.path().join("results/x/units/writer__S01__1");
    let real = &results["submissions"][0]["real"];
    let test = assert_earnings(real);

    let sent = asked.lock().unwrap().clone();
    assert_eq!(sent.len(), 2);
    assert!(!sent[0].contains("median_sharpe") && sent[1].contains("median_sharpe"));
    assert!(symbols.iter().all(|symbol| !sent[1].contains(symbol.as_str())));
    assert!(
        !sent[1].contains(&test.to_string()),
        "a figure of the test split was shown"
    );
    let text = folder.text("results/x/report.md");
    assert!(
        text.contains("T9. Total return on real bars by iteration, median over series"),
        "{text}"
    );
    assert_page_has_traces(&folder, &own);
    assert_is_held_against_all_trials(&folder, real);
    assert_every_file_is_verified(&folder, &own);
}

/// The record keeps what the program did on every market, with its equity on the long run, and the page shows it.
fn assert_page_has_traces(folder: &Folder, own: &Path) {
    let result: Value = serde_json::from_slice(&read(&own.join("result.json"))).unwrap();
    let report = &result["found"]["submission"]["judged"][0]["report"];
    let traces = report["markets"].as_array().unwrap();
    let long = traces.last().unwrap();
    assert_eq!(long["market"], "long");
    let signals = long["version"]["signals"].as_str().unwrap();
    assert_eq!((signals.len(), &signals[..11]), (500, ".L.......X."));
    assert_eq!(
        &long["version"]["positions"].as_str().unwrap()[..11],
        "_++++++++__"
    );
    for side in ["reference", "version"] {
        assert_eq!(long[side]["equity"].as_array().unwrap().len(), 500);
        assert_eq!(long[side]["equity"][0], 100_000);
    }
    let page = folder.text("results/x/index.html");
    assert_eq!(
        page.matches("<summary><b><bdi>long</bdi></b> differs on ")
            .count(),
        2
    );
    assert_eq!(page.matches("class=\"market\"").count(), 2 * traces.len());
    assert_eq!(page.matches("<svg class=\"equity\"").count(), 2);
}

/// The ranked version is held against both versions that were tried, by the returns that the record keeps.
fn assert_is_held_against_all_trials(folder: &Folder, real: &Value) {
    let returns = real[0]["test_returns"].as_array().unwrap();
    let bars = real[0]["rows"].as_array().unwrap().iter();
    let bars = bars.filter(|row| row["split"] == "test");
    let longest = bars.map(|row| row["bars"].as_u64().unwrap()).max().unwrap();
    assert!(returns.len() as u64 >= longest);
    let table = folder.text("results/x/T9_selection.csv");
    let (heads, row) = table.trim_end().split_once('\n').unwrap();
    let (heads, row): (Vec<&str>, Vec<&str>) = (heads.split(',').collect(), row.split(',').collect());
    let cell = |head: &str| row[heads.iter().position(|own| *own == head).unwrap()];
    assert_eq!(cell("sessions"), returns.len().to_string());
    assert_eq!((cell("trials"), cell("valid")), ("2", "0"));
    assert!((0.0..=1.0).contains(&cell("DSR").parse::<f64>().unwrap()));
    assert!(table.contains("at least 5 are needed"), "{table}");
}

/// The record is verified as it is, and with no file changed, added, or forged together with its digest.
fn assert_every_file_is_verified(folder: &Folder, own: &Path) {
    let verify = || quiet(folder.path(), &["verify", "results/x"]);
    let verified = verify();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let public = files(own).into_iter();
    for (name, kept) in public.filter(|(name, _)| !name.starts_with("private")) {
        let path = own.join(name);
        let mut changed = kept.clone();
        let last = changed.len() - 2;
        changed[last] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        assert_ne!(
            verify().status.code(),
            Some(0),
            "{}: a changed file was verified",
            path.display()
        );
        std::fs::write(&path, kept).unwrap();
    }
    for name in ["note.txt", "versions/0/other.py"] {
        std::fs::write(own.join(name), "x").unwrap();
        let error = refused(&verify(), 1);
        assert!(error.contains(name), "{error}");
        std::fs::remove_file(own.join(name)).unwrap();
    }
    // A figure of the result is found by making it again.
    let result = own.join("result.json");
    let kept = String::from_utf8(read(&result)).unwrap();
    let forged = kept.replacen("\"bars\": 2", "\"bars\": 1", 1);
    assert_ne!(forged, kept);
    std::fs::write(&result, forged).unwrap();
    let error = refused(&verify(), 1);
    assert!(error.contains("result.json"), "{error}");
    std::fs::write(&result, kept).unwrap();
    std::fs::write(folder.path().join("p.ktdp"), b"no panel").unwrap();
    assert_ne!(verify().status.code(), Some(0));
}

#[test]
fn what_is_wrong_with_a_file_of_an_experiment_is_named() {
    let folder = Folder::new();
    experiment(&folder, "http://127.0.0.1:9/v1");
    // Records of an earlier version are left to it, and nothing is asked beside them.
    if Need::Boxes.is_met() && Need::BoxEnvironment.is_met() {
        std::fs::create_dir_all(folder.at("old/submissions/writer__S01__1")).unwrap();
        let run = ["strategy-code", "run", "x.toml", "--out", "old"];
        let error = refused(&quiet(folder.path(), &run), 2);
        assert!(error.contains("it is not of this version"), "{error}");
    }
    let path = folder.path().join("x.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("iterations = 4\n{text}")).unwrap();
    let error = refused(&quiet(folder.path(), &["plan", "x.toml"]), 2);
    assert!(error.contains("`iterations` is 4; at most 3"), "{error}");
    std::fs::write(&path, format!("goal = 'profit'\n{text}")).unwrap();
    let error = refused(&quiet(folder.path(), &["plan", "x.toml"]), 2);
    assert!(
        error.contains("`goal` is \"profit\" and `real` is missing"),
        "{error}"
    );
    std::fs::write(&path, format!("gaol = 'profit'\n{text}")).unwrap();
    let error = refused(&quiet(folder.path(), &["plan", "x.toml"]), 2);
    assert!(
        error.contains("line 1, column 1") && error.contains("unknown field `gaol`"),
        "{error}"
    );
}
