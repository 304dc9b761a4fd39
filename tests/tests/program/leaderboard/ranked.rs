//! Who has a rank: what holds something and is no control.

use super::{board, leader, run, track};
use ktd_kit::{Folder, assert_ok, command, quiet};
use serde_json::{Value, json};

/// Two idle programs, one of which says that it is a control.
const EXPERIMENT: &str = r#"
name = "ranked"
synthetic = { seed = 5, names = 90, days = 330 }
mask_key_file = "key"
masks = [{ level = "bright" }]
modes = ["memory-only"]
agents = [
    { id = "cheater", builtin = "cheater" },
    { id = "schema-breaker", builtin = "schema-breaker" },
    { id = "hold", builtin = "hold" },
    { id = "idle", command = ["sh", "idle.sh"], unboxed = true, cohort = "language-model" },
    { id = "unnamed", command = ["sh", "idle.sh"], unboxed = true },
    { id = "probe", command = ["sh", "idle.sh"], unboxed = true, cohort = "control" },
    { id = "equal-weight", builtin = "equal-weight" },
    { id = "random", builtin = "random" },
]
windows = [{ id = "w", last_days = 43 }]
"#;

const IDLE: &str = r#"while read -r line; do
case $line in
  *'"type":"end"'*) exit 0 ;;
  *) echo '{"type":"call","name":"submit_action","arguments":{"orders":[],"overall_reason":"nothing to do today"}}' ;;
esac
done
"#;

