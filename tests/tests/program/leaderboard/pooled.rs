//! The ranking over several windows together.

use super::{board, run};
use ktd_kit::{Folder, assert_ok, quiet};
use serde_json::Value;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
mask_key_file = "key"
masks = [{ level = "blinded" }]
modes = ["memory-only"]
seeds = [1, 2]
agents = [AGENTS]
windows = [WINDOWS]
"#;

fn agents(ids: &[&str]) -> String {
    let each = ids
        .iter()
        .map(|id| format!("{{ id = {id:?}, builtin = {id:?} }}"));
    each.collect::<Vec<_>>().join(", ")
}

/// Windows by their first and last place among these dates.
pub(super) fn windows(dates: &[String], spans: &[(&str, usize, usize)]) -> String {
    let each = spans.iter().map(|(id, first, last)| {
        format!(
            "{{ id = {id:?}, start = {:?}, end = {:?} }}",
            dates[*first], dates[*last]
        )
    });
    each.collect::<Vec<_>>().join(", ")
}

fn experiment(agents: &str, windows: &str) -> String {
    EXPERIMENT.replace("AGENTS", agents).replace("WINDOWS", windows)
}

/// The last forty days of the panel.
pub(super) fn dates(folder: &Folder) -> Vec<String> {
    let last = experiment(&agents(&["random"]), "{ id = \"last\", last_days = 40 }");
    run(folder.path(), "dates", &last);
    let found = board(folder.path(), &["dates"]);
    assert_eq!(found["pooled"], serde_json::json!([]), "one window is not pooled");
    let dates = found["tracks"][0]["dates"].as_array().unwrap();
    dates
        .iter()
        .map(|date| date.as_str().unwrap().to_owned())
        .collect()
}

fn pooled(board: &Value) -> &Value {
    let all = board["pooled"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    &all[0]
}

fn names<'v>(values: &'v Value, field: &str) -> Vec<&'v str> {
    let values = values.as_array().unwrap().iter();
    values.map(|value| value[field].as_str().unwrap()).collect()
}

/// Whoever never held a position is not in it, and who bought once a window has no rank; the value is the mean of the windows'.
fn check_rows(found: &Value, all: &Value) {
    let rows = found["rows"].as_array().unwrap();
    let ranked = |row: &&Value| row["rank"].is_number();
    assert_eq!(
        (rows.len(), rows.iter().filter(ranked).count()),
        (2, 1),
        "{rows:?}"
    );
    for row in rows.iter().filter(ranked) {
        let by_window = row["by_window"].as_array().unwrap();
        let sum: f64 = by_window.iter().map(|value| value.as_f64().unwrap()).sum();
        assert!(
            (row["selection_a_day"].as_f64().unwrap() - sum / 3.0).abs() < 1e-15,
            "{row}"
        );
        let of = |bounds: &str, end: &str| row[bounds][end].as_f64().unwrap();
        assert!(of("rank_interval", "low") <= of("rank_interval_default", "low"));
        assert!(of("rank_interval_default", "high") <= of("rank_interval", "high"));
        assert!(of("interval", "low") < of("interval", "high"));
    }
    let a = super::leader(
        super::track(all, "a", "blinded"),
        rows[0]["agent"].as_str().unwrap(),
    );
    let a_day = a["selection"]["a_day"].as_f64().unwrap();
    assert!((rows[0]["by_window"][0].as_f64().unwrap() - a_day).abs() < 1e-12);
}

/// Terminal and page of a board of several windows say first what holds over all of them, then window by window.
fn opens_with_the_pooled_ranking(folder: &Folder) {
    let shown = quiet(
        folder.path(),
        &["leaderboard", "out", "--replicates", "200", "--out", "board"],
    );
    assert_ok(&shown);
    let text = String::from_utf8(shown.stdout).unwrap();
    let page = std::fs::read_to_string(folder.path().join("board/index.html")).unwrap();
    let in_order = |whole: &str, parts: &[&str]| {
        let places: Vec<_> = parts.iter().map(|part| whole.find(part)).collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{parts:?}: {places:?} in {whole}"
        );
    };
    assert!(text.contains("First over 3 windows is "), "{text}");
    in_order(
        &text,
        &[
            "First over 3",
            "Pooled over",
            "Selection by window",
            "Leaderboard: window wide",
        ],
    );
    in_order(
        &page,
        &[
            "First over 3 windows is ",
            "of window wide",
            "href=\"#pooled\"",
            "href=\"#leaderboard\"",
            "<section id=\"pooled\">",
            "<section id=\"leaderboard\">",
        ],
    );
}

/// The tables fit a terminal, and say which days and windows are left out and who lacks one.
fn tables_name_what_is_not_counted(folder: &Folder) {
    let text = quiet(
        folder.path(),
        &[
            "leaderboard",
            "out",
            "late",
            "--replicates",
            "200",
            "--table",
            "pooled",
            "--table",
            "by-window",
        ],
    );
    assert_ok(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for line in [
        "Pooled over windows: 3 windows, 35 days",
        "missing c",
        "not counted again: b 5",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn each_day_counts_once_and_who_lacks_a_window_has_no_rank() {
    let folder = Folder::new();
    let dates = dates(&folder);
    let spans = [
        ("a", 0, 9),
        ("b", 5, 19),
        ("c", 20, 34),
        ("same-as-a", 0, 9),
        ("wide", 0, 39),
    ];
    let everywhere = agents(&["random", "equal-weight", "hold"]);
    run(
        folder.path(),
        "out",
        &experiment(&everywhere, &windows(&dates, &spans)),
    );
    let all = board(folder.path(), &["out"]);
    let found = pooled(&all);
    assert_eq!(names(&found["windows"], "window"), ["a", "b", "c"]);
    assert_eq!(found["left_out"], serde_json::json!(["same-as-a", "wide"]));
    let days = |field: &str| -> Vec<u64> {
        let windows = found["windows"].as_array().unwrap().iter();
        windows.map(|window| window[field].as_u64().unwrap()).collect()
    };
    assert_eq!(
        (days("days"), days("counted_before")),
        (vec![10, 10, 15], vec![0, 5, 0])
    );

    // A window of the same days, and one around all with five more, change nothing.
    let three = ["out", "--window", "a", "--window", "b", "--window", "c"];
    let without = board(folder.path(), &three);
    let without = pooled(&without);
    assert_eq!(without["left_out"], serde_json::json!([]));
    for field in ["windows", "rows", "separation"] {
        assert_eq!(found[field], without[field], "{field}");
    }

    check_rows(found, &all);
    opens_with_the_pooled_ranking(&folder);

    // An agent that ran on two of the three.
    let two = windows(&dates, &[("a", 0, 9), ("b", 5, 19)]);
    run(
        folder.path(),
        "late",
        &experiment("{ id = \"late\", builtin = \"random\" }", &two),
    );
    let with_late = board(folder.path(), &["out", "late"]);
    let with_late = pooled(&with_late);
    let late = with_late["rows"].as_array().unwrap().last().unwrap();
    assert_eq!(late["agent"], "late");
    assert_eq!(late["missing"], serde_json::json!(["c"]));
    assert_eq!(
        (&late["rank"], &late["selection_a_day"]),
        (&Value::Null, &Value::Null)
    );
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(with_late["rows"].as_array().unwrap()[..2], rows[..]);

    tables_name_what_is_not_counted(&folder);
}
