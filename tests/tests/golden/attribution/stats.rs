//! Statistics, calibration and ranks against the golden set of attribution, made by an independent implementation.
//!
//! Every size, seed and column is read from the files, so that another set of the same layout runs too.

use crate::golden::attribution::set::{folders, json};
use ktd_attribution::metric::{Brier, Forecast, Forecasts, Reliability, Undefined, ece};
use ktd_stats::{
    Confidence, DailyTable, Sample, SplitMix64, StationaryBootstrap, Trials, Zeros, deflated_sharpe,
    hodges_lehmann, newey_west, pbo, probabilistic_sharpe, quantile, skill_ranks, spread, wilcoxon, wilson,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// p-values, as the set's README has it.
const P: f64 = 1e-12;
/// Everything else that is not exact, relative to the value.
const RELATIVE: f64 = 1e-10;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn whole(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))).unwrap()
}

fn wholes(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(whole).collect()
}

fn sample(values: &[f64]) -> Sample<'_> {
    Sample::new("golden values", values).unwrap()
}

#[track_caller]
fn close(place: &str, found: f64, expected: &Value) {
    let expected = number(expected);
    // Absolute where the value itself is nothing but rounding.
    let tolerance = (RELATIVE * expected.abs()).max(1e-15);
    assert!(
        (found - expected).abs() <= tolerance,
        "{place}: {found:e}, expected {expected:e}"
    );
}

#[track_caller]
fn same_p(place: &str, found: f64, expected: &Value) {
    let expected = number(expected);
    assert!(
        (found - expected).abs() <= P,
        "{place}: {found:e}, expected {expected:e}"
    );
}

#[track_caller]
fn exact(place: &str, found: f64, expected: &Value) {
    let expected = number(expected);
    assert_eq!(
        found.to_bits(),
        expected.to_bits(),
        "{place}: {found:e}, expected {expected:e}"
    );
}

/// The returns of the set, and the names of their columns.
struct Returns {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Returns {
    /// The one file whose name says how many days and columns it has.
    fn read(folder: &Path) -> Self {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("returns_") && name.ends_with(".csv")
        });
        assert_eq!(files.len(), 1, "{files:?}");
        let mut reader = csv::Reader::from_path(&files[0]).unwrap();
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let mut columns = vec![Vec::new(); names.len()];
        for row in reader.records() {
            for (column, cell) in columns.iter_mut().zip(row.unwrap().iter()) {
                column.push(cell.parse().unwrap());
            }
        }
        Self { names, columns }
    }

    fn slices(&self) -> Vec<&[f64]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    fn column(&self, name: &str) -> usize {
        self.names.iter().position(|own| own == name).unwrap()
    }

    fn table(&self) -> DailyTable {
        DailyTable::new("returns", &self.slices()).unwrap()
    }
}

fn draws(golden: &Value) -> StationaryBootstrap {
    let golden = &golden["bootstrap"];
    StationaryBootstrap::new(
        whole(&golden["T"]),
        number(&golden["mean_block"]),
        u32::try_from(whole(&golden["B"])).unwrap(),
        golden["seed"].as_u64().unwrap(),
    )
    .unwrap()
}

#[test]
fn wilcoxon_and_shift() {
    for folder in folders() {
        wilcoxon_and_shift_of(&folder);
    }
}

fn wilcoxon_and_shift_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    let mut compared = 0;
    for (case, golden) in golden["wilcoxon"].as_object().unwrap() {
        let values = numbers(&golden["d"]);
        let values = sample(&values);
        for (key, zeros) in [("wilcox", Zeros::Wilcox), ("pratt", Zeros::Pratt)] {
            let place = format!("wilcoxon {case} {key}");
            let (found, golden) = (wilcoxon(&values, zeros).unwrap(), &golden[key]);
            assert_eq!(found.pairs, whole(&golden["n"]), "{place}");
            assert_eq!(found.zeros, whole(&golden["n_zero"]), "{place}");
            exact(&place, found.w_plus, &golden["w_plus"]);
            exact(&place, found.w_minus, &golden["w_minus"]);
            same_p(&place, found.p, &golden["p"]);
            // Where no pair differs the set has no one-sided values.
            for (found, key) in [(found.p_greater, "p_greater"), (found.p_less, "p_less")] {
                if golden.get(key).is_some() {
                    same_p(&place, found, &golden[key]);
                } else {
                    assert_eq!(whole(&golden["n"]), 0, "{place}");
                }
            }
            match found.rank_biserial {
                Some(found) => close(&place, found, &golden["rank_biserial"]),
                None => assert!(golden["rank_biserial"].is_null(), "{place}"),
            }
            compared += 1;
        }
        let shift = hodges_lehmann(&values).unwrap();
        close(&format!("shift {case}"), shift, &golden["hodges_lehmann"]);
    }
    println!("stats.json: {compared} signed-rank tests");
    assert!(0 < compared);
}

#[test]
fn shares_and_quantiles() {
    for folder in folders() {
        shares_and_quantiles_of(&folder);
    }
}

