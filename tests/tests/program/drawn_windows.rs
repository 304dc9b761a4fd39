//! A season over windows that nobody knows: two labs share a secret and a number of a third, run, rank, publish, open.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, assert_ok, copy, quiet, refused};
use ktd_record::signing::PublicKey;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// Buys another one of what it sees each day: nobody who lacks this program can make its decisions again.
const AGENT: &str = r#"
while read -r line; do
case $line in
  *'"type":"end"'*) exit 0 ;;
  *'"phase":"research"'*) echo '{"type":"say","text":"on"}' ;;
  *) id=$(printf '%s' "$line" | grep -o 'asset_[0-9]*' | tail -n "$((PICK + count))" | head -n 1)
     count=$((count + 1))
     echo "{\"type\":\"call\",\"name\":\"submit_action\",\"arguments\":{\"orders\":[{\"stock_id\":\"${id:-asset_0001}\",\"side\":\"BUY\",\"target_weight\":0.05,\"confidence\":0.5,\"reason\":\"a name near the end of the list\"}],\"overall_reason\":\"a name near the end of the list\"}}" ;;
esac
done
"#;

fn season(agents: &str, draw: usize, more: &str) -> String {
    format!(
        r#"
name = "season"
synthetic = {{ seed = 5, names = 90, days = 700 }}
mask_key_file = "season.key"
masks = [{{ level = "blinded", numeric = "banded-5" }}]
modes = ["memory-only"]
windows = {{ draw = {draw}, days = 12, from = "2023-03-01", until = "2024-08-30"{more} }}
agents = [{agents}]
"#
    )
}

fn own(id: &str, pick: usize) -> String {
    let model = |id: &str| {
        format!(
            r#"{{ id = "{id}", command = ["sh", "agent.sh"], unboxed = true, pass_env = ["PICK"], cohort = "language-model" }}"#
        )
    };
    let twin = format!("{id}-twin");
    format!(
        r#"{}, {}, {{ id = "pick{pick}", builtin = "momentum" }}"#,
        model(id),
        model(&twin)
    )
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Days of each cell, by its window.
fn days(results: &Path) -> BTreeSet<(String, String, String)> {
    let cells = std::fs::read_dir(results.join("cells")).unwrap();
    cells
        .map(|cell| {
            let cell = cell.unwrap().path();
            let private = json_of(&cell.join("private/episode.json"));
            let header = json_of(&cell.join("header.json"));
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (
                text(&header["window"]["id"]),
                text(&private["first_day"]),
                text(&private["last_day"]),
            )
        })
        .collect()
}

/// The bundle below a folder whose name begins so.
fn bundle(folder: &Path, begins: &str) -> std::path::PathBuf {
    let found = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found = found.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(begins));
    found.next().unwrap()
}

fn run(folder: &Folder, file: &str, pick: usize) {
    let mut command = ktd_kit::command(
        folder.path(),
        &["--quiet", "run", file, "--out", &format!("results/{file}/season")],
    );
    assert_ok(&command.env("PICK", pick.to_string()).output().unwrap());
}

/// What was given away is not taken back, so nobody commits to windows that the span cannot hold.
#[test]
fn nothing_is_committed_to_that_cannot_be_drawn() {
    let folder = Folder::new();
    folder.write("season.key", ktd_kit::MASK_KEY);
    folder.write("s.toml", season("{ id = \"h\", builtin = \"hold\" }", 40, ""));
    let commit = ["windows", "s.toml", "--commit", "commitment.json"];
    let told = refused(&quiet(folder.path(), &commit), 2);
    assert!(
        told.contains("windows") && told.contains("trading days"),
        "{told}"
    );
    assert!(!folder.at("commitment.json").exists());
}

