//! The profile `qlib` against what Qlib itself produced: every run and every single-order case of the golden set.
//!
//! Every set of this layout is run: our own, and the one outside the repository.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use flate2::read::GzDecoder;
use ktd_kit::golden;
use ktd_qlib::{
    DealTerms, Numbers, OrderRequest, QlibAccount, QlibHolding, QlibSide, Quote, RiskMode, Settle,
    VolumeKind, risk_analysis,
};
use ktd_simulate::qlib::{QlibInputs, QlibInstructions, QlibSummary, simulate_qlib};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Amounts, values and costs.
const DEAL: Tolerance = Tolerance::Relative(1e-12);
/// Cash and account.
const ACCOUNT: Tolerance = Tolerance::Relative(1e-11);
/// Shares of the account: differences of it, so an ulp of the account shows in them.
const SHARE: Tolerance = Tolerance::Absolute(1e-11);
/// Figures of a whole run: the order of summation differs from pandas.
const RISK: Tolerance = Tolerance::Relative(1e-9);

/// How far a cell may be from the expected one.
#[derive(Clone, Copy)]
enum Tolerance {
    Exact,
    Relative(f64),
    Absolute(f64),
}

impl Tolerance {
    fn allows(self, value: f64, want: f64) -> bool {
        let slack = match self {
            Self::Exact => 0.0,
            Self::Relative(share) => share * want.abs(),
            Self::Absolute(slack) => slack,
        };
        (value - want).abs() <= slack
    }

    /// Numbers within the tolerance, or else the same text.
    fn allows_text(self, cell: &str, want: &str) -> bool {
        let close = |(cell, want)| self.allows(cell, want);
        cell == want || cell.parse().ok().zip(want.parse().ok()).is_some_and(close)
    }
}

/// A CSV, plain or gzipped, as a header and rows of text.
struct Table {
    path: PathBuf,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(path: &Path) -> Self {
        let mut reader = csv::Reader::from_reader(golden::open(path));
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let header = texts(reader.headers().unwrap());
        let rows = reader.records().map(|record| texts(&record.unwrap())).collect();
        Self {
            path: path.to_owned(),
            header,
            rows,
        }
    }

    fn column(&self, name: &str) -> usize {
        self.header.iter().position(|column| column == name).unwrap()
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        let column = self.column(name);
        self.rows.iter().map(|row| row[column].parse().unwrap()).collect()
    }

    fn sort_by(&mut self, names: &[&str]) {
        let columns: Vec<usize> = names.iter().map(|name| self.column(name)).collect();
        self.rows.sort_by_key(|row| {
            columns
                .iter()
                .map(|column| row[*column].clone())
                .collect::<Vec<_>>()
        });
    }

    /// Fails with the first cell in which `self` is not `expected`. A column without a tolerance is not compared.
    fn assert_matches(&self, expected: &Self, tolerance: impl Fn(&str) -> Option<Tolerance>) {
        let file = expected.path.display();
        assert_eq!(self.header, expected.header, "{file}: header");
        for (number, (row, wanted)) in self.rows.iter().zip(&expected.rows).enumerate() {
            for (column, (cell, want)) in self.header.iter().zip(row.iter().zip(wanted)) {
                if let Some(tolerance) = tolerance(column) {
                    let key = &wanted[..3];
                    assert!(
                        tolerance.allows_text(cell, want),
                        "{file} row {} {key:?} column {column}: was {cell}, not {want}",
                        number + 1
                    );
                }
            }
        }
        assert_eq!(self.rows.len(), expected.rows.len(), "{file}: rows");
    }
}

/// The panel as a Qlib directory: unpacked where it is packed, written from text where it is text.
fn unpack_panel(root: &Path, into: &Path) -> PathBuf {
    let packed = root.join("panel/qlib_bin.tar.gz");
    if packed.is_file() {
        let file = File::open(packed).unwrap();
        tar::Archive::new(GzDecoder::new(file)).unpack(into).unwrap();
    } else {
        ktd_kit::copy(&root.join("panel/qlib_bin"), &into.join("qlib_bin"));
        write_bins(&root.join("panel/bins.csv"), &into.join("qlib_bin/features"));
    }
    into.join("qlib_bin")
}

