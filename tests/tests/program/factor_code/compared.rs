//! Several bundles in one report, and how long their functions take.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use super::scene::{answering, experiment_of, has_boxes};
use ktd_kit::{Folder, assert_ok, quiet};
use serde_json::{Value, json};

/// What a model answers: the first loops and then does not, the second looks ahead, the third fails.
fn answer(model: &str, function: &str, round: usize) -> String {
    let head = format!("def {function}(df):\n    \"\"\"A factor.\"\"\"\n    close = df['day_close']\n");
    let body = match (model, function.contains("roc_10"), round) {
        ("right", true, 1) => {
            "    cells = [np.nan] * 10\n    for row in range(10, len(close)):\n        \
             cells.append(close.iloc[row] / close.iloc[row - 10] - 1)\n    \
             return pd.Series(cells, index=df.index, name='NAME')\n"
        }
        ("right", true, _) => "    return (close / close.shift(10) - 1).rename('NAME')\n",
        ("failing", ..) => "    raise ValueError('no')\n",
        _ => "    return close.shift(-1).rename('NAME')\n",
    };
    format!("{head}{}", body.replace("NAME", function))
}

fn table<'a>(document: &'a Value, id: &str) -> &'a Vec<Value> {
    let tables = document["tables"].as_array().unwrap();
    let found = tables.iter().find(|table| table["id"] == id).unwrap();
    found["rows"].as_array().unwrap()
}

/// The rows whose first cells are these.
fn rows<'a>(document: &'a Value, id: &str, first: &[&str]) -> Vec<&'a Value> {
    let begins = |row: &&Value| first.iter().enumerate().all(|(place, cell)| row[place] == *cell);
    table(document, id).iter().filter(begins).collect()
}

fn reported(folder: &Folder) -> Value {
    let report = ["factor-code", "report", "results", "--out", "page.html"];
    assert_ok(&quiet(folder.path(), &report));
    serde_json::from_slice(&folder.read("page.json")).unwrap()
}

fn name(model: &str) -> String {
    format!("{model}__original__s1")
}

fn check_ranks_and_pairs(document: &Value) {
    let rank = |model: &str| rows(document, "T1_ranks", &[&name(model)])[0].clone();
    // one of two tasks is verified; two bundles share the second place
    for (model, share, place) in [("right", 0.5, 1), ("leaky", 0.0, 2), ("failing", 0.0, 2)] {
        let row = rank(model);
        assert_eq!(
            (&row[4], &row[5], &row[6]),
            (&json!(share), &json!(place), &json!(3))
        );
    }
    assert_eq!(table(document, "T1_pairs").len(), 3 * 4);
    let runs = rows(
        document,
        "T1_pairs",
        &[&name("failing"), &name("leaky"), "Pass@1"],
    );
    // two tasks, both decided for the second: 2 of 2^2 outcomes are as far apart
    assert_eq!(
        runs[0].as_array().unwrap()[3..],
        [json!(2), json!(0), json!(2), json!(0.5)]
    );
    let right = rows(document, "T1_pairs", &[&name("leaky"), &name("right"), "VAcc"]);
    assert_eq!(
        right[0].as_array().unwrap()[3..],
        [json!(2), json!(0), json!(1), json!(1.0)]
    );
}

fn check_sweep(document: &Value) {
    let sweep = table(document, "T6_thresholds");
    assert_eq!(sweep.len(), 4 * 4 * 3 * 3);
    for row in sweep {
        let right = row[3] == name("right").as_str();
        assert_eq!(row[4], json!(if right { 0.5 } else { 0.0 }), "{row}");
        assert_eq!((&row[5], &row[6]), (&json!(3), &json!(1.0)), "{row}");
    }
    let cuts: Vec<u64> = sweep
        .iter()
        .step_by(3 * 16)
        .map(|row| row[2].as_u64().unwrap())
        .collect();
    assert_eq!(cuts, [5, 10, 20]);
}

#[test]
fn bundles_are_ranked_compared_and_timed() {
    if !has_boxes() {
        return;
    }
    let vendor = answering(|model, function, round| (answer(model, function, round), "stop"));
    let folder = experiment_of(&vendor, &["right", "leaky", "failing"], "");
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    let bundle = format!("results/x/cells/{}", name("right"));
    let events = folder.text(&format!("{bundle}/events.jsonl"));
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let passes: Vec<&str> = events
        .iter()
        .map(|event| event["strict"].as_str().unwrap())
        .collect();
    assert_eq!(passes, ["Acc", "VAcc", "Pass@1", "Pass@1"]);
    assert_eq!(
        events[1]["verdict"]["denser_safety"],
        json!({"10": "safe", "20": "safe"})
    );
    assert!(events[2]["verdict"]["denser_safety"]["20"]["leak"].is_object());

    let document = reported(&folder);
    check_ranks_and_pairs(&document);
    check_sweep(&document);

    let before = ktd_kit::files(&folder.at("results"));
    let output = quiet(
        folder.path(),
        &["--json", "factor-code", "time", "results", "--runs", "2"],
    );
    assert_ok(&output);
    assert_eq!(ktd_kit::files(&folder.at("results")), before);
    let times: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&times["rows"], &times["runs"]), (&json!(5_000), &json!(2)));
    let functions = table(&times, "T7_functions");
    let told: Vec<&[Value]> = functions
        .iter()
        .map(|row| &row.as_array().unwrap()[1..6])
        .collect();
    let expected = |round: &str, vectorised: &str| {
        [
            json!("MOM-1-01"),
            json!("1"),
            json!(round),
            json!(vectorised),
            json!(2),
        ]
    };
    assert_eq!(told, [&expected("1", "no"), &expected("2", "yes")]);
    for row in functions {
        let [mean, least, most] = [6, 8, 9].map(|place: usize| row[place].as_f64().unwrap());
        assert!(0.0 < least && least <= mean && mean <= most, "{row}");
        assert!(row[7].is_f64() && row[10].is_f64() && row[11].is_f64(), "{row}");
    }
    for kind in ["no", "yes"] {
        assert_eq!(rows(&times, "T7_times", &[&name("right"), kind])[0][2], 1);
    }
    let loops = table(&times, "T8_loops");
    assert_eq!((loops.len(), &loops[0][0]), (1, &json!("MOM-1-01")));
    assert_eq!((&loops[0][1], &loops[0][3]), (&json!(1), &json!(1)));
    let ratio = loops[0][2].as_f64().unwrap() / loops[0][4].as_f64().unwrap();
    assert!((loops[0][5].as_f64().unwrap() - ratio).abs() < 1e-9 * ratio);
}
