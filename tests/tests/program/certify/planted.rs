//! Planted weaknesses: each makes `ktd certify` refuse and name the attacker that found it.

use crate::certify::{certify, folder};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Market, Ticker, TradeDate};
use ktd_kit::{quiet, refused};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Long enough that a holiday lies in most episodes.
const STEPS: usize = 60;

/// Few probes, so a bound is wide, and thresholds as wide: only what is found nearly always is refused.
fn config(numeric: &str, probes: &str) -> String {
    format!(
        r#"
name = "small"
synthetic = {{ seed = 3, names = 120, days = 560 }}
mask_key_file = "mask.key"
mask = {{ level = "blinded", numeric = "{numeric}" }}
probes = {{ {probes} }}
days = {STEPS}
episode_steps = {STEPS}
stretches = 2
training = 8
control_probes = 8
thresholds = {{ top1 = 0.6, top5 = 0.6, date20 = 0.4, joint = 0.6, same = 0.6, sector = 1.0 }}
"#
    )
}

fn market() -> Market {
    let config = SynthConfig {
        seed: 3,
        names: 120,
        days: 560,
    };
    generate(&config).unwrap()
}

/// Attackers that recover more than the thresholds allow, with what they recover.
fn broken(signed: &Value) -> Vec<(String, String)> {
    let refusals = signed["certificate"]["refusals"].as_array().unwrap().iter();
    let above = refusals.filter(|refusal| refusal["reason"] == "above_threshold");
    above.map(who_and_what).collect()
}

fn who_and_what(found: &Value) -> (String, String) {
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("attacker"), text("measure"))
}

/// The same of probes that are not certified: the controls are the same for all.
fn broken_by_probe(root: &Path) -> Vec<(String, String)> {
    let output = quiet(root, &["--json", "probe", "small.toml", "--out", "out"]);
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = found["figures"].as_array().unwrap().iter();
    let broken = figures.filter(|figure| figure["status"] == "broken");
    broken.map(who_and_what).collect()
}

fn names(found: &[(String, String)], attacker: &str, measure: &str) -> bool {
    found.iter().any(|(who, what)| who == attacker && what == measure)
}

/// What is found in the probes of a kind as they are, and after `change` of each probe's text, given its answer key.
fn before_and_after(
    (numeric, kind): (&str, &str),
    probes: usize,
    change: impl Fn(&str, &Value) -> String,
) -> [Vec<(String, String)>; 2] {
    let folder = folder(&config(numeric, &format!("{kind} = {probes}")));
    let honest = broken_by_probe(folder.path());
    [honest, broken(&certify_changed(folder.path(), kind, change))]
}

/// What is certified of the probes of a kind in `out`, after `change` of each probe's text, given its answer key.
fn certify_changed(root: &Path, kind: &str, change: impl Fn(&str, &Value) -> String) -> Value {
    let packed = std::fs::File::open(root.join(format!("out/probes/{kind}.jsonl.zst"))).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    let gold = std::fs::read_to_string(root.join("out/private/gold.jsonl")).unwrap();
    let pairs = text.lines().zip(gold.lines());
    let changed: Vec<String> = pairs
        .map(|(probe, gold)| change(probe, &serde_json::from_str(gold).unwrap()))
        .collect();
    let changed = changed.join("\n") + "\n";
    assert!(text != changed);
    let given = root.join("given");
    std::fs::create_dir_all(given.join("probes")).unwrap();
    std::fs::create_dir_all(given.join("private")).unwrap();
    std::fs::write(given.join(format!("probes/{kind}.jsonl")), changed).unwrap();
    std::fs::write(given.join("private/gold.jsonl"), gold).unwrap();
    certify(root, &["--out", "other", "--probes", "given"])
}