/// Writes bins from a table of `symbol,field,start` and the values from that day on, each of which reads back as the
/// same 32 bits.
fn write_bins(table: &Path, features: &Path) {
    for line in golden::text(table).lines() {
        let mut cells = line.split(',');
        let (symbol, field) = (cells.next().unwrap(), cells.next().unwrap());
        let words = cells.map(|cell| cell.parse::<f32>().unwrap());
        let bytes: Vec<u8> = words.flat_map(f32::to_le_bytes).collect();
        let folder = features.join(symbol);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{field}.day.bin")), bytes).unwrap();
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_reader(File::open(path).unwrap()).unwrap()
}

/// Names of the runs that lie in the set.
fn run_names(root: &Path) -> Vec<String> {
    let files = std::fs::read_dir(root.join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let configs = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<String> = configs
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_run_is_qlibs_run() {
    for root in golden::folders("qlib") {
        whole_runs(&root);
    }
}

fn whole_runs(root: &Path) {
    let scratch = tempfile::tempdir().unwrap();
    let panel = unpack_panel(root, scratch.path());
    let names = run_names(root);
    assert!(!names.is_empty());
    for name in names {
        let config = root.join("runs").join(format!("{name}.json"));
        let scripted = read_json(&config)["strategy"]["kind"] == "scripted";
        let instructions = if scripted {
            QlibInstructions::Orders(golden::file(&root.join("panel/orders.csv")))
        } else {
            QlibInstructions::Signal(golden::file(&root.join("panel/signal.csv")))
        };
        let out = scratch.path().join(&name);
        let inputs = QlibInputs {
            config,
            panel: panel.clone(),
            instructions,
            out: out.clone(),
        };
        let summary = simulate_qlib(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = |suffix: &str| root.join("golden").join(format!("{name}_{suffix}"));
        compare_fills(&out, &expected("fills.csv"), scripted);
        compare_daily(&out, &expected("daily.csv"));
        compare_positions(&out, &expected("final_positions.csv"));
        compare_meta(&out, &expected("meta.json"), &summary);
    }
}

/// A script's fills are bit for bit Qlib's. A strategy's sells come in the order of a set, so that the cash between
/// them is not compared.
fn compare_fills(out: &Path, golden: &Path, scripted: bool) {
    let (mut fills, mut expected) = (Table::read(&out.join("fills.csv")), Table::read(golden));
    if !scripted {
        fills.sort_by(&["date", "side", "symbol"]);
        expected.sort_by(&["date", "side", "symbol"]);
    }
    fills.assert_matches(&expected, |column| match column {
        _ if scripted => Some(Tolerance::Exact),
        "cash_before" | "cash_after" => None,
        _ => Some(DEAL),
    });
}

fn compare_daily(out: &Path, golden: &Path) {
    let (daily, expected) = (Table::read(&out.join("daily.csv")), Table::read(golden));
    daily.assert_matches(&expected, |column| match column {
        "date" | "n_pos" | "bench" => Some(Tolerance::Exact),
        "return" | "turnover" | "cost" => Some(SHARE),
        _ => Some(ACCOUNT),
    });
}

fn compare_positions(out: &Path, golden: &Path) {
    let (positions, expected) = (Table::read(&out.join("final_positions.csv")), Table::read(golden));
    positions.assert_matches(&expected, |column| match column {
        "symbol" | "count_day" | "price_adj" => Some(Tolerance::Exact),
        _ => Some(DEAL),
    });
}

fn compare_meta(out: &Path, golden: &Path, summary: &QlibSummary) {
    let meta = read_json(golden);
    let file = golden.display();
    assert_eq!(Value::from(summary.orders), meta["n_orders"], "{file}: n_orders");
    assert_eq!(Value::from(summary.filled), meta["n_filled"], "{file}: n_filled");
    assert_eq!(
        Value::from(summary.max_positions),
        meta["max_pos"],
        "{file}: max_pos"
    );
    assert_eq!(
        Value::from(summary.trade_with_adjusted_price),
        meta["trade_w_adj_price"],
        "{file}"
    );
    for (key, value) in [
        ("final_account", summary.final_account),
        ("min_cash", summary.min_cash),
    ] {
        let want = meta[key].as_f64().unwrap();
        assert!(
            ACCOUNT.allows(value, want),
            "{file}: {key} was {value}, not {want}"
        );
    }
    let daily = Table::read(&out.join("daily.csv"));
    let (gross, cost, bench) = (
        daily.numbers("return"),
        daily.numbers("cost"),
        daily.numbers("bench"),
    );
    let net: Vec<f64> = gross
        .iter()
        .zip(&cost)
        .map(|(gross, cost)| gross - cost)
        .collect();
    let excess: Vec<f64> = gross
        .iter()
        .zip(&bench)
        .zip(&cost)
        .map(|((gross, bench), cost)| gross - bench - cost)
        .collect();
    for (series, returns) in [
        ("return_wo_cost", gross),
        ("return_w_cost", net),
        ("excess_w_cost", excess),
    ] {
        for (mode, suffix) in [(RiskMode::Sum, "sum"), (RiskMode::Product, "product")] {
            compare_risk(
                &returns,
                mode,
                &meta["risk_analysis"][format!("{series}_{suffix}")],
                &format!("{file}: {series}_{suffix}"),
            );
        }
    }
}

fn compare_risk(returns: &[f64], mode: RiskMode, expected: &Value, place: &str) {
    let report = risk_analysis(returns, mode);
    let figures = [
        ("mean", report.mean),
        ("std", report.std),
        ("annualized_return", report.annualized_return),
        ("information_ratio", report.information_ratio),
        ("max_drawdown", report.max_drawdown),
    ];
    for (name, figure) in figures {
        let want = expected[name].as_f64().unwrap();
        assert!(
            RISK.allows(figure, want),
            "{place} {name}: was {figure}, not {want}"
        );
    }
}

#[test]
fn every_single_order_is_dealt_as_qlib_deals_it() {
    for root in golden::folders("qlib") {
        single_orders(&root.join("golden/micro_cases.csv"));
    }
}

fn single_orders(path: &Path) {
    let table = Table::read(path);
    assert!(!table.rows.is_empty());
    for row in &table.rows {
        let case: BTreeMap<&str, &str> = table
            .header
            .iter()
            .map(String::as_str)
            .zip(row.iter().map(String::as_str))
            .collect();
        check_case(&case);
    }
}

fn check_case(case: &BTreeMap<&str, &str>) {
    let number = |name: &str| case[name].parse::<f64>().unwrap();
    let (quote, terms) = (case_quote(case), case_terms(case));
    let side = if case["side"] == "BUY" {
        QlibSide::Buy
    } else {
        QlibSide::Sell
    };
    let (cash, held) = (number("cash"), number("held"));
    let mut account = QlibAccount::new(cash, Settle::None);
    if 0.0 < held {
        account.hold(
            0,
            QlibHolding {
                amount: held,
                price: quote.close,
                days: 0,
            },
        );
    }
    let order = OrderRequest {
        side,
        amount: number("req"),
        cash,
        held,
        dealt_today: 0.0,
    };
    let deal = terms.deal(&quote, &order);
    if case["deal"] == "ZeroDivisionError" {
        assert!(deal.is_err(), "case {case:?}: {deal:?}");
        return;
    }
    let deal = deal.unwrap();
    if let Some(deal) = &deal {
        account.book(0, side, deal).unwrap();
    }
    let results = [
        ("deal", deal.map_or(0.0, |deal| deal.amount)),
        ("value", deal.map_or(0.0, |deal| deal.value)),
        ("cost", deal.map_or(0.0, |deal| deal.cost)),
        ("price_used", deal.map_or(f64::NAN, |deal| deal.price)),
        ("cash_after", account.cash()),
        ("held_after", account.amount(0)),
    ];
    for (name, result) in results {
        let want = number(name);
        let exact = Tolerance::Exact.allows(result, want) || (result.is_nan() && want.is_nan());
        assert!(exact, "{name} was {result}, not {want}, in case {case:?}");
    }
}

fn case_quote(case: &BTreeMap<&str, &str>) -> Quote {
    let number = |name: &str| case[name].parse::<f64>().unwrap();
    Quote {
        close: number("close"),
        buy_price: number("price"),
        sell_price: number("price"),
        factor: number("factor"),
        volume: number("volume"),
        volume_cap: case["vcap"].parse().ok(),
        limit_buy: case["lim_buy"] == "1",
        limit_sell: case["lim_sell"] == "1",
    }
}

/// The cases were made by calling the exchange with plain Python numbers.
fn case_terms(case: &BTreeMap<&str, &str>) -> DealTerms {
    let number = |name: &str| case[name].parse::<f64>().unwrap();
    DealTerms {
        open_cost: number("open_cost"),
        close_cost: number("close_cost"),
        min_cost: number("min_cost"),
        impact_cost: number("impact"),
        trade_unit: case["unit"].parse().ok(),
        volume_kind: VolumeKind::Current,
        numbers: Numbers::Python,
    }
}
