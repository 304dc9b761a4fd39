//! `ktd leak audit`: expressions and outside programs on cut and changed panels.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::Value;
use std::collections::BTreeMap;

/// A folder with a small panel.
fn folder() -> Folder {
    let folder = Folder::new();
    let synth = [
        "data", "synth", "--out", "p.ktdp", "--names", "12", "--days", "200", "--seed", "3",
    ];
    assert_ok(&quiet(folder.path(), &synth));
    folder
}

/// The verdicts of an audit by column, and its exit code.
fn audited(folder: &Folder, arguments: &[&str]) -> (Option<i32>, BTreeMap<String, Value>) {
    let output = quiet(
        folder.path(),
        &[&["--json", "leak", "audit", "--panel", "p.ktdp"], arguments].concat(),
    );
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let columns = found["columns"].as_array().unwrap().iter();
    let columns = columns.map(|column| (column["column"].as_str().unwrap().to_owned(), column.clone()));
    (output.status.code(), columns.collect())
}

/// Columns of adjusted closes, one of each kind that a program may be.
const PROGRAM: &str = r#"
import csv, random, sys

rows = list(csv.DictReader(sys.stdin))
names = {}
for row in rows:
    names.setdefault(row["symbol"], []).append(row)
print("date,symbol,momentum,gap,centred,tomorrow,zscore,length,noise,patched")
for symbol, own in sorted(names.items()):
    close = [float(row["close"]) * float(row["factor"]) for row in own]
    mean = sum(close) / len(close)
    for t, row in enumerate(own):
        def at(k):
            return close[t + k] if 0 <= t + k < len(close) else float("nan")
        gap = float(row["open"] or "nan") * float(row["factor"]) / at(-1)
        near = [at(k) for k in (-2, -1, 0, 1, 2) if at(k) == at(k)]
        # Looks only where something is there.
        patched = at(1) if at(1) / at(0) > 1.03 else at(0)
        cells = [at(0) / at(-5) - 1, gap, sum(near) / len(near), at(1) / at(0) - 1, at(0) - mean]
        cells += [t / len(close), random.random(), patched]
        print(row["date"], symbol, *cells, sep=",")
"#;

#[test]
fn a_program_is_judged_column_by_column() {
    let folder = folder();
    folder.write("mine.py", PROGRAM);
    let (code, columns) = audited(&folder, &["--command", "python3", "mine.py"]);
    let verdict = |name: &str| columns[name]["verdict"].as_str().unwrap();
    let ahead = |name: &str| columns[name]["sessions_ahead"].as_u64();
    assert_eq!(code, Some(1));
    assert_eq!((verdict("momentum"), verdict("gap")), ("clean", "clean"));
    assert_eq!(
        (ahead("centred"), ahead("tomorrow"), ahead("patched")),
        (Some(2), Some(1), Some(1))
    );
    assert_eq!(columns["zscore"]["text"], "whole-sample fit");
    assert_eq!(columns["length"]["text"], "depends on length or calendar");
    assert_eq!(verdict("noise"), "not_deterministic");
    let broken = |name: &str| columns[name]["is_broken"].as_bool().unwrap();
    assert!(
        !broken("momentum") && !broken("gap") && broken("tomorrow") && broken("zscore") && broken("noise")
    );
    let first = &columns["tomorrow"]["first"];
    assert!(
        first["run"].as_str().unwrap().contains("ended on") && first["replayed"].is_null(),
        "{first}"
    );
    // Declared for the open, what reads the day's own bar breaks its contract.
    let (_, columns) = audited(
        &folder,
        &["--available-at", "open", "--command", "python3", "mine.py"],
    );
    assert_eq!(
        (
            columns["momentum"]["is_broken"].as_bool(),
            columns["gap"]["is_broken"].as_bool()
        ),
        (Some(true), Some(false))
    );
}

