//! What a row is made of: one agent under one name, each seed once; and what counts as a trial.

use super::*;
use ktd_board::sheet::TableKind;

/// The scene's experiment with other lines, run in a directory of its own.
fn other(folder: &Path, replaced: &[(&str, &str)]) -> String {
    let experiment = replaced.iter().fold(EXPERIMENT.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    run(folder, "other", &experiment);
    folder.join("other").to_str().unwrap().to_owned()
}

const CHEATER: &str = "    { id = \"cheater\", builtin = \"cheater\" },\n";
const RANDOM: &str = "    { id = \"random\", builtin = \"random\" },\n";
const ORACLE: &str = "    { id = \"oracle\", control = \"oracle\" },\n";
const SEEDS: (&str, &str) = ("[1, 2]", "[3]");

#[test]
fn a_seed_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let copy = copied(folder.path());
    let copy = copy.to_str().unwrap();
    let said = refused(&quiet(scene(), &["leaderboard", "out", copy]));
    assert!(
        said.contains("are both seed 1 of \"random\" on window \"long\"") && said.contains("hint:"),
        "{said}"
    );
    // A board without that agent is not touched by it.
    assert_ok(&quiet(scene(), &["leaderboard", "out", copy, "--agent", "hold"]));
    let once = quiet(scene(), &["leaderboard", "out", "--json"]);
    let again = quiet(
        scene(),
        &["leaderboard", "out", "./out/cells", "out/../out", "--json"],
    );
    assert_eq!(
        once.stdout, again.stdout,
        "other spellings of a path are the same bundles"
    );
}

#[test]
fn one_name_is_one_agent() {
    let folder = tempfile::tempdir().unwrap();
    let replaced = [
        SEEDS,
        (CHEATER, ""),
        (ORACLE, ""),
        (RANDOM, "    { id = \"random\", control = \"oracle\" },\n"),
    ];
    let other = other(folder.path(), &replaced);
    let said = refused(&quiet(scene(), &["leaderboard", "out", &other]));
    assert!(
        said.contains("agent \"random\" is not the same in") && said.contains("its kind differs"),
        "{said}"
    );
}

#[test]
fn one_window_is_the_same_days() {
    let folder = tempfile::tempdir().unwrap();
    let other = other(folder.path(), &[SEEDS, ("last_days = 43", "last_days = 42")]);
    let said = refused(&quiet(scene(), &["leaderboard", "out", &other]));
    assert!(said.contains("window \"long\" is not the same days in"), "{said}");
    assert_ok(&quiet(
        scene(),
        &["leaderboard", "out", &other, "--window", "day"],
    ));
}

#[test]
fn a_branch_is_not_ranked_and_counts_as_a_trial() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = copied(folder.path());
    assert_ok(&quiet(
        folder.path(),
        &[
            "replay",
            bundle.to_str().unwrap(),
            "--branch",
            "5",
            "--builtin",
            "equal-weight",
            "--out",
            "branch",
        ],
    ));
    let board = board(folder.path(), &["bundle", "branch"]);
    let track = track(&board, "long", "bright");
    assert_eq!(track["trials"], 2);
    assert!(
        track["leaders"]
            .as_array()
            .unwrap()
            .iter()
            .all(|leader| leader["agent"] != "equal-weight")
    );
    assert!(
        board["notes"].to_string().contains("branches are not ranked"),
        "{}",
        board["notes"]
    );
    let said = refused(&quiet(folder.path(), &["leaderboard", "branch"]));
    assert!(said.contains("a branch of an episode is not ranked"), "{said}");
}

#[test]
fn luck_is_no_narrower_for_seeds_that_traded_alike() {
    let folder = tempfile::tempdir().unwrap();
    let name = "equal-weight__long__bright-exact__memory-only__s1";
    copy(&scene().join("out/cells").join(name), &folder.path().join(name));
    let (both, one) = (board(scene(), &["out"]), board(folder.path(), &[name]));
    let of = |board: &Value| {
        let leader = leader(track(board, "long", "bright"), "equal-weight").clone();
        (
            leader["selection"]["a_day"].clone(),
            leader["selection"]["null_band"].clone(),
        )
    };
    assert!(of(&one).1.is_object());
    assert_eq!(of(&both), of(&one));
}

