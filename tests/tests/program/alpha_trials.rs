//! `ktd alpha eval`: how trials and looks are counted, and the daily series from which anybody can make its figures again.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok, command, quiet, refused};
use ktd_stats::{normal_cdf, normal_quantile};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::collections::BTreeMap;
use std::f64::consts::E;
use std::fs::File;
use std::path::Path;

const HEAD: &str = "name = 'study'\nnoise = { draws = 0 }\n\
                    splits = { train = ['2022-03-07', '2023-02-22'], test = ['2023-02-23', '2023-08-14'] }\n";

const FORMULAS: &str = "id,expression\nreversal,\"$close/Ref($close,5)\"\nvolume,\"Mean($volume,5)/$volume\"\n\
                        range,\"$high/$low\"\nwide,\"Std($close,20)/$close\"\ngap,\"$open/Ref($close,1)\"\nbody,\"$close/$open\"\n";

fn study(keys: &str, pools: &str) -> Folder {
    let text = format!("{HEAD}{keys}pools = [{pools}]\n");
    Folder::with(&[("study.toml", text.as_str()), ("mine.csv", FORMULAS)])
}

fn eval(folder: &Folder, out: &str) -> Value {
    let arguments = ["--json", "alpha", "eval", "study.toml", "--out", out];
    printed(&quiet(folder.path(), &arguments))
}

/// The row of a table of a report, by what it is called there.
fn row<'r>(report: &'r Value, table: &str, wanted: &[(&str, &str)]) -> &'r Value {
    let is_it = |row: &&Value| wanted.iter().all(|(key, value)| row[*key] == **value);
    report[table].as_array().unwrap().iter().find(is_it).unwrap()
}

#[test]
fn trials_are_declared_or_leave_a_band_and_pools_of_two_kinds_are_not_compared() {
    let pools = "{ id = 'stated', file = 'mine.csv', tried = 300, made_by = 'a reader of papers', \
                 chosen_on = ['2023-08-14', '2023-12-29'] }, { id = 'silent', file = 'mine.csv' }";
    let folder = study("orientation = 'none'\n", pools);
    let report = eval(&folder, "out");
    let of = |table: &str, pool: &str| row(&report, table, &[("split", "test"), ("pool", pool)]);
    let (stated, silent) = (of("inference", "stated"), of("inference", "silent"));
    assert_eq!(
        (&stated["trials_from"], &silent["trials_from"]),
        (&"declared".into(), &"unknown".into())
    );
    let figures = |row: &Value, name: &str| row["figures"][name].as_f64();
    assert_eq!(figures(stated, "trials_low"), Some(300.0));
    assert_eq!(figures(stated, "trials_high"), Some(300.0));
    assert_eq!(figures(silent, "trials_low"), Some(10.0));
    assert_eq!(figures(silent, "trials_high"), Some(10_000.0));
    let (low, one, high) = (
        figures(silent, "best_dsr_low").unwrap(),
        figures(stated, "best_dsr").unwrap(),
        figures(silent, "best_dsr_high").unwrap(),
    );
    assert!(low < one && one < high, "{low} {one} {high}");
    assert_eq!(silent["undefined"]["best_dsr"], "unknown_trials");
    assert!(
        report["notes"].to_string().contains("not compared"),
        "{}",
        report["notes"]
    );
    // One day in common is enough.
    assert_eq!(
        (
            &of("pools", "stated")["is_chosen_here"],
            &of("pools", "silent")["is_chosen_here"]
        ),
        (&true.into(), &false.into())
    );
    let train = row(&report, "pools", &[("split", "train"), ("pool", "stated")]);
    assert_eq!(train["is_chosen_here"], false);
    for table in ["pools", "combinations", "best_of_pools"] {
        let csv = folder.text(&format!("out/{table}.csv"));
        let mark = "chosen by these days (2023-08-14 to 2023-12-29)";
        let marked = csv.lines().filter(|line| line.contains(mark));
        assert!(
            marked.clone().count() > 0 && marked.clone().all(|line| line.contains("test")),
            "{csv}"
        );
    }
    assert!(folder.text("out/pools.csv").contains("a reader of papers"));
    // A sign that is learned is a choice between two.
    let text = folder.text("study.toml").replace("'none'", "'train'");
    folder.write("study.toml", text);
    let learned = eval(&folder, "learned");
    let stated = row(&learned, "inference", &[("split", "test"), ("pool", "stated")]);
    assert_eq!(figures(stated, "trials_high"), Some(600.0));
}

