//! Bad input gets a message that says what, where and how to fix it, exit code 2, and nothing is written over.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, Need, command, program};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 30, days = 330 }
masks = [{ level = "bright" }]
modes = ["fixed-candidate"]
agents = [{ id = "random", builtin = "random" }]
windows = [{ id = "w", last_days = 5 }]
"#;

const ROWS: &str = "\
date,symbol,open,high,low,close,volume
2024-04-01,SH600000,10.00,10.10,9.90,10.00,1000
2024-04-02,SH600000,10.00,10.10,9.90,10.05,1000
2024-04-03,SH600000,10.05,10.10,9.90,10.00,1000
";

/// A directory with something in it that must not be touched.
fn scene() -> Folder {
    let kept = "what stood here before";
    Folder::with(&[("try.toml", EXPERIMENT), ("rows.csv", ROWS), ("kept", kept)])
}

/// What `ktd ARGUMENTS` does, given in one line.
pub(crate) fn ktd(folder: &Folder, arguments: &str) -> Output {
    folder.ktd(&arguments.split_whitespace().collect::<Vec<_>>())
}

/// Runs a command that must refuse its input, told with all the parts, and leave every file as it was.
pub(crate) fn refused(folder: &Folder, arguments: &str, parts: &[&str]) {
    let before = folder.files();
    let output = ktd(folder, arguments);
    assert_refused(&output, arguments, parts);
    let after = folder.files();
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>(),
        "{arguments} wrote something"
    );
    assert!(before == after, "{arguments} changed a file");
    refused_in_json(folder, arguments, parts[0]);
}

/// Programs are told the same.
fn refused_in_json(folder: &Folder, arguments: &str, part: &str) {
    let output = ktd(folder, &format!("--json {arguments}"));
    let text = String::from_utf8(output.stderr).unwrap();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{arguments}: {error}: {text}");
    });
    assert_eq!(told["exit_code"], 2, "{told}");
    assert!(told["error"].as_str().unwrap().contains(part), "{told}");
    assert!(!told["hint"].as_str().unwrap_or_default().is_empty(), "{told}");
}

fn assert_refused(output: &Output, arguments: &str, parts: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {told}");
    for part in parts.iter().copied().chain(["error: ", "hint: "]) {
        assert!(told.contains(part), "{arguments} does not say {part:?}: {told}");
    }
    for word in ["panicked", "RUST_BACKTRACE", "unwrap", "Os {"] {
        assert!(!told.contains(word), "{arguments}: {told}");
    }
}

fn run_to(out: &str) -> String {
    format!("--quiet run try.toml --out {out}")
}

const IMPORT: &str = "data import rows.csv --out p.ktdp";

/// The panel of the rows.
fn imported(scene: &Folder) {
    let made = ktd(scene, IMPORT);
    assert!(made.status.success(), "{made:?}");
}

/// The experiment with something else in it.
fn refused_experiment(from: &str, to: &str, parts: &[&str]) {
    let scene = scene();
    assert!(EXPERIMENT.contains(from), "{from}");
    scene.write("try.toml", EXPERIMENT.replace(from, to));
    refused(&scene, &run_to("out"), parts);
}

#[test]
fn a_missing_panel() {
    let synthetic = "synthetic = { seed = 5, names = 30, days = 330 }";
    refused_experiment(
        synthetic,
        "panel = \"absent.ktdp\"",
        &["absent.ktdp", "No such file", "ktd data import"],
    );
    let scene = scene();
    let absent = &["absent.ktdp", "ktd data import"];
    refused(&scene, "data check absent.ktdp", absent);
    refused(&scene, "data import absent.csv --out p.ktdp", &["absent.csv"]);
    refused(&scene, "--quiet run absent.toml", &["absent.toml"]);
}

#[test]
fn an_unknown_command() {
    refused_in_json(&scene(), "data unknown", "unrecognized subcommand");
}

#[test]
fn what_is_no_panel_or_half_a_panel() {
    let scene = scene();
    imported(&scene);
    let bytes = scene.read("p.ktdp");
    scene.write("half.ktdp", &bytes[..bytes.len() / 2]);
    scene.write("cut.ktdp", &bytes[..bytes.len() - 9]);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    scene.write("flipped.ktdp", flipped);
    for (panel, part) in [
        ("half.ktdp", "half.ktdp"),
        ("cut.ktdp", "hash"),
        ("flipped.ktdp", "flipped.ktdp"),
        ("rows.csv", "not a ktd panel"),
    ] {
        refused(&scene, &format!("data check {panel}"), &[part, panel]);
    }
}

fn qlib(scene: &Folder, field: &str, values: &[u8]) {
    scene.write("q/calendars/day.txt", "2024-04-01\n2024-04-02\n");
    scene.write("q/instruments/all.txt", "SH600000\t2024-04-01\t2024-04-02\n");
    let words = |values: [f32; 3]| values.map(f32::to_le_bytes).concat();
    for name in ["open", "high", "low", "close", "volume", "factor"] {
        let value = if name == "factor" { 1.0 } else { 10.0 };
        scene.write(
            &format!("q/features/sh600000/{name}.day.bin"),
            words([0.0, value, value]),
        );
    }
    scene.write(&format!("q/features/sh600000/{field}.day.bin"), values);
}

