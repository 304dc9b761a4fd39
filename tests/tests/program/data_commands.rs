//! `ktd data` and `ktd simulate` as a user meets them: good input works, bad input is refused and nothing is written.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use crate::bad_input::{ktd, refused};
use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok};
use serde_json::Value;
use std::fmt::Write;

/// A panel's rows, its universe, and an order.
fn room() -> Folder {
    Folder::with(&[
        ("panel.csv", panel_rows().as_str()),
        (
            "universe.csv",
            "symbol,start,end\nSZ000001,2024-01-01,2024-12-31\n",
        ),
        (
            "config.json",
            r#"{"window_start": "2024-01-03", "window_end": "2024-01-05"}"#,
        ),
        ("orders.jsonl", order_line(r#""target_weight": 0.1"#).as_str()),
    ])
}

fn json(room: &Folder, arguments: &str) -> Value {
    printed(&ktd(room, &format!("{arguments} --json")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn panel_rows() -> String {
    let mut rows = "date,symbol,open,high,low,close,volume,factor\n".to_owned();
    for (day, close) in [("02", "10"), ("03", "10.1"), ("04", "10.2"), ("05", "10.3")] {
        rows.push_str("2024-01-");
        rows.push_str(day);
        rows.push_str(",SZ000001,");
        rows.push_str(&[close; 4].join(","));
        rows.push_str(",1000,1\n");
    }
    rows
}

fn order_line(quantity: &str) -> String {
    format!(
        "{{\"date\": \"2024-01-03\", \"orders\": [{{\"symbol\": \"SZ000001\", \"side\": \"BUY\", {quantity}, \
         \"confidence\": 0.5, \"reason\": \"a reason of some length\"}}]}}\n"
    )
}

const SIMULATE: &str = "simulate --panel panel.csv --basis raw --universe universe.csv --orders orders.jsonl --config config.json --out out";

#[test]
fn import_check_and_simulate_work_together() {
    let room = room();
    let made = json(
        &room,
        "data import panel.csv --basis raw --universe universe.csv --out p.ktdp",
    );
    assert_eq!((&made["bars"], &made["names"]), (&4.into(), &1.into()));
    let checked = json(&room, "data check p.ktdp");
    assert_eq!(checked["content_hash"], made["content_hash"]);
    assert_eq!(checked["member_days_with_bar"], 4);
    let from_source = json(&room, SIMULATE);
    let from_panel = json(
        &room,
        "simulate --data p.ktdp --orders orders.jsonl --config config.json --out from_panel",
    );
    assert_eq!(from_source["nav_fen"], from_panel["nav_fen"]);
    assert_eq!(from_panel["fills"], 1);
    for file in ["fills.csv", "daily.csv", "positions.csv", "events.csv"] {
        assert_eq!(
            std::fs::read(room.at("out").join(file)).unwrap(),
            std::fs::read(room.at("from_panel").join(file)).unwrap()
        );
    }
}

#[test]
fn orders_of_stocks_that_the_panel_lacks_name_what_was_meant() {
    let room = room();
    let orders = order_line(r#""shares": 100"#).replace("SZ000001", "SZ00001");
    room.write("orders.jsonl", &orders);
    let said = text(&ktd(&room, SIMULATE).stdout);
    assert!(
        said.contains("not among the 1 stock of the panel, so that 1 order was rejected: SZ00001 (did you mean SZ000001?)"),
        "{said}"
    );
    let printed = json(&room, &format!("{SIMULATE} --force"));
    assert_eq!(printed["unknown_symbols"][0]["nearest"], "SZ000001");
}

#[test]
fn the_synthetic_market_is_the_same_each_time() {
    let room = room();
    let one = json(&room, "data synth --out a.ktdp --names 40 --days 60 --seed 7");
    let two = json(&room, "data synth --out b.ktdp --names 40 --days 60 --seed 7");
    assert_eq!(one["content_hash"], two["content_hash"]);
    assert_eq!(json(&room, "data check a.ktdp")["usable"], true);
    refused(&room, "data synth --out c.ktdp --names 0", &["names"]);
}

#[test]
fn bad_sources_are_refused() {
    let room = room();
    room.write("bad.csv", panel_rows().replace(",10.2,1000", ",10.205,1000"));
    std::fs::create_dir(room.at("empty")).unwrap();
    for (source, part) in [
        ("panel.csv", "basis"),
        ("bad.csv --basis adjusted", "row 4: close"),
        ("empty", "not one of Qlib's"),
        (". --basis raw", "universe.csv: the columns"),
        ("panel.csv --basis raw --universe panel.csv", "membership"),
        ("panel.csv --basis raw --index panel.csv:SH000300", "SH000300"),
    ] {
        refused(&room, &format!("data import {source} --out p.ktdp"), &[part]);
    }
}

#[test]
fn outputs_are_not_written_over_or_half_written() {
    let room = room();
    let import = "data import panel.csv --basis raw --out";
    std::fs::create_dir(room.at("directory")).unwrap();
    for (out, part) in [
        ("absent/p.ktdp", "absent/p.ktdp"),
        ("universe.csv", "universe.csv"),
        ("directory", "directory"),
        ("/dev/null --force", "not a regular file"),
    ] {
        refused(&room, &format!("{import} {out}"), &[part]);
    }
    assert!(ktd(&room, &format!("{import} p.ktdp")).status.success());
    refused(&room, &format!("{import} p.ktdp"), &["p.ktdp", "--force"]);
    assert!(ktd(&room, &format!("{import} p.ktdp --force")).status.success());
    assert!(ktd(&room, SIMULATE).status.success());
    refused(&room, SIMULATE, &["fills.csv"]);
}

#[test]
fn bad_configurations_are_refused() {
    let room = room();
    let window = |start: &str, end: &str, more: &str| {
        format!(r#"{{"window_start": "{start}", "window_end": "{end}"{more}}}"#)
    };
    for (config, part) in [
        (window("2024-01-03", "2024-01-05", r#", "colour": 1"#), "colour"),
        (window("2023-01-03", "2023-01-05", ""), "no trading day"),
        (window("2024-01-02", "2024-01-05", ""), "as-of day"),
        (window("2024-01-03", "2024-02-05", ""), "ends after the panel"),
        (r#"{"profile": "other"}"#.to_owned(), "profile"),
        ("nonsense".to_owned(), "config.json"),
    ] {
        room.write("config.json", config);
        refused(&room, SIMULATE, &[part]);
    }
}

#[test]
fn a_panel_without_members_is_told_from_one_that_cannot_be_read() {
    let room = room();
    room.write(
        "universe.csv",
        "symbol,start,end\nSZ000001,2020-01-01,2020-12-31\n",
    );
    assert_ok(&ktd(
        &room,
        "data import panel.csv --basis raw --universe universe.csv --out p.ktdp",
    ));
    assert_eq!(ktd(&room, "data check p.ktdp").status.code(), Some(1));
}

/// Files of a vendor's form, a stock each, of so many stocks and days; prices wander on the grid.
fn vendor_files(room: &Folder, stocks: u64, days: u64) {
    let start = ktd_env::TradeDate::parse("2023-09-01")
        .unwrap()
        .days_since_epoch();
    std::fs::create_dir(room.at("bars")).unwrap();
    for stock in 0..stocks {
        let mut text = "日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,涨跌幅\n".to_owned();
        let (mut fen, mut state) = (1000 + 37 * stock, stock + 1);
        for day in 0..days {
            let weekday = i32::try_from(day / 5 * 7 + day % 5).unwrap();
            let date = ktd_env::TradeDate::from_days_since_epoch(start + 3 + weekday).unwrap();
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let close = fen + fen * ((state >> 40) % 5) / 100 - fen * ((state >> 50) % 5) / 100;
            let (high, low, hands) = (fen.max(close), fen.min(close), 1000 + (state >> 45) % 5000);
            let yuan = |fen: u64| format!("{}.{:02}", fen / 100, fen % 100);
            let cells = [yuan(fen), yuan(close), yuan(high), yuan(low)].join(",");
            let date = date.reveal();
            let code = 600_000 + stock;
            writeln!(text, "{date},{code},{cells},{hands},{},0.1", hands * close).unwrap();
            fen = close;
        }
        room.write(&format!("bars/{}.csv", 600_000 + stock), &text);
    }
}

/// README: a folder of a vendor's files, and three commands to a board.
#[test]
fn a_vendors_folder_is_a_board_in_three_commands() {
    let room = room();
    vendor_files(&room, 30, 200);
    let looked = ktd(&room, "data import bars");
    let said = text(&looked.stderr);
    assert!(looked.status.success(), "{said}");
    for part in [
        "AKShare (stock_zh_a_hist): 30 files",
        "hands of 100 shares",
        "not read: 涨跌幅",
        "no ST dates",
        "30 stocks, and the factor model needs 50",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(text(&looked.stdout).contains("not written"));
    let made = json(&room, "data import bars --out own.ktdp");
    assert_eq!(made["sources"][0]["files"], 30);
    assert_eq!(made["sources"][0]["columns"][6]["unit"], "hands of 100 shares");
    let windows = &json(&room, "data check own.ktdp")["windows"];
    assert_eq!(
        (&windows[0]["id"], &windows[0]["carried"]),
        (&"W1".into(), &true.into())
    );
    assert_eq!(windows[0]["days"], 48);
    assert_eq!(windows[0]["ranked"], false);
    assert_eq!(
        (&windows[9]["id"], &windows[9]["carried"]),
        (&"W10".into(), &false.into())
    );
    let page = std::fs::read_to_string(ktd_kit::workspace_root().join("README.md")).unwrap();
    let file = page.split("\n    name = \"own\"").nth(1).unwrap();
    let file: String = file.split("\n\n#").next().unwrap().replace("\n    ", "\n");
    room.write("own.toml", format!("name = \"own\"{file}\n"));
    for command in ["run own.toml", "leaderboard results/own --out board"] {
        assert_ok(&ktd(&room, command));
    }
    assert!(room.at("board/index.html").is_file());
    check_few_stocks(&room);
    check_what_stands(&room);
}

/// What was not fitted is not known, and nothing is ranked.
fn check_few_stocks(room: &Folder) {
    let board: Value = serde_json::from_slice(&room.read("board/leaderboard.json")).unwrap();
    let leaders = board["tracks"][0]["leaders"].as_array().unwrap();
    let held = leaders.iter().find(|leader| leader["agent"] == "equal-weight");
    let exposures = held.unwrap()["daily_exposures"].as_array().unwrap();
    let mut days = exposures.iter().flat_map(|days| days.as_array().unwrap());
    assert!(!exposures.is_empty() && days.all(Value::is_null), "{exposures:?}");
    let said = text(&ktd(room, "leaderboard results/own").stdout);
    assert!(
        said.contains("1 more ranking: ") && !said.contains("luckiest"),
        "{said}"
    );
    let page = String::from_utf8(room.read("board/index.html")).unwrap();
    assert!(
        page.contains("no intervals here: nobody has a rank (no day could be fitted"),
        "the reason"
    );
}

/// A record that is gone is not finished, and results of one panel are not gone on with over another.
fn check_what_stands(room: &Folder) {
    let cell = room.at("results/own/cells/hold__last__bright-exact__open-research__s1");
    std::fs::rename(&cell, room.at("away")).unwrap();
    let status = json(room, "status results/own");
    assert_eq!(
        (&status["finished"], &status["not_begun"]),
        (&5.into(), &1.into())
    );
    std::fs::rename(room.at("away"), &cell).unwrap();
    let file = String::from_utf8(room.read("bars/600000.csv")).unwrap();
    let (all_but_last, _) = file.trim_end().rsplit_once('\n').unwrap();
    room.write("bars/600000.csv", all_but_last);
    assert_ok(&ktd(room, "data import bars --out own.ktdp --force"));
    refused(room, "run own.toml", &["made on another panel"]);
    assert_eq!(json(room, "status results/own")["finished"], 6);
}
