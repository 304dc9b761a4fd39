//! `ktd leak audit-self`: the program's own audit, as a stranger would run it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::need::data_root;
use ktd_kit::program::printed;
use ktd_kit::{Folder, Need, assert_ok, quiet, refused};
use serde_json::Value;

/// The checks of an audit that passes.
fn checks(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let audit = printed(&quiet(
        folder.path(),
        &[&["--json", "leak", "audit-self"], arguments].concat(),
    ));
    assert!(audit["as_of_days"].as_array().unwrap().len() > 8);
    audit["checks"].as_array().unwrap().clone()
}

fn assert_verdicts(checks: &[Value], of_switches: &str) {
    let verdicts: Vec<(&str, &str)> = checks
        .iter()
        .map(|check| (check["id"].as_str().unwrap(), check["verdict"].as_str().unwrap()))
        .collect();
    let expected = [
        ("M1", "clean"),
        ("M2", "as-declared"),
        ("M3", "clean"),
        ("M4", "as-declared"),
        ("M5", "clean"),
        ("M6", "found"),
        ("M7", "found"),
        ("M8", of_switches),
        ("M9", "clean"),
    ];
    assert_eq!(verdicts, expected);
}

fn figure(checks: &[Value], id: &str, name: &str) -> f64 {
    let check = checks.iter().find(|check| check["id"] == id).unwrap();
    let mut figures = check["figures"].as_array().unwrap().iter();
    figures.find(|figure| figure["name"] == name).unwrap()["value"]
        .as_f64()
        .unwrap()
}

/// A look-ahead of one day is worth at least this, through lots, limits, T+1 and fees.
fn assert_gains(checks: &[Value]) {
    assert!(5.0 < figure(checks, "M8", "ridge: gain of the later view"));
    assert!(1.0 < figure(checks, "M8", "momentum: gain of the later view"));
}

#[test]
fn the_synthetic_market_shows_only_what_is_declared() {
    let folder = Folder::new();
    let checks = checks(&folder, &[]);
    assert_verdicts(&checks, "measured");
    assert_gains(&checks);
    assert!(0.0 < figure(&checks, "M2", "names listed later, at most"));
    assert!(0.0 < figure(&checks, "M4", "orders that a day without volume suspends"));
}

#[test]
fn an_experiment_is_audited_under_its_own_windows_and_rules() {
    let folder = Folder::new();
    let experiment = r#"
        name = "small"
        synthetic = { seed = 6, names = 60, days = 420 }
        agents = [{ id = "momentum", builtin = "momentum" }]
        windows = [{ id = "end", last_days = 30 }]
        rules = { max_positions = 10 }
    "#;
    std::fs::write(folder.path().join("small.toml"), experiment).unwrap();
    assert_verdicts(&checks(&folder, &["small.toml"]), "not-possible");
    let shown = quiet(folder.path(), &["leak", "audit-self", "small.toml"]);
    assert_ok(&shown);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.contains("as-declared") && text.contains("no whole year"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let short = experiment.replace("days = 420", "days = 110");
    std::fs::write(folder.path().join("short.toml"), short).unwrap();
    let message = refused(&quiet(folder.path(), &["leak", "audit-self", "short.toml"]), 2);
    assert!(message.contains("trading days"), "{message}");
}

#[test]
fn the_real_panel_shows_only_what_is_declared() {
    if !Need::RealPanels.is_met() {
        return;
    }
    let (folder, data) = (Folder::new(), data_root());
    let path = |name: &str| data.join(name).display().to_string();
    let index = format!("{}:SH000300", path("cn_index_daily_2010_2026.parquet"));
    let source = path("cn_csi300_window_2023_2026.parquet");
    let (members, names) = (path("cn_csi300_members.csv"), path("cn_stock_meta.csv"));
    let import = [
        "data",
        "import",
        &source,
        "--basis",
        "raw",
        "--universe",
        &members,
    ];
    let rest = ["--index", &index, "--names", &names, "--out", "panel.ktdp"];
    assert_ok(&quiet(folder.path(), &[&import[..], &rest[..]].concat()));
    let checks = checks(&folder, &["--panel", "panel.ktdp"]);
    assert_verdicts(&checks, "measured");
    assert_gains(&checks);
}