/// A season: what is committed to went to a third, whose number came back; lab A has played ten windows, lab B eleven.
fn played() -> &'static Folder {
    static SEASON: OnceLock<Folder> = OnceLock::new();
    SEASON.get_or_init(|| {
        let folder = Folder::new();
        folder.write("agent.sh", AGENT);
        folder.write("season.key", ktd_kit::MASK_KEY);
        for key in ["a.pem", "b.pem", "third.pem"] {
            assert_ok(&quiet(folder.path(), &["certify", "--new-key", key]));
        }
        folder.write("open.toml", season(&own("one", 1), 10, ""));
        let commit = ["windows", "open.toml", "--commit", "commitment.json"];
        assert_ok(&quiet(folder.path(), &commit));
        let number = ["windows", "--number-for", "commitment.json"];
        let number = [&number[..], &["--key", "third.pem", "--out", "number.json"]].concat();
        assert_ok(&quiet(folder.path(), &number));
        let nonce = ", nonce = \"number.json\"";
        // What is of another draw is refused before anything runs, and is told when it is shown.
        folder.write(
            "other.toml",
            season(&own("one", 1), 10, nonce).replace("2024-08-30", "2024-08-29"),
        );
        let told = refused(&quiet(folder.path(), &["windows", "other.toml"]), 2);
        assert!(told.contains("of another key, length or span"), "{told}");
        let with_oracle = format!("{}, {{ id = \"seer\", control = \"oracle\" }}", own("one", 1));
        folder.write("a.toml", season(&with_oracle, 10, nonce));
        folder.write("b.toml", season(&own("two", 2), 11, nonce));
        run(&folder, "a.toml", 1);
        run(&folder, "b.toml", 2);
        folder
    })
}

/// A board of these results in a folder: its record, and every text of it.
fn board(results: &[&str], more: &[&str], out: &str) -> (Value, String) {
    let folder = played();
    let all = [&["leaderboard"], results, &["--out", out], more].concat();
    let output = quiet(folder.path(), &all);
    assert_ok(&output);
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let tables = std::fs::read_dir(folder.at(out).join("tables")).unwrap();
    let tables: String = tables.map(|file| read(&file.unwrap().path())).collect();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = folder.at(&format!("{out}/leaderboard.json"));
    let page = folder.text(&format!("{out}/index.html"));
    let told = [page, tables, printed, read(&record)].concat();
    (json_of(&record), told)
}

const LAB_A: &str = "results/a.toml/season";
const LAB_B: &str = "results/b.toml/season";

#[test]
fn a_further_window_moves_none_and_labs_play_the_same() {
    let (a, b) = (days(&played().at(LAB_A)), days(&played().at(LAB_B)));
    assert_eq!((a.len(), b.len()), (10, 11));
    assert!(b.is_superset(&a), "{b:?} {a:?}");
    let own_cell = bundle(&played().at(LAB_A).join("cells"), "one__d01-");
    let window = &json_of(&own_cell.join("header.json"))["window"];
    assert_eq!(
        (&window["dates"], &window["draw"]["place"]),
        (&Value::Null, &json!(1))
    );
    // A number is of one length, span and key.
    let longer = played().text("a.toml").replace("days = 12", "days = 13");
    played().write("longer.toml", longer);
    let told = refused(
        &quiet(played().path(), &["run", "longer.toml", "--out", "longer"]),
        2,
    );
    assert!(
        told.contains("this number is of another key, length or span"),
        "{told}"
    );
}

#[test]
fn a_control_that_knows_has_nothing_outside_of_private() {
    let sealed = bundle(&played().at(LAB_A).join("private/cells"), "seer__d01-");
    assert!(sealed.join("summary.json").is_file());
    for cell in std::fs::read_dir(played().at(LAB_A).join("cells")).unwrap() {
        let name = cell.unwrap().file_name();
        assert!(!name.to_string_lossy().contains("seer"), "{name:?}");
    }
    let sealed = sealed.to_str().unwrap();
    assert_ok(&quiet(played().path(), &["verify", sealed]));
    assert_ok(&quiet(played().path(), &["replay", sealed]));
}