fn shares_and_quantiles_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    let rows = golden["wilson"].as_array().unwrap();
    for row in rows {
        let (successes, trials) = (row["k"].as_u64().unwrap(), row["n"].as_u64().unwrap());
        let place = format!("wilson {successes} of {trials}");
        match wilson(successes, trials, Confidence::P95).unwrap() {
            None => assert!(row["ci"].is_null(), "{place}"),
            Some(found) => {
                close(&place, found.lower, &row["ci"][0]);
                close(&place, found.upper, &row["ci"][1]);
                assert_eq!(successes == 0, found.lower.to_bits() == 0, "{place}");
                assert_eq!(
                    successes == trials,
                    found.upper.to_bits() == 1.0_f64.to_bits(),
                    "{place}"
                );
            }
        }
    }
    assert!(!rows.is_empty());
    for key in ["quantiles_type7", "iqr_n3"] {
        let values = numbers(&golden[key]["x"]);
        let found = spread(&sample(&values)).unwrap();
        close(key, found.lower, &golden[key]["q25"]);
        close(key, found.upper, &golden[key]["q75"]);
        assert_eq!(
            quantile(&sample(&values), 0.25).unwrap().to_bits(),
            found.lower.to_bits()
        );
        if let Some(median) = golden[key].get("q50") {
            close(key, found.median, median);
        }
    }
}

#[test]
fn means_of_dependent_days() {
    for folder in folders() {
        means_of_dependent_days_of(&folder);
    }
}

fn means_of_dependent_days_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    let returns = Returns::read(folder);
    let column = returns.column(golden["newey_west"]["col"].as_str().unwrap());
    let values = sample(&returns.columns[column]);
    for (key, lag) in [("newey_west", None), ("newey_west_lag0", Some(0))] {
        let (found, golden) = (newey_west(&values, lag).unwrap(), &golden[key]);
        assert_eq!(found.lag_days, whole(&golden["lag"]), "{key}");
        close(key, found.mean, &golden["mean"]);
        close(key, found.standard_error, &golden["se"]);
        close(key, found.t, &golden["t"]);
    }
}

#[test]
fn draws_are_the_same() {
    for folder in folders() {
        draws_are_the_same_of(&folder);
    }
}

fn draws_are_the_same_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    for (key, golden) in golden.as_object().unwrap() {
        let Some(rest) = key.strip_prefix("splitmix64_seed") else {
            continue;
        };
        let seed = rest.split('_').next().unwrap().parse().unwrap();
        let mut generator = SplitMix64::new(seed);
        for expected in golden.as_array().unwrap() {
            assert_eq!(generator.next_u64().to_string(), expected.as_str().unwrap());
        }
    }
    let draws = draws(&golden);
    let golden = &golden["bootstrap"];
    let head = |replicate: u32, golden: &Value| {
        let expected = wholes(golden);
        let found: Vec<usize> = draws.draw(replicate).take(expected.len()).collect();
        assert_eq!(found, expected, "replicate {replicate}");
    };
    head(0, &golden["first_row_head"]);
    for (key, golden) in golden.as_object().unwrap() {
        let replicate = key.strip_prefix("row").and_then(|key| key.strip_suffix("_head"));
        if let Some(replicate) = replicate {
            head(replicate.parse().unwrap(), golden);
        }
    }
    let weighed = |replicate| -> usize {
        draws
            .draw(replicate)
            .zip(1..)
            .map(|(day, place)| day * place)
            .sum()
    };
    let checksum: usize = (0..draws.replicates()).map(weighed).sum();
    assert_eq!(checksum, whole(&golden["index_checksum"]));
    println!(
        "stats.json: {} replicates of {} days",
        draws.replicates(),
        draws.draw(0).count()
    );
}

#[test]
fn sharpe_ratios_against_luck_and_search() {
    for folder in folders() {
        sharpe_ratios_against_luck_and_search_of(&folder);
    }
}

fn sharpe_ratios_against_luck_and_search_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    let returns = Returns::read(folder);
    let mut sharpes = Vec::new();
    for (column, golden) in golden["psr"].as_array().unwrap().iter().enumerate() {
        let found = probabilistic_sharpe(&sample(&returns.columns[column]), 0.0).unwrap();
        let place = format!("psr {}", returns.names[column]);
        close(&place, found.sharpe, &golden["sr"]);
        close(&place, found.skewness, &golden["skew"]);
        close(&place, found.kurtosis, &golden["kurt"]);
        close(&place, found.z, &golden["z"]);
        same_p(&place, found.probability, &golden["psr"]);
        sharpes.push(found.sharpe);
    }
    assert_eq!(sharpes.len(), returns.columns.len());
    let golden = &golden["dsr"];
    let best = whole(&golden["best"]);
    assert!(sharpes.iter().all(|sharpe| *sharpe <= sharpes[best]));
    let number_of_trials = u64::try_from(sharpes.len()).unwrap();
    let trials = Trials::new(number_of_trials, number(&golden["var_sr"])).unwrap();
    let found = deflated_sharpe(&sample(&returns.columns[best]), &trials).unwrap();
    close("dsr", found.expected_best_sharpe, &golden["sr0"]);
    close("dsr", found.against_best.z, &golden["z"]);
    same_p("dsr", found.against_best.probability, &golden["dsr"]);
    for (column, expected) in golden["psr0"].as_array().unwrap().iter().enumerate() {
        let found = probabilistic_sharpe(&sample(&returns.columns[column]), 0.0).unwrap();
        same_p("psr0", found.probability, expected);
    }
}