/// An attacker opens such a key (the control `small-key`), so nothing is probed under one.
#[test]
fn a_key_of_a_small_seed_is_refused() {
    let folder = folder(&config("banded", "day = 24"));
    std::fs::write(folder.path().join("mask.key"), format!("{:064x}", 20_240)).unwrap();
    let arguments = ["certify", "small.toml", "--key", "key.pem", "--out", "out"];
    let error = refused(&quiet(folder.path(), &arguments), 2);
    assert!(error.contains("this mask key can be guessed"), "{error}");
}

/// Labels count calendar days instead of trading days.
fn calendar_days(probe: &str, gold: &Value, calendar: &[TradeDate]) -> String {
    let label = |part: &str| -> (i64, usize) {
        let end = part[1..]
            .find(|character: char| !character.is_ascii_digit())
            .unwrap()
            + 1;
        (part[..end].parse().unwrap(), end)
    };
    let last = probe
        .split("day_")
        .skip(1)
        .map(|part| label(part).0)
        .max()
        .unwrap();
    let first = gold["targets"][0]["place"].as_i64().unwrap() + 1 - last;
    let epoch = |label: i64| {
        let place = usize::try_from(first + label).unwrap();
        i64::from(calendar[place].days_since_epoch())
    };
    let mut parts = probe.split("day_");
    let mut counted = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, end) = label(part);
        write!(counted, "day_{:+}{}", epoch(number) - epoch(0), &part[end..]).unwrap();
    }
    counted
}

#[test]
fn calendar_day_labels_are_found() {
    let market = market();
    let [honest, changed] = before_and_after(("banded", "days"), 30, |probe, gold| {
        calendar_days(probe, gold, market.calendar())
    });
    assert!(
        !honest.iter().any(|(who, _)| who == "labels-and-order"),
        "{honest:?}"
    );
    assert!(names(&changed, "labels-and-order", "date20"), "{changed:?}");
}

/// One field that the mask forgot: the true close beside the target's rescaled points.
fn with_true_close(probe: &str, gold: &Value, market: &Market) -> String {
    let target = &gold["targets"][0];
    let ticker = Ticker::parse(target["stock"].as_str().unwrap()).unwrap();
    let day = TradeDate::parse(target["day"].as_str().unwrap()).unwrap();
    let name = market.find(ticker).unwrap();
    let bar = market.bar(name, market.day(day).unwrap()).unwrap();
    let close = format!("{SNAPSHOT}\"close\":{},", bar.close.to_yuan());
    probe.replacen(SNAPSHOT, &close, 1)
}

/// Where a snapshot begins.
const SNAPSHOT: &str = "\"source\":\"get_stock_snapshot\",\"content\":{";

#[test]
fn one_unmasked_field_is_found() {
    let market = market();
    let [honest, changed] = before_and_after(("rescaled", "day"), 24, |probe, gold| {
        with_true_close(probe, gold, &market)
    });
    assert!(!honest.iter().any(|(who, _)| who == "price-level"), "{honest:?}");
    assert!(names(&changed, "price-level", "top5"), "{changed:?}");
}

/// Writes the target's code and day into a message of the source whose turn it is.
fn in_the_open(probe: &str, gold: &Value) -> String {
    let sources = [
        "state",
        "get_market_context",
        "screen_candidates",
        "get_stock_snapshot",
    ];
    let place = usize::try_from(gold["number"].as_u64().unwrap()).unwrap() % sources.len();
    let (stock, day) = (&gold["targets"][0]["stock"], &gold["targets"][0]["day"]);
    let mut probe: Value = serde_json::from_str(probe).unwrap();
    for step in probe["exhibits"][0]["steps"].as_array_mut().unwrap() {
        let messages = step.as_array_mut().unwrap().iter_mut();
        let own = messages
            .into_iter()
            .find(|message| message["source"] == sources[place]);
        let content = &mut own.unwrap()["content"];
        if sources[place] == "screen_candidates" {
            let table = &mut content["candidates"];
            table["columns"].as_array_mut().unwrap().push("code".into());
            for row in table["rows"].as_array_mut().unwrap() {
                row.as_array_mut().unwrap().push(stock.clone());
            }
        } else {
            content["code"] = stock.clone();
        }
        content["seen"] = day.clone();
    }
    probe.to_string()
}

