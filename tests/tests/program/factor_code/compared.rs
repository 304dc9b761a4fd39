//! Several models in one report.

#![expect(clippy::indexing_slicing, reason = "a broken fixture fails the test")]

use super::scene::{answering, events, experiment_of, table};
use ktd_factor_code::FactorTasks;
use ktd_kit::{Folder, assert_ok, has_boxes, quiet};
use serde_json::json;

/// What a model answers: the first is right at once, the second loops and then does not, the third fails.
fn answer(model: &str, function: &str, round: usize) -> String {
    let head = format!("def {function}(df):\n    \"\"\"A factor.\"\"\"\n    close = df['day_close']\n");
    let body = match (model, function.contains("roc_10"), round) {
        ("late", true, 1) => {
            "    cells = [np.nan] * 10\n    for row in range(10, len(close)):\n        \
             cells.append(close.iloc[row] / close.iloc[row - 10] - 1)\n    \
             return pd.Series(cells, index=df.index, name='NAME')\n"
        }
        ("right" | "late", true, _) => "    return (close / close.shift(10) - 1).rename('NAME')\n",
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
    // One of two tasks is verified at once by the first model alone; of two families no place can be excluded.
    for (model, share, rank) in [("right", "0.5", "1"), ("late", "0", "2"), ("failing", "0", "2")] {
        let row = &rows(folder, "T1_ranks", &[&name(model)])[0];
        assert_eq!((row[4].as_str(), row[7].as_str()), (share, rank));
        assert_eq!(row[8..], ["1", "3", "3"]);
    }
    assert_eq!(table(folder, "T1_pairs").len(), 3);
    let pair = &rows(folder, "T1_pairs", &[&name("late"), &name("right")])[0];
    assert_eq!(pair[2..], ["2", "-0.5", "1", "1", "no"]);
    let notes = folder.text("results/x/report.md");
    assert!(
        notes.contains("underpowered: of so few families no p is below 0.50"),
        "{notes}"
    );
}

/// What was right after help is no part of the headline: it stands beside it, with what it cost.
fn check_help(folder: &Folder) {
    let verified = |model: &str| -> Vec<[String; 4]> {
        let rows = rows(folder, "T9_help", &[&name(model)]);
        rows.iter()
            .map(|row| [&row[1], &row[2], &row[4], &row[8]].map(String::clone))
            .collect()
    };
    // requests of 120 tokens: four until the late answer, two for the one at once, whose model is asked the other task again
    assert_eq!(verified("late"), [["1", "0", "0", ""], ["2", "0.5", "1", "480"]]);
    assert_eq!(
        verified("right"),
        [["1", "0.5", "1", "240"], ["2", "0.5", "0", "360"]]
    );
    let loops = &rows(folder, "T4_failures", &[&name("late")])[0];
    assert_eq!(loops[loops.len() - 2..], ["0.5", "0"], "{loops:?}");
    let page = folder.text("results/x/index.html");
    assert!(page.contains("Strict VAcc over what was spent"));
    let said = "In round one, right__original__s1 is right on 1 of 2 tasks by the strict rules";
    assert!(page.contains(said));
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
    let folder = experiment_of(&vendor, &["right", "late", "failing"], "");
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    let events = events(&folder, &format!("results/x/units/{}", name("late")));
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
    check_help(&folder);
    check_sweep(&folder);
}

/// A task of each family.
const FAMILIES: [&str; 9] = [
    "MOM-1-01", "REV-1-01", "VOL-1-01", "VLM-1-01", "RSK-1-01", "MTH-1-01", "PAT-1-01", "CMP-1-01",
    "CAU-1-01",
];

/// Which families a planted model can do: one of them seven, two of them one each, and not the same.
fn can(model: &str, family: usize) -> bool {
    match model {
        "strong" => family < 7,
        "weak" => family == 0,
        _ => family == 1,
    }
}

/// Models of known quality through the program: the pairs that differ are told apart, and the equal ones tie.
#[test]
fn planted_models_are_told_apart_where_they_differ() {
    if !has_boxes() {
        return;
    }
    let tasks = FactorTasks::compiled_in().unwrap();
    let tasks = FAMILIES.map(|id| tasks.find(id).unwrap().clone());
    let vendor = answering(move |model, function, _| {
        let family = tasks.iter().position(|task| task.function == function).unwrap();
        if can(model, family) {
            (tasks[family].golden.clone().unwrap(), "stop")
        } else {
            ("I cannot help with that.".to_owned(), "content_filter")
        }
    });
    let folder = experiment_of(&vendor, &["strong", "weak", "other"], "jobs = 2");
    let file = folder
        .text("code.toml")
        .replace("['MOM-1-01', 'REV-1-01']", &format!("{FAMILIES:?}"))
        .replace("rounds = 2", "rounds = 1");
    folder.write("code.toml", file);
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    // share, rank, and the places that cannot be excluded
    for (model, right, places) in [
        ("strong", 7.0, ["1", "1", "1", "3"]),
        ("weak", 1.0, ["2", "2", "3", "3"]),
        ("other", 1.0, ["2", "2", "3", "3"]),
    ] {
        let row = &rows(&folder, "T1_ranks", &[&name(model)])[0];
        let share: f64 = row[4].parse().unwrap();
        assert!((share - right / 9.0).abs() < 1e-12, "{row:?}");
        assert_eq!(row[7..], places, "{row:?}");
    }
    // Of 128 turns of seven families' signs six come as far for either pair of the strong one.
    for (one, other, p, apart) in [
        ("other", "strong", 6.0 / 128.0, "yes"),
        ("strong", "weak", 6.0 / 128.0, "yes"),
        ("other", "weak", 1.0, "no"),
    ] {
        let row = &rows(&folder, "T1_pairs", &[&name(one), &name(other)])[0];
        let found: f64 = row[5].parse().unwrap();
        assert!((found - p).abs() < 1e-12 && row[6] == apart, "{row:?}");
    }
    let said = "strong__original__s1 is right on 7 of 9 tasks by the strict rules";
    let page = folder.text("results/x/index.html");
    assert!(page.contains(said) && page.contains("told apart from 2 of 2 others"));
}
