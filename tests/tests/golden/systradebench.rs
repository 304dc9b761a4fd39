//! Reference strategies against logs that an independent program wrote: the golden set `systradebench`. A file that a set
//! lacks is passed over with a word.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod boxed;
mod peeks;

use ktd_kit::Need;
use ktd_kit::golden::{golden_root, json, text};
use ktd_strategy_code::{
    Arena, AssetBars, AuditRow, BarTime, BreachReport, CandidateLogs, DocumentId, INITIAL_CAPITAL,
    PaperEvidence, PaperScores, ParameterValue, Parameters, PatchSize, Review, RunFigures, SourceFacts,
    StrategyBars, StrategyCard, StrategyDocument, StrategyLogs, Stress, TradeRow, broken_trace, completeness,
    curve_after_costs, is_close, known_difference, profit_at_next_open, run_reference, tokens_hash,
    trace_distance, trace_tokens, trade_hash,
};
use serde_json::Value;
use std::path::PathBuf;

fn path(file: &str) -> Option<PathBuf> {
    let path = golden_root().join("systradebench").join(file);
    if !Need::Golden("systradebench").is_there() || !path.is_file() {
        println!("passed over: no {}", path.display());
        return None;
    }
    Some(path)
}

fn bars_of(frame: &Value) -> AssetBars {
    let columns: Vec<&str> = frame["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let rows = frame["rows"].as_array().unwrap();
    let column = |name: &str| -> Vec<f64> {
        let place = columns.iter().position(|known| *known == name).unwrap();
        rows.iter().map(|row| row[place].as_f64().unwrap()).collect()
    };
    let own = ["datetime", "open", "high", "low", "close", "volume"];
    AssetBars {
        times: rows
            .iter()
            .map(|row| BarTime::parse(row[0].as_str().unwrap()).unwrap())
            .collect(),
        open: column("open"),
        high: column("high"),
        low: column("low"),
        close: column("close"),
        volume: column("volume"),
        further: columns
            .iter()
            .filter(|name| !own.contains(name))
            .map(|name| ((*name).to_owned(), column(name)))
            .collect(),
    }
}

/// The order of a document's assets is that of the file, which `serde_json`'s map does not keep.
fn market_of(data: &Value, assets: &[String]) -> StrategyBars {
    if data.get("columns").is_some() {
        return StrategyBars {
            assets: vec![("A".to_owned(), bars_of(data))],
        };
    }
    let known = data.as_object().unwrap();
    let own = assets.iter().filter(|symbol| known.contains_key(*symbol));
    let assets: Vec<(String, AssetBars)> = own
        .map(|symbol| (symbol.clone(), bars_of(&known[symbol])))
        .collect();
    assert_eq!(
        assets.len(),
        known.len(),
        "an asset that the document does not name"
    );
    StrategyBars { assets }
}

struct Document {
    id: DocumentId,
    assets: Vec<String>,
    columns: Vec<String>,
    parameters: Parameters,
}

fn words(value: &Value) -> Vec<String> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

fn document(id: DocumentId) -> Option<Document> {
    let spec: Value = json(&path(&format!("specs/{id}.json"))?);
    let values = spec["params"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, parameter)| {
            let value = &parameter["value"];
            let text = value.as_str().map(|text| ParameterValue::Text(text.to_owned()));
            let value = text.unwrap_or_else(|| ParameterValue::Number(value.as_f64().unwrap()));
            (name.clone(), value)
        });
    Some(Document {
        id,
        assets: words(&spec["assets"]),
        columns: words(&spec["columns"]),
        parameters: Parameters::new(values),
    })
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * found.abs().max(expected.abs()).max(1.0)
}

/// The cells of a log by column.
fn cells<'a>(log: &'a Value, column: &str) -> Vec<&'a Value> {
    let place = words(&log["columns"]).iter().position(|name| name == column);
    let place = place.unwrap_or_else(|| panic!("no column {column}"));
    log["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row[place])
        .collect()
}

fn compare_numbers(what: &str, log: &Value, column: &str, found: &[Option<f64>]) {
    let expected = cells(log, column);
    assert_eq!(expected.len(), found.len(), "{what}: rows of {column}");
    for (row, (expected, found)) in expected.into_iter().zip(found).enumerate() {
        match (expected.as_f64(), found) {
            (None, None) => {}
            (Some(expected), Some(found)) if near(*found, expected) => {}
            (expected, found) => {
                panic!("{what}: {column} of row {row}: expected {expected:?}, found {found:?}")
            }
        }
    }
}