#[test]
fn overfitting() {
    for folder in folders() {
        overfitting_of(&folder);
    }
}

fn overfitting_of(folder: &Path) {
    let golden = json(folder, "stats.json");
    let table = Returns::read(folder).table();
    let mut compared = 0;
    for (key, golden) in golden.as_object().unwrap() {
        if !key.starts_with("pbo") {
            continue;
        }
        let found = pbo(&table, whole(&golden["S"])).unwrap().unwrap();
        assert_eq!(found.logits.len(), whole(&golden["n_comb"]), "{key}");
        exact(key, found.probability, &golden["pbo"]);
        close(key, found.median_logit, &golden["median_logit"]);
        for (found, expected) in found.logits.iter().zip(golden["logits_head"].as_array().unwrap()) {
            close(key, *found, expected);
        }
        compared += 1;
    }
    assert!(0 < compared);
}

#[test]
fn ranks_by_return_and_by_skill() {
    for folder in folders() {
        ranks_by_return_and_by_skill_of(&folder);
    }
}

fn ranks_by_return_and_by_skill_of(folder: &Path) {
    let golden = json(folder, "ranks.json");
    let names: Vec<&String> = golden["total_return"].as_object().unwrap().keys().collect();
    let values =
        |key: &str| -> Vec<Option<f64>> { names.iter().map(|name| golden[key][*name].as_f64()).collect() };
    let ranks = skill_ranks(&values("total_return"), &values("selection")).unwrap();
    for (name, found) in names.iter().zip(&ranks) {
        let rank = |key: &str| Some(whole(&golden[key][*name]));
        assert_eq!(found.return_rank, rank("return_rank"), "{name}");
        assert_eq!(found.alpha_rank, rank("alpha_rank"), "{name}");
        assert_eq!(found.delta_rank, golden["delta_rank"][*name].as_i64(), "{name}");
    }
    assert!(!ranks.is_empty());
}

#[test]
fn calibration() {
    for folder in folders() {
        calibration_of(&folder);
    }
}

fn calibration_of(folder: &Path) {
    let golden = json(folder, "calibration.json");
    let mut compared = 0;
    for (case, golden) in golden.as_object().unwrap() {
        let Some(all) = forecasts(case, golden) else {
            continue;
        };
        let checked = Forecasts::new(&all).unwrap();
        assert_eq!(all.len(), whole(&golden["n"]), "{case}");
        let (error, brier) = (ece(&checked), Brier::of(&checked));
        if golden["ece"].is_null() {
            assert_eq!(
                (error, brier),
                (Err(Undefined::NoForecasts), Err(Undefined::NoForecasts))
            );
        } else {
            close(case, error.unwrap(), &golden["ece"]);
            close(case, brier.unwrap().score, &golden["brier"]);
        }
        for (bin, golden) in Reliability::of(&checked)
            .bins()
            .iter()
            .zip(golden["bins"].as_array().unwrap())
        {
            assert_eq!(bin.forecasts(), whole(&golden["n"]), "{case}");
            for (found, key) in [(bin.mean_confidence(), "conf"), (bin.accuracy(), "acc")] {
                match found {
                    Some(found) => close(case, found, &golden[key]),
                    None => assert!(golden[key].is_null(), "{case}"),
                }
            }
        }
        compared += 1;
    }
    println!("calibration.json: {compared} cases");
    assert!(0 < compared);
}

/// The forecasts of a case. Where the file has results alone, the small cases of the generator; `None` for one that is
/// not known.
fn forecasts(case: &str, golden: &Value) -> Option<Vec<Forecast>> {
    let (confidences, outcomes) = if golden.get("conf").is_some() {
        (numbers(&golden["conf"]), numbers(&golden["y"]))
    } else {
        match case {
            "empty" => (vec![], vec![]),
            "single" => (vec![0.8], vec![1.0]),
            "all_one_bin" => (vec![0.55, 0.57, 0.51], vec![1.0, 0.0, 1.0]),
            _ => {
                println!("calibration.json {case}: skipped, its forecasts are not in the file");
                return None;
            }
        }
    };
    let forecast = |(step, (confidence, outcome)): (usize, (f64, f64))| Forecast {
        step,
        confidence,
        success: 0.5 < outcome,
    };
    let pairs = confidences.into_iter().zip(outcomes);
    Some(pairs.enumerate().map(forecast).collect())
}