#[test]
fn a_closed_board_has_no_day_no_series_and_nobody_whom_all_can_run() {
    let (closed, told) = board(&[LAB_A], &[], "shown/closed");
    for hidden in ["2023-", "2024-", "pick1", "seer"] {
        assert!(!told.contains(hidden), "{hidden}: {told}");
    }
    for (_, first, last) in days(&played().at(LAB_A)) {
        assert!(!told.contains(&first) && !told.contains(&last));
    }
    let track = &closed["tracks"][0];
    assert_eq!(
        (&track["dates"][0], &track["benchmark"], &track["separation"]),
        (&json!("day 1"), &json!([]), &Value::Null)
    );
    // Of one window nothing that hangs on its prices, not even an order.
    let leaders = track["leaders"].as_array().unwrap();
    assert_eq!((&leaders[0]["agent"], leaders.len()), (&json!("one"), 2));
    for of_prices in [
        "curves",
        "attribution",
        "selection",
        "alpha_rank",
        "return_rank",
        "rank_interval",
    ] {
        assert!(leaders.iter().all(|row| row[of_prices].is_null()), "{of_prices}");
    }
    let pooled = &closed["pooled"][0];
    let best = &pooled["rows"][0];
    assert_eq!(
        (
            &pooled["windows"][0]["first"],
            &best["by_window"][0],
            &best["rank"]
        ),
        (&json!(""), &Value::Null, &json!(1))
    );
    let points = best["selection_a_day"].as_f64().unwrap() * 1e4;
    assert!((points - points.round()).abs() < 1e-6, "{points}");
    let alone = track["window"].as_str().unwrap();
    let (fewer, _) = board(&[LAB_A], &["--window", alone], "shown/fewer");
    assert_eq!(fewer["pooled"], json!([]));
}

#[test]
fn the_owners_board_is_whole_and_lies_below_private_alone() {
    let elsewhere = ["leaderboard", LAB_A, "--real", "--out", "shown/real"];
    for out in ["shown/real", "private/../shown/real"] {
        let [ranks, results, real, to, _] = elsewhere;
        let told = refused(&quiet(played().path(), &[ranks, results, real, to, out]), 2);
        assert!(
            told.contains("write it below a folder called `private`"),
            "{told}"
        );
    }
    let (real, _) = board(&[LAB_A], &["--real"], "private/real");
    let track = &real["tracks"][0];
    let third = PublicKey::read(&played().at("third.pem.pub"))
        .unwrap()
        .fingerprint();
    assert_eq!(track["window_mark"], json!({ "drawn_with": third }));
    assert!(track["dates"][0].as_str().unwrap().starts_with("20"));
    let rows = track["leaders"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["agent"] == "seer"), "with its controls");
}

/// What two boards, an arm that shows days, or a branch would tell of a closed window.
#[test]
fn closed_windows_stay_closed_beside_others() {
    let listed = season(&own("one", 1), 10, "");
    let listed = listed.lines().map(|line| {
        if line.starts_with("windows") {
            "windows = [{ id = \"P1\", start = \"2023-06-01\", end = \"2023-06-30\" }]"
        } else {
            line
        }
    });
    let listed: Vec<&str> = listed.collect();
    played().write("listed.toml", listed.join("\n"));
    run(played(), "listed.toml", 1);
    let beside = [
        "leaderboard",
        LAB_A,
        "results/listed.toml/season",
        "--out",
        "shown/beside",
    ];
    let told = refused(&quiet(played().path(), &beside), 2);
    assert!(told.contains("would tell where they lie"), "{told}");

    let sealed = bundle(&played().at(LAB_A).join("private/cells"), "seer__d01-");
    let branch = [
        "replay",
        sealed.to_str().unwrap(),
        "--branch",
        "6",
        "--builtin",
        "hold",
    ];
    let elsewhere = [&branch[..], &["--out", "branch"]].concat();
    let told = refused(&quiet(played().path(), &elsewhere), 2);
    assert!(told.contains("would tell them by its orders"), "{told}");

    let bright = season(
        "{ id = \"h\", builtin = \"hold\" }",
        1,
        ", nonce = \"number.json\"",
    );
    let bright = bright.replace(
        "level = \"blinded\", numeric = \"banded-5\"",
        "level = \"bright\"",
    );
    played().write("bright.toml", bright);
    assert_ok(&quiet(
        played().path(),
        &["run", "bright.toml", "--out", "bright"],
    ));
    let publish = ["publish", "bright", "--key", "a.pem", "--out", "public-bright"];
    let told = refused(&quiet(played().path(), &publish), 2);
    assert!(told.contains("--open-mask"), "{told}");
    let (both, _) = board(&[LAB_A, "bright"], &[], "shown/bright");
    let tracks = both["tracks"].as_array().unwrap();
    let masked = tracks.iter().find(|track| track["level"] == "blinded").unwrap();
    assert_eq!(masked["window_mark"], "public", "an arm elsewhere tells its days");
}

