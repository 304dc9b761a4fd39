//! `exchange` in a study of alphas: the same scores through the simulation's exchange, and the same account as that of an agent
//! that trades them in an episode.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_formula_study::{AlphaEvaluating, AlphaReport};
use ktd_kit::study::run_study;
use ktd_kit::{Folder, quiet};
use ktd_stats::Undefined;
use ktd_stats::moments::Moments;
use ktd_study::any;
use serde_json::Value;
use std::fmt::Write as _;

const FORMULAS: &str = "id,expression\nreversal,\"$close/Ref($close,5)\"\nvolume,\"Mean($volume,5)/$volume\"\nconstant,\"$close*0\"\n";

fn study(keys: &str) -> Folder {
    let text = format!(
        "name = 'study'\nsplits = {{ train = ['2022-03-07', '2023-02-22'], test = ['2023-02-23', '2023-08-14'] }}\n\
         pools = [{{ id = 'mine', file = 'mine.csv' }}]\nnoise = {{ draws = 0 }}\n{keys}"
    );
    Folder::with(&[("study.toml", text.as_str()), ("mine.csv", FORMULAS)])
}

fn evaluated(folder: &Folder, threads: usize, out: &str) -> AlphaReport {
    let files = (&*folder.at("study.toml"), &*folder.at(out));
    let end = run_study(any::<AlphaEvaluating>(), files, threads).unwrap();
    serde_json::from_value(end.finished.unwrap().summary).unwrap()
}

#[test]
fn the_exchange_adds_its_figures_where_it_is_asked_for_and_moves_no_other() {
    let (plain, traded) = (study(""), study("exchange = { top = 5 }\n"));
    let without = evaluated(&plain, 1, "out");
    let with = evaluated(&traded, 1, "one");
    evaluated(&traded, 2, "two");
    let bytes = |file: &str| ["one", "two"].map(|out| traded.text(&format!("{out}/{file}")));
    for file in ["report.json", "alphas.csv", "combinations.csv", "index.html"] {
        let [one, two] = bytes(file);
        assert_eq!(one, two, "{file}");
    }
    assert_eq!(without.alphas.len(), with.alphas.len());
    for (old, new) in without.alphas.iter().zip(&with.alphas) {
        let is_traded = new.split == "test";
        assert_eq!(
            new.row.figures.contains_key("sr_exchange"),
            is_traded,
            "{}",
            new.id
        );
        let mut rest = new.row.clone();
        for figure in ["sr_exchange", "ar_exchange", "rejected_exchange"] {
            rest.figures.remove(figure);
            rest.undefined.remove(figure);
        }
        assert_eq!(rest, old.row);
    }
    let of_test = |id: &str| {
        with.alphas
            .iter()
            .find(|row| row.split == "test" && row.id == id)
            .unwrap()
    };
    assert!(of_test("reversal").row.get("sr_exchange").is_some());
    let constant = &of_test("constant").row;
    assert!(
        constant.get("sr_exchange").is_some(),
        "ties are broken by code, so that a constant holds something"
    );
    let combined = with
        .combinations
        .iter()
        .find(|row| row.split == "test" && row.weights == "equal");
    assert!(combined.unwrap().row.get("sr_exchange").is_some());
    let head = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert!(head(&traded.text("one/alphas.csv")).contains("sr_exchange"));
    assert!(!head(&plain.text("out/alphas.csv")).contains("exchange"));
}

/// The annual ratio of the closes that the ledger of an episode has.
fn ratio_of_ledger(text: &str) -> (usize, f64) {
    let mut before = 100_000_000.0;
    let mut returns = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let nav = line.get("body").unwrap_or(&line)["nav_fen"].as_f64().unwrap();
        returns.push(nav / before - 1.0);
        before = nav;
    }
    let moments = Moments::of(&returns).unwrap();
    (
        returns.len(),
        moments.annual_ratio(Undefined::ZeroVariance).unwrap(),
    )
}

#[test]
fn an_alpha_through_the_exchange_is_the_account_of_the_agent_that_trades_it() {
    let folder = study("exchange = { top = 20 }\n");
    let report = evaluated(&folder, 2, "out");
    let mut experiment = "name = 'try'\nsynthetic = { seed = 1, names = 60, days = 520 }\nmasks = [{ level = 'bright' }]\n\
         modes = ['fixed-candidate']\nwindows = [{ id = 'w', start = '2023-02-24', end = '2023-08-14' }]\nagents = [\n"
        .to_owned();
    let alphas = report
        .alphas
        .iter()
        .filter(|row| row.split == "test" && row.id != "constant");
    let alphas: Vec<_> = alphas.collect();
    for alpha in &alphas {
        let pool = format!(
            r#"{{"read_until":"2023-02-22","formulas":[{{"id":"a","expression":"{}","is_turned":{}}}]}}"#,
            alpha.formula, alpha.is_turned
        );
        folder.write(&format!("{}/pool.json", alpha.id), pool);
        writeln!(
            experiment,
            "  {{ id = '{0}', builtin = 'formula', pool = '{0}' }},",
            alpha.id
        )
        .unwrap();
    }
    folder.write("try.toml", experiment + "]\n");
    let output = quiet(folder.path(), &["run", "try.toml", "--out", "run"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for alpha in alphas {
        let bundle = format!("run/cells/{}__w__bright-exact__fixed-candidate__s1", alpha.id);
        let (days, ratio) = ratio_of_ledger(&folder.text(&format!("{bundle}/private/ledger.jsonl")));
        let through = alpha.row.get("sr_exchange").unwrap();
        assert!(
            80 < days && (through - ratio).abs() < 1e-9,
            "{}: {through} and {ratio}",
            alpha.id
        );
    }
}

#[test]
fn costs_stand_beside_the_report_and_move_no_byte_of_it() {
    let folder = study("exchange = { top = 5 }\n");
    for (out, more) in [("plain", None), ("out", Some("--cost"))] {
        let arguments = ["alpha", "eval", "study.toml", "--out", out];
        let arguments: Vec<&str> = arguments.into_iter().chain(more).collect();
        let output = quiet(folder.path(), &arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for file in ["report.json", "index.html", "alphas.csv"] {
        assert_eq!(
            folder.text(&format!("plain/{file}")),
            folder.text(&format!("out/{file}")),
            "{file}"
        );
    }
    let cost: Value = serde_json::from_str(&folder.text("out/cost.json")).unwrap();
    assert_eq!(
        (cost["split"].as_str(), cost["alphas"].as_u64()),
        (Some("test"), Some(3))
    );
    let figures: Vec<&str> = cost["figures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert!(0.0 <= row["seconds"].as_f64().unwrap());
            row["figure"].as_str().unwrap()
        })
        .collect();
    assert_eq!(
        figures,
        [
            "values",
            "PPS",
            "RRE",
            "SR",
            "intervals",
            "DE",
            "SR through the exchange"
        ]
    );
    assert_eq!(cost["models"], serde_json::json!([]));
    assert!(
        folder
            .text("out/cost.csv")
            .starts_with("of,seconds an alpha,calls,tokens,USD")
    );
    assert!(!folder.at("plain/cost.json").exists());
}