/// Of how many probes an attacker recovered a measure, and of how many it was asked.
fn hits(signed: &Value, attacker: &str, measure: &str) -> (u64, u64) {
    let figures = signed["certificate"]["figures"].as_array().unwrap().iter();
    let own = |figure: &&Value| figure["attacker"] == attacker && figure["measure"] == measure;
    let figure = figures.into_iter().find(own).unwrap();
    (
        figure["hits"].as_u64().unwrap(),
        figure["asked"].as_u64().unwrap(),
    )
}

#[test]
fn a_code_and_a_day_in_the_open_are_found_in_every_source() {
    let few = config("banded", "episode = 24").replace("= 60\n", "= 6\n");
    let folder = folder(&few);
    let honest = broken_by_probe(folder.path());
    assert!(!names(&honest, "labels-and-order", "top1"), "{honest:?}");
    let signed = certify_changed(folder.path(), "episode", in_the_open);
    for measure in ["top1", "date5", "joint"] {
        assert_eq!(hits(&signed, "labels-and-order", measure), (24, 24), "{measure}");
    }
    let found = broken(&signed);
    assert!(
        names(&found, "labels-and-order", "top1") && names(&found, "combination", "date20"),
        "{found:?}"
    );
}

/// The days lie in six stretches of twenty, so that one guess for all is near a sixth of them (in two of sixty it would be
/// near a third, which luck carries over the threshold). A day that is shown is found always.
#[test]
fn a_shown_code_and_a_shown_day_are_no_chance() {
    let shown = [
        |probe: &str, target: &Value| {
            let alias = serde_json::from_str::<Value>(probe).unwrap()["exhibits"][0]["target"].clone();
            probe.replace(&alias.to_string(), &target["stock"].to_string())
        },
        |probe: &str, target: &Value| {
            let (before, label) = probe.split_once("\"day_+").unwrap();
            let (_, after) = label.split_once('"').unwrap();
            let place = usize::try_from(target["place"].as_u64().unwrap()).unwrap();
            let day = market().calendar()[place + 1].reveal();
            format!("{before}\"{day}\"{after}")
        },
    ];
    let config = config("banded", "day = 72")
        .replace("stretches = 2", "stretches = 6")
        .replace("= 60\n", "= 20\n");
    for (measure, show) in ["top1", "date20"].into_iter().zip(shown) {
        let folder = folder(&config);
        let honest = broken_by_probe(folder.path());
        let changed = broken(&certify_changed(folder.path(), "day", |probe, gold| {
            show(probe, &gold["targets"][0])
        }));
        assert!(!names(&honest, "combination", measure), "{honest:?}");
        assert!(names(&changed, "combination", measure), "{changed:?}");
    }
}

#[test]
fn a_sector_in_the_open_is_found() {
    let folder = folder(&config("banded", "day = 24").replace("sector = 1.0", "sector = 0.5"));
    let honest = broken_by_probe(folder.path());
    assert!(!names(&honest, "labels-and-order", "sector"), "{honest:?}");
    let signed = certify_changed(folder.path(), "day", |probe, gold| {
        let shown = format!("{SNAPSHOT}\"sector\":{},", gold["targets"][0]["sector"]);
        probe.replacen(SNAPSHOT, &shown, 1)
    });
    assert_eq!(hits(&signed, "labels-and-order", "sector"), (24, 24));
    let found = broken(&signed);
    assert!(names(&found, "labels-and-order", "sector"), "{found:?}");
}