fn compare_texts(what: &str, log: &Value, column: &str, found: &[&str]) {
    let expected: Vec<&str> = cells(log, column)
        .into_iter()
        .map(|cell| cell.as_str().unwrap())
        .collect();
    assert_eq!(expected, found, "{what}: {column}");
}

fn compare_trades(what: &str, log: &Value, trades: &[TradeRow]) {
    let texts = |of: fn(&TradeRow) -> &str| -> Vec<&str> { trades.iter().map(of).collect() };
    compare_texts(what, log, "symbol", &texts(|trade| &trade.symbol));
    compare_texts(what, log, "side", &texts(|trade| trade.side.label()));
    compare_texts(
        what,
        log,
        "entry_datetime",
        &texts(|trade| trade.entry_time.as_str()),
    );
    compare_texts(
        what,
        log,
        "exit_datetime",
        &texts(|trade| trade.exit_time.as_str()),
    );
    compare_texts(what, log, "reason_entry", &texts(|trade| &trade.entry_rule));
    compare_texts(what, log, "reason_exit", &texts(|trade| &trade.exit_rule));
    let numbers = |of: fn(&TradeRow) -> f64| -> Vec<Option<f64>> {
        trades.iter().map(|trade| Some(of(trade))).collect()
    };
    compare_numbers(what, log, "entry_price", &numbers(|trade| trade.entry_price));
    compare_numbers(what, log, "exit_price", &numbers(|trade| trade.exit_price));
    compare_numbers(what, log, "quantity", &numbers(|trade| trade.quantity));
    compare_numbers(what, log, "pnl", &numbers(|trade| trade.pnl));
}

fn compare_bars(what: &str, log: &Value, columns: &[String], bars: &[AuditRow]) {
    let texts = |of: fn(&AuditRow) -> &str| -> Vec<&str> { bars.iter().map(of).collect() };
    compare_texts(what, log, "datetime", &texts(|bar| bar.time.as_str()));
    compare_texts(what, log, "signal", &texts(|bar| bar.signal.label()));
    compare_texts(what, log, "position_state", &texts(|bar| bar.state.label()));
    let check = |bar: &AuditRow| {
        if bar.is_within_leverage {
            "OK"
        } else {
            "BREACH:leverage"
        }
    };
    compare_texts(what, log, "constraint_check", &texts(check));
    let numbers =
        |of: fn(&AuditRow) -> f64| -> Vec<Option<f64>> { bars.iter().map(|bar| Some(of(bar))).collect() };
    compare_numbers(what, log, "close", &numbers(|bar| bar.close));
    compare_numbers(what, log, "exposure", &numbers(|bar| bar.exposure));
    compare_numbers(what, log, "equity", &numbers(|bar| bar.equity));
    for (place, column) in columns.iter().enumerate() {
        if column == "holding" {
            let holdings: Vec<&str> = bars.iter().map(|bar| bar.holding.as_deref().unwrap()).collect();
            compare_texts(what, log, column, &holdings);
        } else {
            let own: Vec<Option<f64>> = bars.iter().map(|bar| bar.indicators[place]).collect();
            compare_numbers(what, log, column, &own);
        }
    }
}

fn run(document: &Document, data: &Value) -> StrategyLogs {
    let market = market_of(data, &document.assets);
    run_reference(document.id, &document.parameters, &market, INITIAL_CAPITAL).unwrap()
}

#[test]
fn reference_strategies_write_the_same_logs_in_every_scenario() {
    let mut scenarios = 0;
    for id in DocumentId::ALL {
        let (Some(document), Some(file)) = (document(id), path(&format!("reference/{id}.jsonl.gz"))) else {
            return;
        };
        for line in text(&file).lines() {
            let scenario: Value = serde_json::from_str(line).unwrap();
            let what = format!("{id}/{}", scenario["scenario"].as_str().unwrap());
            let logs = run(&document, &scenario["data"]);
            compare_bars(&what, &scenario["audit_log"], &document.columns, &logs.bars);
            compare_trades(&what, &scenario["trade_log"], &logs.trades);
            assert_eq!(trace_tokens(&logs), words(&scenario["tokens"]), "{what}");
            assert_eq!(
                trade_hash(&logs.trades),
                scenario["trade_hash"].as_str().unwrap(),
                "{what}"
            );
            scenarios += 1;
        }
    }
    println!("{scenarios} scenarios of {} strategies", DocumentId::ALL.len());
}

