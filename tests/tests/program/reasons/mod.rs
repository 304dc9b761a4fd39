//! `ktd reasons`: what an agent names beyond what it was shown, and its reasons for the same steps side by side.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod meter;
mod refusals;
mod sides;

use ktd_kit::program::on_one_core;
use ktd_kit::{Folder, assert_ok, copy, quiet};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

const EXPERIMENT: &str = r#"
name = "said"
synthetic = { seed = 5, names = 20, days = 330 }
masks = [{ level = "bright" }, { level = "stock-blind" }, { level = "date-blind" }, { level = "blinded" }]
modes = ["memory-only"]
agents = [{ id = "mine", command = ["sh", "agent.sh"], unboxed = true }, { id = "quiet", builtin = "hold" }]
windows = [{ id = "w", last_days = 4 }]
"#;

/// Answers each step with its line of `answers`, the first names and the first date of STATE filled in.
const AGENT: &str = r#"
while read -r line; do
  case $line in *'"type":"end"'*) exit 0 ;; esac
  step=$(printf '%s' "$line" | grep -oE '"step":[0-9]+' | head -n 1 | cut -d: -f2)
  state=${line##*STATE:}
  day=$(printf '%s' "$state" | grep -oE '[0-9]{4}-[0-9]{2}-[0-9]{2}' | head -n 1)
  set -- $(printf '%s' "$state" | grep -oE 'asset_[0-9]{4}|S[HZ][0-9]{6}' | head -n 2)
  sed -n "${step}p" answers | sed "s/FIRST/$1/g; s/SECOND/$2/g; s/TODAY/${day:-today}/g"
done
"#;

/// What a terminal and a page must not take for more than text.
const HOSTILE: &str = "<script>x</script> \u{1b}[2J\u{202e} & ";

const REASONS: [[&str; 3]; 2] = [
    [
        "Looks like Moutai, a liquor maker. Its earnings report of March 2024 was strong.",
        "Strong momentum and low volatility.",
        "央行降准，继续持有",
    ],
    ["FIRST led on TODAY.", "LONG", "Wait and see."],
];

fn submission(weight: f64, reasons: [&str; 3]) -> Value {
    let [first, second, overall] = reasons;
    let order = |id: &str, reason: &str| json!({ "stock_id": id, "side": "BUY", "target_weight": weight, "confidence": 0.6, "reason": reason });
    json!({
        "type": "call",
        "name": "submit_action",
        "arguments": { "orders": [order("FIRST", first), order("SECOND", second)], "overall_reason": overall },
    })
}

/// Ten thousand bytes with a word near their end.
fn long() -> String {
    format!("{HOSTILE}{}银行 at last", "momentum ".repeat(1_100))
}

fn answers() -> String {
    let [first, [one, _, three]] = REASONS;
    let long = long();
    let hold = json!({
        "type": "call",
        "name": "submit_action",
        "arguments": { "orders": [], "overall_reason": "Nothing to do today." },
    });
    let prose = json!({ "type": "say", "text": "I would rather not." });
    let lines = [
        submission(0.05, first),
        hold,
        submission(0.08, [one, &long, three]),
        prose,
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// A finished experiment, made once for all tests, which only read it.
fn scene() -> &'static Path {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE
        .get_or_init(|| {
            let folder = Folder::new();
            run(folder.path(), EXPERIMENT);
            folder
        })
        .path()
}

fn run(folder: &Path, experiment: &str) {
    std::fs::write(folder.join("agent.sh"), AGENT).unwrap();
    std::fs::write(folder.join("answers"), answers()).unwrap();
    std::fs::write(folder.join("said.toml"), experiment).unwrap();
    assert_ok(&quiet(folder, &["run", "said.toml", "--out", "out"]));
}

/// What a command that must fail said.
fn refused(output: &Output, code: i32) -> String {
    let said = ktd_kit::refused(output, code);
    assert!(said.contains("hint:"), "{said}");
    said
}

/// `ktd reasons ARGUMENTS` in a folder, as text.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = quiet(folder, &[&["reasons"], arguments].concat());
    assert_ok(&output);
    String::from_utf8(output.stdout).unwrap()
}

/// `ktd reasons ARGUMENTS --json` in a folder.
fn report(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&said(folder, &[arguments, &["--json"]].concat())).unwrap()
}

fn cell(level: &str) -> PathBuf {
    scene().join(format!("out/cells/mine__w__{level}-exact__memory-only__s1"))
}
