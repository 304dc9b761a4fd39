//! Market data of others: panel files, long tables, Qlib directories.

use super::{assert_explained, split_choice};
use ktd_data::{ImportOptions, import};
use ktd_env::exchange::Rules;
use ktd_env::{CheckOptions, DateSpan, Market, PriceBasis, VolumeBasis, check_panel};
use ktd_qlib::{
    DEFAULT_LIMIT_THRESHOLD, DealPrice, FeatureFile, Instructions, Limit, OrderSize, QlibConfig, QlibPanel,
    QlibSide, ScriptedOrder, Settle, Signal, Strategy, TopkDropout, TradeType, simulate,
};
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A folder of this process.
fn folder() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"))
}

/// A market that was read is written as a panel that is read again, and can be looked at.
fn check_market(market: &Market) {
    let again = Market::from_bytes(&market.to_bytes()).expect("a panel that was written is read");
    assert_eq!(again.content_hash(), market.content_hash());
    let options = CheckOptions {
        span: DateSpan::ALWAYS,
        examples: 3,
    };
    let report = check_panel(market, &Rules::default(), options);
    assert_eq!(report.days, market.calendar().len());
    for (name, _) in market.names() {
        assert!(market.bars_of(name).count() <= market.calendar().len());
    }
    for index in 0..market.calendar().len() {
        let day = market.day_at(index).expect("a day of the calendar");
        let as_of = market.as_of(day);
        for name in as_of.members() {
            let last = as_of.last_bar(name).map(|(day, _)| day);
            assert_eq!(as_of.bars(name, 5).last().map(|(day, _)| *day), last);
        }
    }
}

/// A panel file without the hash that closes it, which any stranger can write.
pub(crate) fn panel(input: &[u8]) {
    let mut bytes = input.to_vec();
    bytes.extend_from_slice(blake3::hash(input).as_bytes());
    match Market::from_bytes(&bytes) {
        Ok(market) => check_market(&market),
        Err(error) => {
            assert_explained(&error);
            assert_explained(&error.hint());
        }
    }
}

fn options(choice: usize, source: PathBuf) -> ImportOptions {
    ImportOptions {
        sources: vec![source],
        basis: [None, Some(PriceBasis::Raw), Some(PriceBasis::Adjusted)][choice % 3],
        volume: [None, Some(VolumeBasis::Real), Some(VolumeBasis::Adjusted)][choice / 3 % 3],
        ..ImportOptions::default()
    }
}

fn check_import(options: &ImportOptions) {
    match import(options, &mut ()) {
        Ok(imported) => check_market(&imported.market),
        Err(error) => {
            assert_explained(&error);
            assert_explained(&error.hint());
        }
    }
}

fn check_file(input: &[u8], name: &str) {
    let (choice, input) = split_choice(input);
    let path = folder().path().join(name);
    std::fs::write(&path, input).expect("a file of our own");
    check_import(&options(choice, path));
}

/// The first byte chooses the basis of prices and volumes; the rest is the file.
pub(crate) fn csv_panel(input: &[u8]) {
    check_file(input, "panel.csv");
}

/// As [`csv_panel`].
pub(crate) fn parquet_panel(input: &[u8]) {
    check_file(input, "panel.parquet");
}

/// What stands between the files of a Qlib directory.
const BREAK: &[u8] = b"\n%%\n";

/// The files of a directory: what stands between the breaks.
fn split_files(mut input: &[u8]) -> Vec<&[u8]> {
    let mut files = Vec::new();
    while let Some(place) = input.windows(BREAK.len()).position(|window| window == BREAK) {
        files.push(&input[..place]);
        input = &input[place + BREAK.len()..];
    }
    files.push(input);
    files
}

const FIELDS: [&str; 8] = [
    "open", "high", "low", "close", "volume", "factor", "change", "amount",
];
const SYMBOLS: [&str; 2] = ["SH600000", "SZ000001"];

/// The features of two instruments, one a file, in the order of the fields.
fn features(files: &[&[u8]]) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let places = SYMBOLS
        .into_iter()
        .flat_map(|symbol| FIELDS.map(|field| (symbol, field)));
    let with_bytes = places.zip(files).filter(|(_, bytes)| !bytes.is_empty());
    with_bytes
        .map(|((symbol, field), bytes)| (symbol, field, bytes.to_vec()))
        .collect()
}

