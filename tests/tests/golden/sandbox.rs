//! The rules of the box against an independent program's: the golden set `sandbox`. A file that the set lacks is passed
//! over with a word. Its battery is run by the tests of boxes.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken golden file fails the test, and a missing one is told"
)]

use ktd_kit::Need;
use ktd_kit::golden::golden_root;
use ktd_sandbox::{JOB_CALLS, PackageSet, RUNNER_CALLS, decode_result, parse_cases};
use serde_json::Value;

fn golden(file: &str) -> Option<String> {
    let path = golden_root().join("sandbox").join(file);
    if Need::Golden("sandbox").is_there() && path.is_file() {
        return Some(std::fs::read_to_string(path).unwrap());
    }
    println!("passed over: no {}", path.display());
    None
}

fn bytes(case: &Value) -> Vec<u8> {
    let hex = case["hex"].as_str().unwrap();
    let mut bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect();
    let zeros = usize::try_from(case["zeros_after"].as_u64().unwrap()).unwrap();
    bytes.resize(bytes.len() + zeros, 0);
    bytes
}

#[test]
fn every_stream_of_a_result_is_judged_alike() {
    let Some(text) = golden("outputs.jsonl") else {
        return;
    };
    let mut judged = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let rows = usize::try_from(case["rows"].as_u64().unwrap()).unwrap();
        let read = decode_result(&bytes(&case), rows, case["out_max"].as_u64().unwrap());
        let verdict = read.map_or_else(
            |fault| format!("bad:{}", fault.label()),
            |result| result.label().to_owned(),
        );
        assert_eq!(verdict, case["want"].as_str().unwrap(), "{}", case["name"]);
        judged += 1;
    }
    assert!(46 <= judged, "{judged} streams");
    println!("{judged} of {judged} streams");
}

/// The set is of before these were taken away: two read what an earlier job left in the cache of pages, and `fcntl` is allowed by
/// its commands alone, for it can make a pipe signal the runner.
const TAKEN: [&str; 3] = ["fadvise64", "fcntl", "preadv2"];

#[test]
fn the_lists_of_system_calls_are_the_same() {
    let Some(text) = golden("policy.json") else { return };
    let policy: Value = serde_json::from_str(&text).unwrap();
    let names = |key: &str| -> Vec<String> {
        let names = policy[key].as_array().unwrap().iter();
        let names = names.map(|name| name.as_str().unwrap().to_owned());
        names.filter(|name| !TAKEN.contains(&name.as_str())).collect()
    };
    let mut all: Vec<&str> = JOB_CALLS.iter().chain(&RUNNER_CALLS).copied().collect();
    all.sort_unstable();
    assert_eq!(names("box"), all);
    assert_eq!(names("job"), JOB_CALLS);
}

#[test]
fn the_locks_are_the_same() {
    for set in PackageSet::ALL {
        let Some(text) = golden(&format!("requirements-{}.lock", set.label())) else {
            return;
        };
        assert_eq!(text, set.lock(), "{}", set.label());
    }
}

#[test]
fn every_program_of_the_battery_is_a_case() {
    let Some(text) = golden("cases.jsonl") else { return };
    assert_eq!(parse_cases(&text).unwrap().len(), text.lines().count());
}
