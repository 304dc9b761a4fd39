//! The built-in agent that trades a pool of formulas: it holds what the formulas rank highest as of the close before, its record
//! names the pool, and no pool trades days that made it.

use ktd_env::{Market, NameId};
use ktd_kit::Folder;
use ktd_kit::episode::market;
use serde_json::Value;
use std::collections::BTreeSet;

const EXPERIMENT: &str = r#"
name = "try"
panel = "panel.ktdp"
mask_key_file = "mask.key"
windows = [{ id = "w", last_days = 6 }]
masks = [{ level = "blinded" }, { level = "blinded", numeric = "banded" }]
modes = ["fixed-candidate"]
agents = [{ id = "gp20", builtin = "formula", pool = "gp" }]
rules = { max_positions = 5, max_single_weight = "0.2" }
"#;

/// Losers of a week: what gained most is held least.
fn pool(read_until: &str, expression: &str) -> String {
    format!(
        r#"{{"format":1,"read_until":"{read_until}","tried":9,"formulas":[{{"id":"a1","expression":"{expression}","is_turned":true}}]}}"#
    )
}

const WEEK: &str = "Sub(Div($close,Ref($close,5)),1)";

fn folder(pool: &str) -> Folder {
    // The key draws which stocks a roster of bands leaves out, so that its groups are equally large. Under this one all that
    // the test looks for are shown.
    let key = ("mask.key", ktd_kit::OTHER_MASK_KEY);
    let folder = Folder::with(&[("try.toml", EXPERIMENT), ("gp/pool.json", pool), key]);
    folder.write("panel.ktdp", market(11).to_bytes());
    folder
}

fn run(folder: &Folder, arguments: &[&str]) -> (bool, String) {
    let output = folder.ktd(arguments);
    let told = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(told).unwrap())
}

/// The week's return of a member up to a session that it has a bar on.
fn week(market: &Market, name: NameId, session: usize) -> Option<f64> {
    let day = market.day_at(session)?;
    let close = |session: usize| Some(market.bar(name, market.day_at(session)?)?.adjusted_close());
    let is_member = market.is_member(name, market.date(day)?);
    Some(close(session)? / close(session - 5)?).filter(|_| is_member)
}

#[test]
fn the_highest_of_the_pool_as_of_the_close_before_are_bought_behind_every_mask() {
    let market = market(11);
    let before = market.calendar().len() - 7;
    let mut losers: Vec<(f64, String)> = market
        .names()
        .filter_map(|(name, info)| Some((week(&market, name, before)?, info.ticker.reveal().to_owned())))
        .collect();
    losers.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    let wanted: BTreeSet<String> = losers.into_iter().take(5).map(|(_, code)| code).collect();

    let folder = folder(&pool(&market.calendar()[before].reveal(), WEEK));
    let (ended, told) = run(&folder, &["run", "try.toml", "--out", "out"]);
    assert!(ended, "{told}");
    for mask in ["blinded-exact", "blinded-banded"] {
        let bundle = format!("out/private/cells/gp20__w__{mask}__fixed-candidate__s1");
        let ledger = folder.text(&format!("{bundle}/private/ledger.jsonl"));
        let first: Value = serde_json::from_str(ledger.lines().next().unwrap()).unwrap();
        let body = first.get("body").unwrap_or(&first);
        let bought: BTreeSet<String> = body["fills"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fill| fill["symbol"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(bought, wanted, "{mask}");
    }
}

#[test]
fn a_record_names_its_pool_and_replays_without_it() {
    let market = market(11);
    let made = market.calendar()[market.calendar().len() - 7].reveal();
    let folder = folder(&pool(&made, WEEK));
    let (ended, told) = run(&folder, &["run", "try.toml", "--out", "out"]);
    assert!(ended, "{told}");
    let bundle = "out/private/cells/gp20__w__blinded-exact__fixed-candidate__s1";
    let header = folder.text(&format!("{bundle}/header.json"));
    let hash = ktd_io::sha256::sha256_hex(&folder.read("gp/pool.json"));
    assert!(
        header.contains(&format!("\"pool_sha256\": \"{hash}\"")),
        "{header}"
    );
    let (ended, told) = run(&folder, &["doctor", "try.toml"]);
    assert!(ended && told.contains("trades the 1 formulas of gp"), "{told}");

    std::fs::remove_file(folder.at("gp/pool.json")).unwrap();
    for command in ["replay", "verify"] {
        let (same, told) = run(&folder, &[command, bundle]);
        assert!(same, "{command}: {told}");
    }
    let (ended, told) = run(&folder, &["run", "try.toml", "--out", "out"]);
    assert!(!ended && told.contains("pool.json"), "{told}");
    folder.write("gp/pool.json", pool(&made, "Div($open,$close)"));
    let (ended, told) = run(&folder, &["run", "try.toml", "--out", "out"]);
    assert!(!ended && told.contains("pool_sha256"), "{told}");
}

#[test]
fn a_pool_that_days_of_the_window_have_made_does_not_trade() {
    let market = market(11);
    let day = |back: usize| market.calendar()[market.calendar().len() - back].reveal();
    for (text, part) in [
        (pool(&day(6), WEEK), "the window begins on"),
        (pool("2999-12-31", WEEK), "the window begins on"),
        (pool("never", WEEK), "which days it was chosen by"),
        (pool(&day(7), "Div(Ref($close,-1),$close)"), "look_ahead"),
        (pool(&day(7), WEEK).replace("is_turned", "turned"), "pool.json"),
        (
            pool(&day(7), WEEK).replace(r#""tried":9"#, r#""model":{"known_until":"unknown"}"#),
            "the model behind it",
        ),
        (
            pool(&day(7), WEEK).replace(r#""tried":9"#, r#""model":{"known_until":"2999-12-31"}"#),
            "the window begins on",
        ),
    ] {
        let folder = folder(&text);
        let (ended, told) = run(&folder, &["run", "try.toml", "--out", "out"]);
        assert!(!ended && told.contains(part), "{text}: {told}");
    }
}