/// Calendar, instruments and bins of a directory, simulated by Qlib's rules.
pub(crate) fn qlib_simulation(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let files = split_files(input);
    let text =
        |place: usize| String::from_utf8_lossy(files.get(place).copied().unwrap_or_default()).into_owned();
    let bins = features(files.get(2..).unwrap_or_default());
    let bins = bins.into_iter().map(|(symbol, field, bytes)| FeatureFile {
        symbol: symbol.to_lowercase(),
        field: field.to_owned(),
        bytes,
    });
    let panel = match QlibPanel::parse(&text(0), None, &text(1), bins) {
        Ok(panel) => panel,
        Err(error) => {
            assert_explained(&error);
            return assert_explained(&error.hint());
        }
    };
    let (config, instructions) = orders(choice, &panel);
    match simulate(&panel, &config, &instructions) {
        Ok(run) => assert!(!run.daily.is_empty(), "a run without a day"),
        Err(error) => assert_explained(&error),
    }
}

/// A script of orders, or scores for the strategy.
fn orders(choice: usize, panel: &QlibPanel) -> (QlibConfig, Instructions) {
    let days = panel.calendar();
    let switch = |bit: u32| choice >> bit & 1 == 0;
    let is_scripted = switch(0);
    let topk = TopkDropout {
        topk: 1,
        n_drop: 1,
        hold_thresh: 1,
        only_tradable: switch(3),
        forbid_all_trade_at_limit: switch(4),
    };
    let config = QlibConfig {
        start: days[0],
        end: days[days.len() - 1],
        account: 1_000_000.0,
        deal_price: DealPrice {
            buy: "open".to_owned(),
            sell: "close".to_owned(),
        },
        limit: Limit::Change(DEFAULT_LIMIT_THRESHOLD),
        open_cost: 0.0005,
        close_cost: 0.0015,
        min_cost: 5.0,
        trade_unit: switch(1).then_some(100.0),
        impact_cost: 0.01,
        volume_threshold: None,
        trade_type: TradeType::Serial,
        settle: [Settle::None, Settle::Cash][choice / 4 % 2],
        benchmark: SYMBOLS[0].to_owned(),
        risk_degree: 0.95,
        strategy: if is_scripted {
            Strategy::Scripted
        } else {
            Strategy::TopkDropout(topk)
        },
    };
    let instructions = if is_scripted { script(panel) } else { scores(panel) };
    (config, instructions)
}

/// Every second day both instruments are bought, on the others all is sold.
fn script(panel: &QlibPanel) -> Instructions {
    let days = panel.calendar().iter().enumerate();
    let orders = days.flat_map(|(place, date)| {
        let (side, shares) = if place % 2 == 0 {
            (QlibSide::Buy, OrderSize::Real(1_234.5))
        } else {
            (QlibSide::Sell, OrderSize::All)
        };
        SYMBOLS.map(|symbol| ScriptedOrder {
            date: *date,
            symbol: symbol.to_owned(),
            side,
            shares,
        })
    });
    Instructions::Orders(orders.collect())
}

/// The instruments take turns at the top.
fn scores(panel: &QlibPanel) -> Instructions {
    let mut signal = Signal::default();
    for (place, date) in panel.calendar().iter().enumerate() {
        for (number, symbol) in SYMBOLS.into_iter().enumerate() {
            let score = if (place + number) % 2 == 0 { 1.0 } else { 0.5 };
            signal.insert(*date, symbol, score).expect("one score a day");
        }
    }
    Instructions::Signal(signal)
}

/// The same files as a directory that is imported as a panel.
pub(crate) fn qlib_import(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let files = split_files(input);
    let root = folder().path().join("qlib");
    // Files of the input before must not stay.
    std::fs::remove_dir_all(&root).ok();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of our own");
        std::fs::write(path, bytes).expect("a file of our own");
    };
    write("calendars/day.txt", files[0]);
    write("instruments/all.txt", files.get(1).copied().unwrap_or_default());
    std::fs::create_dir_all(root.join("features")).expect("a folder of our own");
    for (symbol, field, bytes) in features(files.get(2..).unwrap_or_default()) {
        write(
            &format!("features/{}/{field}.day.bin", symbol.to_lowercase()),
            &bytes,
        );
    }
    check_import(&options(choice, root));
}
