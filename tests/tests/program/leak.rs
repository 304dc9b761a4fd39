//! `ktd leak`: the one-switch benchmark and the audit of signals, as a stranger would run them.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::program::json_of;
use ktd_kit::{Folder, assert_ok, quiet, refused, workspace_root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Gains by model, horizon and protocol.
fn gains(report: &Value) -> BTreeMap<(String, u64, String), f64> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = report["gains"].as_array().unwrap().iter();
    rows.map(|row| {
        let key = (
            text(row, "model"),
            row["horizon"].as_u64().unwrap(),
            text(row, "protocol"),
        );
        (key, row["gain"].as_f64().unwrap())
    })
    .collect()
}

/// On a market without alpha the two dominant switches pretend ratios that nothing real has, and the others nothing; a model
/// of plain lags cannot be moved by what moves rolling statistics or fits.
#[test]
fn a_market_without_alpha_shows_what_each_switch_pretends() {
    let folder = Folder::new();
    let demo = workspace_root().join("runs/configs/leak_demo.toml");
    let report = json_of(
        folder.path(),
        &["leak", "run", demo.to_str().unwrap(), "--out", "out"],
    );
    let gains = gains(&report);
    let of = |model: &str, horizon, protocol: &str| gains[&(model.to_owned(), horizon, protocol.to_owned())];
    for horizon in [5, 20] {
        for still in ["TEMP_CENTER", "NORM_GLOBAL", "STRUCT_GRAPH", "LABEL_OVERLAP"] {
            assert_eq!(
                of("momentum", horizon, still).to_bits(),
                0.0_f64.to_bits(),
                "{still}"
            );
        }
        assert!(1.0 < of("momentum", horizon, "EXEC_OPEN"));
        let dominant = of("ridge", horizon, "TEMP_CENTER").min(of("ridge", horizon, "EXEC_OPEN"));
        let weak = ["NORM_GLOBAL", "STRUCT_GRAPH", "EXEC_CLOSE", "LABEL_OVERLAP"];
        let weak = weak.map(|switch| of("ridge", horizon, switch).abs());
        let largest = weak.iter().copied().fold(0.0, f64::max);
        assert!(5.0 < dominant && 10.0 * largest < dominant, "{dominant} {weak:?}");
        assert!(of("ridge", horizon, "NORM_GLOBAL").abs() < 0.05);
    }
    for row in report["costs"].as_array().unwrap() {
        let ratios: Vec<f64> = row["sharpe"]
            .as_array()
            .unwrap()
            .iter()
            .map(|at| at[1].as_f64().unwrap())
            .collect();
        assert!(
            ratios.is_sorted_by(|a, b| a > b),
            "a higher cost earns more: {row}"
        );
    }
    let shown = quiet(folder.path(), &["report", "out"]);
    assert_ok(&shown);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_page(&folder, &report);
    let sanity = json_of(folder.path(), &["leak", "sanity", demo.to_str().unwrap()]);
    let rows = sanity["interventions"].as_array().unwrap();
    assert_eq!(
        (&rows[0]["protocol"], &rows[0]["suffix_cells_changed"]),
        (&"CLEAN".into(), &0.into())
    );
    assert_eq!(
        rows[1]["suffix_sessions_changed"], 3,
        "a lead of three sessions reads three"
    );
    let open = &rows[2];
    assert!(open["sharpe_masked"].as_f64().unwrap() < 0.2 * open["sharpe_full"].as_f64().unwrap());
}

/// A protocol has one colour in the legend and in all pictures.
fn assert_colours(page: &str) {
    for (protocol, colour) in [("TEMP_CENTER", 1), ("EXEC_OPEN", 2)] {
        assert!(page.contains(&format!("<span class=\"k{colour}\"></span>{protocol}</li>")));
        let bars: Vec<&str> = page.split(&format!("<title>{protocol} 20")).skip(1).collect();
        let own = format!("</title><rect class=\"f{colour}\"");
        assert!(
            !bars.is_empty()
                && bars
                    .iter()
                    .all(|bar| bar.split_once("</g>").unwrap().0.contains(&own)),
            "{protocol}"
        );
    }
}