#[test]
fn what_cannot_be_declared_is_refused() {
    for (keys, part) in [
        ("tried = 0", "pool \"mine\": tried is 0"),
        ("made_by = ''", "characters of made_by is 0"),
        (
            "chosen_on = ['2023-02-01', '2023-01-01']",
            "chosen_on is \"2023-02-01\" to \"2023-01-01\"",
        ),
        ("chosen_on = ['soon', 'later']", "chosen_on is \"soon\""),
        ("tried = 3, mined = '.'", "its search has counted"),
    ] {
        let file = if keys.contains("mined") {
            ""
        } else {
            ", file = 'mine.csv'"
        };
        let folder = study("", &format!("{{ id = 'mine', {keys}{file} }}"));
        let error = refused(
            &quiet(folder.path(), &["alpha", "eval", "study.toml", "--out", "out"]),
            2,
        );
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// The same alpha in another unit, three times, and alphas that trade nothing: no ratio moves, and no figure over alphas.
#[test]
fn copies_by_value_and_idle_formulas_change_nobody() {
    let folder = study("", "{ id = 'mine', file = 'mine.csv' }");
    let alone = eval(&folder, "alone");
    let more = "twice,\"2*($close/Ref($close,5))\"\nhalf,\"($close/Ref($close,5))/2\"\nagain,\"$close/Ref($close,5)\"\n\
                idle,\"$close*0\"\nnever,\"Log(0-$close)\"\n";
    folder.write("mine.csv", format!("{FORMULAS}{more}"));
    let with = eval(&folder, "with");
    for split in ["train", "test"] {
        for id in ["reversal", "volume", "range", "wide", "gap", "body"] {
            let of = |report: &Value| {
                let alpha = row(report, "alphas", &[("split", split), ("id", id)]);
                ["dsr", "dsr_low", "dsr_high", "sr_net"].map(|figure| alpha["figures"][figure].clone())
            };
            assert_eq!(of(&with), of(&alone), "{split} {id}");
        }
        let of = |report: &Value, table: &str, figures: &[&str]| -> Vec<Value> {
            let row = row(report, table, &[("split", split)]);
            figures
                .iter()
                .map(|figure| row["figures"][*figure].clone())
                .collect()
        };
        let concluded = [
            "distinct",
            "trials_low",
            "trials_high",
            "pbo",
            "spa_p",
            "best_dsr_low",
            "best_dsr_high",
        ];
        assert_eq!(
            of(&with, "inference", &concluded),
            of(&alone, "inference", &concluded),
            "{split}"
        );
        assert!(of(&alone, "inference", &["spa_p"])[0].is_number());
        // The composite is a place among all alphas of a report, copies among them: it is no figure that is concluded.
        let line = ["distinct", "slope_error", "intercept_error", "p"];
        assert_eq!(of(&with, "splits", &line), of(&alone, "splits", &line), "{split}");
        assert!(of(&alone, "splits", &["composite_rre"])[0].is_number());
        for copy in ["twice", "half", "again"] {
            let alpha = row(&with, "alphas", &[("split", split), ("id", copy)]);
            let first = row(&with, "alphas", &[("split", split), ("id", "reversal")]);
            let counts = first["like"].as_str().unwrap_or("mine/reversal");
            assert_eq!(alpha["like"], *counts, "{split} {copy}");
        }
    }
}

/// Who has looked at test days is known whatever the folder of results, where the user keeps anything.
#[test]
fn a_look_at_test_days_is_counted_over_folders() {
    let folder = study("", "{ id = 'mine', file = 'mine.csv' }");
    let looks = |out: &str, cache: &Path, more: &[&str]| {
        let arguments = ["--quiet", "--json", "alpha", "eval", "study.toml", "--out", out];
        let mut command = command(folder.path(), &[&arguments, more].concat());
        printed(&command.env("KTD_CACHE", cache).output().unwrap())["test_looks"].clone()
    };
    let (cache, nowhere) = (folder.at("cache"), Path::new(""));
    assert_eq!(looks("one", &cache, &[]), 1);
    assert_eq!(looks("again", &cache, &[]), 1);
    let all = folder.text("mine.csv");
    let (first, _) = all.rsplit_once("body").unwrap();
    folder.write("mine.csv", first);
    assert_eq!(looks("closed", &cache, &["--no-test"]), 1);
    assert_eq!(looks("fewer", &cache, &[]), 2);
    assert_eq!(looks("closed", &cache, &["--no-test"]), 2);
    // A folder that was finished before says what was known then, and replays.
    assert_ok(&quiet(folder.path(), &["replay", "one"]));
    // Days that share one with those that were seen have been looked at, others have not.
    let text = folder.text("study.toml");
    folder.write(
        "study.toml",
        text.replace("'2023-02-23', '2023-08-14'", "'2023-08-14', '2023-12-29'"),
    );
    assert_eq!(looks("overlapping", &cache, &[]), 3);
    folder.write(
        "study.toml",
        text.replace("'2023-02-23', '2023-08-14'", "'2023-08-15', '2023-12-29'"),
    );
    assert_eq!(looks("later", &cache, &[]), 2);
    // Where nothing is kept, a folder knows of itself alone.
    assert_eq!(looks("unkept", nowhere, &[]), 1);
}

/// Rows of a file as numbers and texts by column.
fn rows(path: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let row = |row: Row| {
        row.get_column_iter()
            .map(|(name, field)| (name.clone(), field.clone()))
            .collect()
    };
    reader
        .get_row_iter(None)
        .unwrap()
        .map(|read| row(read.unwrap()))
        .collect()
}

fn text(field: &Field) -> &str {
    let Field::Str(text) = field else {
        unreachable!("{field} is no text")
    };
    text
}

fn number(field: &Field) -> f64 {
    let Field::Double(number) = field else {
        unreachable!("{field} is no number")
    };
    *number
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap())
}

/// The deflated ratio of daily returns by its published formula (Bailey and Lopez de Prado 2014), of trials without skill.
fn deflated(returns: &[f64], trials: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let days = f64::from(u32::try_from(returns.len()).unwrap());
    let mean = mean(returns);
    let moment = |power: usize| {
        let powers = returns
            .iter()
            .map(|value| std::iter::repeat_n(value - mean, power).product::<f64>());
        powers.sum::<f64>() / days
    };
    let ratio = mean / (moment(2) * days / (days - 1.0)).sqrt();
    let (skew, kurtosis) = (
        moment(3) / (moment(2) * moment(2).sqrt()),
        moment(4) / (moment(2) * moment(2)),
    );
    let quantile = |share: f64| normal_quantile(share).unwrap();
    let best = (1.0 - EULER) * quantile(1.0 - 1.0 / trials) + EULER * quantile(1.0 - 1.0 / (trials * E));
    let error = (1.0 - skew * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio).sqrt();
    normal_cdf((ratio - best / (days - 1.0).sqrt()) * (days - 1.0).sqrt() / error)
}

#[test]
fn figures_are_made_again_from_the_daily_series() {
    let folder = study(
        "orientation = 'none'\n",
        "{ id = 'mine', file = 'mine.csv', tried = 40 }",
    );
    let arguments = [
        "--json",
        "alpha",
        "eval",
        "study.toml",
        "--out",
        "out",
        "--daily",
        "daily",
    ];
    let report = printed(&quiet(folder.path(), &arguments));
    let days = rows(&folder.at("daily/days.parquet"));
    let weights = rows(&folder.at("daily/weights.parquet"));
    for (id, split) in [("reversal", "test"), ("body", "train")] {
        let own = |row: &&BTreeMap<String, Field>| text(&row["id"]) == id && text(&row["split"]) == split;
        let own_days: Vec<_> = days.iter().filter(own).collect();
        let figure = |name: &str| {
            row(&report, "alphas", &[("split", split), ("id", id)])["figures"][name]
                .as_f64()
                .unwrap()
        };
        let column = |name: &str| {
            own_days
                .iter()
                .map(|row| number(&row[name]))
                .collect::<Vec<f64>>()
        };
        let (gross, net, ic) = (column("gross"), column("net"), column("ic"));
        assert!((deflated(&net, 40.0) - figure("dsr")).abs() < 1e-9);
        assert!((mean(&ic) - figure("ic")).abs() < 1e-12);
        // What is held explains the costs, whole positions on either side.
        let mut before: BTreeMap<&str, f64> = BTreeMap::new();
        for (day, (gross, net)) in own_days.iter().zip(gross.iter().zip(&net)) {
            let held = weights
                .iter()
                .filter(own)
                .filter(|row| row["date"] == day["date"]);
            let held: BTreeMap<&str, f64> = held
                .map(|row| (text(&row["symbol"]), number(&row["weight"])))
                .collect();
            assert!(held.values().sum::<f64>().abs() < 1e-9);
            let names = before
                .keys()
                .chain(held.keys())
                .collect::<std::collections::BTreeSet<_>>();
            let weight = |of: &BTreeMap<&str, f64>, name: &str| of.get(name).copied().unwrap_or(0.0);
            let traded: f64 = names
                .iter()
                .map(|name| (weight(&held, name) - weight(&before, name)).abs())
                .sum();
            assert!((gross - net - 0.001 * traded).abs() < 1e-12);
            before = held;
        }
        assert!(!before.is_empty());
    }
}
