//! Rows of language models: memory gaps beside the training cutoff, and what must be equal before rows are compared.

use super::pooled::{dates, windows};
use super::{board, leader, refused, run, track};
use ktd_baselines::named;
use ktd_kit::vendor::{Then, Vendor, json_reply};
use ktd_kit::{Folder, quiet};
use serde_json::{Value, json};
use std::io::Write;

/// A vendor whose model is a built-in agent, and which serves another one for the second seed.
fn vendor() -> Vendor {
    let model = named("momentum", 1).unwrap();
    Vendor::new(move |request, stream| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let mut reply: Value = serde_json::from_slice(&model.reply(&request.body)).unwrap();
        reply["id"] = json!("replied");
        reply["model"] = json!(format!("served-{}", asked["seed"]));
        stream.write_all(&json_reply(reply.to_string().as_bytes()))?;
        Ok(Then::Keep)
    })
}

/// A day between two trading days of a span that is none itself: no bright prompt has a reason to name it.
fn day_off(dates: &[String], span: (usize, usize)) -> String {
    let day = |date: &str| date[8..].parse::<u32>().unwrap();
    let within = dates[span.0..=span.1].windows(2);
    let mut gaps = within.filter(|pair| pair[0][..7] == pair[1][..7] && day(&pair[0]) + 1 < day(&pair[1]));
    let before = &gaps.next().unwrap()[0];
    format!("{}-{:02}", &before[..7], day(before) + 1)
}

fn experiment(vendor: &Vendor, windows: &str, cutoff: &str) -> String {
    format!(
        r#"
name = "try"
synthetic = {{ seed = 5, names = 90, days = 330 }}
mask_key_file = "key"
masks = [{{ level = "bright" }}, {{ level = "blinded" }}]
modes = ["fixed-candidate"]
seeds = [1, 2]
agents = [{{ id = "m", model = "momentum", base_url = "{}", temperature = 0.5, max_output_tokens = 400,
             send_seed = true, cutoff = "{cutoff}" }}]
windows = [{windows}]
"#,
        vendor.base_url()
    )
}

#[test]
fn gaps_stand_by_their_side_of_the_cutoff_which_no_prompt_has() {
    const SPANS: [(&str, usize, usize); 3] = [("a", 0, 5), ("b", 6, 15), ("c", 16, 21)];
    let folder = Folder::new();
    let dates = dates(&folder);
    let cutoff = day_off(&dates, (6, 15));
    let vendor = vendor();
    run(
        folder.path(),
        "out",
        &experiment(&vendor, &windows(&dates, &SPANS), &cutoff),
    );
    let found = board(folder.path(), &["out"]);
    let gaps = found["cutoff_gaps"].as_array().unwrap();
    let sides: Vec<(&str, &str)> = gaps
        .iter()
        .map(|gap| {
            (
                gap["side"].as_str().unwrap(),
                gap["windows"][0]["window"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(sides, [("before", "a"), ("across", "b"), ("after", "c")]);
    for gap in gaps {
        assert_eq!((&gap["agent"], &gap["cutoff"]), (&json!("m"), &json!(cutoff)));
        let window = gap["windows"][0]["window"].as_str().unwrap();
        let blinded = track(&found, window, "blinded");
        assert_eq!(gap["mean"], leader(blinded, "m")["memory_gap"]);
        let regime = &blinded["regime"];
        assert_eq!(regime["total_return"], blinded["benchmark_return"]["value"]);
        assert_eq!(gap["windows"][0]["regime"], regime["regime"]);
    }
    let cell = folder.at("out/cells/m__a__bright-exact__fixed-candidate__s1/header.json");
    let header: Value = serde_json::from_slice(&std::fs::read(cell).unwrap()).unwrap();
    assert_eq!(header["agent"]["cutoff"], json!(cutoff));
    assert!(vendor.count() > 0);
    for request in vendor.requests() {
        let body = String::from_utf8(request.body).unwrap();
        assert!(!body.contains(&cutoff) && !body.contains("cutoff"), "{body}");
    }
    check_comparability(&found, &folder, &cutoff);
}

/// The row says what its runs were asked with, and that the vendor served each seed another model.
fn check_comparability(found: &Value, folder: &Folder, cutoff: &str) {
    let m = leader(track(found, "a", "bright"), "m");
    let compared = &m["comparability"];
    assert_eq!(compared["temperature"], json!(["0.5"]));
    assert_eq!(compared["max_output_tokens"], json!(["400"]));
    assert_eq!(
        (&compared["max_tool_calls"], &compared["schema_retries"]),
        (&json!(["20"]), &json!(["3"]))
    );
    assert_eq!(compared["served_models"], json!(["served-1", "served-2"]));
    assert_eq!(compared["mixed"], json!(["served_models"]));
    assert!(compared["tokens_per_step"].as_u64().unwrap() > 0);
    assert_eq!(compared["paid_usd_per_step"], Value::Null, "there is no price");
    let shown = quiet(
        folder.path(),
        &[
            "leaderboard",
            "out",
            "--table",
            "comparability",
            "--table",
            "memory",
            "--wide",
        ],
    );
    let shown = String::from_utf8(shown.stdout).unwrap();
    for part in [
        "mixed: served-1 | served-2",
        "served_models",
        "before",
        "across",
        "after",
        cutoff,
    ] {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    let notes = track(found, "a", "bright")["notes"].to_string();
    assert!(
        notes.contains("m is mixed: its runs differ in served_models"),
        "{notes}"
    );
}

#[test]
fn a_cutoff_that_is_no_date_is_refused_before_the_run() {
    let folder = Folder::new();
    let window = "{ id = \"w\", last_days = 2 }";
    folder.write("try.toml", experiment(&vendor(), window, "2025-02-30"));
    folder.write("key", ktd_kit::MASK_KEY);
    let error = refused(&quiet(folder.path(), &["run", "try.toml", "--out", "out"]));
    assert!(error.contains("`cutoff` is \"2025-02-30\""), "{error}");
    assert!(!folder.at("out").exists());
}