#[test]
fn prefixes_of_the_bars_give_prefixes_of_the_logs() {
    for id in DocumentId::ALL {
        let (Some(document), Some(file)) = (document(id), path(&format!("reference/{id}.jsonl.gz"))) else {
            return;
        };
        let all = text(&file);
        let scenario: Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
        let market = market_of(&scenario["data"], &document.assets);
        let whole = run(&document, &scenario["data"]);
        for bars in [1, whole.bars.len() / 2, whole.bars.len() - 1] {
            let part =
                run_reference(id, &document.parameters, &market.prefix(bars), INITIAL_CAPITAL).unwrap();
            assert_eq!(part.bars, whole.bars[..bars], "{id} on {bars} bars");
            assert_eq!(
                part.trades,
                whole.trades[..part.trades.len()],
                "{id} on {bars} bars"
            );
        }
    }
}

#[test]
fn reference_strategies_write_the_same_trades_over_long_runs() {
    let Some(file) = path("long.json.gz") else { return };
    let long: Value = json(&file);
    for (id, run_of) in long.as_object().unwrap() {
        let document = document(DocumentId::parse(id).unwrap()).unwrap();
        let logs = run(&document, &run_of["data"]);
        compare_trades(id, &run_of["trade_log"], &logs.trades);
        assert_eq!(
            tokens_hash(&trace_tokens(&logs)),
            run_of["tokens_hash"].as_str().unwrap(),
            "{id}"
        );
        assert_eq!(
            trade_hash(&logs.trades),
            run_of["trade_hash"].as_str().unwrap(),
            "{id}"
        );
        let equity = logs.bars.last().unwrap().equity;
        assert!(
            near(equity, run_of["final_equity"].as_f64().unwrap()),
            "{id}: {equity}"
        );
        compare_earnings(id, &document, &logs, run_of);
        compare_audit(id, &document, &logs, run_of);
        compare_stress(id, &document, &logs, run_of);
    }
}

fn compare_figures(what: &str, found: &RunFigures, expected: &Value) {
    let counts = [("days", found.sessions), ("trades", found.trades)];
    for (name, count) in counts {
        assert_eq!(Some(count as u64), expected[name].as_u64(), "{what}: {name}");
    }
    for (name, found) in [
        ("total_return", Some(found.total_return)),
        ("sharpe", found.sharpe),
        ("max_drawdown", Some(found.max_drawdown)),
        ("win_rate", found.win_rate),
        ("traded", Some(found.traded_value)),
        ("turnover", Some(found.turnover)),
        ("break_even_bps", found.break_even_bps),
    ] {
        let is_same = match (expected[name].as_f64(), found) {
            (Some(expected), Some(found)) => near(found, expected),
            (expected, found) => expected.is_none() && found.is_none(),
        };
        assert!(
            is_same,
            "{what}: {name}: expected {}, found {found:?}",
            expected[name]
        );
    }
}

fn compare_earnings(id: &str, document: &Document, logs: &StrategyLogs, run_of: &Value) {
    let curve = logs
        .bars
        .iter()
        .map(|bar| (bar.time.clone(), bar.equity))
        .collect();
    let figures = RunFigures::of(&logs.trades, &curve, INITIAL_CAPITAL).unwrap();
    compare_figures(id, &figures, &run_of["measured"]);
    for (bps, expected) in run_of["costs"].as_object().unwrap() {
        let curve = curve_after_costs(&logs.trades, &curve, bps.parse().unwrap());
        let figures = RunFigures::of(&logs.trades, &curve, INITIAL_CAPITAL).unwrap();
        compare_figures(&format!("{id} at {bps} bps"), &figures, expected);
    }
    let market = market_of(&run_of["data"], &document.assets);
    let profit = profit_at_next_open(&logs.trades, &market);
    assert!(
        near(profit, run_of["pnl_next_open"].as_f64().unwrap()),
        "{id}: {profit}"
    );
}

