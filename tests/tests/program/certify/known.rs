//! A database with k stocks given away: a bound for each k.

use crate::certify::forged::sign;
use crate::certify::{certify, folder};
use ktd_certify::signed::SignedCertificate;
use ktd_kit::{assert_ok, quiet, refused};
use serde_json::Value;

const CONFIG: &str = r#"
name = "known"
synthetic = { seed = 3, names = 40, days = 480 }
mask_key_file = "mask.key"
mask = { level = "blinded", numeric = "banded" }
probes = { day = 2, asked_known = 4 }
given_away = [1, 5]
days = 2
episode_steps = 8
stretches = 1
training = 2
control_probes = 2
"#;

#[test]
fn each_number_of_known_stocks_has_its_bound() {
    let folder = folder(CONFIG);
    let root = folder.path();
    let signed = certify(root, &["--out", "out"]);
    let certificate = &signed["certificate"];
    let known = certificate["known"].as_array().unwrap();
    let stocks: Vec<u64> = known
        .iter()
        .map(|known| known["given_away"].as_u64().unwrap())
        .collect();
    assert_eq!(stocks, [1, 5]);
    let hits = |figures: &Value, attacker: &str, part: &str| -> u64 {
        let own = figures.as_array().unwrap().iter();
        own.filter(|figure| figure["attacker"] == attacker && figure["kind"] == "asked_known")
            .map(|figure| figure[part].as_u64().unwrap())
            .sum()
    };
    for part in ["asked", "hits"] {
        let parts: u64 = known
            .iter()
            .map(|known| hits(&known["figures"], "given-away", part))
            .sum();
        assert_eq!(parts, hits(&certificate["figures"], "given-away", part), "{part}");
    }
    assert!(
        known
            .iter()
            .all(|known| !known["bounds"].as_array().unwrap().is_empty())
    );
    // So many stocks are really given away of each probe, in turn.
    let packed = std::fs::File::open(root.join("out/probes/asked_known.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    for (number, line) in text.lines().enumerate() {
        let probe: Value = serde_json::from_str(line).unwrap();
        let others = probe["exhibits"][0]["also_given_away"]
            .as_array()
            .map_or(0, Vec::len);
        assert_eq!(1 + others, [1, 5][number % 2], "probe {number}");
    }
    let output = quiet(root, &["verify", "--certificate", "out/certificate.json"]);
    assert_ok(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["with 1 known stock: ", "with 5 known stocks: "] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let path = root.join("out/certificate.json");
    let honest = SignedCertificate::read(&path, None).unwrap().certificate;
    let verify = || {
        refused(
            &quiet(root, &["verify", "--certificate", "out/certificate.json"]),
            1,
        )
    };
    // What one number of stocks recovers cannot be moved to another, nor left out.
    let mut moved = honest.clone();
    let figure = &mut moved.known[0].figures[0];
    figure.hits = u64::from(figure.hits == 0);
    sign(moved, &path);
    assert!(verify().contains("a number of known stocks"));
    let mut without = honest;
    without.known.pop();
    sign(without, &path);
    assert!(verify().contains("a number of known stocks"));
}