#[test]
fn twins_are_tied_with_each_other() {
    const RANDOM: &str = "    { id = \"random\", builtin = \"random\" },\n";
    let folder = tempfile::tempdir().unwrap();
    let twin = format!("{RANDOM}{}", RANDOM.replacen("random", "twin", 1));
    let replaced = [(CHEATER, ""), (ORACLE, ""), (RANDOM, twin.as_str())];
    let other = other(folder.path(), &replaced);
    let board = board(folder.path(), &[&other]);
    let track = track(&board, "long", "bright");
    let agents = track["separation"]["agents"].as_array().unwrap();
    let place = |agent: &str| agents.iter().position(|own| own == agent).unwrap();
    assert_eq!(
        track["separation"]["win_share"][place("twin")][place("random")],
        0.5
    );
    let rank = |agent: &str| leader(track, agent)["alpha_rank"].clone();
    assert_eq!(rank("twin"), rank("random"));
    let arguments = [
        "--table", "ranking", "--wide", "--window", "long", "--mask", "bright",
    ];
    let text = quiet(
        folder.path(),
        &[&["leaderboard", &other], &arguments[..]].concat(),
    );
    let text = String::from_utf8(text.stdout).unwrap();
    let row = text.lines().find(|line| line.contains(" twin ")).unwrap();
    let tied = row.split_whitespace().nth(2).unwrap();
    let own = rank("twin").to_string();
    assert!(
        tied.split(',').any(|other| other == own),
        "it is tied with its twin, whose rank is its own: {row}"
    );
}

#[test]
fn what_nobody_has_is_told_apart_from_what_is_empty() {
    for (option, asked, known) in [
        ("--agent", "rando", "cheater, equal-weight, hold, oracle, random"),
        ("--window", "W1", "day, long"),
        ("--mode", "open-research", "memory-only"),
        ("--mask", "date-blind", "blinded, bright"),
    ] {
        let said = refused(&quiet(scene(), &["leaderboard", "out", option, asked]));
        assert!(
            said.contains(asked) && said.contains(&format!("use one of: {known}")),
            "{said}"
        );
    }
}

#[test]
fn who_tries_other_rules_beside_has_tried() {
    let folder = tempfile::tempdir().unwrap();
    copied(folder.path());
    let of_other_rules = tempfile::tempdir().unwrap();
    let replaced = [SEEDS, ("windows", "rules = { buy_bps = 6 }\nwindows")];
    let other = other(of_other_rules.path(), &replaced);
    copy(
        &Path::new(&other).join("cells/random__long__blinded-exact__memory-only__s3"),
        &folder.path().join("beside"),
    );
    let broken = copy(&folder.path().join("bundle"), &folder.path().join("broken"));
    std::fs::write(broken.join("header.json"), "{}").unwrap();
    let board = board(folder.path(), &["bundle"]);
    assert_eq!(track(&board, "long", "bright")["trials"], 2);
    assert!(
        board["notes"].to_string().contains("not counted as a trial"),
        "{}",
        board["notes"]
    );
    // What is wrong in the private part of a masked neighbour is not told on a page: it may name a day.
    let ledger = folder.path().join("beside/private/ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    let (_, after) = text.split_once("\"date\":\"").unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&ledger, format!("{kept}\n")).unwrap();
    let notes = self::board(folder.path(), &["bundle"])["notes"].to_string();
    assert!(notes.contains("no account follows from its record"), "{notes}");
    assert!(
        !notes.contains(&after[..5]) && !notes.contains("ledger.jsonl"),
        "{notes}"
    );
}

#[test]
fn rows_that_lack_seeds_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let cells = scene().join("out/cells");
    for name in [
        "random__long__bright-exact__memory-only__s1",
        "random__long__bright-exact__memory-only__s2",
        "random__long__blinded-exact__memory-only__s1",
    ] {
        copy(&cells.join(name), &folder.path().join("cells").join(name));
    }
    let board = board(folder.path(), &["cells"]);
    let notes = board["notes"].to_string();
    assert!(
        notes.contains("elsewhere: random on long blinded/exact memory-only (1 of 2)"),
        "{notes}"
    );
}

#[test]
fn tables_of_an_earlier_board_do_not_stay() {
    let out = tempfile::tempdir().unwrap();
    let to = out.path().to_str().unwrap();
    assert_ok(&quiet(scene(), &["leaderboard", "out", "--out", to]));
    let tables = out.path().join("tables");
    std::fs::write(tables.join("own.csv"), "kept").unwrap();
    let count = |part: &str| {
        let entries = std::fs::read_dir(&tables).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(part)).count()
    };
    let written = 2 * TableKind::ALL
        .into_iter()
        .filter(|kind| kind.is_per_track())
        .count();
    assert_eq!((count("_long_"), count("_day_")), (written, written));
    assert_ok(&quiet(
        scene(),
        &["leaderboard", "out", "--out", to, "--window", "day"],
    ));
    assert_eq!(
        (count("_long_"), count("_day_"), count("own.csv")),
        (0, written, 1)
    );
}
