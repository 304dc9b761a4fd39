//! Splits, fits, daily series, figures and interventions against pandas, scikit-learn and scipy.

use super::market::{GoldenMarket, csv_rows, number};
use super::{json, protocol, text};
use ktd_kit::golden::{self, near, whole};
use ktd_leakage::{
    COSTS_BPS, LeakageBench, LeakageGain, ModelFamily, RidgeModel, RunKey, SUFFIX_SESSIONS, SuffixPaths,
    Switch, TradeSeries, mask_check, suffix_check, yearly_inference,
};
use serde_json::Value;
use std::collections::BTreeMap;

const YEARS: [i32; 2] = [2020, 2021];

fn year_of(value: &Value) -> i32 {
    i32::try_from(value.as_i64().unwrap()).unwrap()
}

/// The test years that a set has: those of its splits.
fn years() -> Vec<i32> {
    let Some(golden) = json("splits.json") else {
        return YEARS.to_vec();
    };
    let mut years: Vec<i32> = golden["splits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| year_of(&row["year"]))
        .collect();
    years.sort_unstable();
    years.dedup();
    years
}

fn series(bench: &LeakageBench, family: ModelFamily, switch: Switch, horizon: usize) -> TradeSeries {
    let of_year = |year: i32| {
        let key = RunKey {
            family,
            switch,
            horizon,
            year,
            seed: 1,
        };
        key.run(bench).unwrap().days
    };
    TradeSeries::of(years().into_iter().flat_map(of_year).collect())
}

fn family_of(name: &str) -> Option<ModelFamily> {
    match name {
        "Momentum" => Some(ModelFamily::Momentum),
        "Ridge" => Some(ModelFamily::Ridge),
        _ => None,
    }
}

#[test]
fn splits_are_those_of_the_set() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), json("splits.json")) else {
        return;
    };
    let bench = market.bench();
    assert_eq!(market.dates.len(), whole(&golden["calendar_days"]));
    assert_eq!(bench.common_rows(), whole(&golden["common_rows"]));
    for row in golden["splits"].as_array().unwrap() {
        let switch = protocol(row["variant"].as_str().unwrap());
        let split = bench
            .split(switch, whole(&row["h"]), year_of(&row["year"]))
            .unwrap();
        assert_eq!(split.fit_rows.len(), whole(&row["fit_rows"]), "{row}");
        assert_eq!(
            market.dates[split.last_fit_session],
            row["last_fit_day"].as_str().unwrap(),
            "{row}"
        );
        assert_eq!(split.test_sessions.len(), whole(&row["test_days"]), "{row}");
    }
}

#[test]
fn ridge_follows_scikit_learn() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), json("ridge.json")) else {
        return;
    };
    let bench = market.bench();
    let fits = golden.as_array().unwrap();
    for row in fits {
        let switch = protocol(row["variant"].as_str().unwrap());
        let (horizon, year) = (whole(&row["h"]), year_of(&row["year"]));
        let fit = RidgeModel::fit(&bench, switch, (horizon, year), true).unwrap();
        assert_eq!(
            bench.split(switch, horizon, year).unwrap().fit_rows.len(),
            whole(&row["rows"])
        );
        let numbers = |name: &str| golden::numbers(&row[name]);
        let largest = numbers("coef")
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        near(
            "intercept",
            fit.intercept(),
            golden::number(&row["intercept"]),
            1e-8 * largest,
        );
        for (what, found) in [
            ("coef", fit.coefficients()),
            ("mean", fit.means()),
            ("sd", fit.deviations()),
        ] {
            let expected = numbers(what);
            assert_eq!(found.len(), expected.len());
            let scale = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for (found, expected) in found.iter().zip(expected) {
                near(what, *found, expected, 1e-8 * scale);
            }
        }
    }
    println!("{} ridge fits compared", fits.len());
}

#[test]
fn daily_series_follow_the_set() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), text("daily.csv.gz")) else {
        return;
    };
    let bench = market.bench();
    let mut all: BTreeMap<Vec<&str>, Vec<Vec<&str>>> = BTreeMap::new();
    for row in csv_rows(&golden) {
        all.entry(row[..3].to_vec()).or_default().push(row[3..].to_vec());
    }
    assert!(!all.is_empty());
    for (key, rows) in all {
        let switch = protocol(key[2]);
        let found = series(
            &bench,
            family_of(key[0]).unwrap(),
            switch,
            key[1].parse().unwrap(),
        );
        assert_eq!(found.days().len(), rows.len(), "{key:?}");
        for ((day, turnover), row) in found.days().iter().zip(found.turnovers()).zip(rows) {
            assert_eq!(market.dates[day.session], row[0]);
            near("gross", day.gross, number(row[1]), 1e-10);
            near("turnover", *turnover, number(row[2]), 1e-10);
            for (found, expected) in [(day.rank_ic, row[3]), (day.auc, row[4])] {
                let expected = number(expected);
                assert_eq!(found.is_none(), expected.is_nan(), "{key:?} {row:?}");
                near(
                    "score",
                    found.unwrap_or(0.0),
                    if expected.is_nan() { 0.0 } else { expected },
                    1e-10,
                );
            }
        }
    }
}

