//! `ktd alpha mine`: a search as a stranger would ask for it.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_formula_study::mine::{FormulaMining, MinedPool};
use ktd_kit::program::printed;
use ktd_kit::study::{recorded_files, run_study};
use ktd_kit::{Folder, quiet, refused};
use ktd_study::any;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const SPLITS: &str =
    "splits = { train = ['2022-03-07', '2022-09-30'], valid = ['2022-10-10', '2023-02-22'] }\n";

const GP: &str = "method = 'gp'\ngp = { population = 30, generations = 3 }\n";

const RANDOM: &str = "method = 'random'\nrandom = { evaluations = 60 }\n";

fn file(keys: &str) -> String {
    format!("name = 'mined'\nselect = {{ take = 4, hall = 20 }}\n{SPLITS}{keys}")
}

fn mined(folder: &Path, threads: usize, out: &str) -> MinedPool {
    let files = (&*folder.join("mine.toml"), &*folder.join(out));
    let end = run_study(any::<FormulaMining>(), files, threads).unwrap();
    serde_json::from_value(end.finished.unwrap().summary).unwrap()
}

fn mine(folder: &Folder, more: &[&str]) -> Value {
    let arguments = ["--json", "alpha", "mine", "mine.toml", "--out", "out"];
    printed(&quiet(folder.path(), &[&arguments, more].concat()))
}

#[test]
fn a_search_leaves_a_pool_of_what_it_tried_and_the_same_bytes_on_any_threads() {
    for keys in [GP, RANDOM] {
        let folder = Folder::with(&[("mine.toml", file(keys).as_str())]);
        let pool = mined(folder.path(), 1, "one");
        check_pool(&folder, &pool);
        if keys == RANDOM {
            mined(folder.path(), 3, "two");
            assert_eq!(
                recorded_files(&folder.at("one")),
                recorded_files(&folder.at("two"))
            );
        }
    }
}