/// The page loads nothing, names the file of each picture, and is made again to the same bytes; the report has what it shows.
fn assert_page(folder: &Folder, report: &Value) {
    let page = std::fs::read_to_string(folder.at("out/index.html")).unwrap();
    crate::page::well_formed::check(&page);
    for banned in ["<script", "<link", "<img", "http", "url(", "src=", "NaN"] {
        assert!(!page.contains(banned), "the page has {banned:?}");
    }
    for section in [
        "Leakage gains",
        "By year",
        "Costs",
        "Around the stamp",
        "Interventions",
        "Negative controls",
        "Side figures",
    ] {
        assert!(page.contains(&format!("<h2>{section}</h2>")), "{section}");
    }
    for twin in [
        "gains",
        "by_year",
        "costs",
        "profile",
        "ladder",
        "interventions",
        "controls",
    ] {
        let name = format!("{twin}.csv");
        let rows = std::fs::read_to_string(folder.at(&format!("out/{name}"))).unwrap();
        assert!(page.contains(&name) && 3 < rows.lines().count(), "{name}");
    }
    assert_colours(&page);
    let text = std::fs::read_to_string(folder.at("out/report.md")).unwrap();
    assert!(
        text.contains("| leak-demo | ridge | 5 |") && text.contains("## Negative controls"),
        "{text}"
    );
    std::fs::remove_file(folder.at("out/index.html")).unwrap();
    assert_ok(&quiet(folder.path(), &["report", "out", "--all"]));
    assert_eq!(
        std::fs::read_to_string(folder.at("out/index.html")).unwrap(),
        page
    );
    let rows = |key: &str| report[key].as_array().unwrap().len();
    assert_eq!(
        [
            rows("interventions"),
            rows("controls"),
            rows("ladder"),
            rows("profile")
        ],
        [3, 4, 15, 3 * 37]
    );
    // Scores of a full bar go with that session's own return, centred windows with three days ahead, clean scores with neither.
    let ic = |protocol: &str, piece: i64| {
        let mut own = report["profile"].as_array().unwrap().iter();
        let row = own
            .find(|row| row["protocol"] == protocol && row["piece"] == piece)
            .unwrap();
        row["ic"].as_f64().unwrap()
    };
    assert!(0.5 < ic("EXEC_OPEN", 0) && 0.2 < ic("TEMP_CENTER", 6) && ic("TEMP_CENTER", 8).abs() < 0.06);
    assert!((1..9).all(|piece| ic("CLEAN", piece).abs() < 0.06));
}

const SMALL: &str = "name = \"small\"\nsynthetic = { seed = 3, names = 30, days = 1300 }\nhorizons = [5]\n\
                     models = [\"momentum\", \"ridge\", \"trees\"]\nprotocols = [\"EXEC_OPEN\"]\n";

/// A folder goes on with a file that asks for more, keeps what it no longer asks for, and reads nothing of other settings.
#[test]
fn a_folder_goes_on_with_what_was_decided_by_the_same() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    let run = |text: &str| {
        folder.write("small.toml", text);
        json_of(folder.path(), &["leak", "run", "small.toml", "--out", "out"])
    };
    let lines = || {
        std::fs::read_to_string(folder.at("out/units.jsonl"))
            .unwrap()
            .lines()
            .count()
    };
    let few = SMALL.replace(", \"trees\"", "");
    let of_few = run(&few);
    let few_lines = lines();
    let of_all = run(SMALL);
    assert!(few_lines < lines());
    assert_eq!(run(&few), of_few);
    assert_eq!(run(SMALL), of_all);
    let whole = lines();
    let other = run(&SMALL.replace("seed = 3", "seed = 4"));
    assert!(other["gains"] != of_all["gains"] && lines() == whole);
    assert_ok(&quiet(folder.path(), &["verify", "out", "--deep"]));
}

