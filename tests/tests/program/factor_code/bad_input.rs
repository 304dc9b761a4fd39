//! What cannot be judged says so, before anything is asked or run.

use super::scene::{experiment, model};
use ktd_kit::{Folder, assert_ok, quiet, refused};

fn unrun(keys: &str) -> String {
    let vendor = model();
    let folder = experiment(&vendor, "");
    let text = folder.text("code.toml");
    let replaced = match keys.split_once(" = ") {
        Some((key, _)) if text.contains(&format!("\n{key} = ")) => {
            let lines = text.lines().map(|line| {
                if line.starts_with(&format!("{key} = ")) {
                    keys.to_owned()
                } else {
                    line.to_owned()
                }
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => text.replacen("rounds = 2\n", &format!("rounds = 2\n{keys}\n"), 1),
    };
    folder.write("code.toml", replaced);
    let said = refused(&quiet(folder.path(), &["factor-code", "run", "code.toml"]), 2);
    assert_eq!(vendor.count(), 0, "{keys}");
    said
}

#[test]
fn an_experiment_with_a_wrong_key_is_refused() {
    for (keys, part) in [
        ("tasks = ['MOM-9-99']", "unknown task or category \"MOM-9-99\""),
        ("tasks = ['momentous']", "unknown task or category \"momentous\""),
        ("styles = ['terse']", "unknown variant `terse`"),
        ("rounds = 0", "`rounds` is 0"),
        ("rounds = 11", "`rounds` is 11"),
        ("pass_at = [2]", "Pass@2 needs at least 2 samples; there are 1"),
        ("tasks = 'absent.jsonl'", "absent.jsonl"),
        (
            "real = { panel = 'absent.ktdp', symbol = 'SH600519' }",
            "absent.ktdp",
        ),
    ] {
        let said = unrun(keys);
        assert!(said.contains(part), "{keys}: {said}");
    }
}

#[test]
fn a_stock_that_the_panel_lacks_or_that_is_too_short_is_refused() {
    let vendor = model();
    let folder = experiment(&vendor, "real = { panel = 'short.ktdp', symbol = 'SH600001' }");
    let rows = "date,symbol,open,high,low,close,volume\n\
                2024-04-01,SH600000,10.00,10.10,9.90,10.00,1000\n\
                2024-04-02,SH600000,10.00,10.10,9.90,10.05,1000\n";
    folder.write("rows.csv", rows);
    assert_ok(&quiet(
        folder.path(),
        &["data", "import", "rows.csv", "--out", "short.ktdp"],
    ));
    let run = ["factor-code", "run", "code.toml"];
    let said = refused(&quiet(folder.path(), &run), 2);
    assert!(said.contains("has no symbol \"SH600001\""), "{said}");
    let text = folder.text("code.toml").replace("SH600001", "SH600000");
    folder.write("code.toml", text);
    let said = refused(&quiet(folder.path(), &run), 2);
    assert!(
        said.contains("has 2 rows; the panel needs at least 320"),
        "{said}"
    );
    assert_eq!(vendor.count(), 0);
}

#[test]
fn without_a_python_environment_nothing_is_asked() {
    let vendor = model();
    let folder = experiment(&vendor, "");
    let run = ["factor-code", "run", "code.toml", "--env", "absent"];
    let output = quiet(folder.path(), &run);
    let said = refused(&output, 2);
    // a machine without boxes says that first
    assert!(
        said.contains("ktd box setup") || said.contains("bubblewrap") || said.contains("namespaces"),
        "{said}"
    );
    assert_eq!(vendor.count(), 0);
}

#[test]
fn a_file_of_replies_is_read_whole_before_anything_is_run() {
    let line = |id: &str, round: u32| format!("{{\"id\":\"{id}\",\"round\":{round},\"reply\":\"x\"}}\n");
    for (text, part) in [
        (line("MOM-9-99", 1), "the task \"MOM-9-99\" is unknown"),
        (line("MOM-1-01", 1).repeat(2), "stands there already"),
        (line("MOM-1-01", 2), "has no round 1 before it"),
        ("{}\n".to_owned(), "line 1"),
    ] {
        let folder = Folder::with(&[("replies.jsonl", text.as_str())]);
        let score = ["factor-code", "score", "--replies", "replies.jsonl"];
        let said = refused(&quiet(folder.path(), &score), 2);
        assert!(said.contains(part), "{text}: {said}");
    }
}

#[test]
fn panels_with_other_columns_are_refused() {
    let folder = Folder::with(&[("panels/panel_G.csv", "date,open\n2015-01-05,1\n")]);
    let gold = ["factor-code", "gold", "--panels", "panels", "--out", "out"];
    let said = refused(&quiet(folder.path(), &gold), 2);
    assert!(said.contains("its columns are date,open"), "{said}");
}

#[test]
fn a_task_whose_definition_cannot_be_computed_is_refused() {
    let deep = format!("{}C{}", "abs(".repeat(40), ")".repeat(40));
    let long = vec!["C"; 300].join(" + ");
    for (fx, part) in [
        ("mean(X, 5)", "X"),
        ("medium(C, 5)", "medium"),
        ("mean(C, 0)", "MINE-1"),
        ("ema(when(gt(C, lag(C, 1)), C, nan), 5)", "MINE-1"),
        (deep.as_str(), "MINE-1"),
        (long.as_str(), "MINE-1"),
    ] {
        let task = serde_json::json!({
            "id": "MINE-1", "category": "momentum", "level": 1, "name": "alpha_mine", "prompt": "x", "fx": fx, "warmup": 0,
        });
        let folder = Folder::with(&[("mine.jsonl", task.to_string().as_str())]);
        let list = ["factor-code", "list", "--tasks", "mine.jsonl"];
        let said = refused(&quiet(folder.path(), &list), 2);
        assert!(said.contains(part), "{fx}: {said}");
    }
}
