//! What audits find is as their schemas say.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_env::synth::{SynthConfig, generate};
use ktd_kit::Folder;
use ktd_leakage_study::{
    AuditOptions, AuditPanel, FillRule, KnownAt, LeakManifest, LeakUniverse, audit_manifest, audit_planted,
    audit_signals, check_manifest, columns_audited, market_bars, read_signals, sanity,
};
use ktd_mirror::{AuditSubject, audit_self};
use ktd_study::Audited;

const MANIFEST: &str = "[protocol]\nsignal_at = 'close'\nfill_at = 'open'\nlabel = { price = 'open', from_day = 1, horizon_days = 5 }\n\
    purge_days = 6\n[[feature]]\nname = 'lead'\nexpression = '$close/Ref($close,-1)-1'\navailable_at = 'close'\n";
const BENCHMARK: &str = "name = 'small'\nsynthetic = { seed = 3, names = 24, days = 800 }\nhorizons = [5]\n";
const EXPERIMENT: &str = "name = 'small'\nsynthetic = { seed = 6, names = 60, days = 420 }\n\
    agents = [{ id = 'momentum', builtin = 'momentum' }]\nwindows = [{ id = 'end', last_days = 30 }]\n";

/// Every audit on something small, by the name of its schema.
fn audits(folder: &Folder) -> [(&'static str, Audited); 6] {
    let config = SynthConfig {
        seed: 3,
        names: 12,
        days: 200,
    };
    let market = generate(&config).unwrap();
    let manifest = LeakManifest::read(&folder.at("m.toml")).unwrap();
    let options = AuditOptions {
        tolerance: 0.0,
        threads: 1,
        run_program: &|_, _| Err("unexpected".to_owned()),
    };
    let columns = audit_manifest(&manifest, &AuditPanel::of(&market).unwrap(), &options).unwrap();
    let bars = market_bars(&market, LeakUniverse::All).unwrap();
    let signals = read_signals(&folder.at("s.csv"), &bars).unwrap();
    let when = (KnownAt::Close, FillRule::NextOpen);
    let subject = AuditSubject::of_experiment(&folder.at("e.toml"), None).unwrap();
    [
        (
            "leak-check",
            check_manifest(&manifest, &[folder.at("f.py")]).unwrap(),
        ),
        ("leak-audit", columns_audited(columns, Vec::new()).unwrap()),
        (
            "leak-audit-signals",
            audit_signals(&bars, &signals, when, 1).unwrap(),
        ),
        ("leak-audit-planted", audit_planted(&market, 1, 1).unwrap()),
        ("leak-sanity", sanity(&folder.at("b.toml")).unwrap()),
        (
            "leak-audit-self",
            audit_self(&subject, 2, &|_, _| {}).unwrap().audited().unwrap(),
        ),
    ]
}

#[test]
fn what_an_audit_finds_fits_its_schema() {
    let folder = Folder::with(&[
        ("m.toml", MANIFEST),
        ("b.toml", BENCHMARK),
        ("e.toml", EXPERIMENT),
        ("f.py", "y = close.shift(-1)\n"),
        ("s.csv", "date,symbol,score\n2022-03-07,SH600000,1\n"),
    ]);
    for (name, audited) in audits(&folder) {
        let found: Vec<String> = jsonschema::validator_for(&audited.schema)
            .unwrap()
            .iter_errors(&audited.document)
            .map(|error| error.to_string())
            .collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}