#[test]
fn a_gain_is_told_from_none_by_its_days() {
    let text = SMALL
        .replace(
            "[\"momentum\", \"ridge\", \"trees\"]",
            "[\"momentum\", \"ridge\"]",
        )
        .replace(
            "[\"EXEC_OPEN\"]",
            "[\"EXEC_OPEN\", \"EXEC_CLOSE\", \"NORM_GLOBAL\"]",
        )
        .replace("days = 1300", "days = 800");
    let folder = Folder::with(&[("own.toml", &text)]);
    let report = json_of(folder.path(), &["leak", "run", "own.toml", "--out", "own"]);
    let row = |model: &str, protocol: &str| {
        let rows = report["gains"].as_array().unwrap().iter();
        let mut own = rows.filter(|row| row["model"] == model && row["protocol"] == protocol);
        own.next().unwrap()
    };
    let (open, close) = (row("ridge", "EXEC_OPEN"), row("ridge", "EXEC_CLOSE"));
    let figure = |row: &Value, key: &str| row[key].as_f64().unwrap();
    assert!(figure(open, "p_holm") < 0.001 && 0.0 < figure(open, "gain_interval_low"));
    let gain = figure(close, "gain");
    assert!(figure(close, "gain_interval_low") < gain && gain < figure(close, "gain_interval_high"));
    assert!(figure(close, "p") <= figure(close, "p_holm") && 0.0 < figure(close, "detectable_gain"));
    // A model that no scale moves does not differ from the reference: nothing is to be told apart.
    assert_eq!(row("momentum", "NORM_GLOBAL")["p"], Value::Null);
    let shown = quiet(folder.path(), &["report", "own", "--all"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("not told from no gain ("), "{text}");
}

#[test]
fn what_is_no_benchmark_says_how_to_fix_it() {
    let folder = Folder::new();
    for (text, part) in [
        ("name = \"a\"", "one of `panel`, `prices` and `synthetic`"),
        (&SMALL.replace("EXEC_OPEN", "EXEC_NIGHT"), "EXEC_NIGHT"),
        (&SMALL.replace("trees", "forest"), "unknown variant `forest`"),
        (&SMALL.replace("horizons", "horizon"), "unknown field"),
        (&SMALL.replace("days = 1300", "days = 400"), "no year to test"),
        (&format!("{SMALL}until = \"soon\""), "is no date"),
        (&format!("{SMALL}universe = {{ share = 1.5 }}"), "is no share"),
        (&format!("{SMALL}costs_bps = []"), "`costs_bps` is empty"),
        (&format!("{SMALL}costs_bps = [-5]"), "is no cost"),
        (
            &format!("{SMALL}prices = {{ file = \"bars.csv\" }}"),
            "one of `panel`, `prices` and `synthetic`",
        ),
        (
            "name = \"a\"\nprices = { file = \"bars.csv\" }\nuniverse = \"members\"",
            "does not say who is a member",
        ),
        ("name = \"a\"\nprices = { file = \"bars.csv\" }", "bars.csv"),
        (&format!("{SMALL}test_years = [2001]"), ""),
    ] {
        folder.write("bad.toml", text);
        let output = quiet(folder.path(), &["leak", "run", "bad.toml", "--out", "out"]);
        if part.is_empty() {
            // A year without a session is left out, and named.
            assert!(String::from_utf8(output.stdout).unwrap().contains("2001"));
        } else {
            let error = refused(&output, 2);
            assert!(
                error.contains(part) && error.contains("hint: "),
                "{part}: {error}"
            );
        }
    }
}

/// A long file of bars with codes of no exchange gives the gains of the panel that it was written from.
#[test]
fn bars_of_any_market_are_read_without_boards() {
    let folder = Folder::new();
    let synth = [
        "data",
        "synth",
        "--out",
        "panel.ktdp",
        "--names",
        "30",
        "--days",
        "1300",
        "--seed",
        "3",
    ];
    assert_ok(&quiet(folder.path(), &synth));
    let market = ktd_data::load_panel(&folder.at("panel.ktdp")).unwrap();
    let mut text = "date,symbol,open,high,low,close,volume,factor\n".to_owned();
    for (name, info) in market.names() {
        for (day, bar) in market.bars_of(name) {
            let (date, code) = (market.date(day).unwrap().reveal(), info.ticker.reveal());
            let open = bar
                .open
                .map_or_else(String::new, |open| open.to_yuan().to_string());
            let [high, low, close] = [bar.high, bar.low, bar.close].map(ktd_env::Price::to_yuan);
            let (volume, factor) = (bar.volume, bar.factor_value);
            writeln!(
                text,
                "{date},ZZ.{code},{open},{high},{low},{close},{volume},{factor}"
            )
            .unwrap();
        }
    }
    folder.write("bars.csv", &text);
    let rest = "horizons = [5]\nprotocols = [\"EXEC_OPEN\", \"TEMP_CENTER\"]\n";
    folder.write(
        "panel.toml",
        format!("name = \"p\"\npanel = \"panel.ktdp\"\n{rest}"),
    );
    folder.write(
        "bars.toml",
        format!("name = \"b\"\nprices = {{ file = \"bars.csv\", adjusted_from = \"end\" }}\n{rest}"),
    );
    let run = |name: &str| {
        let config = format!("{name}.toml");
        json_of(folder.path(), &["leak", "run", &config, "--out", name])
    };
    let (panel, bars) = (run("panel"), run("bars"));
    assert_eq!(
        (&panel["names"], &panel["rows"], &panel["years"]),
        (&bars["names"], &bars["rows"], &bars["years"])
    );
    let (expected, found) = (gains(&panel), gains(&bars));
    assert_eq!(expected.len(), 6);
    for (key, gain) in expected {
        assert!(
            (found[&key] - gain).abs() < 1e-6,
            "{key:?}: {gain} {}",
            found[&key]
        );
    }
    let manifest = std::fs::read_to_string(folder.at("bars/manifest.toml")).unwrap();
    assert!(manifest.contains("adjusted_from = \"end\""), "{manifest}");
    assert_ok(&quiet(folder.path(), &["leak", "check", "bars/manifest.toml"]));
}

/// Signals of a synthetic market: yesterday's return, which is clean, and the next day's, which nobody has.
fn signals(folder: &Folder) -> Vec<String> {
    assert_ok(&quiet(
        folder.path(),
        &[
            "data",
            "synth",
            "--out",
            "panel.ktdp",
            "--names",
            "60",
            "--days",
            "500",
            "--seed",
            "3",
        ],
    ));
    let market = ktd_data::load_panel(&folder.at("panel.ktdp")).unwrap();
    let mut lines = Vec::new();
    for (name, info) in market.names() {
        let bars: Vec<_> = market.bars_of(name).collect();
        for three in bars.windows(3) {
            let [before, today, next] = three else { continue };
            let close = |bar: &(ktd_env::DayIndex, ktd_env::Bar)| bar.1.adjusted_close();
            let day = market.date(today.0).unwrap().reveal();
            lines.push(format!(
                "{day},{},{},{}",
                info.ticker.reveal(),
                close(before) / close(today) - 1.0,
                close(next) / close(today) - 1.0
            ));
        }
    }
    lines
}

/// Weights are known at the open of their date: those by the last close pass, those by the day's own close do not.
#[test]
fn weights_that_know_their_own_day_are_suspect() {
    let folder = Folder::new();
    signals(&folder);
    let market = ktd_data::load_panel(&folder.at("panel.ktdp")).unwrap();
    let (mut known, mut unknown) = (
        "date,symbol,weight\n".to_owned(),
        "date,symbol,weight\n".to_owned(),
    );
    for (name, info) in market.names() {
        let bars: Vec<_> = market.bars_of(name).collect();
        for three in bars.windows(3) {
            let [two, before, today] = three else { continue };
            let close = |bar: &(ktd_env::DayIndex, ktd_env::Bar)| bar.1.adjusted_close();
            let row = format!(
                "{},{}",
                market.date(today.0).unwrap().reveal(),
                info.ticker.reveal()
            );
            // What has fallen is held, the more the lower: names without a row weigh nothing.
            for (text, fell) in [
                (&mut known, close(two) / close(before)),
                (&mut unknown, close(today) / close(before)),
            ] {
                if 1.0 < fell {
                    writeln!(text, "{row},{}", fell - 1.0).unwrap();
                }
            }
        }
    }
    folder.write("known.csv", &known);
    folder.write("unknown.csv", &unknown);
    let audit = |file: &str| {
        let arguments = [
            "--json",
            "leak",
            "audit",
            "--weights",
            file,
            "--panel",
            "panel.ktdp",
        ];
        let output = quiet(folder.path(), &arguments);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (
            output.status.code(),
            found["signals"][0]["verdict"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(audit("known.csv"), (Some(0), "nothing_seen".to_owned()));
    assert_eq!(audit("unknown.csv"), (Some(1), "suspect".to_owned()));
    folder.write("trades.csv", "date,symbol,shares,price\n");
    let trades = [
        "leak",
        "audit",
        "--weights",
        "trades.csv",
        "--panel",
        "panel.ktdp",
    ];
    let error = refused(&quiet(folder.path(), &trades), 2);
    assert!(
        error.contains("shares, price") && error.contains("hint: "),
        "{error}"
    );
}

#[test]
fn a_signal_that_knows_tomorrow_is_named_and_a_reversal_is_not() {
    let folder = Folder::new();
    let lines = signals(&folder);
    let mut text = "date,symbol,reversal,tomorrow\n".to_owned();
    for line in &lines {
        writeln!(text, "{line}").unwrap();
    }
    text.push_str("1999-01-04,SH600000,1,1\n");
    folder.write("signals.csv", &text);
    let audit = [
        "leak",
        "audit",
        "--signals",
        "signals.csv",
        "--panel",
        "panel.ktdp",
    ];
    let output = quiet(folder.path(), &[&["--json"], &audit[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdict = |place: usize| found["signals"][place]["verdict"].as_str().unwrap();
    assert_eq!([verdict(0), verdict(1)], ["nothing_seen", "suspect"]);
    assert_eq!(found["unknown_days"], 1);
    let goes_with = found["signals"][1]["goes_with"].as_str().unwrap();
    assert!(goes_with.contains("day +1"), "{goes_with}");
    // Ten names on fifty days are no ground for a verdict.
    let few: Vec<&str> = text.lines().take(30).collect();
    folder.write("few.csv", few.join("\n"));
    let few = json_of(
        folder.path(),
        &["leak", "audit", "--signals", "few.csv", "--panel", "panel.ktdp"],
    );
    assert_eq!(few["signals"][1]["verdict"], "too_little");
    for (line, part) in [
        (lines[0].clone(), "stands twice"),
        ("2024-13-01,SH600000,1,1".to_owned(), "is no date"),
        ("2022-02-08,600000.XY,1,1".to_owned(), "600000.XY"),
        (format!("{}much", lines[1]), "which is no number"),
    ] {
        folder.write("bad.csv", format!("date,symbol,a,b\n{}\n{line}\n", lines[0]));
        let error = refused(
            &quiet(
                folder.path(),
                &["leak", "audit", "--signals", "bad.csv", "--panel", "panel.ktdp"],
            ),
            2,
        );
        assert!(error.contains(part), "{line}: {error}");
    }
    folder.write("bad.csv", "day,symbol,a\n");
    let error = refused(
        &quiet(
            folder.path(),
            &["leak", "audit", "--signals", "bad.csv", "--panel", "panel.ktdp"],
        ),
        2,
    );
    assert!(error.contains("lacks a column `date`"), "{error}");
}
