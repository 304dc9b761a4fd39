//! `ktd status` of a run under way: a line each key, which says what it waits for and how long it still takes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_baselines::named;
use ktd_kit::vendor::{Then, json_reply, reply};
use ktd_kit::{Folder, Vendor, assert_ok, command};
use serde_json::Value;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const STEPS: usize = 8;
const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1.5,"output":7.25}]}"#;

/// A vendor of a model that trades, and wants to be left alone for a quarter of an hour after so many answers.
fn vendor(answers: usize) -> Vendor {
    let (model, count) = (named("momentum", 1).unwrap(), AtomicUsize::new(0));
    Vendor::new(move |request, stream| {
        if answers <= count.fetch_add(1, Ordering::Relaxed) {
            stream.write_all(&reply("429 Too Many Requests", "retry-after: 900\r\n", b"{}"))?;
        } else {
            let answer = String::from_utf8_lossy(&model.reply(&request.body)).replace("builtin-", "replied-");
            stream.write_all(&json_reply(answer.as_bytes()))?;
        }
        Ok(Then::Keep)
    })
}

fn experiment(calm: &Vendor, busy: &Vendor) -> String {
    let agent = |id: &str, vendor: &Vendor, more: &str| {
        format!(
            "{{ id = '{id}', model = 'm', max_output_tokens = 700, base_url = '{}'{more} }}",
            vendor.base_url()
        )
    };
    format!(
        "name = 'season'\nsynthetic = {{ seed = 5, names = 30, days = 330 }}\nmasks = [{{ level = 'blinded' }}]\n\
         modes = ['fixed-candidate']\nwindows = [{{ id = 'w', last_days = {STEPS} }}]\nprices = 'prices.json'\n\
         agents = [{}, {}]\n",
        agent("calm", calm, ", api_key_env = 'CALM_KEY'"),
        agent("busy", busy, "")
    )
}

/// The state of each key once the calm one has nothing left to do and the busy one waits.
fn keys(folder: &Folder) -> (Value, Value) {
    let began = Instant::now();
    loop {
        let output = folder.ktd(&["--json", "status", "season"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let keys = told["keys"].as_array().cloned().unwrap_or_default();
        let of = |key: &str| {
            keys.iter()
                .find(|told| told["key"] == key)
                .cloned()
                .unwrap_or_default()
        };
        let (calm, busy) = (of("CALM_KEY"), of(""));
        if calm["units_left"] == 0 && busy["waiting_until"].is_string() {
            return (calm, busy);
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{output:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn each_key_says_what_it_was_asked_what_it_waits_for_and_what_is_left() {
    let (calm, busy) = (vendor(usize::MAX), vendor(3));
    let folder = Folder::with(&[
        ("season.toml", &experiment(&calm, &busy)),
        ("prices.json", PRICES),
    ]);
    let mut run = command(
        folder.path(),
        &["--quiet", "run", "season.toml", "--out", "season"],
    )
    .env("CALM_KEY", "secret-of-calm")
    .spawn()
    .unwrap();
    let (of_calm, of_busy) = keys(&folder);
    let text = folder.ktd(&["status", "season"]);
    run.kill().unwrap();
    run.wait().unwrap();

    let counts =
        |key: &Value| ["asked", "answered", "faults", "units_left"].map(|name| key[name].as_u64().unwrap());
    assert_eq!(counts(&of_calm), [8, 8, 0, 0], "{of_calm}");
    assert_eq!(counts(&of_busy), [4, 3, 1, 1], "{of_busy}");
    assert_eq!(of_calm["base_url"], calm.base_url());
    let money = |key: &Value, of: &str| key[of]["paid_picodollars"].as_u64().unwrap();
    assert!(
        0 < money(&of_calm, "spent") && money(&of_calm, "spent_open") == 0,
        "{of_calm}"
    );
    assert!(
        0 < money(&of_busy, "spent") && money(&of_busy, "spent_open") == money(&of_busy, "spent"),
        "{of_busy}"
    );
    assert!(
        of_calm["waiting_until"].is_null() && of_calm["seconds_left"] == 0,
        "{of_calm}"
    );
    assert!(0 < of_busy["seconds_left"].as_u64().unwrap(), "{of_busy}");

    assert_ok(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    let until = of_busy["waiting_until"].as_str().unwrap();
    assert!(text.contains(until) && text.contains("CALM_KEY"), "{text}");
    assert!(
        text.contains("of 2 units 1 are finished, 1 open, 0 not begun"),
        "{text}"
    );
    assert!(!text.contains("secret-of-calm"), "{text}");
    let noted = folder.text("season/private/keys.jsonl");
    assert!(noted.contains("CALM_KEY") && !noted.contains("secret"), "{noted}");
}