/// Nobody opens the windows while somebody plays one of them under another mask key.
#[test]
fn no_window_is_opened_while_another_of_its_draw_is_played() {
    let folder = Folder::new();
    copy(&played().at(LAB_B), &folder.at("results/season"));
    std::fs::copy(played().at("b.pem"), folder.at("key.pem")).unwrap();
    let cells = folder.at("results/season/cells");
    std::fs::remove_file(bundle(&cells, "two__d04-").join("summary.json")).unwrap();
    let cell = bundle(&cells, "two__d01-");
    let publish = [
        "publish",
        cell.to_str().unwrap(),
        "--key",
        "key.pem",
        "--out",
        "early",
        "--open-mask",
    ];
    let told = refused(&quiet(folder.path(), &publish), 2);
    assert!(told.contains("its window is of the same draw"), "{told}");
}

#[test]
fn labs_open_their_windows_together_and_are_ranked() {
    for (results, key, out) in [(LAB_A, "a.pem", "public-a"), (LAB_B, "b.pem", "public-b")] {
        let publish = ["publish", results, "--key", key, "--out", out, "--open-mask"];
        assert_ok(&quiet(played().path(), &publish));
        let verified = quiet(played().path(), &["verify", out]);
        assert_ok(&verified);
        let told = String::from_utf8(verified.stdout).unwrap();
        let third = PublicKey::read(&played().at("third.pem.pub"))
            .unwrap()
            .fingerprint();
        assert!(
            told.contains("its days follow from the draw")
                && told.contains(&format!("that the key {third} signed")),
            "{told}"
        );
    }
    let opened = bundle(&played().at("public-a/season/cells"), "seer__d01-");
    assert!(opened.join("events.jsonl").is_file(), "opened with its mask");
    let (board_of_both, told) = board(&["public-a", "public-b"], &[], "shown/both");
    assert!(
        board_of_both["tracks"][0]["dates"][0]
            .as_str()
            .unwrap()
            .starts_with("20")
    );
    assert!(told.contains("window drawn with a number of"), "{told}");
    // One lab's publication opens the windows of both.
    let (mixed, _) = board(&["public-a", LAB_B], &[], "shown/mixed");
    let dates = &mixed["tracks"][0]["dates"][0];
    assert!(dates.as_str().unwrap().starts_with("20"), "{dates}");
}

/// Days that do not follow from the draw are found when the window is opened: nobody plays until the windows please.
#[test]
fn a_window_that_was_moved_is_found_when_it_is_opened() {
    let folder = Folder::new();
    assert_ok(&quiet(
        folder.path(),
        &["certify", "--new-mask-key", "season.key"],
    ));
    folder.write("s.toml", season("{ id = \"h\", builtin = \"hold\" }", 2, ""));
    assert_ok(&quiet(folder.path(), &["run", "s.toml", "--out", "o"]));
    let cell = |place: usize| bundle(&folder.at("o/cells"), &format!("h__d0{place}-"));
    let (own, other) = (
        json_of(&cell(1).join("private/episode.json")),
        json_of(&cell(2).join("private/episode.json")),
    );
    let moved = ktd_bundle::header::PrivateEpisode {
        mask_key: own["mask_key"].as_str().unwrap().to_owned(),
        first_day: other["first_day"].as_str().unwrap().to_owned(),
        last_day: other["last_day"].as_str().unwrap().to_owned(),
        window_key: own["window_key"].as_str().map(str::to_owned),
        panel: None,
        seal: String::new(),
    }
    .sealed();
    let mut bytes = serde_json::to_vec_pretty(&moved).unwrap();
    bytes.push(b'\n');
    std::fs::write(cell(1).join("private/episode.json"), bytes).unwrap();
    let path = cell(1);
    let told = refused(&quiet(folder.path(), &["verify", path.to_str().unwrap()]), 1);
    assert!(told.contains("not those that follow from the draw"), "{told}");
}
