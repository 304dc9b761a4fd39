//! The canary step: a model that becomes another one in the middle of a run is noticed, and the same step asked again and
//! again says how alike a model answers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_baselines::named;
use ktd_kit::program::json_of;
use ktd_kit::vendor::{Then, json_reply};
use ktd_kit::{Folder, Vendor, assert_ok, quiet};
use serde_json::Value;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A vendor whose model is another one from the canary after `answers` on: the first request is a canary, and all
/// canaries are the same bytes.
fn vendor(answers: usize) -> Vendor {
    let models = [named("momentum", 1).unwrap(), named("hold", 1).unwrap()];
    let seen: Arc<Mutex<(Vec<u8>, usize)>> = Arc::default();
    Vendor::new(move |request, stream| {
        let asked = {
            let mut seen = seen.lock().unwrap();
            if seen.0.is_empty() {
                seen.0.clone_from(&request.body);
            }
            seen.1 += usize::from(seen.0 == request.body);
            seen.1
        };
        let later = answers < asked;
        let reply = models[usize::from(later)].reply(&request.body);
        let mut reply: Value = serde_json::from_slice(&reply).unwrap();
        reply["id"] = format!("replied-{asked}").into();
        reply["model"] = if later { "served-2" } else { "served-1" }.into();
        stream.write_all(&json_reply(reply.to_string().as_bytes()))?;
        Ok(Then::Keep)
    })
}

fn scene(vendor: &Vendor, canary: &str) -> Folder {
    let experiment = format!(
        "name = \"try\"\nparallel_cells = 1\nsynthetic = {{ seed = 5, names = 40, days = 330 }}\n{canary}\n\
         masks = [{{ level = \"blinded\" }}]\nmodes = [\"fixed-candidate\"]\nseeds = [1, 2, 3]\n\
         windows = [{{ id = \"w\", last_days = 1 }}]\n\
         agents = [{{ id = \"m\", model = \"x\", base_url = \"{}\" }}, {{ id = \"h\", builtin = \"hold\" }}]\n",
        vendor.base_url()
    );
    Folder::with(&[("try.toml", &experiment)])
}

#[test]
fn another_model_in_the_middle_of_a_run_is_told_and_marked_on_the_board() {
    let vendor = vendor(3);
    let folder = scene(&vendor, "canary = { every_cells = 2 }");
    let told = json_of(folder.path(), &["run", "try.toml", "--out", "out"]);
    let notes = told["notes"].to_string();
    // Six cells: before the first, and after the second, the fourth and the sixth.
    assert!(notes.contains("canary step of m: 4 answers"), "{notes}");
    assert!(
        notes.contains("the served model changed from served-1 to served-2 at answer 4"),
        "{notes}"
    );
    assert!(!notes.contains("canary step of h"), "{notes}");
    let asked = vendor.count();
    assert_eq!(asked, 3 + 4);
    // Each answer is a bundle that verifies, and no episode of the grid.
    for number in ["00001", "00004"] {
        let bundle = format!("out/canaries/m/{number}");
        assert_ok(&quiet(folder.path(), &["verify", &bundle]));
        assert_ok(&quiet(folder.path(), &["replay", &bundle]));
    }
    let board = json_of(folder.path(), &["leaderboard", "out", "--replicates", "40"]);
    let notes = board["notes"].to_string();
    assert!(
        notes.contains("m: what answers may have changed during its run: the served model changed"),
        "{notes}"
    );
    assert_eq!(board["tracks"].as_array().unwrap().len(), 1);
    // A finished experiment is not asked again.
    assert_ok(&quiet(folder.path(), &["run", "try.toml", "--out", "out"]));
    assert_eq!(vendor.count(), asked);
}

#[test]
fn nobody_is_asked_unless_the_experiment_says_so() {
    let vendor = vendor(3);
    let folder = scene(&vendor, "");
    let told = json_of(folder.path(), &["run", "try.toml", "--out", "out"]);
    assert_eq!(vendor.count(), 3);
    assert!(!told["notes"].to_string().contains("canary"), "{told}");
    assert!(!folder.at("out/canaries").exists());
}

#[test]
fn the_same_step_asked_again_says_how_alike_the_answers_are() {
    let vendor = vendor(3);
    let folder = scene(&vendor, "");
    let told = json_of(
        folder.path(),
        &[
            "doctor", "try.toml", "--out", "out", "--repeat", "m", "--times", "4",
        ],
    );
    let record = &told["repeated"][0];
    assert_eq!(
        (&record["answers"], &record["vendor"]),
        (&4.into(), &"compatible".into())
    );
    assert_eq!(
        (&record["same_orders"], &record["same_words"]),
        (&0.75.into(), &0.75.into())
    );
    assert_eq!(record["same_bytes"], 0.25, "the vendor numbers its replies");
    assert_eq!(
        record["served_models"],
        serde_json::json!(["served-1", "served-2"])
    );
    let again = json_of(
        folder.path(),
        &[
            "doctor", "try.toml", "--out", "out", "--repeat", "m", "--times", "1",
        ],
    );
    assert_eq!(again["repeated"][0]["answers"], 5);
    assert_eq!(vendor.count(), 5);
}
