//! The exchange of profile `ktd` against the golden set made by an independent model of exchange.md.
//!
//! Every case of this layout is run: our own, and those outside the repository.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a broken golden file fails the test"
)]

use ktd_data::{ImportOptions, import};
use ktd_env::exchange::{Account, Execution, Holding, Lot, Order, Rules, StepReport, TradingDay, step};
use ktd_env::{Fen, Market, PriceBasis, Shares, Ticker, TradeDate};
use ktd_experiment::rules_config::RulesConfig;
use ktd_io::whole_file::IfExists;
use ktd_kit::golden::{file, folders, text};
use ktd_simulate::ktd::{SimulateOptions, resolve, simulate};
use ktd_tools::order::parse_order;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Meta {
    /// Configuration, orders and directory of expected files by run.
    runs: BTreeMap<String, (String, String, String)>,
}

#[test]
fn whole_runs_byte_for_byte() {
    for root in folders("ktd") {
        whole_runs(&root);
    }
}

fn whole_runs(root: &Path) {
    let mut sets: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("meta.json").is_file())
        .collect();
    sets.sort();
    assert!(
        !sets.is_empty(),
        "{} holds no set with a meta.json",
        root.display()
    );
    for set in sets {
        let meta: Meta = serde_json::from_slice(&std::fs::read(set.join("meta.json")).unwrap()).unwrap();
        assert!(!meta.runs.is_empty());
        for (config, orders, expected) in meta.runs.values() {
            let (out, keys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let options = SimulateOptions {
                panel: file(&set.join("panel.csv")),
                basis: Some(PriceBasis::Adjusted),
                universe: Some(set.join("universe.csv")),
                orders: file(&set.join(orders.trim_end_matches(".gz"))),
                config: Some(stated(&set.join(config), keys.path())),
                out: out.path().to_owned(),
                overwrite: IfExists::Refuse,
            };
            simulate(&options, &mut ()).unwrap();
            for name in ["fills.csv", "daily.csv", "positions.csv", "events.csv"] {
                let want = set.join(expected).join(name);
                let made = std::fs::read_to_string(out.path().join(name)).unwrap();
                assert_same_lines(&want, &text(&want), &made);
            }
        }
    }
}

