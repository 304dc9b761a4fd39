//! What a vendor's prompt cache reads again: tools and system message are the same bytes at every mask, seed and day,
//! and inside a step the conversation only grows.

use ktd_kit::episode::{Trace, experiment, files, key, market, prepare, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const MASKS_AND_MODES: &str = r#"
seeds = [1, 2]
masks = [
    { level = "bright", numeric = "exact" },
    { level = "bright", numeric = "rescaled" },
    { level = "stock-blind", numeric = "exact" },
    { level = "stock-blind", numeric = "rescaled" },
    { level = "date-blind", numeric = "exact" },
    { level = "date-blind", numeric = "rescaled" },
    { level = "blinded", numeric = "exact" },
    { level = "blinded", numeric = "rescaled" },
    { level = "blinded", numeric = "rounded-0.1" },
    { level = "blinded", numeric = "rounded-0.5" },
    { level = "blinded", numeric = "ranked" },
    { level = "blinded", numeric = "banded" },
]
modes = ["memory-only", "fixed-candidate", "open-research"]
agents = [{ id = "researcher", builtin = "researcher" }]
"#;

/// The request's bytes that a cache should read again over a whole run: the system message and the tools.
fn standing(request: &str) -> (&str, &str) {
    const SYSTEM_ENDS: &str = r#""role":"system"}"#;
    let (system, rest) = request.split_once(SYSTEM_ENDS).unwrap();
    let (_, tools) = rest.split_once(r#","tools":"#).unwrap();
    (system, tools)
}

fn messages(request: &str) -> Vec<Value> {
    let request: Value = serde_json::from_str(request).unwrap();
    request["messages"].as_array().unwrap().clone()
}

/// The opening message up to the step's own part.
fn opening(request: &str) -> String {
    let text = messages(request)[1]["content"].as_str().unwrap().to_owned();
    let (same, _) = text.split_once("STATE:").unwrap();
    same.to_owned()
}

#[test]
fn tools_and_system_are_the_same_bytes_at_every_mask_seed_and_day() {
    let folder = tempfile::tempdir().unwrap();
    let mut standing_parts: BTreeMap<&str, BTreeSet<(String, String)>> = BTreeMap::new();
    let mut openings: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    let mut tool_hashes = BTreeSet::new();
    let mut whole = BTreeSet::new();
    // Two panels and two windows: other names, other days, other steps in all.
    for (seed, days) in [(5, 3), (6, 2)] {
        let config = experiment(days, MASKS_AND_MODES);
        let prepared = prepare(&config, market(seed), key(1));
        let output = folder.path().join(seed.to_string());
        for (cell, bundle) in run(&config, &prepared, &output) {
            for (_, request) in Trace::of(&bundle).requests {
                let (system, tools) = standing(&request);
                let parts = standing_parts.entry(cell.mode.label()).or_default();
                parts.insert((system.to_owned(), tools.to_owned()));
                let mask = (cell.mask.level.label(), cell.mask.numeric.label());
                openings.entry(mask).or_default().insert(opening(&request));
                whole.insert(request);
            }
            let header: Value = serde_json::from_slice(&files(&bundle)["header.json"]).unwrap();
            tool_hashes.insert(header["tools_sha256"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(standing_parts.len(), 3, "every mode was run");
    for (mode, parts) in standing_parts {
        assert_eq!(parts.len(), 1, "{mode}: {parts:?}");
    }
    assert_eq!(openings.len(), 12, "every mask was run");
    for (mask, texts) in &openings {
        assert_eq!(texts.len(), 1, "{mask:?}: {texts:?}");
    }
    assert_eq!(openings.into_values().collect::<BTreeSet<_>>().len(), 12);
    assert_eq!(tool_hashes.len(), 1);
    assert!(100 < whole.len(), "the requests themselves differ");
}

#[test]
fn inside_a_step_the_conversation_only_grows() {
    let folder = tempfile::tempdir().unwrap();
    let config = experiment(2, MASKS_AND_MODES);
    let prepared = prepare(&config, market(5), key(1));
    let mut followed = 0;
    for (cell, bundle) in run(&config, &prepared, folder.path()) {
        let requests = Trace::of(&bundle).requests;
        for ((before, earlier), (after, later)) in requests.iter().zip(requests.iter().skip(1)) {
            if before.step != after.step {
                continue;
            }
            followed += 1;
            let (earlier, later) = (messages(earlier), messages(later));
            assert!(earlier.len() < later.len(), "{}", cell.id);
            assert_eq!(earlier[..], later[..earlier.len()], "{}", cell.id);
        }
    }
    assert!(50 < followed, "steps have several requests");
}
