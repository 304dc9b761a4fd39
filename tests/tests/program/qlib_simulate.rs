//! `simulate_qlib` on files: what it writes, and how it refuses what it cannot use.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use ktd_simulate::SimulateError;
use ktd_simulate::qlib::{QlibInputs, QlibInstructions, QlibSummary, simulate_qlib};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CONFIG: &str = r#"{
    "profile": "qlib", "start": "2024-01-03", "end": "2024-01-04", "account": 10000.0, "deal_price": "open",
    "limit": 0.095, "open_cost": 0.0005, "close_cost": 0.0015, "min_cost": 5.0, "trade_unit": 100,
    "impact_cost": 0.0, "volume_threshold": null, "trade_type": "serial", "settle": "none",
    "benchmark": "SH000300", "risk_degree": 0.95, "strategy": {"kind": "scripted"}
}"#;

const ORDERS: &str = "\
seq,date,symbol,side,shares
0,2024-01-03,SH600000,BUY,150
1,2024-01-03,SH600001,BUY,100
2,2024-01-04,SH600000,SELL,ALL
3,2024-01-06,SH600000,BUY,100
";

/// A data directory of one instrument over three days, a config and orders.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            root: tempfile::tempdir().unwrap(),
        };
        scene.write("run.json", CONFIG);
        scene.write("orders.csv", ORDERS);
        scene.write("panel/calendars/day.txt", "2024-01-02\n2024-01-03\n2024-01-04\n");
        scene.write(
            "panel/calendars/day_future.txt",
            "2024-01-02\n2024-01-03\n2024-01-04\n2024-01-05\n",
        );
        scene.write("panel/instruments/all.txt", "SH600000\t2024-01-02\t2024-01-04\n");
        let fields: [(&str, [f32; 3]); 5] = [
            ("open", [10.0, 10.0, 11.0]),
            ("close", [10.0, 10.5, 11.5]),
            ("change", [0.0, 0.05, 0.09]),
            ("factor", [1.0, 1.0, 1.0]),
            ("volume", [1e6, 1e6, 1e6]),
        ];
        for (field, values) in fields {
            scene.write_bin("sh600000", field, &values);
        }
        scene.write_bin("sh000300", "close", &[4000.0, 4040.0, 4040.0]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn write_bin(&self, symbol: &str, field: &str, values: &[f32]) {
        let words = [0.0]
            .iter()
            .chain(values)
            .flat_map(|word: &f32| word.to_le_bytes());
        self.write(
            &format!("panel/features/{symbol}/{field}.day.bin"),
            words.collect::<Vec<u8>>(),
        );
    }

    fn run(&self) -> Result<QlibSummary, SimulateError> {
        self.run_with(QlibInstructions::Orders(self.path("orders.csv")))
    }

    fn run_with(&self, instructions: QlibInstructions) -> Result<QlibSummary, SimulateError> {
        let (config, panel, out) = (self.path("run.json"), self.path("panel"), self.path("out"));
        simulate_qlib(&QlibInputs {
            config,
            panel,
            instructions,
            out,
        })
    }

    /// The message of a run that must fail, which must leave nothing behind.
    fn refusal(&self) -> String {
        let error = self.run().unwrap_err();
        assert!(!error.hint().is_empty());
        assert!(!self.path("out").exists(), "{error}: something was written");
        error
            .to_string()
            .replace(&format!("{}/", self.root.path().display()), "")
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_writes_three_files() {
    let scene = Scene::new();
    let summary = scene.run().unwrap();
    assert_eq!(
        (
            summary.days,
            summary.orders,
            summary.filled,
            summary.orders_outside
        ),
        (2, 3, 2, 1)
    );
    assert_eq!(summary.missing_bins, 0);
    assert_eq!(
        names(&scene.path("out")),
        ["daily.csv", "fills.csv", "final_positions.csv"]
    );
    let fills = fs::read_to_string(scene.path("out/fills.csv")).unwrap();
    assert_eq!(
        fills,
        "date,symbol,side,req_amount_adj,deal_amount_adj,factor,price_adj,value,cost,cash_before,cash_after,\
         pos_amount_adj_after\n\
         2024-01-03,SH600000,BUY,150.0,100.0,1.0,10.0,1000.0,5.0,10000.0,8995.0,100.0\n\
         2024-01-03,SH600001,BUY,100.0,0.0,,,0.0,0.0,8995.0,8995.0,0.0\n\
         2024-01-04,SH600000,SELL,100.0,100.0,1.0,11.0,1100.0,5.0,8995.0,10090.0,0.0\n"
    );
    let daily = fs::read_to_string(scene.path("out/daily.csv")).unwrap();
    assert_eq!(daily.lines().count(), 3);
    assert!(
        daily
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("2024-01-03,10045.0,0.005,1000.0,0.1,5.0,0.0005,1050.0,8995.0,")
    );
    let positions = fs::read_to_string(scene.path("out/final_positions.csv")).unwrap();
    assert_eq!(positions, "symbol,amount_adj,price_adj,weight,count_day\n");
}

#[test]
fn a_second_run_replaces_the_first() {
    let scene = Scene::new();
    scene.run().unwrap();
    let first = fs::read(scene.path("out/daily.csv")).unwrap();
    scene.write("orders.csv", "date,symbol,side,shares\n");
    assert_eq!(scene.run().unwrap().orders, 0);
    assert_ne!(fs::read(scene.path("out/daily.csv")).unwrap(), first);
    assert_eq!(names(&scene.path("out")).len(), 3);
}

#[test]
fn missing_bins_are_missing_values_and_are_counted() {
    let scene = Scene::new();
    fs::remove_file(scene.path("panel/features/sh600000/change.day.bin")).unwrap();
    fs::remove_file(scene.path("panel/features/sh600000/open.day.bin")).unwrap();
    let summary = scene.run().unwrap();
    assert_eq!(summary.missing_bins, 2);
    // Without an open the close of the day is the price.
    assert!(
        fs::read_to_string(scene.path("out/fills.csv"))
            .unwrap()
            .contains(",10.5,1050.0,")
    );
}

#[test]
fn a_run_to_the_end_of_the_calendar_needs_the_day_after() {
    let scene = Scene::new();
    fs::remove_file(scene.path("panel/calendars/day_future.txt")).unwrap();
    assert_eq!(
        scene.refusal(),
        "the last day 2024-01-04 has no trading day after it in the calendar, and a step lasts until the next"
    );
    scene.write("run.json", CONFIG.replace("\"2024-01-04\"", "\"2024-01-03\""));
    assert_eq!(scene.run().unwrap().days, 1);
}

#[test]
fn broken_inputs_name_the_file_and_the_place() {
    let cases: [(&str, &[u8], &str); 10] = [
        (
            "run.json",
            b"{}",
            "run.json: missing field `profile` at line 1 column 2",
        ),
        (
            "orders.csv",
            b"date,symbol,side\n",
            "orders.csv has no column `shares`",
        ),
        (
            "orders.csv",
            b"date,symbol,side,shares\n2024-01-03,A,BUY,1\n2024-01-03,A,HOLD,1\n",
            "orders.csv line 3: `side` was `HOLD`, not BUY or SELL",
        ),
        (
            "orders.csv",
            b"date,symbol,side,shares\n2024-01-03,A,BUY,-1\n",
            "orders.csv line 2: `shares` was `-1`, not ALL or a number of real shares, not below zero",
        ),
        (
            "orders.csv",
            b"date,symbol,side,shares\n03.01.2024,A,BUY,1\n",
            "orders.csv line 2: `date` was `03.01.2024`, not a date such as 2024-01-31",
        ),
        (
            "orders.csv",
            b"date,symbol,side,shares\n2024-01-03,A,BUY\n",
            "orders.csv: CSV error: record 1 (line: 2, byte: 24): found record with 3 fields, but the previous record \
             has 4 fields",
        ),
        (
            "panel/features/sh600000/close.day.bin",
            &[0, 0],
            "panel: features/sh600000/close.day.bin has 2 bytes, less than its start index of 4",
        ),
        (
            "panel/calendars/day.txt",
            b"2024-01-02\nsoon\n",
            "panel: calendars/day.txt line 2: `soon` is no date",
        ),
        (
            "panel/instruments/all.txt",
            b"SH600000 2024-01-02 2024-01-04\n",
            "panel: instruments/all.txt line 1: 1 columns, not symbol, start and end",
        ),
        (
            "panel/calendars/day.txt",
            b"\xff\n",
            "cannot read panel/calendars/day.txt: invalid utf-8 sequence of 1 bytes from index 0",
        ),
    ];
    for (name, bytes, message) in cases {
        let scene = Scene::new();
        scene.write(name, bytes);
        assert_eq!(scene.refusal(), message);
    }
}

#[test]
fn a_directory_that_is_no_panel_is_refused() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.path("panel/instruments")).unwrap();
    assert_eq!(
        scene.refusal(),
        "panel is no Qlib data directory: it has no instruments"
    );
    let scene = Scene::new();
    fs::remove_dir_all(scene.path("panel/features/sh000300")).unwrap();
    assert_eq!(scene.refusal(), "the benchmark SH000300 has no `close`");
}