#[test]
fn a_truncated_bin() {
    let scene = scene();
    let whole: Vec<u8> = [0.0_f32, 10.0, 10.0].map(f32::to_le_bytes).concat();
    let import = "data import q --basis adjusted --out p.ktdp";
    for cut in [11, 0] {
        qlib(&scene, "close", &whole[..cut]);
        refused(&scene, import, &["close.day.bin"]);
    }
    qlib(&scene, "close", &whole);
    let made = ktd(&scene, import);
    assert!(made.status.success(), "the fixture itself is good: {made:?}");
}

#[test]
fn rows_that_cannot_be() {
    let scene = scene();
    let day = "2024-04-02";
    for (from, to, parts) in [
        ("10.05,1000", "NaN,1000", ["row 3", "close"]),
        ("10.05,1000", "inf,1000", ["row 3", "close"]),
        ("10.05,1000", "-10.05,1000", ["row 3", "close"]),
        ("10.05,1000", "0.00,1000", ["row 3", "close"]),
        ("10.05,1000", "10.05,-1", ["row 3", "volume"]),
        (day, "2024-04-01", ["row 3: a second row", "row 2"]),
        (day, "2024-04-31", ["row 3", "2024-04-31"]),
        (day, "02.04.2024", ["row 3", "02.04.2024"]),
        ("02,SH600000", "02,XX600000", ["row 3", "XX600000"]),
        ("02,SH600000", "02,SH510300", ["row 3", "SH510300"]),
        ("9.90,10.05,1000", "9.90,10.05", ["row 3", "cells"]),
        ("close,volume", "close,vol", ["volume", "column"]),
        (ROWS, "", ["is empty", "first line"]),
        (ROWS, "PAR1 and then nothing", ["Parquet", "cut short"]),
    ] {
        assert!(ROWS.contains(from), "{from}");
        scene.write("rows.csv", ROWS.replace(from, to));
        refused(&scene, IMPORT, &[parts[0], parts[1], "rows.csv"]);
    }
    scene.write("rows.csv", ROWS.lines().next().unwrap());
    refused(&scene, IMPORT, &["no rows"]);
}

#[test]
fn unknown_and_impossible_keys() {
    for (from, to, parts) in [
        ("masks =", "mask =", vec!["try.toml", "mask", "line 4"]),
        ("seed = 5", "sead = 5", vec!["try.toml", "sead", "line 3"]),
        ("\"bright\"", "\"dim\"", vec!["dim", "blinded"]),
        ("fixed-candidate", "guess", vec!["guess", "open-research"]),
        (
            "builtin = \"random\"",
            "builtin = \"oracle\"",
            vec!["oracle", "momentum"],
        ),
        (
            "name = \"try\"",
            "name = \"try\"\nrules = { leverage = 2 }",
            vec!["try.toml", "leverage"],
        ),
        (
            "name = \"try\"",
            "name = \"try\"\nrules = { max_single_weight = \"1.3\" }",
            vec!["max_single_weight", "1.3"],
        ),
        (
            "name = \"try\"",
            "name = \"try\"\nrules = { max_single_weight = \"-0.1\" }",
            vec!["max_single_weight"],
        ),
        (
            "name = \"try\"",
            "name = \"try\"\nmask_key_file = \"kept\"",
            vec!["kept", "64"],
        ),
        ("name = \"try\"", "name = try", vec!["try.toml", "line 2"]),
    ] {
        refused_experiment(from, to, &parts);
    }
}

#[test]
fn a_window_outside_the_panel_and_a_panel_too_short() {
    for (from, to, parts) in [
        ("last_days = 5", "last_days = 330", vec!["w", "330", "1 to 210"]),
        ("last_days = 5", "last_days = 0", vec!["w", "0", "1 to 210"]),
        (
            "last_days = 5",
            "start = \"2031-01-06\", end = \"2031-01-10\"",
            vec!["2031-01-06", "panel"],
        ),
        (
            "last_days = 5",
            "start = \"2023-03-10\", end = \"2023-03-06\"",
            vec!["ends on 2023-03-06, before its start on 2023-03-10"],
        ),
        (
            "last_days = 5",
            "start = \"2023-02-30\", end = \"2023-03-06\"",
            vec!["2023-02-30"],
        ),
        (
            "{ id = \"w\", last_days = 5 }",
            "{ id = \"W1\" }",
            vec!["W1", "2024-04-01", "panel"],
        ),
        (
            "{ id = \"w\", last_days = 5 }",
            "{ id = \"W77\" }",
            vec!["W77", "last_days"],
        ),
        ("days = 330", "days = 100", vec!["factors need", "starts earlier"]),
        (
            "last_days = 5",
            "last_days = 300",
            vec!["factors need", "start later"],
        ),
    ] {
        refused_experiment(from, to, &parts);
    }
}

