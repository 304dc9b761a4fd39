//! Strategies that write odd logs: each fault has its place among the gates.

use crate::{prove, setup};
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_kit::has_boxes;
use ktd_sandbox::{BoxLimits, ModuleName};
use ktd_strategy_code::{
    AssetBars, BarTime, DocumentId, DriftRule, Gate, GateSecret, LONG_RUN, Scenario, StrategyBars,
    StrategyContract, StrategyDocument, StrategySubmission, SubmissionReport, VersionChain,
};
use ktd_strategy_study::{BoxedJudge, StrategyTask, judge_submission};
use serde_json::{Value, json};

/// Bars that a run has: fewer than the warm-up, so that no column of the document is needed.
const BARS: usize = 8;

const PROGRAM: &str = r#"
import pandas as pd

class Strategy:
    def __init__(self, config):
        assert config["N"] == config.get("N") == config["parameters"]["N"]["value"] == 20

    def run(self, d, capital):
        c = d["close"]
        audit = pd.DataFrame({"datetime": d["datetime"], "close": c, "signal": "NONE", "position_state": "FLAT",
                              "exposure": 0.0, "equity": capital, "constraint_check": "OK"})
        trades = pd.DataFrame(columns=["trade_id", "symbol", "side", "entry_datetime", "exit_datetime", "entry_price",
                                       "exit_price", "quantity", "pnl", "reason_entry", "reason_exit"])
        if len(d) >= 2:
            audit.loc[0, ["signal", "position_state", "exposure"]] = ["LONG", "LONG", c[0] / capital]
            audit.loc[1, "signal"] = "EXIT"
            audit.loc[1:, "equity"] = capital + c[1] - c[0]
            trades.loc[0] = [1, "A", "LONG", d["datetime"][0], d["datetime"][1], c[0], c[1], 1.0, c[1] - c[0],
                             "LOWER_CROSS", "MIDDLE_BAND"]
        # CHANGE
        return trades, audit
"#;

/// Cuts that a test makes again.
fn secret() -> GateSecret {
    GateSecret::of(b"a test")
}

fn launcher(limits: BoxLimits) -> BoxLauncher {
    prove(BoxSetup {
        modules: ["numpy", "pandas"].map(ModuleName::unnamed).to_vec(),
        limits,
        ..setup()
    })
}

fn task() -> StrategyTask {
    let close = || {
        (0..BARS)
            .map(|bar| 100.0 + f64::from(u8::try_from(bar).unwrap()))
            .collect()
    };
    let bars = AssetBars {
        times: (4..)
            .take(BARS)
            .map(|day| BarTime::read(&format!("2021-01-{day:02}")).unwrap())
            .collect(),
        open: close(),
        high: close(),
        low: close(),
        close: close(),
        volume: vec![1000.0; BARS],
        ..AssetBars::default()
    };
    let long = Scenario {
        name: LONG_RUN.to_owned(),
        market: StrategyBars {
            assets: vec![("A".to_owned(), bars)],
        },
    };
    StrategyTask::with_scenarios(DocumentId::S01, vec![long]).unwrap()
}

/// A card that says what the document says.
fn card() -> String {
    let document: Value = serde_json::from_str(ktd_strategy_code::document_json(DocumentId::S01)).unwrap();
    let parsed = StrategyDocument::built_in(DocumentId::S01).unwrap();
    json!({
        "strategy_id": "S01",
        "entry_function": {"file": "strategy.py", "class_or_function": "Strategy"},
        "core_logic": {"strategy_family": "f", "entry_rule": "e", "exit_rule": "x", "position_sizing_rule": "p"},
        "parameters": parsed.configuration(&parsed.default_parameters())["parameters"],
        "constraints": document["constraints"],
        "output_specification": {},
    })
    .to_string()
}

fn judged(launcher: &BoxLauncher, source: String) -> SubmissionReport {
    let submission = StrategySubmission { card: card(), source };
    judge_submission(launcher, (&task(), &secret()), &submission).unwrap()
}

