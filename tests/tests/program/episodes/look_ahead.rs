//! Nothing looks ahead: another future leaves everything that was asked and done before it as it was.

use super::perturb::rebuild;
use ktd_data::{ImportOptions, import};
use ktd_env::{DayIndex, Market, PriceBasis};
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::Need;
use ktd_kit::episode::{GRID, Trace, assert_same_files, below, dice, experiment, key, market, prepare, run};
use ktd_kit::need::data_root;
use ktd_record::chain::first_difference;
use std::collections::BTreeMap;
use std::path::Path;

type ByCell = BTreeMap<String, Trace>;

fn told(config: &ExperimentConfig, market: Market) -> ByCell {
    let output = tempfile::tempdir().unwrap();
    let prepared = prepare(config, market, key(7));
    run(config, &prepared, output.path())
        .into_iter()
        .map(|(cell, bundle)| (cell.id, Trace::of(&bundle)))
        .collect()
}

/// Cuts and scrambles after each of the given days of a window and compares what came before.
fn check(config: &ExperimentConfig, market: &Market, window: usize, days: &[usize], seed: u64) {
    let mut dice = dice(seed, "look-ahead");
    let base = told(config, market.clone());
    let first = market.calendar().len() - window;
    for &days in days {
        // Day 0 of the window is the as-of day of its first step.
        let cut = market.day_at(first + days - 1).unwrap();
        same_before(&base, &told(config, market.cut_after(cut)), days, "cut");
        let scrambled = told(config, rebuild(market, Some(cut), &mut dice));
        same_before(&base, &scrambled, days, "scrambled");
        if days < window {
            assert!(
                base != scrambled,
                "scrambling after day {days} changed nothing at all: the test sees nothing"
            );
        }
    }
}

fn same_before(base: &ByCell, other: &ByCell, days: usize, how: &str) {
    for (cell, told) in base {
        let (before, now) = (told.before_close_of(days), other[cell].before_close_of(days));
        let place = format!("{cell}, {how} after day {days} of the window");
        assert!(!before.requests.is_empty(), "{place}: nothing to compare");
        for ((at, left), (now_at, right)) in before.requests.iter().zip(&now.requests) {
            assert_eq!(at, now_at, "{place}");
            let differs = || first_difference(left, right);
            assert!(left == right, "{place}: the request at {at:?}: {}", differs());
        }
        for (left, right) in before.events.iter().zip(&now.events) {
            assert!(
                left == right,
                "{place}: an event: {}",
                first_difference(left, right)
            );
        }
        assert_eq!(
            (before.requests.len(), before.events.len()),
            (now.requests.len(), now.events.len()),
            "{place}"
        );
    }
}

#[test]
fn a_changed_future_changes_nothing_before_it() {
    const WINDOW: usize = 5;
    let config = experiment(WINDOW, GRID);
    check(&config, &market(5), WINDOW, &[0, 1, 2, 4], 101);
}

#[test]
fn nor_does_it_in_other_markets() {
    const WINDOW: usize = 3;
    let config = experiment(WINDOW, GRID);
    for seed in 21..24 {
        let mut days = dice(seed, "the day of the cut");
        let day = below(&mut days, WINDOW);
        check(&config, &market(seed), WINDOW, &[day], seed);
    }
}

/// The same on real prices; a slice of the panel keeps it cheap.
#[test]
fn nor_does_it_on_real_prices() {
    const WINDOW: usize = 4;
    if !Need::RealPanels.is_met() {
        return;
    }
    let data = data_root();
    let panel = data.join("cn_csi300_window_2023_2026.parquet");
    let date = |text: &str| ktd_env::TradeDate::parse(text).ok();
    let options = ImportOptions {
        sources: vec![panel],
        basis: Some(PriceBasis::Raw),
        universe: Some(data.join("cn_csi300_members.csv")),
        indices: vec![format!(
            "{}:SH000300",
            data.join("cn_index_daily_2010_2026.parquet").display()
        )],
        names: Some(data.join("cn_stock_meta.csv")),
        start: date("2023-01-03"),
        end: date("2024-04-12"),
        ..ImportOptions::default()
    };
    let market = import(&options, &mut ()).unwrap().market;
    let config = experiment(
        WINDOW,
        r#"
        masks = [{ level = "bright" }, { level = "blinded", numeric = "rescaled" }]
        modes = ["fixed-candidate", "open-research"]
        agents = [{ id = "momentum", builtin = "momentum" }, { id = "random", builtin = "random" }]
        "#,
    );
    check(&config, &market, WINDOW, &[1, 3], 103);
}

/// The panel as a long file, its rows in the given order.
fn write_rows(path: &Path, rows: &[String]) {
    let head = "date,symbol,open,high,low,close,volume,amount,factor\n";
    std::fs::write(path, format!("{head}{}\n", rows.join("\n"))).unwrap();
}

fn rows(market: &Market) -> Vec<String> {
    let yuan = |fen: i64| format!("{}.{:02}", fen / 100, fen % 100);
    let date = |day: DayIndex| market.date(day).unwrap().reveal();
    let mut rows = Vec::new();
    for (name, info) in market.names() {
        for (day, bar) in market.bars_of(name) {
            rows.push(format!(
                "{},{},{},{},{},{},{},{},{}",
                date(day),
                info.ticker.reveal(),
                bar.open.map(|open| yuan(open.0)).unwrap_or_default(),
                yuan(bar.high.0),
                yuan(bar.low.0),
                yuan(bar.close.0),
                bar.volume,
                bar.amount_cny,
                bar.factor
            ));
        }
    }
    rows
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = rows(&market(9));
    let ordered = folder.path().join("ordered.csv");
    write_rows(&ordered, &rows);
    let read = |path: &Path| {
        let options = ImportOptions {
            sources: vec![path.to_owned()],
            basis: Some(PriceBasis::Raw),
            ..ImportOptions::default()
        };
        import(&options, &mut ()).unwrap().market
    };
    let config = experiment(2, GRID);
    let run_on = |market: Market, output: &str| {
        let prepared = prepare(&config, market, key(3));
        run(&config, &prepared, &folder.path().join(output))
    };
    let market = read(&ordered);
    let hash = market.content_hash();
    let first = run_on(market, "ordered");
    dice(1, "order of the rows").shuffle(&mut rows);
    let path = folder.path().join("shuffled.csv");
    write_rows(&path, &rows);
    let shuffled = read(&path);
    assert_eq!(shuffled.content_hash(), hash);
    for ((_, left), (_, right)) in first.iter().zip(run_on(shuffled, "shuffled")) {
        assert_same_files(left, &right);
    }
}