#[test]
fn figures_and_gains_follow_the_set() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), text("table.csv")) else {
        return;
    };
    let bench = market.bench();
    let header: Vec<&str> = golden.lines().next().unwrap().split(',').collect();
    let mut clean: BTreeMap<(String, usize), TradeSeries> = BTreeMap::new();
    let mut compared = 0;
    for row in csv_rows(&golden) {
        let Some(family) = family_of(row[0]) else { continue };
        let cell = |name: &str| {
            header
                .iter()
                .position(|other| *other == name)
                .map(|place| number(row[place]))
        };
        let (horizon, switch) = (row[1].parse().unwrap(), protocol(row[2]));
        let found = series(&bench, family, switch, horizon);
        let reference = clean
            .entry((row[0].to_owned(), horizon))
            .or_insert_with(|| found.clone());
        let gain = LeakageGain::of(&found, reference, bench.bars().months());
        let figures = found.figures();
        let close = |name: &str, found: f64| {
            let expected = cell(name).unwrap();
            near(
                &format!("{row:?} {name}"),
                found,
                expected,
                1e-8 * expected.abs().max(1.0),
            );
        };
        for (cost, ratio) in COSTS_BPS.iter().zip(&figures.sharpe) {
            close(&format!("SR@{cost}bps"), *ratio.as_ref().unwrap());
        }
        close("RankIC", figures.rank_ic.unwrap());
        close("AUC", figures.auc.unwrap());
        close("turnover", figures.turnover.unwrap());
        close("MDD", figures.max_drawdown);
        assert_eq!(
            figures.days,
            row[header.iter().position(|name| *name == "days").unwrap()]
                .parse::<usize>()
                .unwrap()
        );
        close("LG-SR@5bps", gain.headline().unwrap());
        close("LG-RankIC", gain.rank_ic.unwrap());
        close("LG-AUC", gain.auc.unwrap());
        for (year, gain) in &gain.by_year {
            close(&format!("LG-SR@5bps {year}"), *gain);
        }
        compared += 1;
    }
    println!("{compared} runs compared");
    assert!(0 < compared);
}

#[test]
fn boosted_trees_gain_as_lightgbm_does() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), text("table.csv")) else {
        return;
    };
    let bench = market.bench();
    let header: Vec<&str> = golden.lines().next().unwrap().split(',').collect();
    let place = header.iter().position(|name| *name == "LG-SR@5bps").unwrap();
    let ratio = |switch| series(&bench, ModelFamily::Trees, switch, 5).sharpe(5.0).unwrap();
    let clean = ratio(Switch::Clean);
    for row in csv_rows(&golden).filter(|row| row[0] == "LightGBM" && row[1] == "5") {
        if !["TEMP_CENTER", "EXEC_OPEN"].contains(&row[2]) {
            continue;
        }
        let (found, expected) = (ratio(protocol(row[2])) - clean, number(row[place]));
        println!("{}: {found} beside LightGBM's {expected}", row[2]);
        assert!(
            (found - expected).abs() <= 0.15 * expected.abs(),
            "{}: {found} for {expected}",
            row[2]
        );
    }
}

#[test]
fn yearly_inference_is_exact() {
    let Some(cases) = json("yearly.json") else { return };
    for case in cases.as_array().unwrap() {
        let gains = golden::numbers(&case["gains"]);
        let found = yearly_inference(&gains).unwrap();
        near("mean", found.mean, golden::number(&case["mean"]), 1e-12);
        assert_eq!(
            (found.positive, found.years),
            (whole(&case["positive"]), whole(&case["years"]))
        );
        let p = &case["wilcoxon_greater_p"];
        assert_eq!(found.p_greater.is_none(), p.is_null(), "{case}");
        near(
            "p",
            found.p_greater.unwrap_or(0.0),
            p.as_f64().unwrap_or(0.0),
            1e-12,
        );
    }
}

/// The formulas of the set: `k` sessions after the cut, `i` the place of the name.
fn formula_paths(names: usize) -> SuffixPaths {
    let factors = |of: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        let days = 1..u32::try_from(SUFFIX_SESSIONS).unwrap();
        let places = 0..u32::try_from(names).unwrap();
        days.flat_map(|k| places.clone().map(move |i| (f64::from(k), f64::from(i))))
            .map(|(k, i)| of(k, i))
            .collect()
    };
    let prices = factors(&|k, i| 1.0 + 0.05 * libm::sin(0.7 * k + i));
    let volumes = factors(&|k, i| 1.5 + libm::cos(1.3 * k + i));
    SuffixPaths::new(names, prices, volumes).unwrap()
}

#[test]
fn interventions_follow_the_set() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), json("interventions.json")) else {
        return;
    };
    let bench = market.bench();
    let year = *years().last().unwrap();
    let paths = formula_paths(market.codes.len());
    for switch in [Switch::Clean, Switch::TempCenter] {
        let found = suffix_check(&bench, switch, (5, year), &paths).unwrap();
        let expected = &golden["suffix"][switch.name()];
        assert_eq!(market.dates[found.cut], golden["cut"].as_str().unwrap());
        assert_eq!(found.sessions_changed.len(), whole(&expected["days_changed"]));
        let date = |session: Option<&usize>| session.map(|session| market.dates[*session].as_str());
        assert_eq!(date(found.sessions_changed.first()), expected["first"].as_str());
        assert_eq!(date(found.sessions_changed.last()), expected["last"].as_str());
        near(
            "change",
            found.normalised_change,
            golden::number(&expected["mean_normalised_change"]),
            1e-6,
        );
        if switch == Switch::Clean {
            assert_eq!(found.cells_changed, 0);
        }
    }
    for switch in [Switch::Clean, Switch::ExecOpen] {
        let found = mask_check(&bench, switch, (5, year)).unwrap();
        let expected = &golden["mask"][switch.name()];
        near(
            "full",
            found.full.unwrap(),
            golden::number(&expected["full SR@5bps"]),
            1e-6,
        );
        near(
            "masked",
            found.masked.unwrap(),
            golden::number(&expected["masked SR@5bps"]),
            1e-6,
        );
        near(
            "change",
            found.change().unwrap(),
            golden::number(&expected["change"]),
            1e-6,
        );
    }
}
