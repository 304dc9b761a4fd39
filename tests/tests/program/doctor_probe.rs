//! `ktd doctor FILE --probe`: every model of a file, a line each, and a failure where one fails.

use ktd_kit::program::printed;
use ktd_kit::vendor::{called, reply};
use ktd_kit::{Folder, Vendor, quiet, refused};
use serde_json::json;

/// A vendor whose model submits whenever it is asked, and which knows no model `gone`.
fn vendor() -> Vendor {
    Vendor::answering(|asked| {
        if asked["model"] == "gone" {
            let body = json!({"error": {"message": "there is no such model", "code": "model_not_found"}});
            return reply("404 Not Found", "", body.to_string().as_bytes());
        }
        called(
            "submit_action",
            &json!({"choice": 9, "reason": "larger"}),
            (90, 9),
        )
    })
}

fn experiment(vendor: &Vendor, models: &[&str]) -> String {
    let url = vendor.base_url();
    let models = models
        .iter()
        .map(|model| format!("{{ id = {model:?}, model = {model:?}, base_url = {url:?} }}"));
    let agents: Vec<String> = models
        .chain(["{ id = \"h\", builtin = \"hold\" }".to_owned()])
        .collect();
    format!(
        "name = \"try\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{}]\n",
        agents.join(", ")
    )
}

#[test]
fn every_model_of_a_file_is_probed_and_one_that_fails_is_said() {
    let vendor = vendor();
    let folder = Folder::with(&[("all.toml", &experiment(&vendor, &["one", "gone", "two"]))]);
    let output = quiet(folder.path(), &["doctor", "all.toml", "--probe"]);
    assert!(refused(&output, 1).contains("1 of 3 checks failed"));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let starts: Vec<&str> = text.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(
        starts,
        [
            "ok      agent one",
            "BROKEN  agent gone",
            "        hint",
            "ok      agent two"
        ],
        "{text}"
    );
    assert!(text.contains("strongest level that works: F0"), "{text}");
    assert!(folder.at("results/try").exists(), "what was found is kept");

    folder.write("sound.toml", experiment(&vendor, &["one", "two"]));
    let told = quiet(folder.path(), &["--json", "doctor", "sound.toml", "--probe"]);
    let told = printed(&told);
    let checks = told["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["ok"] == true), "{told}");
    assert_eq!(checks.len(), 2);

    folder.write("none.toml", experiment(&vendor, &[]));
    for (arguments, part) in [
        (
            ["doctor", "none.toml", "--probe"].as_slice(),
            "has no agent that is a model",
        ),
        (&["doctor", "--probe"], "there is no experiment file"),
    ] {
        let message = refused(&quiet(folder.path(), arguments), 2);
        assert!(message.contains(part), "{message}");
    }
}
