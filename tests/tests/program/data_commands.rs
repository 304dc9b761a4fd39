//! `ktd data` and `ktd simulate` as a user meets them: good input works, bad input is refused and nothing is written.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use ktd_kit::Folder;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Output;

struct Room(Folder);

impl Room {
    fn new() -> Self {
        let room = Self(Folder::new());
        room.file("panel.csv", &panel_rows());
        room.file(
            "universe.csv",
            "symbol,start,end\nSZ000001,2024-01-01,2024-12-31\n",
        );
        room.file(
            "config.json",
            r#"{"window_start": "2024-01-03", "window_end": "2024-01-05"}"#,
        );
        room.file(
            "orders.jsonl",
            &order_line("2024-01-03", r#""target_weight": 0.1"#),
        );
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.at(name)
    }

    fn file(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    fn ktd(&self, arguments: &str) -> Output {
        self.0.ktd(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    fn json(&self, arguments: &str) -> Value {
        let output = self.ktd(&format!("{arguments} --json"));
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The command is refused with exit code 2, its message holds `part`, and it writes nothing.
    fn refused(&self, arguments: &str, part: &str) {
        let before = self.0.files();
        let output = self.ktd(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.starts_with("error: "), "{arguments}: {message}");
        assert!(message.contains(part), "{arguments}: {message}");
        assert_eq!(self.0.files(), before, "{arguments}");
    }
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

fn order_line(day: &str, quantity: &str) -> String {
    format!(
        "{{\"date\": \"{day}\", \"orders\": [{{\"symbol\": \"SZ000001\", \"side\": \"BUY\", {quantity}, \
         \"confidence\": 0.5, \"reason\": \"a reason of some length\"}}]}}\n"
    )
}

const SIMULATE: &str = "simulate --panel panel.csv --basis raw --universe universe.csv --orders orders.jsonl --config config.json --out out";

#[test]
fn import_check_and_simulate_work_together() {
    let room = Room::new();
    let made = room.json("data import panel.csv --basis raw --universe universe.csv --out p.ktdp");
    assert_eq!((&made["bars"], &made["names"]), (&4.into(), &1.into()));
    let checked = room.json("data check p.ktdp");
    assert_eq!(checked["content_hash"], made["content_hash"]);
    assert_eq!(checked["member_days_with_bar"], 4);
    let from_source = room.json(SIMULATE);
    let from_panel =
        room.json("simulate --data p.ktdp --orders orders.jsonl --config config.json --out from_panel");
    assert_eq!(from_source["nav_fen"], from_panel["nav_fen"]);
    assert_eq!(from_panel["fills"], 1);
    for file in ["fills.csv", "daily.csv", "positions.csv", "events.csv"] {
        assert_eq!(
            std::fs::read(room.path("out").join(file)).unwrap(),
            std::fs::read(room.path("from_panel").join(file)).unwrap()
        );
    }
}

#[test]
fn orders_of_stocks_that_the_panel_lacks_name_what_was_meant() {
    let room = Room::new();
    let orders = order_line("2024-01-03", r#""shares": 100"#).replace("SZ000001", "SZ00001");
    room.file("orders.jsonl", &orders);
    let said = text(&room.ktd(SIMULATE).stdout);
    assert!(
        said.contains("not among the 1 stock of the panel, so that 1 order was rejected: SZ00001 (did you mean SZ000001?)"),
        "{said}"
    );
    let printed = room.json(&format!("{SIMULATE} --force"));
    assert_eq!(printed["unknown_symbols"][0]["nearest"], "SZ000001");
}

#[test]
fn the_synthetic_market_is_the_same_each_time() {
    let room = Room::new();
    let one = room.json("data synth --out a.ktdp --names 40 --days 60 --seed 7");
    let two = room.json("data synth --out b.ktdp --names 40 --days 60 --seed 7");
    assert_eq!(one["content_hash"], two["content_hash"]);
    assert_eq!(room.json("data check a.ktdp")["usable"], true);
    room.refused("data synth --out c.ktdp --names 0", "names");
}

#[test]
fn bad_sources_are_refused() {
    let room = Room::new();
    let import = "data import bad.csv --basis raw --out p.ktdp";
    let good = panel_rows();
    room.refused("data import absent.csv --basis raw --out p.ktdp", "absent.csv");
    room.refused("data import panel.csv --out p.ktdp", "basis");
    for (bad, part) in [
        (good.replace(",10.2,1000", ",nan,1000"), "row 4"),
        (good.replace(",10.2,1000", ",-1,1000"), "row 4"),
        (good.replace("SZ000001,10.1", "SH510300,10.1"), "row 3"),
        (good.replace("2024-01-04", "2024-01-03"), "row 4: a second row"),
        (good.replace("2024-01-04", "04.01.2024"), "row 4"),
        (good.replace(",1000,1\n", ",1000\n"), "row 2"),
        (good.replace("close,", "klose,"), "close"),
        (String::new(), "empty"),
        ("date,symbol,open,high,low,close,volume\n".to_owned(), "no rows"),
        ("PAR1 and then nothing".to_owned(), "Parquet"),
    ] {
        room.file("bad.csv", &bad);
        room.refused(import, part);
    }
    room.file("bad.csv", &good.replace(",10.2,1000", ",10.205,1000"));
    room.refused(
        "data import bad.csv --basis adjusted --out p.ktdp",
        "row 4: close",
    );
    std::fs::create_dir(room.path("empty")).unwrap();
    room.refused("data import empty --out p.ktdp", "not one of Qlib's");
    room.refused(
        "data import . --basis raw --out p.ktdp",
        "universe.csv: the columns",
    );
    room.refused(
        "data import panel.csv --basis raw --universe panel.csv --out p.ktdp",
        "membership",
    );
    room.refused(
        "data import panel.csv --basis raw --index panel.csv:SH000300 --out p.ktdp",
        "SH000300",
    );
}

#[test]
fn a_truncated_bin_is_refused() {
    let room = Room::new();
    for directory in ["q/calendars", "q/instruments", "q/features/sz000001"] {
        std::fs::create_dir_all(room.path(directory)).unwrap();
    }
    room.file("q/calendars/day.txt", "2024-01-02\n2024-01-03\n");
    room.file("q/instruments/all.txt", "SZ000001\t2024-01-02\t2024-01-03\n");
    let words = [0.0_f32, 10.0, 10.1];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for field in ["open", "high", "low", "close", "volume"] {
        std::fs::write(room.path(&format!("q/features/sz000001/{field}.day.bin")), &bytes).unwrap();
    }
    let made = room.json("data import q --out p.ktdp");
    assert_eq!(made["bars"], 2);
    let cut = bytes.get(..bytes.len() - 2).unwrap();
    std::fs::write(room.path("q/features/sz000001/close.day.bin"), cut).unwrap();
    room.refused("data import q --out cut.ktdp", "close.day.bin");
}

#[test]
fn outputs_are_not_written_over_or_half_written() {
    let room = Room::new();
    let import = "data import panel.csv --basis raw --out";
    room.refused(&format!("{import} absent/p.ktdp"), "absent/p.ktdp");
    room.refused(&format!("{import} universe.csv"), "universe.csv");
    std::fs::create_dir(room.path("directory")).unwrap();
    room.refused(&format!("{import} directory"), "directory");
    room.refused(&format!("{import} /dev/null --force"), "not a regular file");
    assert!(room.ktd(&format!("{import} p.ktdp")).status.success());
    room.refused(&format!("{import} p.ktdp"), "--force");
    assert!(room.ktd(&format!("{import} p.ktdp --force")).status.success());
    assert!(room.ktd(SIMULATE).status.success());
    room.refused(SIMULATE, "fills.csv");
}

#[test]
fn damaged_panels_are_refused() {
    let room = Room::new();
    room.refused("data check absent.ktdp", "absent.ktdp");
    room.refused("data check panel.csv", "not a ktd panel");
    assert!(
        room.ktd("data import panel.csv --basis raw --out p.ktdp")
            .status
            .success()
    );
    let bytes = std::fs::read(room.path("p.ktdp")).unwrap();
    std::fs::write(room.path("p.ktdp"), bytes.get(..bytes.len() - 9).unwrap()).unwrap();
    room.refused("data check p.ktdp", "hash");
}

#[test]
fn bad_orders_and_configurations_are_refused() {
    let room = Room::new();
    for (config, part) in [
        (
            r#"{"window_start": "2024-01-03", "window_end": "2024-01-05", "colour": 1}"#,
            "colour",
        ),
        (
            r#"{"window_start": "2023-01-03", "window_end": "2023-01-05"}"#,
            "no trading day",
        ),
        (
            r#"{"window_start": "2024-01-02", "window_end": "2024-01-05"}"#,
            "as-of day",
        ),
        (
            r#"{"window_start": "2024-01-03", "window_end": "2024-02-05"}"#,
            "ends after the panel",
        ),
        (r#"{"profile": "other"}"#, "profile"),
        ("nonsense", "config.json"),
    ] {
        room.file("config.json", config);
        room.refused(SIMULATE, part);
    }
    let room = Room::new();
    for (line, part) in [
        (
            order_line("2024-01-03", r#""target_weight": 1.3"#),
            "line 1, order 1 of 1: `target_weight`",
        ),
        (order_line("2024-01-03", r#""shares": 100.0"#), "`shares`"),
        (order_line("2024-01-06", r#""shares": 100"#), "2024-01-06"),
        (order_line("2024-01-02", r#""shares": 100"#), "2024-01-02"),
        (order_line("2024-01-03", r#""shares": 100"#).repeat(2), "line 2"),
    ] {
        room.file("orders.jsonl", &line);
        room.refused(SIMULATE, part);
    }
    room.refused(
        &SIMULATE.replace("--orders orders.jsonl", "--orders absent"),
        "absent",
    );
    room.refused(&SIMULATE.replace("--orders", "--signal"), "--signal");
}

#[test]
fn failures_are_json_for_programs() {
    let room = Room::new();
    for arguments in ["data check absent.ktdp --json", "--json data unknown"] {
        let output = room.ktd(arguments);
        assert_eq!(output.status.code(), Some(2));
        let failure: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(failure["exit_code"], 2);
    }
}

#[test]
fn a_panel_without_members_is_told_from_one_that_cannot_be_read() {
    let room = Room::new();
    room.file(
        "universe.csv",
        "symbol,start,end\nSZ000001,2020-01-01,2020-12-31\n",
    );
    assert!(
        room.ktd("data import panel.csv --basis raw --universe universe.csv --out p.ktdp")
            .status
            .success()
    );
    assert_eq!(room.ktd("data check p.ktdp").status.code(), Some(1));
}

/// Files of a vendor's form, a stock each, of so many stocks and days; prices wander on the grid.
fn vendor_files(room: &Room, stocks: u64, days: u64) {
    let start = ktd_env::TradeDate::parse("2023-09-01")
        .unwrap()
        .days_since_epoch();
    std::fs::create_dir(room.path("bars")).unwrap();
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
        room.file(&format!("bars/{}.csv", 600_000 + stock), &text);
    }
}

/// README: a folder of a vendor's files, and three commands to a board.
#[test]
fn a_vendors_folder_is_a_board_in_three_commands() {
    let room = Room::new();
    vendor_files(&room, 30, 200);
    let looked = room.ktd("data import bars");
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
    let made = room.json("data import bars --out own.ktdp");
    assert_eq!(made["sources"][0]["files"], 30);
    assert_eq!(made["sources"][0]["columns"][6]["unit"], "hands of 100 shares");
    let windows = &room.json("data check own.ktdp")["windows"];
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
    room.file("own.toml", &format!("name = \"own\"{file}\n"));
    for command in ["run own.toml", "leaderboard results/own --out board"] {
        let output = room.ktd(command);
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    }
    assert!(room.path("board/index.html").is_file());
    check_few_stocks(&room);
    check_what_stands(&room);
}

/// What was not fitted is not known, and nothing is ranked.
fn check_few_stocks(room: &Room) {
    let board: Value = serde_json::from_slice(&room.0.read("board/leaderboard.json")).unwrap();
    let leaders = board["tracks"][0]["leaders"].as_array().unwrap();
    let held = leaders.iter().find(|leader| leader["agent"] == "equal-weight");
    let exposures = held.unwrap()["daily_exposures"].as_array().unwrap();
    let mut days = exposures.iter().flat_map(|days| days.as_array().unwrap());
    assert!(!exposures.is_empty() && days.all(Value::is_null), "{exposures:?}");
    let said = text(&room.ktd("leaderboard results/own").stdout);
    assert!(
        said.contains("1 more ranking: ") && !said.contains("luckiest"),
        "{said}"
    );
    let page = String::from_utf8(room.0.read("board/index.html")).unwrap();
    assert!(
        page.contains("no intervals here: nobody has a rank (no day could be fitted"),
        "the reason"
    );
}

/// A record that is gone is not finished, and results of one panel are not gone on with over another.
fn check_what_stands(room: &Room) {
    let cell = room.path("results/own/cells/hold__last__bright-exact__open-research__s1");
    std::fs::rename(&cell, room.path("away")).unwrap();
    let status = room.json("status results/own");
    assert_eq!(
        (&status["finished"], &status["not_begun"]),
        (&5.into(), &1.into())
    );
    std::fs::rename(room.path("away"), &cell).unwrap();
    let file = String::from_utf8(room.0.read("bars/600000.csv")).unwrap();
    let (all_but_last, _) = file.trim_end().rsplit_once('\n').unwrap();
    room.file("bars/600000.csv", all_but_last);
    assert!(
        room.ktd("data import bars --out own.ktdp --force")
            .status
            .success()
    );
    room.refused("run own.toml", "made on another panel");
    assert_eq!(room.json("status results/own")["finished"], 6);
}
