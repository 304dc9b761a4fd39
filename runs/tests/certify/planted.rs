//! Planted weaknesses: each makes `ktd certify` refuse and name the attacker that found it.

use crate::{certify, folder, ktd};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{KeyedStream, Market, Ticker, TradeDate};
use ktd_masking::MaskKey;
use serde_json::Value;
use std::path::Path;

/// Few probes, so a bound is wide, and thresholds as wide: only what is found nearly always is refused.
fn config(numeric: &str, probes: &str) -> String {
    format!(
        r#"
name = "small"
synthetic = {{ seed = 3, names = 120, days = 560 }}
mask_key_file = "mask.key"
mask = {{ level = "blinded", numeric = "{numeric}" }}
probes = {{ {probes} }}
days = 20
episode_steps = 20
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
    let text = |refusal: &Value, key: &str| refusal[key].as_str().unwrap().to_owned();
    refusals
        .filter(|refusal| refusal["reason"] == "above_threshold")
        .map(|refusal| (text(refusal, "attacker"), text(refusal, "measure")))
        .collect()
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
    let root = folder.path();
    let honest = broken(&certify(root, &["--out", "out"]));
    let packed = std::fs::File::open(root.join(format!("out/probes/{kind}.jsonl.zst"))).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    let gold = std::fs::read_to_string(root.join("out/private/gold.jsonl")).unwrap();
    let changed: String = text
        .lines()
        .zip(gold.lines())
        .map(|(probe, gold)| format!("{}\n", change(probe, &serde_json::from_str(gold).unwrap())))
        .collect();
    assert_ne!(text, changed);
    let given = root.join("given");
    std::fs::create_dir_all(given.join("probes")).unwrap();
    std::fs::create_dir_all(given.join("private")).unwrap();
    std::fs::write(given.join(format!("probes/{kind}.jsonl")), changed).unwrap();
    std::fs::write(given.join("private/gold.jsonl"), gold).unwrap();
    [
        honest,
        broken(&certify(root, &["--out", "other", "--probes", "given"])),
    ]
}

/// The aliases of a probe's exhibit are a shuffle under its own key: the place of each in the order of the codes instead.
fn sorted_aliases(probe: &str, kind: &str, number: u64, names: usize) -> String {
    let root = MaskKey::parse(crate::MASK_KEY).unwrap();
    let key = root.derive(&format!("probe {kind} {number} exhibit 0")).reveal();
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(key.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    }
    let mut name_of: Vec<usize> = (0..names).collect();
    KeyedStream::new(bytes).shuffle(&mut name_of);
    let mut parts = probe.split("asset_");
    let mut sorted = parts.next().unwrap().to_owned();
    for part in parts {
        let alias: usize = part[..4].parse().unwrap();
        sorted.push_str(&format!("asset_{:04}{}", name_of[alias - 1] + 1, &part[4..]));
    }
    sorted
}

#[test]
fn aliases_in_code_order_are_found() {
    let [honest, changed] = before_and_after(("banded", "day"), 24, |probe, gold| {
        sorted_aliases(probe, "day", gold["number"].as_u64().unwrap(), 120)
    });
    assert!(
        !honest.iter().any(|(who, _)| who == "labels-and-order"),
        "{honest:?}"
    );
    assert!(names(&changed, "labels-and-order", "top5"), "{changed:?}");
}

#[test]
fn a_key_of_a_small_seed_is_found() {
    let folder = folder(&config("banded", "day = 24"));
    std::fs::write(folder.path().join("mask.key"), format!("{:064x}", 20_240)).unwrap();
    let found = broken(&certify(folder.path(), &["--out", "out"]));
    assert!(names(&found, "labels-and-order", "top1"), "{found:?}");
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
        counted.push_str(&format!("day_{:+}{}", epoch(number) - epoch(0), &part[end..]));
    }
    counted
}

#[test]
fn calendar_day_labels_are_found() {
    let market = market();
    let [honest, changed] = before_and_after(("banded", "days"), 60, |probe, gold| {
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
    let snapshot = "\"source\":\"get_stock_snapshot\",\"content\":{";
    probe.replacen(
        snapshot,
        &format!("{snapshot}\"close\":{},", bar.close.to_yuan()),
        1,
    )
}

#[test]
fn one_unmasked_field_is_found() {
    let market = market();
    let [honest, changed] = before_and_after(("rescaled", "day"), 24, |probe, gold| {
        with_true_close(probe, gold, &market)
    });
    assert!(!honest.iter().any(|(who, _)| who == "price-level"), "{honest:?}");
    assert!(names(&changed, "price-level", "top5"), "{changed:?}");
}

#[test]
fn a_refusal_says_why_first() {
    let folder = folder(&config("exact", "day = 24"));
    let output = ktd(
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
    assert!(lines.next().unwrap().starts_with("  because "), "{text}");
    assert!(
        text.contains("because price-level recovers top1 of 100.00 % of the day probes"),
        "{text}"
    );
    assert!(Path::new(&folder.path().join("out/certificate.json")).exists());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("the certificate is refused: "), "{error}");
}