#[test]
fn nobody_is_ranked_where_no_day_can_be_fitted() {
    let folder = Folder::new();
    let experiment = EXPERIMENT.replace("names = 90", "names = 30");
    folder.write("idle.sh", IDLE);
    run(folder.path(), "out", &experiment);
    let board = board(folder.path(), &["out"]);
    for agent in ["random", "equal-weight"] {
        let row = leader(track(&board, "w", "bright"), agent);
        assert_eq!(
            (&row["alpha_rank"], &row["return_rank"]),
            (&Value::Null, &Value::Null),
            "{agent}"
        );
        assert_eq!(
            row["unranked_reason"], "no day could be fitted: all of it is unattributed",
            "{agent}"
        );
        let parts = &row["attribution"]["two"]["carino"];
        for part in [
            "common",
            "market_timing",
            "style",
            "style_timing",
            "selection",
            "selection_fitted",
            "selection_sector",
        ] {
            assert_eq!(parts[part], Value::Null, "{agent}: {part}");
        }
        assert_eq!(
            (&parts["styles"], &row["curves"]["selection"]),
            (&json!([]), &json!([]))
        );
        assert!(parts["unattributed"].is_number() && !row["curves"]["other"].as_array().unwrap().is_empty());
    }
    // What was not split is no figure, at the width that is asked for: all of it is unattributed.
    let narrow = command(folder.path(), &["leaderboard", "out", "--replicates", "200"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert_ok(&narrow);
    let text = String::from_utf8(narrow.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (ranking, split) = text.split_once("Table 5").unwrap();
    for (table, heads) in [
        (ranking, ["bp a day", "return"]),
        (split, ["selection", "unattributed"]),
    ] {
        let head = table
            .lines()
            .find(|line| line.starts_with("agent") || line.starts_with("alpha-rk"));
        assert!(heads.iter().all(|name| head.unwrap().contains(name)), "{table}");
        let own = table.lines().find(|line| line.contains("equal-weight")).unwrap();
        assert!(
            own.contains("n/a1") && !own.contains("+0.00 %  +0.00 %  +0.00 %"),
            "{own}"
        );
        assert!(
            table.contains("n/a1: no day could be fitted: all of it is unattributed"),
            "{table}"
        );
    }
}

/// Alone it is first, and of the first nothing is said that notes deny.
fn first_line_says_what_the_notes_say(folder: &Folder) {
    let cell = "out/cells/equal-weight__w__bright-exact__memory-only__s1";
    let board = ["leaderboard", cell, "--replicates", "40", "--out", "alone"];
    assert_ok(&quiet(folder.path(), &board));
    let report = folder.text("alone/report.md");
    assert!(report.contains("of which nothing is concluded"), "{report}");
    assert!(!report.contains("above what luck gives"), "{report}");
}

#[test]
fn controls_and_books_without_a_position_have_no_rank() {
    let folder = Folder::new();
    folder.write("idle.sh", IDLE);
    run(folder.path(), "out", EXPERIMENT);
    let board = board(folder.path(), &["out"]);
    let track = track(&board, "w", "bright");
    for agent in ["cheater", "schema-breaker", "hold", "probe"] {
        let row = leader(track, agent);
        assert_eq!(row["cohort"], "control", "{agent}");
        assert_eq!(
            (&row["alpha_rank"], &row["return_rank"], &row["selection"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        assert_eq!(row["unranked_reason"], Value::Null, "{agent}");
    }
    for (agent, cohort) in [("idle", "model"), ("unnamed", "outside")] {
        let row = leader(track, agent);
        assert_eq!(
            (&row["cohort"], &row["alpha_rank"]),
            (&json!(cohort), &Value::Null),
            "{agent}"
        );
        assert_eq!(row["unranked_reason"], "held nothing", "{agent}");
        assert_eq!(row["boxed"], false, "{agent}");
    }
    // Nobody but those that hold something and decide often is in the pairs and the families of tests.
    let mut separated: Vec<&str> = track["separation"]["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    separated.sort_unstable();
    assert_eq!(separated, ["random"]);
    let bought_once = leader(track, "equal-weight");
    assert!(bought_once["selection"]["a_day"].is_number() && bought_once["rank_interval"].is_null());
    assert!(
        track["notes"]
            .to_string()
            .contains("in no group and no test: equal-weight"),
        "{}",
        track["notes"]
    );
    first_line_says_what_the_notes_say(&folder);
    assert_eq!(track["trials"], 4, "two that hold, two idle ones; no control");
    let order: Vec<&str> = track["leaders"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["cohort"].as_str())
        .collect();
    assert_eq!(
        order,
        [
            "builtin",
            "builtin",
            "model",
            "outside",
            "control",
            "control",
            "control",
            "control",
            "reference",
            "reference",
            "reference"
        ]
    );
}

/// Ranks hold under a declared family of settings, or are marked.
#[test]
fn intervals_of_ranks_span_the_family_of_settings() {
    let board = board(super::scene(), &["out"]);
    // A window of one day has nothing to resample.
    let tracks = board["tracks"].as_array().unwrap().iter();
    let tracks: Vec<&Value> = tracks.filter(|track| track["separation"].is_object()).collect();
    assert_eq!(tracks.len(), 2);
    for track in tracks {
        let separation = &track["separation"];
        let settings = separation["settings"].as_array().unwrap();
        assert_eq!(settings.len(), 11, "all members but the default: {settings:?}");
        let agents: Vec<&str> = separation["agents"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let place = |agent: &Value| agents.iter().position(|own| agent == own).unwrap();
        for pair in separation["turned"].as_array().unwrap() {
            let (above, below) = (place(&pair["above"]), place(&pair["below"]));
            assert_eq!(separation["open"][above][below], true, "{pair}");
        }
        for agent in &agents {
            let row = leader(track, agent);
            let ends = |key: &str| {
                (
                    row[key]["low"].as_u64().unwrap(),
                    row[key]["high"].as_u64().unwrap(),
                )
            };
            let (all, default) = (ends("rank_interval"), ends("rank_interval_default"));
            assert!(
                all.0 <= default.0 && default.1 <= all.1,
                "{agent}: {all:?} {default:?}"
            );
            assert!(0.0 < row["selection"]["independent_decisions"].as_f64().unwrap());
        }
    }
    let contrasts = board["contrasts"].as_array().unwrap();
    for metric in ["total_return", "selection", "abstention", "turnover"] {
        let mut agents: Vec<&str> = contrasts
            .iter()
            .filter(|contrast| contrast["metric"] == metric)
            .filter_map(|contrast| contrast["agent"].as_str())
            .collect();
        agents.sort_unstable();
        assert_eq!(agents, ["equal-weight", "random"], "{metric}: no control");
    }
}