#[test]
fn every_fault_of_a_log_has_its_gate() {
    if !has_boxes() {
        return;
    }
    let launcher = launcher(BoxLimits::STRATEGIES);
    let cases = [
        ("pass", None, ""),
        ("audit['datetime'] = audit['datetime'].astype(str)", None, ""),
        (
            "audit['datetime'] = audit['datetime'].dt.tz_localize('UTC')",
            Some(Gate::Exec),
            "audit_log: dtype: row 0 of \"datetime\" holds no time without a zone",
        ),
        ("audit = audit.set_index('datetime')", Some(Gate::Audit), ""),
        (
            "audit = pd.concat([audit] * 3)",
            Some(Gate::Exec),
            "tables: audit_log has 24 rows; at most 16 are read",
        ),
        (
            "trades = pd.concat([trades] * 17)",
            Some(Gate::Exec),
            "tables: trade_log has 17 rows; at most 16 are read",
        ),
        (
            "audit = audit.iloc[::-1]",
            Some(Gate::Audit),
            "row 0 of the log of bars is not the bar of 2021-01-04T00:00:00",
        ),
        (
            "audit = pd.concat([audit, audit])",
            Some(Gate::Audit),
            "the log of bars has 16 rows for 8 bars",
        ),
        (
            "audit = audit.iloc[:0]; trades = trades.iloc[:0]",
            Some(Gate::Audit),
            "the log of bars has 0 rows for 8 bars",
        ),
        (
            "trades['pnl'] = float('nan')",
            Some(Gate::Audit),
            "trade 1: no pnl",
        ),
        (
            "return audit",
            Some(Gate::Exec),
            "tables: 2 tables were asked for, not 1",
        ),
        (
            "return trades, audit, audit",
            Some(Gate::Exec),
            "tables: 2 tables were asked for, not 3",
        ),
        (
            "return trades, [1]",
            Some(Gate::Exec),
            "not_frame: audit_log is a list and no data frame",
        ),
    ];
    for (change, gate, reason) in cases {
        let report = judged(&launcher, PROGRAM.replace("# CHANGE", change));
        assert_eq!(report.gates.first_failed(), gate, "{change}: {:?}", report.gates);
        if let Some(gate) = gate {
            let found = report.gates.reason(gate).unwrap();
            assert!(found.contains(reason), "{change}: {found}");
        }
    }
}

/// What [`PROGRAM`] does, told bar by bar.
const STEPS: &str = r#"
import sys

class Strategy:
    def __init__(self, config, capital):
        self.capital, self.bars = capital, []

    def step(self, bar):
        self.bars.append(bar)
        now, c, equity = len(self.bars), bar["close"], self.capital
        row = {"datetime": bar["datetime"], "close": c, "signal": "NONE", "position_state": "FLAT", "exposure": 0.0,
               "constraint_check": "OK"}
        first = self.bars[0]
        trades = []
        if now == 1:
            row.update(signal="LONG", position_state="LONG", exposure=c / equity)
        else:
            equity += self.bars[1]["close"] - first["close"]
        if now == 2:
            row["signal"] = "EXIT"
            trades.append({"trade_id": 1, "symbol": "A", "side": "LONG", "entry_datetime": first["datetime"],
                           "exit_datetime": bar["datetime"], "entry_price": first["close"], "exit_price": c, "quantity": 1.0,
                           "pnl": c - first["close"], "reason_entry": "LOWER_CROSS", "reason_exit": "MIDDLE_BAND"})
        # CHANGE
        return trades, {**row, "equity": equity}
"#;

/// Reads later bars from whoever called it, and says so in its log.
const CALLER: &str = "equity += 1.0 if now < len(sys._getframe(1).f_locals['bars']['']) else 0.0";

#[test]
fn a_program_that_is_handed_bar_after_bar_has_no_later_one() {
    if !has_boxes() {
        return;
    }
    let launcher = launcher(BoxLimits::STRATEGIES);
    let judged = |change: &str| {
        let submission = StrategySubmission {
            card: card(),
            source: STEPS.replace("# CHANGE", change),
        };
        let task = task().with_contract(StrategyContract::Step);
        judge_submission(&launcher, (&task, &secret()), &submission).unwrap()
    };
    let report = judged("pass");
    assert!(report.gates.is_valid(), "{:?}", report.gates);
    assert_eq!(report.run.as_ref().unwrap().trades, 1);
    let note = report.gate_note(Gate::AntiLeak).unwrap();
    assert_eq!(note, "contract `step`: no later bar was given");
    // What it finds where it is handed all bars, to see whether it does the same again, is in no log that counts.
    let cheat = judged(CALLER);
    assert_eq!(
        cheat.gates.first_failed(),
        Some(Gate::Determ),
        "{:?}",
        cheat.gates
    );
    let equity = |report: &SubmissionReport| report.markets.last().unwrap().version.equity.clone();
    assert_eq!(equity(&cheat), equity(&report));
    let fault = judged("row = {}[now]");
    let reason = fault.gates.reason(Gate::Exec).unwrap();
    assert!(reason.starts_with("KeyError: bar 0: 1 (line "), "{reason}");
}

#[test]
fn another_signature_class_or_symbol_is_named() {
    if !has_boxes() {
        return;
    }
    let launcher = launcher(BoxLimits::STRATEGIES);
    let fault = |old: &str, new: &str| {
        let report = judged(&launcher, PROGRAM.replace(old, new));
        report.gates.reason(Gate::Exec).unwrap().to_owned()
    };
    let other = fault("def run(self, d, capital):", "def run(self, d):");
    assert!(
        other.starts_with("TypeError: ") && other.contains("takes 2 positional arguments"),
        "{other}"
    );
    let absent = fault("class Strategy:", "class Other:");
    assert_eq!(absent, "no_function: the source defines no Strategy");
    let report = judged(
        &launcher,
        PROGRAM.replace("\"A\", \"LONG\", d", "\"ZZ\", \"LONG\", d"),
    );
    let breaches = &report.run.as_ref().unwrap().breaches.breaches;
    let kinds: Vec<&str> = breaches.iter().map(|breach| breach.kind.label()).collect();
    assert_eq!(kinds, ["foreign_symbol"]);
    assert!(
        report.gates.is_valid() && report.measured(false)[1].unwrap() < 0.9,
        "{report:?}"
    );
}