/// The rules that the set was made by and that it had no keys for (README.md of the cases).
fn old_rules() -> [(&'static str, Value); 8] {
    [
        ("bse_limits", json!("half_up")),
        ("limit_open", json!("blocked")),
        ("no_limit_beyond", json!(false)),
        ("auction_cash", json!("shared")),
        ("control_volume_share", json!("0")),
        ("fees", json!("paper")),
        ("dividend_tax", json!("none")),
        ("ex_day_orders", json!("as_decided")),
    ]
}

/// A configuration with the old value of each key that it lacks.
fn with_old_rules(mut keys: Value) -> Value {
    for (key, value) in old_rules() {
        keys.as_object_mut().unwrap().entry(key).or_insert(value);
    }
    keys
}

/// The configuration of a run with the rules that it had no keys for.
fn stated(config: &Path, folder: &Path) -> PathBuf {
    let keys = serde_json::from_slice(&std::fs::read(config).unwrap()).unwrap();
    let path = folder.join("config.json");
    std::fs::write(&path, with_old_rules(keys).to_string()).unwrap();
    path
}

/// Names the first line that differs.
fn assert_same_lines(path: &Path, want: &str, made: &str) {
    for (line, (want, made)) in want.lines().zip(made.lines()).enumerate() {
        assert_eq!(want, made, "{}, line {}", path.display(), line + 1);
    }
    assert_eq!(want, made, "{}: one ends before the other", path.display());
}

#[derive(Deserialize)]
struct Micro {
    id: String,
    rule: String,
    config: Value,
    panel_columns: String,
    panel: Vec<Vec<String>>,
    universe: Option<Vec<(String, String, String)>>,
    names: Option<BTreeMap<String, NameFacts>>,
    /// Code, status and its inclusive days.
    #[serde(default)]
    statuses: Vec<[String; 4]>,
    /// Code, ex-day and CNY a share.
    #[serde(default)]
    dividends: Vec<[String; 3]>,
    /// Old code, new code and the first day of the new one.
    #[serde(default)]
    codes: Vec<[String; 3]>,
    day: String,
    state: State,
    orders: Vec<Box<RawValue>>,
    after: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameFacts {
    list_date: Option<String>,
    st: Option<Vec<(String, String)>>,
}

#[derive(Deserialize)]
struct State {
    cash_fen: i64,
    positions: BTreeMap<String, i64>,
    /// Code, day of purchase, shares, and dividends that were not taxed yet by schedule of the tax.
    #[serde(default)]
    lots: Vec<(String, String, i64, [i64; 3])>,
    /// Absent where the case ends before a step.
    nav_fen: Option<i64>,
}

#[test]
fn every_micro_case() {
    for root in folders("ktd") {
        micro_cases(&root.join("micro.jsonl"));
    }
}

/// Cases of our own, worked out by hand from the exchanges' sentences: each rule with its new and its old value.
#[test]
fn rules_and_their_old_values() {
    micro_cases(&ktd_kit::workspace_root().join("tests/golden/rules/micro.jsonl"));
}

fn micro_cases(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut failures = String::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Micro = serde_json::from_str(line).unwrap();
        count += 1;
        let made = outcome(&case);
        if made != case.after {
            writeln!(
                failures,
                "{} ({})\n  want {}\n  made {made}",
                case.id, case.rule, case.after
            )
            .unwrap();
        }
    }
    assert!(count > 0, "{} is empty", path.display());
    assert!(failures.is_empty(), "{failures}");
}

fn outcome(case: &Micro) -> Value {
    // The single steps were made with the paper's limits where they name none.
    let mut keys = with_old_rules(case.config.clone());
    keys.as_object_mut()
        .unwrap()
        .entry("limit")
        .or_insert(json!("buffered"));
    let config: RulesConfig = serde_json::from_value(keys).unwrap();
    let rules = config.rules().unwrap();
    let Ok(market) = market(case) else {
        return json!({"error": "data"});
    };
    let texts: Result<Vec<_>, _> = case
        .orders
        .iter()
        .map(|raw| parse_order(raw, "symbol", rules.min_reason_chars))
        .collect();
    let Ok(texts) = texts else {
        return json!({"error": "schema"});
    };
    let orders: Vec<Order> = texts.iter().map(|text| resolve(&market, text)).collect();
    let (account, report) = run(case, &rules, &market, &orders);
    let symbols: Vec<&str> = texts.iter().map(|text| text.symbol.as_str()).collect();
    let mut shown = shown(case, &market, &symbols, &report);
    let lots: Vec<Value> = account.lots.iter().map(|lot| shown_lot(&market, lot)).collect();
    // Cases of sets that know no lots do not show that there are none.
    if !lots.is_empty() {
        shown["lots"] = lots.into();
    }
    if report.identity.dividend_tax != Fen::ZERO {
        shown["identity"]["dividend_tax"] = report.identity.dividend_tax.0.into();
    }
    shown
}

fn shown_lot(market: &Market, lot: &Lot) -> Value {
    let code = market.name(lot.name).unwrap().ticker.reveal().to_owned();
    let dividends = lot.dividends.map(|dividend| dividend.0);
    json!([code, lot.acquired.reveal(), lot.shares.0, dividends])
}

/// The case's rows through the CSV reader, and its facts through the files a user would give.
fn market(case: &Micro) -> Result<Market, String> {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &[String]| {
        let path = directory.path().join(name);
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    };
    let has_flags = case.names.is_some();
    let mut columns = case.panel_columns.clone();
    if has_flags {
        columns.push_str(",listed,st");
    }
    let mut lines = vec![columns];
    for row in &case.panel {
        let mut line = row.join(",");
        if let Some(names) = &case.names {
            let facts = names.get(&row[1]);
            let listed = facts
                .and_then(|facts| facts.list_date.clone())
                .unwrap_or_default();
            let st = facts.and_then(|facts| facts.st.as_ref()).is_some_and(|spans| {
                spans
                    .iter()
                    .any(|(start, end)| *start <= row[0] && row[0] <= *end)
            });
            write!(line, ",{listed},{}", u8::from(st)).unwrap();
        }
        lines.push(line);
    }
    let universe = case.universe.as_ref().map(|members| {
        let mut lines = vec!["symbol,start,end".to_owned()];
        lines.extend(
            members
                .iter()
                .map(|(symbol, start, end)| format!("{symbol},{start},{end}")),
        );
        write("universe.csv", &lines)
    });
    let side_file = |name: &str, head: &str, rows: Vec<String>| {
        let lines: Vec<String> = [head.to_owned()].into_iter().chain(rows).collect();
        (1 < lines.len()).then(|| write(name, &lines))
    };
    let joined = |rows: &[[String; 3]]| rows.iter().map(|row| row.join(",")).collect();
    let statuses = case.statuses.iter().map(|row| row.join(",")).collect();
    let options = ImportOptions {
        sources: vec![write("panel.csv", &lines)],
        basis: Some(PriceBasis::Adjusted),
        universe,
        statuses: side_file("statuses.csv", "symbol,status,start,end", statuses),
        dividends: side_file("dividends.csv", "symbol,ex_day,cash", joined(&case.dividends)),
        codes: side_file("codes.csv", "old,new,from", joined(&case.codes)),
        ..ImportOptions::default()
    };
    import(&options, &mut ())
        .map(|imported| imported.market)
        .map_err(|failure| failure.to_string())
}

fn run(case: &Micro, rules: &Rules, market: &Market, orders: &[Order]) -> (Account, StepReport) {
    let day = market.day(TradeDate::parse(&case.day).unwrap()).unwrap();
    let mut holdings: Vec<Holding> = case
        .state
        .positions
        .iter()
        .map(|(symbol, shares)| Holding {
            name: market.find(Ticker::parse(symbol).unwrap()).unwrap(),
            shares: Shares(*shares),
            cost: Fen::ZERO,
        })
        .collect();
    holdings.sort_by_key(|holding| holding.name);
    let lots = case.state.lots.iter();
    let lots = lots.map(|(symbol, acquired, shares, dividends)| Lot {
        name: market.find(Ticker::parse(symbol).unwrap()).unwrap(),
        acquired: TradeDate::parse(acquired).unwrap(),
        shares: Shares(*shares),
        dividends: dividends.map(Fen),
    });
    let lots = lots.collect();
    let account = Account {
        cash: Fen(case.state.cash_fen),
        holdings,
        lots,
        nav: Fen(case.state.nav_fen.expect("a case that steps states its NAV")),
    };
    step(rules, account, orders, &TradingDay::new(market, day).unwrap()).unwrap()
}

fn shown_fills(case: &Micro, symbols: &[&str], report: &StepReport) -> Vec<Value> {
    report
        .fills
        .iter()
        .zip(symbols)
        .map(|(fill, symbol)| {
            let head = json!([
                case.day,
                fill.position + 1,
                symbol,
                fill.side.label(),
                fill.requested.0
            ]);
            let tail = match fill.execution {
                Execution::Filled {
                    quantity,
                    price,
                    value,
                    fee,
                    clipped,
                } => json!([
                    quantity.0,
                    price.0,
                    value.0,
                    fee.0,
                    if clipped { "clipped" } else { "filled" },
                    ""
                ]),
                Execution::Rejected(reason) => json!([0, 0, 0, 0, "rejected", reason.code()]),
            };
            let (mut row, Value::Array(tail)) = (head.as_array().unwrap().clone(), tail) else {
                unreachable!()
            };
            row.extend(tail);
            Value::Array(row)
        })
        .collect()
}

fn shown(case: &Micro, market: &Market, symbols: &[&str], report: &StepReport) -> Value {
    let code = |name| market.name(name).unwrap().ticker.reveal().to_owned();
    let events: Vec<Value> = report
        .events
        .iter()
        .map(|event| {
            json!([
                case.day,
                code(event.name),
                event.kind.label(),
                event.shares_before.0,
                event.shares_after.0,
                event.factor_before.to_string(),
                event.factor_after.to_string(),
                event.price.0,
                event.cash.0
            ])
        })
        .collect();
    let positions: Vec<Value> = report
        .positions
        .iter()
        .map(|held| {
            json!([
                case.day,
                code(held.name),
                held.shares.0,
                held.mark.0,
                held.value.0,
                held.stale_days
            ])
        })
        .collect();
    json!({
        "fills": shown_fills(case, symbols, report),
        "events": events,
        "positions": positions,
        "cash_fen": report.cash.0,
        "nav_fen": report.nav.0,
        "fees_fen": report.identity.fees.0,
        "identity": {
            "price_pnl": report.identity.price_pnl.0,
            "ca_rounding": report.identity.corporate_rounding.0,
            "fees": report.identity.fees.0,
            "delisting_loss": report.identity.delisting_loss.0,
        },
    })
}