/// Ways in which agents that ask once read through bands: each, planted in probes that claim to be of bands, refuses the
/// certificate and names who found it, well above what guessing recovers.
#[test]
fn what_asking_agents_once_found_is_refused_by_the_name_of_its_finder() {
    let config =
        config("banded", "asked = 4, asked_dated = 4").replace("control_probes = 8", "control_probes = 64");
    let folder = folder(&config);
    let root = folder.path();
    certify(root, &["--out", "out"]);
    let planted = [
        ("asked-kept-ids", "asked", "roster-path", "date20"),
        ("asked-dated-kept-ids", "asked_dated", "known-day", "top5"),
    ];
    let mut gold = String::new();
    for (control, kind, _, _) in planted {
        let probes = format!("probes/{kind}.jsonl.zst");
        let made = std::fs::read(root.join("out/controls").join(control).join(&probes)).unwrap();
        folder.write(&format!("given/{probes}"), made);
        gold += &folder.text(&format!("out/private/{control}.gold.jsonl"));
    }
    folder.write("given/private/gold.jsonl", gold);
    let signed = certify(root, &["--out", "other", "--probes", "given"]);
    assert_eq!(signed["certificate"]["verdict"], "refused");
    let found = broken(&signed);
    for (control, kind, attacker, measure) in planted {
        let mut refusals = signed["certificate"]["refusals"].as_array().unwrap().iter();
        let is_named = refusals.any(|refusal| {
            refusal["reason"] == "above_threshold"
                && refusal["kind"] == kind
                && who_and_what(refusal) == (attacker.to_owned(), measure.to_owned())
        });
        assert!(is_named, "{control}: {found:?}");
        let figures = signed["certificate"]["figures"].as_array().unwrap().iter();
        let mut own =
            figures.filter(|figure| who_and_what(figure) == (attacker.to_owned(), measure.to_owned()));
        let figure = own.find(|figure| figure["kind"] == kind).unwrap();
        let (lower, chance) = (&figure["interval"]["lower"], &figure["chance"]);
        assert!(
            chance.as_f64().unwrap() + 0.1 < lower.as_f64().unwrap(),
            "{figure}"
        );
    }
}

#[test]
fn a_refusal_says_why_first() {
    let folder = folder(&config("exact", "day = 24"));
    let output = quiet(
        folder.path(),
        &["certify", "small.toml", "--key", "key.pem", "--out", "out"],
    );
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    assert!(
        lines.next().unwrap().starts_with("refused: blinded/exact"),
        "{text}"
    );
    assert!(
        lines.any(|line| line.starts_with("against database: refused")),
        "{text}"
    );
    let is_head =
        |line: &str| line.starts_with("for ") && line.ends_with(" reasons (--reasons prints each):");
    assert!(lines.any(is_head), "{text}");
    assert!(lines.next().unwrap().starts_with("price-level: "), "{text}");
    // What decides fits a screen, and no number stands without its unit; every attack is asked for.
    assert!(text.lines().count() < 40, "{text}");
    let is_torn = |line: &str| line.trim_start().starts_with('%');
    assert!(!text.lines().any(is_torn) && text.contains(" %"), "{text}");
    assert!(
        !text.contains("(best blind") && text.contains("out/index.html, or --tables"),
        "{text}"
    );
    let arguments = [
        "certify",
        "small.toml",
        "--key",
        "key.pem",
        "--out",
        "out",
        "--tables",
    ];
    let whole = String::from_utf8(quiet(folder.path(), &arguments).stdout).unwrap();
    assert!(
        whole.contains("(best blind") && whole.contains("must be"),
        "{whole}"
    );
    let every = quiet(
        folder.path(),
        &["verify", "--certificate", "out/certificate.json", "--reasons"],
    );
    let every = String::from_utf8(every.stdout).unwrap();
    assert!(
        every.contains("because price-level recovers top1 of 100.00 % of the day probes"),
        "{every}"
    );
    assert!(Path::new(&folder.path().join("out/certificate.json")).exists());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("the certificate is refused: "), "{error}");
}
