//! A season over windows that nobody knows: two labs share a secret and a number of a third, run, rank, publish, open.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

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
masks = [{{ level = "blinded", numeric = "ranked" }}]
modes = ["memory-only"]
windows = {{ draw = {draw}, days = 12, from = "2023-03-01", until = "2024-08-30"{more} }}
agents = [{agents}]
"#
    )
}

fn own(id: &str, pick: usize) -> String {
    let model = |id: &str| {
        format!(
            r#"{{ id = "{id}", command = ["sh", "agent.sh"], pass_env = ["PICK"], cohort = "language-model" }}"#
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

#[test]
fn two_labs_run_windows_that_nobody_knows_and_open_them_together() {
    let folder = Folder::new();
    folder.write("agent.sh", AGENT);
    folder.write("season.key", ktd_kit::MASK_KEY);
    for key in ["a.pem", "b.pem", "third.pem"] {
        assert_ok(&quiet(folder.path(), &["certify", "--new-key", key]));
    }
    let write =
        |file: &str, agents: &str, draw: usize, more: &str| folder.write(file, season(agents, draw, more));

    // What is committed to goes to a third, whose number comes back; a draw that it was not drawn for is refused.
    write("open.toml", &own("one", 1), 3, "");
    assert_ok(&quiet(
        folder.path(),
        &["windows", "open.toml", "--commit", "commitment.json"],
    ));
    let number = [
        "windows",
        "--number-for",
        "commitment.json",
        "--key",
        "third.pem",
        "--out",
        "number.json",
    ];
    assert_ok(&quiet(folder.path(), &number));
    let nonce = ", nonce = \"number.json\"";
    let with_oracle = format!("{}, {{ id = \"seer\", control = \"oracle\" }}", own("one", 1));
    write("a.toml", &with_oracle, 3, nonce);
    write("b.toml", &own("two", 2), 3, nonce);
    let longer = folder.text("a.toml").replace("days = 12", "days = 13");
    folder.write("longer.toml", longer);
    let told = refused(
        &quiet(folder.path(), &["run", "longer.toml", "--out", "longer"]),
        2,
    );
    assert!(
        told.contains("this number is of another key, length or span"),
        "{told}"
    );

    run(&folder, "a.toml", 1);
    let played = days(&folder.at("results/a.toml/season"));
    assert_eq!(played.len(), 3);
    let own_cell = bundle(&folder.at("results/a.toml/season/cells"), "one__d01-");
    let header = json_of(&own_cell.join("header.json"));
    assert_eq!(
        (&header["window"]["dates"], &header["window"]["draw"]["place"]),
        (&Value::Null, &json!(1))
    );

    // A control that decides with real codes has nothing outside of private/, and its owner finds it there.
    let sealed = bundle(&folder.at("results/a.toml/season/private/cells"), "seer__d01-");
    assert!(sealed.join("summary.json").is_file());
    let sealed = sealed.to_str().unwrap();
    let public = std::fs::read_dir(folder.at("results/a.toml/season/cells")).unwrap();
    for cell in public {
        let name = cell.unwrap().file_name();
        assert!(!name.to_string_lossy().contains("seer"), "{name:?}");
    }
    assert_ok(&quiet(folder.path(), &["verify", sealed]));
    assert_ok(&quiet(folder.path(), &["replay", sealed]));
    run(&folder, "a.toml", 1);

    // Before they are opened a board has no day, no series and nobody whom everybody can run.
    let board = |results: &[&str], more: &[&str]| {
        let above = if more.is_empty() { "shown" } else { "private" };
        let out = format!("{above}/board-{}", results.len());
        let all = [&["leaderboard"], results, &["--out", &out], more].concat();
        let output = quiet(folder.path(), &all);
        assert_ok(&output);
        let page = folder.text(&format!("{out}/index.html"));
        let csv = std::fs::read_dir(folder.at(&out)).unwrap();
        let csv: String = csv
            .map(|file| std::fs::read(file.unwrap().path()).unwrap_or_default())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            json_of(&folder.at(&format!("{out}/leaderboard.json"))),
            page + &csv + &printed,
        )
    };
    let (closed, told) = board(&["results/a.toml/season"], &[]);
    assert!(
        !told.contains("2023-") && !told.contains("2024-") && !told.contains("pick1"),
        "{told}"
    );
    for (_, first, last) in &played {
        assert!(!told.contains(first.as_str()) && !told.contains(last.as_str()));
    }
    let track = &closed["tracks"][0];
    assert_eq!(
        (&track["dates"][0], &track["benchmark"]),
        (&json!("day 1"), &json!([]))
    );
    assert_eq!(track["leaders"].as_array().unwrap().len(), 2);
    let pooled = &closed["pooled"][0];
    assert_eq!(
        (&pooled["windows"][0]["first"], &pooled["rows"][0]["by_window"][0]),
        (&json!(""), &Value::Null)
    );
    let selected = track["leaders"][0]["selection"]["value"].as_f64().unwrap();
    let a_day = selected / 12.0 * 1e4;
    assert!(
        (a_day - a_day.round()).abs() < 1e-6,
        "whole basis points: {a_day}"
    );
    assert!(track["leaders"][0]["curves"].is_null() && track["leaders"][0]["attribution"].is_null());
    let told = refused(
        &quiet(
            folder.path(),
            &[
                "leaderboard",
                "results/a.toml/season",
                "--real",
                "--out",
                "shown/real",
            ],
        ),
        2,
    );
    assert!(
        told.contains("write it below a folder called `private`"),
        "{told}"
    );
    let (real, _) = board(&["results/a.toml/season"], &["--real"]);
    let signer = ktd_record::signing::PublicKey::read(&folder.at("third.pem"))
        .unwrap()
        .fingerprint();
    assert_eq!(real["tracks"][0]["window_mark"], json!({ "drawn_with": signer }));
    assert!(real["tracks"][0]["dates"][0].as_str().unwrap().starts_with("20"));
    let rows = real["tracks"][0]["leaders"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["agent"] == "seer"),
        "the owner's board has its controls"
    );

    // A further window moves none; those of both labs are the same.
    write("b.toml", &own("two", 2), 4, nonce);
    run(&folder, "b.toml", 2);
    let other = days(&folder.at("results/b.toml/season"));
    assert!(
        other.len() == 4 && other.is_superset(&played),
        "{other:?} {played:?}"
    );

    // Nobody opens the windows while somebody plays one of them under another mask key.
    let others = folder.at("results/b.toml/season/cells");
    let unfinished = bundle(&others, "two__d04-").join("summary.json");
    let summary = std::fs::read(&unfinished).unwrap();
    std::fs::remove_file(&unfinished).unwrap();
    let publish = |file: &str, key: &str, out: &str| {
        let results = format!("results/{file}/season");
        quiet(
            folder.path(),
            &["publish", &results, "--key", key, "--out", out, "--open-mask"],
        )
    };
    let cell = bundle(&others, "two__d01-");
    let cell = cell.to_str().unwrap();
    let told = refused(
        &quiet(
            folder.path(),
            &["publish", cell, "--key", "b.pem", "--out", "early", "--open-mask"],
        ),
        2,
    );
    assert!(told.contains("its window is of the same draw"), "{told}");
    std::fs::write(&unfinished, summary).unwrap();
    assert_ok(&publish("a.toml", "a.pem", "public-a"));
    let opened = bundle(&folder.at("public-a/season/cells"), "seer__d01-");
    assert!(opened.join("events.jsonl").is_file(), "opened with its mask");
    assert_ok(&publish("b.toml", "b.pem", "public-b"));
    for public in ["public-a", "public-b"] {
        assert_ok(&quiet(folder.path(), &["verify", public]));
    }
    let (opened, told) = board(&["public-a", "public-b"], &[]);
    assert!(
        opened["tracks"][0]["dates"][0]
            .as_str()
            .unwrap()
            .starts_with("20")
    );
    assert!(told.contains("window drawn with a number of"), "{told}");
    // One lab's publication opens the windows of both.
    let (mixed, _) = board(&["public-a", "results/b.toml/season"], &[]);
    assert!(
        mixed["tracks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|track| !track["leaders"].as_array().unwrap().is_empty())
    );
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
