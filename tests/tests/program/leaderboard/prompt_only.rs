//! The prompt-only control on a board: a track of its own, and the parts of the memory gap.

use super::pooled::{dates, windows};
use super::{board, run};
use ktd_kit::Folder;
use serde_json::Value;

const EXPERIMENT: &str = r#"
name = "arms"
synthetic = { seed = 5, names = 60, days = 330 }
mask_key_file = "key"
masks = [{ level = "bright" }, { level = "bright", instruction = "blinded" }, { level = "blinded" }]
modes = ["memory-only"]
agents = [{ id = "random", builtin = "random" }, { id = "equal-weight", builtin = "equal-weight" }]
windows = [{ id = "w", last_days = 8 }]
"#;

#[test]
fn the_gap_is_split_into_instruction_and_mask_and_no_track_is_mixed() {
    let folder = Folder::new();
    run(folder.path(), "out", EXPERIMENT);
    let board = board(folder.path(), &["out"]);
    let tracks = board["tracks"].as_array().unwrap();
    let instructions: Vec<&Value> = tracks.iter().map(|track| &track["instruction"]).collect();
    // The masked track is first, the control last.
    assert_eq!(
        instructions,
        [&Value::Null, &Value::Null, &Value::from("blinded")]
    );
    for track in tracks {
        let notes = track["notes"].to_string();
        assert_eq!(
            notes.contains("a prompt-only control and no mask"),
            track["instruction"] == "blinded"
        );
        let agents = track["leaders"].as_array().unwrap();
        let own = agents.iter().filter(|leader| leader["agent"] == "random");
        assert_eq!(own.count(), 1, "one row an agent and track");
    }
    let pair = |sides: &str| {
        let contrasts = board["contrasts"].as_array().unwrap();
        let found = contrasts
            .iter()
            .find(|one| one["sides"] == sides && one["agent"] == "random" && one["metric"] == "total_return");
        let pair = &found.unwrap()["pairs"][0];
        (
            pair["bright"].as_f64().unwrap(),
            pair["blinded"].as_f64().unwrap(),
        )
    };
    let (bright, blinded) = pair("bright_blinded");
    let (first, middle) = pair("bright_prompt_only");
    assert_eq!(
        (bright.to_bits(), middle.to_bits()),
        (first.to_bits(), pair("prompt_only_blinded").0.to_bits())
    );
    assert_eq!(pair("prompt_only_blinded").1.to_bits(), blinded.to_bits());
    assert_ne!(
        middle.to_bits(),
        bright.to_bits(),
        "each arm draws its own aliases"
    );
}

/// An agent that ranks by one factor and knows no name loses with coarser numbers, which is no memory.
#[test]
fn what_a_factor_loses_with_its_numbers_is_not_called_memory() {
    const SPANS: [(&str, usize, usize); 8] = [
        ("a", 0, 4),
        ("b", 5, 9),
        ("c", 10, 14),
        ("d", 15, 19),
        ("e", 20, 24),
        ("f", 25, 29),
        ("g", 30, 34),
        ("h", 35, 39),
    ];
    let folder = Folder::new();
    let dates = dates(&folder);
    let experiment = format!(
        r#"
name = "rungs"
synthetic = {{ seed = 5, names = 90, days = 330 }}
mask_key_file = "key"
masks = [{{ level = "bright" }}, {{ level = "blinded" }}, {{ level = "blinded", numeric = "banded-5" }}]
modes = ["fixed-candidate"]
agents = [{{ id = "momentum", builtin = "momentum" }}]
windows = [{}]
"#,
        windows(&dates, &SPANS)
    );
    run(folder.path(), "out", &experiment);
    let board = board(folder.path(), &["out"]);
    let contrasts = board["contrasts"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&Value> { contrasts.iter().filter(|one| one["kind"] == kind).collect() };
    assert_eq!(
        (of("memory").len(), of("signal_and_memory").len(), contrasts.len()),
        (4, 4, 8)
    );
    for one in of("memory") {
        assert_eq!(
            (&one["first_numeric"], &one["numeric"]),
            (&Value::from("exact"), &Value::from("exact"))
        );
        let reading = one["reading"].as_str().unwrap();
        assert!(!reading.contains("is higher"), "{reading}");
    }
    for one in of("signal_and_memory") {
        assert_eq!(
            (&one["first_numeric"], &one["numeric"]),
            (&Value::from("exact"), &Value::from("banded-5"))
        );
        assert!(!one["reading"].as_str().unwrap().ends_with(": memory"));
    }
    for track in board["tracks"].as_array().unwrap() {
        let expected = if track["numeric"] == "banded-5" {
            "signal_and_memory"
        } else {
            "memory"
        };
        for leader in track["leaders"].as_array().unwrap() {
            let gap = &leader["memory_gap"];
            assert!(gap.is_null() || gap["kind"] == expected, "{gap}");
        }
    }
}
