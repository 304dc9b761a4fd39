//! Steps of a recorded episode: what the model saw, its orders, what became of them, the account.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::{Folder, assert_ok, refused};
use serde_json::Value;
use std::sync::OnceLock;

const EXPERIMENT: &str = r#"
name = "steps"
synthetic = { seed = 5, names = 60, days = 420 }
masks = [{ level = "blinded", numeric = "rescaled" }]
modes = ["fixed-candidate"]
agents = [{ id = "momentum", builtin = "momentum" }]
windows = [{ id = "w", last_days = 6 }]
"#;

const BUNDLE: &str = "out/cells/momentum__w__blinded-rescaled__fixed-candidate__s1";

fn scene() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::with(&[("steps.toml", EXPERIMENT)]);
        assert_ok(&folder.ktd(&["--quiet", "run", "steps.toml", "--out", "out"]));
        folder
    })
}

fn shown(arguments: &[&str]) -> String {
    let output = scene().ktd(&[&["replay", BUNDLE], arguments].concat());
    assert_ok(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_step_shows_orders_fills_and_nav_and_folds_what_every_step_repeats() {
    let step = shown(&["--step", "1"]);
    assert!(
        step.starts_with("step 1 of 6: trades at the open of day_+0"),
        "{step}"
    );
    let parts = [
        "--- orders: submitted ---",
        "--- fills ---",
        "--- account at the close ---\nNAV ",
    ];
    for part in parts {
        assert!(step.contains(part), "{part}: {step}");
    }
    assert!(
        step.contains("characters, the same in every step; --full shows it]"),
        "{step}"
    );
    assert!(
        !step.contains("# How trading works") && step.contains("STATE:\n{"),
        "{step}"
    );
    assert!(step.contains("CNY (") && step.contains("filled"), "{step}");

    let full = shown(&["--step", "1", "--full"]);
    assert!(
        full.contains("# How trading works") && !full.contains("the same in every step"),
        "{full}"
    );

    // Real names stand beside what is masked, for the owner alone.
    assert!(!step.contains("--- real ---"), "{step}");
    let real = shown(&["--step", "1", "--real", "--wide"]);
    assert!(
        real.contains("--- real ---\nshown") && real.contains("day of step 1"),
        "{real}"
    );
    let bought = real.lines().find(|line| line.contains("  BUY")).unwrap();
    assert!(
        bought.contains("  SH60") || bought.contains("  SZ") || bought.contains("  SH68"),
        "{bought}"
    );
}

#[test]
fn a_range_of_steps_is_shown_in_either_spelling() {
    let range = shown(&["--step", "2..4"]);
    assert_eq!(range, shown(&["--step", "2-4"]));
    for step in 2..=4 {
        assert!(range.contains(&format!("step {step} of 6: ")), "{range}");
    }
    assert!(
        !range.contains("step 1 of 6: ") && !range.contains("step 5 of 6: "),
        "{range}"
    );

    let document: Value = serde_json::from_str(&shown(&["--step", "2..4", "--json"])).unwrap();
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    // The account goes on where the step before left it.
    for pair in steps.windows(2) {
        assert_eq!(pair[0]["mark"]["nav_fen"], pair[1]["nav_before_fen"]);
    }
    assert_eq!(steps[0]["step"], 2);
    assert!(steps[0]["messages"].as_array().unwrap().len() > 2);
    assert!(steps[0]["fills"]["outcome"].is_string(), "{document}");

    let scene = scene();
    let told = refused(&scene.ktd(&["replay", BUNDLE, "--step", "5..7"]), 2);
    assert!(
        told.contains("step 7 is not recorded") && told.contains("the steps 1 to 6"),
        "{told}"
    );
    let told = refused(&scene.ktd(&["replay", BUNDLE, "--step", "4..2"]), 2);
    assert!(
        told.contains("write a step as 3, or steps as 3..7 or 3-7"),
        "{told}"
    );
}