/// What must hold of every pool: its formulas differ, are small, and stand in the journal, each once.
fn check_pool(folder: &Folder, pool: &MinedPool) {
    let lines: Vec<Value> = folder
        .text("one/units/search/trials.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let forms: BTreeSet<&str> = lines
        .iter()
        .map(|line| line["expression"].as_str().unwrap())
        .collect();
    assert_eq!(forms.len(), lines.len());
    let refusals = ["too_many_nodes"];
    let evaluated = lines
        .iter()
        .filter(|line| !refusals.iter().any(|code| line["code"] == **code));
    assert_eq!(evaluated.count(), pool.tried);
    assert_eq!(pool.outcomes.values().sum::<usize>(), lines.len());
    assert_eq!(pool.formulas.len(), 4);
    let mut last = f64::INFINITY;
    for (place, formula) in pool.formulas.iter().enumerate() {
        assert!(forms.contains(formula.expression.as_str()));
        assert!(formula.nodes <= 32);
        let pps = formula.valid.get("pps").unwrap();
        assert!(pps <= last, "{pool:?}");
        last = pps;
        // Train figures are oriented, and each has the correlation with a better one.
        assert!(0.0 <= formula.train.get("rank_ic").unwrap());
        assert!((0.0..=1.0).contains(&formula.train.get("rre").unwrap()));
        assert!((0.0..=1.0).contains(&formula.train.get("pfs_n").unwrap()));
        assert_eq!(formula.train.get("correlation").is_some(), place != 0);
    }
}

#[test]
fn valid_days_decide_the_pool_and_nothing_else() {
    let folder = Folder::with(&[("mine.toml", file(RANDOM).as_str())]);
    let pool = mined(folder.path(), 2, "out");
    let text = file(RANDOM).replace("'2023-02-22'", "'2023-02-21'");
    folder.write("mine.toml", text);
    let shorter = mined(folder.path(), 2, "shorter");
    assert_eq!(
        folder.text("out/units/search/trials.jsonl"),
        folder.text("shorter/units/search/trials.jsonl")
    );
    assert_eq!(pool.trials, shorter.trials);
    assert_ne!(pool.formulas, shorter.formulas);
}

/// A search that converges tries many variants of its best formula: its fittest alone would leave a pool of few ideas.
#[test]
fn a_search_that_converges_leaves_a_pool_of_as_many_formulas_as_were_asked_for() {
    let search = "method = 'gp'\ngp = { population = 30, generations = 8 }\n";
    let of = |select: &str| format!("name = 'mined'\nselect = {{ {select} }}\n{SPLITS}{search}");
    let folder = Folder::with(&[("mine.toml", of("take = 8").as_str())]);
    let pool = mined(folder.path(), 2, "out");
    assert_eq!(pool.formulas.len(), 8);
    folder.write("mine.toml", of("take = 8, hall = 8"));
    let fittest = mined(folder.path(), 2, "fittest");
    assert!(fittest.formulas.len() < 8, "{}", fittest.formulas.len());
}

#[test]
fn a_pool_is_read_by_the_evaluation_with_everything_that_was_tried() {
    let eval = "name = 'eval'\nsplits = { train = ['2022-03-07', '2022-09-30'] }\n\
                pools = [{ id = 'gp', mined = 'out' }]\nnoise = { draws = 1 }\n";
    let folder = Folder::with(&[("mine.toml", file(GP).as_str()), ("eval.toml", eval)]);
    let pool = mine(&folder, &[]);
    let arguments = ["--json", "alpha", "eval", "eval.toml", "--out", "eval"];
    let report = printed(&quiet(folder.path(), &arguments));
    assert_eq!(report["pools"][0]["tried"], pool["tried"]);
    assert_eq!(report["pools"][0]["alphas"], 4);
    for (alpha, formula) in report["alphas"]
        .as_array()
        .unwrap()
        .iter()
        .zip(pool["formulas"].as_array().unwrap())
    {
        assert_eq!(alpha["formula"], formula["expression"]);
        assert_eq!(alpha["is_turned"], formula["is_turned"]);
        for figure in ["pps", "ic", "rank_ic", "rre"] {
            assert_eq!(
                alpha["figures"][figure], formula["train"]["figures"][figure],
                "{figure}"
            );
        }
    }
}

#[test]
fn an_invalid_search_says_what_and_how_to_fix_it() {
    for (from, to, part) in [
        (
            "2022-03-07",
            "2001-01-01",
            "split train, 2001-01-01 to 2022-09-30, leaves the panel",
        ),
        ("'2022-09-30'", "'2022-03-21'", "split train has 11 sessions"),
        (
            "'2022-10-10'",
            "'2022-09-20'",
            "split valid begins before split train ends",
        ),
        ("valid =", "test =", "never reads test days"),
        ("seed = 1", "bins = 'nowhere'", "nowhere"),
        ("seed = 1", "panel = 'mine.toml'", "is no panel file"),
        ("seed = 1", "growth = { fields = ['turnover'] }", "no such field"),
        ("seed = 1", "judge = 1", "unknown field `judge`"),
    ] {
        let text = file(&format!("seed = 1\n{GP}"));
        assert!(text.contains(from), "{from}");
        let folder = Folder::with(&[("mine.toml", text.replace(from, to).as_str())]);
        let error = refused(&quiet(folder.path(), &["alpha", "mine", "mine.toml"]), 2);
        assert!(error.contains(part), "{to}: {error}");
        assert!(error.contains("hint:"), "{to}: {error}");
        assert!(!folder.at("results").exists(), "{to}");
    }
}

#[test]
fn a_folder_of_another_search_is_left_alone() {
    let folder = Folder::with(&[("mine.toml", file(RANDOM).as_str())]);
    mine(&folder, &[]);
    let before = recorded_files(&folder.at("out"));
    folder.write("mine.toml", file(&format!("seed = 2\n{RANDOM}")));
    let arguments = ["alpha", "mine", "mine.toml", "--out", "out"];
    let error = refused(&quiet(folder.path(), &arguments), 2);
    assert!(error.contains("holds a study of other settings"), "{error}");
    assert_eq!(recorded_files(&folder.at("out")), before);
}
