//! What the gate on look-ahead finds: programs with one decision that looks ahead, and twins of them that look back, as
//! `tests/scripts/planted_peeks.py` draws them. All of a draw where `KTD_WHOLE` is set: `KTD_PEEKS` says how many, `KTD_SEED` which.

use super::boxed::{Set, is_whole, launcher, strategy};
use ktd_kit::need::box_environment;
use ktd_kit::workspace_root;
use ktd_sandbox::BoxLimits;
use ktd_stats::{Confidence, wilson};
use ktd_strategy_code::{Gate, GateSecret, StrategySubmission};
use ktd_strategy_study::judge_submission;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Peeks of a short run, and of a whole one: half of them with their twins.
const SHORT: usize = 3;
const WHOLE: usize = 120;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn drawn(count: usize, seed: usize) -> Option<Vec<Value>> {
    let golden = super::path("README.md")?;
    let printed = Command::new(box_environment().unwrap().join("bin/python"))
        .arg("-B")
        .arg(workspace_root().join("tests/scripts/planted_peeks.py"))
        .arg(golden.parent().unwrap())
        .args([seed.to_string(), count.to_string()])
        .output()
        .unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let lines = String::from_utf8(printed.stdout).unwrap();
    Some(
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

#[test]
fn planted_peeks_are_found_and_their_twins_are_not() {
    let Some(set) = Set::read() else {
        return;
    };
    let count = number("KTD_PEEKS", if is_whole() { WHOLE } else { SHORT });
    let seed = number("KTD_SEED", 1);
    let Some(rows) = drawn(count, seed) else {
        return;
    };
    // A twin takes every run of the gate, a peek a few.
    let peeks = rows.iter().map(|row| (row, true));
    let twins = rows.iter().step_by(2).map(|row| (row, false));
    let cases: Vec<(&Value, bool)> = peeks.chain(twins).collect();
    let launcher = launcher(BoxLimits::STRATEGIES);
    let secret = GateSecret::of(format!("planted peeks {seed}").as_bytes());
    let found = launcher.each(&cases, |launcher, (row, is_peek)| {
        let id = strategy(row);
        let source = row[if *is_peek { "peek" } else { "twin" }].as_str().unwrap();
        let submission = StrategySubmission {
            card: set.cards[&id].clone(),
            source: source.to_owned(),
        };
        let report = judge_submission(launcher, (&set.tasks[&id], &secret), &submission).unwrap();
        assert!(report.gates.is_passed(Gate::Determ), "{row}: {:?}", report.gates);
        let words = [
            "strategy", "asks", "bars", "rate", "way", "fallback", "asked", "differs",
        ];
        let told = words.map(|word| row[word].to_string()).join(" ");
        let note = report.gate_note(Gate::AntiLeak).unwrap_or_default();
        println!("{} {told}: {note}", if *is_peek { "peek" } else { "twin" });
        !report.gates.is_passed(Gate::AntiLeak)
    });
    let mut counts: BTreeMap<(bool, String), [u64; 2]> = BTreeMap::new();
    for ((row, is_peek), is_found) in cases.iter().zip(found) {
        let rate = row["rate"].as_str().unwrap();
        for group in [
            "all".to_owned(),
            format!("{} bars away", row["bars"]),
            rate.replace(char::is_numeric, ""),
        ] {
            let [found, of] = counts.entry((*is_peek, group)).or_default();
            (*found, *of) = (*found + u64::from(is_found), *of + 1);
        }
    }
    for ((is_peek, group), [found, of]) in &counts {
        let what = if *is_peek { "peeks" } else { "twins" };
        let interval = wilson(*found, *of, Confidence::P95).unwrap().unwrap();
        println!("{what}, {group}: {found} of {of} fail the gate, 95 % {interval:?}");
    }
    let of = |is_peek: bool| counts[&(is_peek, "all".to_owned())];
    let planted = u64::try_from(count).unwrap();
    assert_eq!(of(true), [planted, planted], "a peek passes");
    assert_eq!(of(false)[0], 0, "a twin is called a leak");
}
