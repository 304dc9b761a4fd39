//! A file of the wrong kind in every place where a command takes one: a plain message, no wait, no panic, nothing lost.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::{Folder, program, quiet};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Every way to name a file on the command line; `@` stands for it.
const COMMANDS: [&str; 27] = [
    "run @ --out out",
    "plan @",
    "status @",
    "report @",
    "report @ --unfinished",
    "diff @ @",
    "publish @ --key key.pem --out out",
    "replay @",
    "replay @ --step 1",
    "verify @",
    "verify --certificate @",
    "attribute @",
    "attribute --file weights.csv --panel @",
    "attribute --file @ --panel panel.ktdp",
    "probe @ --out out",
    "curve @ --out out",
    "certify @ --key key.pem --out out",
    "leaderboard @",
    "reasons @",
    "mcp @ --out out",
    "doctor @",
    "vendors --experiment @",
    "data import @ --basis raw --out made.ktdp",
    "data check @",
    "doctor --file @",
    "simulate --panel @ --orders orders.jsonl --out out",
    "simulate --panel panel.ktdp --orders orders.jsonl --config @ --out out",
];

/// The one file that may be empty: no order is one, too.
const ORDERS: &str = "simulate --panel panel.ktdp --orders @ --out out";

const ROWS: &str = "\
date,symbol,open,high,low,close,volume
2024-04-01,SH600000,10.00,10.10,9.90,10.00,1000
2024-04-02,SH600000,10.00,10.10,9.90,10.05,1000
";

/// A folder with a good panel and table, and nothing at `wrong` yet.
fn folder() -> Folder {
    let folder = Folder::with(&[
        ("rows.csv", ROWS),
        ("orders.jsonl", ""),
        ("weights.csv", "date,symbol,weight\n2024-04-01,SH600000,0.5\n"),
    ]);
    let made = quiet(
        folder.path(),
        &["data", "import", "rows.csv", "--out", "panel.ktdp"],
    );
    assert!(made.status.success(), "{made:?}");
    folder
}

/// What a command that was given a wrong file must do, whatever is wrong.
fn check(command: &str, output: &Output) {
    let [errors, result] = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes));
    let shown = format!("{result}{errors}");
    assert!(matches!(output.status.code(), Some(1 | 2)), "{command}: {shown}");
    for part in ["error: ", "hint: ", "wrong"] {
        assert!(shown.contains(part), "{command}: no {part:?} in {shown}");
    }
    for part in ["panicked", "RUST_BACKTRACE", "Os {"] {
        assert!(!shown.contains(part), "{command}: {shown}");
    }
}

/// Puts the folder's `wrong` to every command, which must leave every file as it was.
fn refused_everywhere(folder: &Folder, make: impl Fn(&Path)) {
    let listed = || {
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    make(&folder.at("wrong"));
    // `doctor` tries to write where results would go.
    std::fs::create_dir(folder.at("results")).unwrap();
    let before = listed();
    let is_empty = std::fs::metadata(folder.at("wrong")).is_ok_and(|file| file.is_file() && file.len() == 0);
    let orders = (!is_empty).then_some(ORDERS);
    for command in COMMANDS.into_iter().chain(orders) {
        let arguments: Vec<&str> = command
            .split(' ')
            .map(|word| if word == "@" { "wrong" } else { word })
            .collect();
        check(command, &quiet(folder.path(), &arguments));
        assert_eq!(listed(), before, "{command} wrote something");
    }
}

#[test]
fn a_file_that_is_missing() {
    refused_everywhere(&folder(), |_| ());
}

#[test]
fn a_folder() {
    refused_everywhere(&folder(), |path| std::fs::create_dir(path).unwrap());
}

#[test]
fn an_empty_file() {
    refused_everywhere(&folder(), |path| std::fs::write(path, "").unwrap());
}

#[test]
fn noise() {
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|place| (place.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()[0])
        .collect();
    refused_everywhere(&folder(), |path| std::fs::write(path, &noise).unwrap());
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes() {
    refused_everywhere(&folder(), ktd_kit::named_pipe);
}

#[cfg(unix)]
#[test]
fn a_device_without_an_end() {
    refused_everywhere(&folder(), ktd_kit::endless_file);
}

/// The pipes that a shell makes are read all the same.
#[cfg(unix)]
#[test]
fn standard_input_is_read() {
    let folder = folder();
    let rows = std::fs::File::open(folder.at("rows.csv")).unwrap();
    let mut cat = Command::new("cat")
        .stdin(rows)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let made = program::command(
        folder.path(),
        &["data", "import", "/dev/stdin", "--out", "piped.ktdp"],
    )
    .stdin(cat.stdout.take().unwrap())
    .output()
    .unwrap();
    assert!(cat.wait().unwrap().success());
    assert!(made.status.success(), "{made:?}");
    assert_eq!(folder.read("piped.ktdp"), folder.read("panel.ktdp"));
}

#[test]
fn days_in_the_wrong_order() {
    let folder = folder();
    let span = ["--start", "2024-04-02", "--end", "2024-04-01"];
    for command in [
        &["data", "check", "panel.ktdp"][..],
        &["data", "import", "rows.csv", "--out", "made.ktdp"],
    ] {
        let said = ktd_kit::refused(&quiet(folder.path(), &[command, &span].concat()), 2);
        assert!(
            said.contains("--end 2024-04-01 lies before --start 2024-04-02"),
            "{said}"
        );
    }
}

#[test]
fn a_public_key_is_not_replaced_by_a_new_one() {
    let folder = Folder::with(&[("key.pem.pub", "somebody's")]);
    let said = ktd_kit::refused(&quiet(folder.path(), &["certify", "--new-key", "key.pem"]), 2);
    assert!(said.contains("key.pem.pub exists"), "{said}");
    assert_eq!(folder.text("key.pem.pub"), "somebody's");
    assert!(!folder.at("key.pem").exists());
}

#[test]
fn too_few_replicates_for_an_interval() {
    let folder = Folder::new();
    let said = ktd_kit::refused(
        &quiet(folder.path(), &["leaderboard", "results", "--replicates", "0"]),
        2,
    );
    assert!(said.contains("40"), "{said}");
}

#[test]
fn the_doctor_looks_at_the_prices() {
    let folder = Folder::with(&[(
        "try.toml",
        "name = \"try\"\nprices = \"absent.json\"\nsynthetic = { seed = 5, names = 30, days = 330 }\n\
         windows = [{ id = \"w\", last_days = 5 }]\nmasks = [{ level = \"bright\" }]\nmodes = [\"memory-only\"]\n\
         agents = [{ id = \"hold\", builtin = \"hold\" }]\n",
    )]);
    let output = quiet(folder.path(), &["doctor", "try.toml"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("BROKEN  prices") && shown.contains("absent.json"),
        "{shown}"
    );
}

/// A file where results would go: each failed check has its message once and its hint once.
#[test]
fn the_doctor_repeats_no_hint() {
    let folder = Folder::with(&[("results", "a file")]);
    let output = quiet(folder.path(), &["doctor"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert_eq!(shown.matches("BROKEN").count(), 2, "{shown}");
    assert_eq!(shown.matches("hint: ").count(), 2, "{shown}");
    assert!(
        !shown.contains("--force") && shown.contains("choose another path"),
        "{shown}"
    );
}