/// The gates on logs pass the reference, which breaks no constraint.
fn compare_audit(id: &str, document: &Document, logs: &StrategyLogs, run_of: &Value) {
    let market = market_of(&run_of["data"], &document.assets);
    let spec = StrategyDocument::parse(&text(&path(&format!("specs/{id}.json")).unwrap())).unwrap();
    let own = CandidateLogs::of_reference(logs, &document.columns);
    let share = completeness(&own, &spec);
    assert!(
        near(share, run_of["completeness"].as_f64().unwrap()),
        "{id}: {share}"
    );
    assert_eq!(broken_trace(&own, &market, INITIAL_CAPITAL), None, "{id}");
    let report = BreachReport::of(&own, &market, &spec, &document.parameters);
    assert_eq!(report.breaches, [], "{id}");
    let half = logs.bars.len() / 2;
    let part = run_reference(
        document.id,
        &document.parameters,
        &market.prefix(half),
        INITIAL_CAPITAL,
    )
    .unwrap();
    let part = CandidateLogs::of_reference(&part, &document.columns);
    let time = market.times()[half - 1].as_str();
    assert_eq!(known_difference(&own, &part, time), None, "{id}");
}

fn compare_stress(id: &str, document: &Document, logs: &StrategyLogs, run_of: &Value) {
    let market = market_of(&run_of["data"], &document.assets);
    for stress in Stress::ALL {
        let what = format!("{id} under {}", stress.label());
        let expected = &run_of["stress"][stress.label()];
        let own = run_reference(
            document.id,
            &document.parameters,
            &stress.apply(&market),
            INITIAL_CAPITAL,
        )
        .unwrap();
        assert_eq!(
            Some(own.trades.len() as u64),
            expected["trades"].as_u64(),
            "{what}"
        );
        let least = own
            .bars
            .iter()
            .map(|bar| bar.equity)
            .fold(f64::INFINITY, f64::min);
        assert!(
            near(least, expected["min_equity"].as_f64().unwrap()),
            "{what}: {least}"
        );
        let breaches = own.bars.iter().filter(|bar| !bar.is_within_leverage).count();
        assert_eq!(Some(breaches as u64), expected["breaches"].as_u64(), "{what}");
        if stress == Stress::Times100 {
            let signals = |logs: &StrategyLogs| logs.bars.iter().map(|bar| bar.signal).collect::<Vec<_>>();
            assert_eq!(
                signals(&own) == signals(logs),
                expected["same_signals"].as_bool().unwrap(),
                "{what}"
            );
        }
    }
}

fn scores() -> Option<Value> {
    Some(json(&path("scores.json")?))
}