#[test]
fn the_strategy_and_the_instructions_must_agree() {
    let scene = Scene::new();
    scene.write("signal.csv", "date,symbol,score\n2024-01-02,SH600000,1.5\n");
    let error = scene
        .run_with(QlibInstructions::Signal(scene.path("signal.csv")))
        .unwrap_err();
    assert_eq!(error.to_string(), "the strategy `scripted` needs orders");
    scene.write(
        "signal.csv",
        "date,symbol,score\n2024-01-02,SH600000,1.5\n2024-01-02,SH600000,1\n",
    );
    let error = scene
        .run_with(QlibInstructions::Signal(scene.path("signal.csv")))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("signal.csv line 3: two scores for SH600000 on 2024-01-02")
    );
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let scene = Scene::new();
    scene.write("out", "in the way");
    let error = scene.run().unwrap_err();
    assert!(matches!(error, SimulateError::File(_)), "{error}");
    // A file that cannot be replaced leaves no half-written one beside it.
    let scene = Scene::new();
    fs::create_dir_all(scene.path("out/daily.csv/inside")).unwrap();
    let error = scene.run().unwrap_err();
    assert!(error.to_string().contains("daily.csv"), "{error}");
    assert!(
        names(&scene.path("out"))
            .iter()
            .all(|name| !name.ends_with(".partial"))
    );
}
