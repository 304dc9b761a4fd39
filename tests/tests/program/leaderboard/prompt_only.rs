//! The prompt-only control on a board: a track of its own, and the parts of the memory gap.

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