#[test]
fn cards_have_the_same_canonical_texts_hashes_and_changes() {
    let Some(scores) = scores() else { return };
    let cards = scores["canonical"].as_array().unwrap();
    let card = |case: &Value| StrategyCard::parse(&case["card"].to_string()).unwrap();
    let first = card(&cards[0]);
    for case in cards {
        let (name, own) = (&case["name"], card(case));
        assert_eq!(
            own.core_logic_text(),
            case["canonical"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            own.core_logic_hash(),
            case["core_hash"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(first.changed_fields(&own), words(&case["changed"]), "{name}");
    }
}

#[test]
fn reference_cards_pass_every_check_of_their_documents() {
    let Some(scores) = scores() else { return };
    for id in DocumentId::ALL {
        let document = StrategyDocument::parse(&text(&path(&format!("specs/{id}.json")).unwrap())).unwrap();
        let card = StrategyCard::parse(&text(&path(&format!("specs/{id}.card.json")).unwrap())).unwrap();
        let failed: Vec<_> = card
            .checks(&document)
            .into_iter()
            .filter(|check| !check.holds)
            .collect();
        assert_eq!(failed, [], "{id}");
        let complexity = scores["complexity"][id.label()].as_f64().unwrap();
        assert!(near(document.complexity(), complexity), "{id}");
    }
}

#[test]
fn patches_and_distances_are_the_same() {
    let Some(scores) = scores() else { return };
    for case in scores["patch"].as_array().unwrap() {
        let size = PatchSize::between(case["a"].as_str().unwrap(), case["b"].as_str().unwrap());
        let counts = ["removed", "added", "changed"].map(|name| case[name].as_u64().unwrap());
        assert_eq!(
            [size.removed, size.added, size.changed()].map(|count| count as u64),
            counts
        );
        assert!(near(size.similarity, case["similarity"].as_f64().unwrap()));
    }
    for case in scores["levenshtein"].as_array().unwrap() {
        let distance = trace_distance(&words(&case["a"]), &words(&case["b"]));
        assert!((distance - case["delta"].as_f64().unwrap()).abs() <= 1e-12);
    }
    for case in scores["close_enough"].as_array().unwrap() {
        let (first, second) = (case["a"].as_f64().unwrap(), case["b"].as_f64().unwrap());
        assert_eq!(
            is_close(first, second),
            case["equal"].as_bool().unwrap(),
            "{case}"
        );
    }
}

#[test]
fn the_arena_gives_the_same_means_biases_and_ratings() {
    let Some(scores) = scores() else { return };
    let arena = &scores["arena"];
    let vendor = |model: &String| arena["vendors"][model].as_str().unwrap().to_owned();
    let models = words(&arena["models"]);
    let reviews = arena["reviews"].as_array().unwrap().iter().map(|review| Review {
        strategy: review["strategy"].as_str().unwrap().to_owned(),
        reviewer: review["reviewer"].as_str().unwrap().to_owned(),
        model: review["model"].as_str().unwrap().to_owned(),
        d1: review["D1"].as_f64().unwrap(),
        d2: review["D2"].as_f64().unwrap(),
    });
    let own = Arena::new(
        models
            .iter()
            .map(|model| (model.clone(), vendor(model)))
            .collect(),
        reviews.collect(),
    );
    let result = &arena["result"];
    let same = |what: &str, key: &str, found: Option<f64>| {
        let expected = result[what][key].as_f64();
        let is_same = match (expected, found) {
            (Some(expected), Some(found)) => near(found, expected),
            (expected, found) => expected.is_none() && found.is_none(),
        };
        assert!(is_same, "{what} of {key}: expected {expected:?}, found {found:?}");
    };
    for row in own.rows() {
        for (what, found) in [
            ("D1", row.d1),
            ("D2", row.d2),
            ("peer", row.peer),
            ("all", row.all),
            ("self", row.own),
            ("bias", row.published_bias),
            ("strictness", row.strictness),
            ("elo", Some(row.elo)),
            ("bradley_terry", Some(row.bradley_terry)),
        ] {
            same(what, &row.model, found);
        }
    }
    for vendor in result["vendor_bias"].as_object().unwrap().keys() {
        same("vendor_bias", vendor, own.published_maker_bias(vendor));
    }
    for pair in result["kendall"].as_object().unwrap().keys() {
        let (first, second) = pair.split_once('-').unwrap();
        same("kendall", pair, own.agreement(first, second));
    }
}

/// Facts of a source as an independent program counted them.
fn facts_of(facts: &Value) -> SourceFacts {
    let flag = |name: &str| facts[name].as_bool().unwrap();
    let count = |name: &str| usize::try_from(facts[name].as_u64().unwrap()).unwrap();
    SourceFacts {
        imports_random: flag("imports_random"),
        is_unseeded: flag("unseeded"),
        reads_clock: flag("clock"),
        negative_shifts: count("negative_shift"),
        future_indices: count("future_index"),
        reversed_slices: count("reversed"),
        open_rollings: count("rolling_open"),
        future_words: words(&facts["words"]),
        numbers: count("numbers"),
        conditionals: count("conditionals"),
        cyclomatic_complexity: count("complexity"),
        classes: words(&facts["classes"]),
        imports_libraries: flag("mature"),
        handles_edges: flag("edge"),
        lines: count("lines"),
        comment_lines: count("comments"),
    }
}

/// What the odd sources of the set were scored with.
fn evidence_of<'a>(name: &str, keywords: &'a [String]) -> PaperEvidence<'a> {
    PaperEvidence {
        class_name: "Strategy",
        has_trades: name != "empty",
        has_bars: name != "empty" && name != "syntax",
        missing_columns: if name == "leaky" { 3 } else { 0 },
        completeness: if name == "leaky" { 0.7 } else { 1.0 },
        keywords,
        parameters: if name == "branches" { 25 } else { 3 },
    }
}

#[test]
fn the_published_scores_of_odd_sources_are_the_same() {
    let Some(scores) = scores() else { return };
    let keywords = ["rolling", "stop"].map(str::to_owned);
    for (name, case) in scores["odd"].as_object().unwrap() {
        let source = case["source"].as_str().unwrap();
        let expected = &case["result"];
        let own = PaperScores::of(
            source,
            &facts_of(&expected["facts"]),
            evidence_of(name, &keywords),
        );
        for (what, found) in [
            ("det", own.determinism),
            ("leak", own.no_leak),
            ("log", own.logs),
            ("qual", own.quality),
            ("D3", own.d3),
            ("logic", own.logic),
            ("overfit", own.no_overfit),
            ("gen", own.generality),
            ("D4", own.d4),
        ] {
            assert!(
                near(found, expected[what].as_f64().unwrap()),
                "{name}: {what}: {found}"
            );
        }
    }
}