#[test]
fn a_program_that_fails_is_named_and_nothing_hangs() {
    let folder = folder();
    let audit = |arguments: &[&str]| {
        let output = quiet(
            folder.path(),
            &[
                &[
                    "leak",
                    "audit",
                    "--panel",
                    "p.ktdp",
                    "--timeout-seconds",
                    "300",
                    "--command",
                ],
                arguments,
            ]
            .concat(),
        );
        refused(&output, 2)
    };
    for (script, part) in [
        (
            "echo 'KeyError: close' >&2; exit 3",
            "exit code 3: KeyError: close",
        ),
        ("cat > /dev/null", "wrote nothing"),
        ("yes 2021-01-04,SH600000,1.25", "it wrote more than"),
        (
            "echo date,symbol,a; echo 1999-01-04,SH600000,1",
            "was no row of its input",
        ),
        (
            "echo date,symbol,a; head -n 3 | cut -d, -f1,2 | tail -n 1 | sed 's/$/,much/'",
            "is no number",
        ),
        ("echo day,symbol,a", "does not begin with"),
        // Another column in each run.
        (
            "echo date,symbol,a$$; cut -d, -f1,2,6 | tail -n +2",
            "the column is missing",
        ),
    ] {
        let error = audit(&["sh", "-c", script]);
        assert!(
            error.contains("failed: ") && error.contains(part),
            "{part}: {error}"
        );
    }
    let output = quiet(
        folder.path(),
        &[
            "leak",
            "audit",
            "--panel",
            "p.ktdp",
            "--timeout-seconds",
            "1",
            "--command",
            "sleep",
            "600",
        ],
    );
    assert!(refused(&output, 2).contains("did not end within 1 seconds"));
    assert!(audit(&["no-such-program-anywhere"]).contains("there is no program"));
}

#[test]
fn a_program_gets_the_environment_that_is_passed_and_no_other() {
    let folder = folder();
    let script = "test -z \"$KTD_SECRET\" || exit 4; test \"$KTD_KNOWN\" = 7 || exit 5; echo date,symbol,a; cut -d, -f1,2,6 | tail -n +2";
    let mut command = ktd_kit::command(
        folder.path(),
        &[
            "--json",
            "leak",
            "audit",
            "--panel",
            "p.ktdp",
            "--pass-env",
            "KTD_KNOWN",
            "--command",
            "sh",
            "-c",
            script,
        ],
    );
    command.env("KTD_SECRET", "1").env("KTD_KNOWN", "7");
    assert_ok(&command.output().unwrap());
}

#[test]
fn the_features_of_a_manifest_are_proved() {
    let folder = folder();
    let manifest = |expression: &str, known: &str| {
        format!(
            "[protocol]\nsignal_at = \"close\"\nfill_at = \"next_open\"\nlabel = {{ price = \"open\", from_day = 1, horizon_days = 5 }}\n\
             purge_days = 6\ngraph = \"trailing\"\n[[feature]]\nname = \"own\"\nexpression = \"{expression}\"\navailable_at = \"{known}\"\n\
             [[feature]]\nname = \"near\"\npeers_of = \"own\"\navailable_at = \"{known}\"\n\
             [[feature]]\nname = \"mine\"\ncommand = [\"sh\", \"mine.sh\"]\navailable_at = \"close\"\n"
        )
    };
    folder.write("mine.sh", "echo date,symbol,mine\ncut -d, -f1,2,6 | tail -n +2\n");
    folder.write("clean.toml", manifest("$close/Mean($close,5)-1", "close"));
    let (code, columns) = audited(&folder, &["clean.toml"]);
    assert_eq!(code, Some(0));
    assert!(
        columns.len() == 3 && columns.values().all(|column| column["verdict"] == "clean"),
        "{columns:?}"
    );
    folder.write(
        "centred.toml",
        manifest("$close/Ref(Mean($close,5),-3)-1", "close+3"),
    );
    let (code, columns) = audited(&folder, &["centred.toml"]);
    assert_eq!(code, Some(1));
    assert_eq!(columns["own"]["text"], "reads 3 days ahead");
    assert_eq!(columns["near"]["text"], "reads 3 days ahead");
    assert_eq!(columns["mine"]["verdict"], "clean");
    // A program that does not write its feature.
    folder.write(
        "mine.sh",
        "echo date,symbol,other\ncut -d, -f1,2,6 | tail -n +2\n",
    );
    let output = quiet(
        folder.path(),
        &["leak", "audit", "--panel", "p.ktdp", "clean.toml"],
    );
    assert!(refused(&output, 2).contains("no column `mine`"));
}

#[test]
fn an_audit_of_nothing_or_of_two_things_is_refused() {
    let folder = Folder::new();
    for arguments in [
        &["leak", "audit"][..],
        &[
            "leak",
            "audit",
            "m.toml",
            "--signals",
            "s.csv",
            "--panel",
            "p.ktdp",
        ],
        &["leak", "audit", "--signals", "s.csv"],
        &["leak", "audit", "m.toml", "--tolerance", "2"],
    ] {
        let said = refused(&quiet(folder.path(), arguments), 2);
        assert!(!said.contains("panicked"), "{said}");
    }
}