#[test]
fn orders_that_cannot_be() {
    let scene = scene();
    scene.write(
        "config.json",
        r#"{"window_start": "2024-04-02", "window_end": "2024-04-03"}"#,
    );
    let simulate = "simulate --panel rows.csv --orders orders.jsonl --config config.json --out out";
    let line = |day: &str, quantity: &str| {
        format!(
            "{{\"date\":\"{day}\",\"orders\":[{{\"symbol\":\"SH600000\",\"side\":\"BUY\",{quantity},\
             \"confidence\":0.5,\"reason\":\"long enough to be one\"}}]}}\n"
        )
    };
    for (quantity, key) in [
        (r#""target_weight":1.3"#, "`target_weight`"),
        (r#""target_weight":-0.1"#, "`target_weight`"),
        (r#""target_weight":"0.1""#, "`target_weight`"),
        (r#""shares":-100"#, "`shares`"),
        (r#""shares":100.0"#, "`shares`"),
    ] {
        scene.write("orders.jsonl", line("2024-04-02", quantity));
        refused(&scene, simulate, &[key, "orders.jsonl, line 1, order 1 of 1"]);
    }
    let shares = r#""shares":100"#;
    for (lines, part) in [
        (line("2024-04-06", shares), "2024-04-06"),
        (line("2024-04-01", shares), "2024-04-01"),
        (line("2024-04-02", shares).repeat(2), "line 2"),
    ] {
        scene.write("orders.jsonl", lines);
        refused(&scene, simulate, &[part]);
    }
    refused(&scene, &simulate.replace("orders.jsonl", "absent"), &["absent"]);
    refused(&scene, &simulate.replace("--orders", "--signal"), &["--signal"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let scene = scene();
    // A file where a directory is needed refuses everybody, root too.
    refused(&scene, &run_to("kept/out"), &["kept/out"]);
    refused(&scene, &run_to("kept"), &["kept"]);
    for panel in ["kept/p.ktdp", "absent/p.ktdp"] {
        refused(&scene, &IMPORT.replace("p.ktdp", panel), &[panel]);
    }
    with_mask_key(&scene);
    refused(&scene, &run_to("kept/out"), &["kept/out"]);
}

fn with_mask_key(scene: &Folder) {
    scene.write("try.toml", format!("mask_key_file = \"mask.key\"\n{EXPERIMENT}"));
    scene.write("mask.key", ktd_kit::MASK_KEY);
}

/// A shell that may write files of so many KiB alone; the signal for more is ignored, as a full disk sends none.
fn limited(scene: &Folder, kib: u32, command: &str) -> Output {
    let shell = format!(
        "trap '' XFSZ; ulimit -f {kib}; exec {} {command}",
        program::binary().display()
    );
    Command::new("bash")
        .args(["-c", &shell])
        .current_dir(scene.path())
        .output()
        .unwrap()
}

#[test]
fn no_room_for_a_panel_leaves_nothing_behind() {
    let scene = scene();
    let mut rows = ROWS.to_owned();
    for name in 0..400 {
        for day in 1..4 {
            let row = format!("2024-04-0{day},SZ{name:06},10.00,10.10,9.90,10.00,1000\n");
            rows.push_str(&row);
        }
    }
    scene.write("rows.csv", rows);
    let before = scene.files();
    let output = limited(&scene, 4, "--quiet data import rows.csv --out p.ktdp");
    assert_refused(&output, "import", &["p.ktdp", "arge"]);
    assert!(scene.files() == before, "half a panel was left");
}

#[test]
fn no_room_for_a_bundle_is_told_and_the_run_goes_on_once_there_is() {
    let scene = scene();
    with_mask_key(&scene);
    let output = limited(&scene, 8, "--quiet run try.toml --out out");
    assert_refused(&output, "run", &["exchanges.jsonl", "same command again"]);
    let bundle = "cells/random__w__bright-exact__fixed-candidate__s1";
    assert!(!scene.at("out").join(bundle).join("summary.json").exists());
    for out in ["out", "whole"] {
        let ended = ktd(&scene, &run_to(out));
        assert!(ended.status.success(), "{ended:?}");
    }
    let files = |out: &str| -> BTreeMap<PathBuf, Vec<u8>> {
        ktd_kit::files(&scene.at(out))
            .into_iter()
            // The last request before the room ran out may have no outcome, and stands in the record as such.
            .filter(|(path, _)| {
                let of_requests = [
                    "exchanges.jsonl.zst",
                    "summary.json",
                    "index.jsonl",
                    "report.json",
                ];
                !of_requests.iter().any(|name| path.ends_with(name))
            })
            .collect()
    };
    assert!(files("out") == files("whole"), "continued and whole runs differ");
}

#[test]
fn a_full_device_on_standard_output() {
    if !Need::FullDevice.is_met() {
        return;
    }
    let scene = scene();
    imported(&scene);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(scene.path(), &["data", "check", "p.ktdp"])
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    assert_refused(&output, "check", &["standard output", "full"]);
}
