//! Several models in one report.

#![expect(clippy::indexing_slicing, reason = "a broken fixture fails the test")]

use super::scene::{answering, events, experiment_of, table};
use ktd_kit::{Folder, assert_ok, has_boxes, quiet};
use serde_json::json;

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

/// The rows of a table whose first cells are these.
fn rows(folder: &Folder, id: &str, first: &[&str]) -> Vec<Vec<String>> {
    let begins = |row: &Vec<String>| first.iter().enumerate().all(|(place, cell)| row[place] == *cell);
    table(folder, id).into_iter().filter(begins).collect()
}

fn name(model: &str) -> String {
    format!("{model}__original__s1")
}

fn check_ranks_and_pairs(folder: &Folder) {
    // one of two tasks is verified; two models share the second place
    for (model, of_model) in [
        ("right", ["0.5", "1", "3"]),
        ("leaky", ["0", "2", "3"]),
        ("failing", ["0", "2", "3"]),
    ] {
        assert_eq!(rows(folder, "T1_ranks", &[&name(model)])[0][4..], of_model);
    }
    assert_eq!(table(folder, "T1_pairs").len(), 3 * 4);
    let pair = |one: &str, other: &str, layer: &str| {
        rows(folder, "T1_pairs", &[&name(one), &name(other), layer])[0][3..].to_vec()
    };
    // two tasks, both decided for the second: 2 of 2^2 outcomes are as far apart
    assert_eq!(pair("failing", "leaky", "Pass@1"), ["2", "0", "2", "0.5"]);
    assert_eq!(pair("leaky", "right", "VAcc"), ["2", "0", "1", "1"]);
}

fn check_sweep(folder: &Folder) {
    let sweep = table(folder, "T6_thresholds");
    assert_eq!(sweep.len(), 4 * 4 * 3 * 3);
    for row in &sweep {
        let right = row[3] == name("right");
        assert_eq!(row[4..], [if right { "0.5" } else { "0" }, "3", "1"], "{row:?}");
    }
    let cuts: Vec<&str> = sweep.iter().step_by(3 * 16).map(|row| row[2].as_str()).collect();
    assert_eq!(cuts, ["5", "10", "20"]);
}

#[test]
fn models_are_ranked_and_compared() {
    if !has_boxes() {
        return;
    }
    let vendor = answering(|model, function, round| (answer(model, function, round), "stop"));
    let folder = experiment_of(&vendor, &["right", "leaky", "failing"], "");
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    let events = events(&folder, &format!("results/x/units/{}", name("right")));
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
    check_ranks_and_pairs(&folder);
    check_sweep(&folder);
}
