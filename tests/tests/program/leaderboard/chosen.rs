//! What somebody chose: windows that are left out, and episodes that were put beside others.

use super::*;

#[test]
fn what_was_left_out_and_what_was_put_there_is_told() {
    let folder = Folder::new();
    let root = folder.path();
    // Modes and masks have keys of their own in one run.
    let experiment = EXPERIMENT
        .replace("[\"memory-only\"]", "[\"memory-only\", \"fixed-candidate\"]")
        .replace(
            "{ level = \"blinded\" }]",
            "{ level = \"blinded\" }, { level = \"blinded\", numeric = \"banded-5\" }]",
        );
    assert!(experiment.contains("fixed-candidate") && experiment.contains("banded-5"));
    run(root, "out", &experiment);
    let notes = |arguments: &[&str]| {
        let board = board(root, arguments);
        let notes = board["notes"].as_array().unwrap();
        let notes: Vec<&str> = notes.iter().map(|note| note.as_str().unwrap()).collect();
        notes.join("\n")
    };
    let whole = notes(&["out"]);
    for part in ["not shown", "not made in one run", "no unit of the study"] {
        assert!(!whole.contains(part), "{whole}");
    }
    let part = notes(&["out", "--window", "long", "--agent", "hold", "--agent", "random"]);
    let left_out = part
        .lines()
        .find(|note| note.contains("on disk and not shown"))
        .unwrap();
    assert!(
        left_out.contains("windows day") && left_out.contains("agents cheater"),
        "{left_out}"
    );
    // An episode of another run of the same experiment, under an agent that this one never had.
    let guest: Vec<String> = experiment
        .lines()
        .filter(|line| !line.starts_with("    { id") || line.contains("\"random\""))
        .map(|line| line.replace("id = \"random\"", "id = \"guest\""))
        .collect();
    let guest = guest.join("\n").replace(", { id = \"day\", last_days = 1 }", "");
    assert!(
        guest.matches("id = ").count() == 2,
        "an agent and a window: {guest}"
    );
    std::fs::write(root.join("try.toml"), guest).unwrap();
    std::fs::write(root.join("key"), ktd_kit::OTHER_MASK_KEY).unwrap();
    assert_ok(&quiet(root, &["run", "try.toml", "--out", "second"]));
    for entry in std::fs::read_dir(root.join("second/cells")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("guest__long__") {
            ktd_kit::copy(&path, &root.join("out/cells").join(name));
        }
    }
    let both = notes(&["out"]);
    for part in [
        "not made in one run with the episodes beside them",
        "guest on long ",
        "ranked though no unit of the study in whose folder they lie names them",
    ] {
        assert!(both.contains(part), "{part}: {both}");
    }
    // The pages of a study are its own.
    let error = refused(&quiet(root, &["leaderboard", "second", "--out", "second"]));
    assert!(
        error.contains("second holds a study") && error.contains("--out second/board"),
        "{error}"
    );
}