#[test]
fn logs_beyond_every_measure_are_ended_by_the_limits() {
    if !has_boxes() {
        return;
    }
    let limits = BoxLimits {
        cpu_s: 5,
        ..BoxLimits::STRATEGIES
    };
    let launcher = launcher(limits);
    let change = "audit = pd.DataFrame({'datetime': range(10_000_000)})";
    let report = judged(&launcher, PROGRAM.replace("# CHANGE", change));
    let reason = report.gates.reason(Gate::Exec).unwrap();
    let ends = ["cpu", "memory", "bad_result", "MemoryError", "signal"];
    assert!(ends.iter().any(|end| reason.starts_with(end)), "{reason}");
}

#[test]
fn cards_and_sources_that_are_none_run_nowhere() {
    if !has_boxes() {
        return;
    }
    let launcher = launcher(BoxLimits::STRATEGIES);
    let reason = |card: String, source: &str| {
        let submission = StrategySubmission {
            card,
            source: source.to_owned(),
        };
        let report = judge_submission(&launcher, (&task(), &secret()), &submission).unwrap();
        let gate = report.gates.first_failed().unwrap();
        (gate, report.gates.reason(gate).unwrap().to_owned())
    };
    let (gate, long) = reason(format!("{{\"a\": \"{}\"}}", "x".repeat(70_000)), PROGRAM);
    assert_eq!(gate, Gate::Parse);
    assert!(
        long.contains("the card has 70009 bytes; it may have 65536"),
        "{long}"
    );
    assert_eq!(
        reason(card(), "\n"),
        (Gate::Exec, "source: the source is empty".to_owned())
    );
    let (gate, syntax) = reason(card(), "class Strategy");
    assert!(
        gate == Gate::Exec && syntax.starts_with("SyntaxError: "),
        "{syntax}"
    );
    let (gate, fields) = reason(card().replace("\"value\":20", "\"value\":21"), PROGRAM);
    assert_eq!((gate, fields.as_str()), (Gate::Schema, "parameters.N"));
}

#[test]
fn a_version_that_moves_away_is_void_and_the_one_before_stands() {
    if !has_boxes() {
        return;
    }
    let launcher = launcher(BoxLimits::STRATEGIES);
    let reply = |card: &str, source: &str| format!("```json\n{card}\n```\n```python\n{source}```\n");
    // The reference is idle on eight bars.
    let idle = PROGRAM.replace("len(d) >= 2", "False");
    let frozen = card().replace("\"value\":20", "\"value\":21");
    let core = card().replace("\"strategy_family\":\"f\"", "\"strategy_family\":\"g\"");
    for rule in [DriftRule::Reference, DriftRule::Published] {
        let mut chain = VersionChain::new(rule);
        let mut add = |reply: String| {
            let (launcher, task, secret) = (&launcher, &task(), &secret());
            let judge = BoxedJudge {
                launcher,
                task,
                secret,
            };
            chain.add_reply(&judge, &reply).unwrap();
            let version = chain.versions.last().unwrap();
            (version.state.label(), version.is_valid())
        };
        // A card that its document refuses may be mended.
        assert_eq!(add(reply(&frozen, &idle)), ("kept", false));
        assert!(add(reply(&card(), &idle)).1);
        // One that is none is no way around what the card before says.
        assert_eq!(add(reply("{", &idle)).0, "drifted");
        assert_eq!(add(reply(&core, &idle)), ("drifted", true));
        assert_eq!(add(reply(&card(), PROGRAM)), ("drifted", true));
        let long = format!("{idle}{}", "x = 1\n".repeat(51));
        assert_eq!(add(reply(&card(), &long)), ("patch_too_large", false));
        assert!(!chain.wants_patch(4));
        if rule == DriftRule::Published {
            // The published reading calls the repair a drift.
            assert_eq!(chain.standing().unwrap().iteration, 0);
            continue;
        }
        assert_eq!(chain.standing().unwrap().iteration, 1);
        assert_eq!(chain.ranked().unwrap().iteration, 1);
        let drifted = &chain.versions[3];
        assert_eq!(
            drifted.drift.as_ref().unwrap().changed_fields,
            ["core_logic.strategy_family"]
        );
        assert_eq!(drifted.measured()[0], Some(0.0));
        let away = chain.versions[4].drift.as_ref().unwrap();
        assert_eq!(away.anchored().label(), "away");
    }
}
