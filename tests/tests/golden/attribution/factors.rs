//! Factors and exposures against the golden set of attribution, made by an independent implementation.

use crate::golden::attribution::set::{Table, folders, json, model_config, over_every_set};
use ktd_attribution::model::ModelConfig;
use ktd_env::factors::{
    Center, CrossSection, CrossSectionConfig, Factor, FactorColumns, FactorConfig, Series, compute,
    mean_amount, missing_per_row, standardise,
};
use ktd_kit::golden::{near_of, number, numbers_or_nan};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

over_every_set! {
    folders();
    raw_factors => raw_factors_of,
    exposures => exposures_of,
    adversarial_cross_sections => adversarial_cross_sections_of,
}

/// One name of the panel over all its days.
struct Name {
    columns: [Vec<f64>; 6],
    traded: Vec<bool>,
    member: Vec<bool>,
}

const COLUMNS: [&str; 6] = ["open", "high", "low", "close", "volume", "amount"];

impl Name {
    fn series(&self) -> Series<'_> {
        let [open, high, low, close, volume, amount] = &self.columns;
        Series {
            open,
            high,
            low,
            close,
            volume,
            amount,
            traded: &self.traded,
        }
    }
}

fn panel(folder: &Path) -> BTreeMap<String, Name> {
    let table = Table::read(folder, "panel.csv");
    let days = (0..table.rows.len())
        .map(|row| table.count(row, "day"))
        .max()
        .unwrap()
        + 1;
    let mut names: BTreeMap<String, Name> = BTreeMap::new();
    for row in 0..table.rows.len() {
        let name = names
            .entry(table.rows[row]["stock"].clone())
            .or_insert_with(|| Name {
                columns: std::array::from_fn(|_| vec![f64::NAN; days]),
                traded: vec![false; days],
                member: vec![false; days],
            });
        let day = table.count(row, "day");
        for (values, column) in name.columns.iter_mut().zip(COLUMNS) {
            values[day] = table.number(row, column);
        }
        name.traded[day] = !table.rows[row]["close"].is_empty();
        name.member[day] = table.rows[row]["member"] == "1";
    }
    names
}

/// The configuration of a set.
fn config_of(folder: &Path) -> ModelConfig {
    model_config(&json(folder, "config.json"))
}

fn all_factors<'n>(
    names: &'n BTreeMap<String, Name>,
    config: &FactorConfig,
) -> BTreeMap<&'n str, FactorColumns> {
    let columns = |name: &Name| {
        let series = name.series();
        compute(&series, config, 0..series.days()).unwrap()
    };
    names
        .iter()
        .map(|(stock, name)| (stock.as_str(), columns(name)))
        .collect()
}

fn raw_factors_of(folder: &Path) {
    let names = panel(folder);
    let factors = all_factors(&names, &config_of(folder).factors);
    let golden = Table::read(folder, "factors_raw.csv");
    let mut missing = 0;
    for row in 0..golden.rows.len() {
        let (day, stock) = (golden.count(row, "asof"), golden.rows[row]["stock"].as_str());
        for factor in Factor::ALL {
            let value = factors[stock].value(factor, day);
            missing += usize::from(value.is_none());
            golden.compare(row, factor.name(), value.unwrap_or(f64::NAN), (1e-10, true));
        }
    }
    println!(
        "factors_raw.csv: {} rows of 9 factors, {missing} cells missing in both",
        golden.rows.len()
    );
    assert!(!golden.rows.is_empty() && 0 < missing);
}

const fn cross_section(config: &ModelConfig) -> CrossSectionConfig {
    CrossSectionConfig {
        winsor: config.winsor,
        max_missing: config.max_missing,
    }
}

/// Our own small set has short windows; the large one has those of the benchmark.
#[test]
fn the_large_set_has_the_windows_of_the_benchmark() {
    let Some(folder) = ktd_kit::golden::outside("attribution") else {
        return;
    };
    let (config, ktd) = (config_of(&folder.join("gold")), ModelConfig::ktd());
    assert_eq!(
        (&config.factors, config.weight_window),
        (&ktd.factors, ktd.weight_window)
    );
    assert_eq!(cross_section(&config), CrossSectionConfig::KTD);
}

/// Exposures of a day's cross-section, from our own raw factors on: rows are the golden file's rows.
fn compare_exposures(
    golden: &Table,
    rows: &[usize],
    names: &BTreeMap<String, Name>,
    factors: &BTreeMap<&str, FactorColumns>,
    config: &ModelConfig,
) {
    let day = golden.count(rows[0], "ret_day");
    let known = day - 1;
    let stock = |row: usize| golden.rows[row]["stock"].as_str();
    let raw: Vec<Vec<f64>> = Factor::ALL
        .iter()
        .map(|factor| {
            rows.iter()
                .map(|row| factors[stock(*row)].column(*factor)[known])
                .collect()
        })
        .collect();
    let views: Vec<&[f64]> = raw.iter().map(Vec::as_slice).collect();
    let missing = missing_per_row(&views).unwrap();
    let mut members = vec![];
    for (row, missing) in rows.iter().zip(missing) {
        let name = &names[stock(*row)];
        let amount = mean_amount(&name.series(), config.weight_window, known..day).unwrap()[0];
        golden.compare(*row, "reg_weight", amount.sqrt(), (1e-12, true));
        let covered = missing <= config.max_missing;
        let live = name.traded[known] && name.traded[day];
        let estimates = name.member[known] && name.traded[known] && !amount.is_nan() && covered;
        for (column, holds) in [("covered", live && covered), ("in_estimation", estimates && live)] {
            let place = golden.place(*row, column);
            assert_eq!(golden.rows[*row][column] == "1", holds, "{place}");
        }
        members.push(estimates);
    }
    for (factor, mut values) in Factor::ALL.into_iter().zip(raw) {
        standardise(&mut values, &members, Center::Equal, &cross_section(config)).unwrap();
        for (row, value) in rows.iter().zip(values) {
            golden.compare(*row, factor.name(), value, (1e-12, false));
        }
    }
}

fn exposures_of(folder: &Path) {
    let names = panel(folder);
    let factors = all_factors(&names, &config_of(folder).factors);
    let golden = Table::read(folder, "exposures_z.csv");
    let mut days: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in 0..golden.rows.len() {
        days.entry(golden.count(row, "ret_day")).or_default().push(row);
    }
    for rows in days.values() {
        compare_exposures(&golden, rows, &names, &factors, &config_of(folder));
    }
    println!(
        "exposures_z.csv: {} rows on {} days",
        golden.rows.len(),
        days.len()
    );
    assert!(!golden.rows.is_empty());
}

fn compare_scale(outcome: &CrossSection, golden: &Value, place: &str) {
    let meta = &golden["meta"];
    let CrossSection::Scaled(scale) = outcome else {
        assert_eq!(meta["status"], "degenerate", "{place}");
        return;
    };
    assert_eq!(meta["status"], "ok", "{place}");
    let pairs = [
        ("median", scale.spread.median),
        ("mad", scale.spread.mad),
        ("mu", scale.center),
        ("sd", scale.sd),
    ];
    assert_eq!(
        scale.spread.limits.is_some(),
        meta["lo"].is_number(),
        "{place} limits"
    );
    let limits = scale.spread.limits.into_iter();
    let limits = limits.flat_map(|limits| [("lo", limits.low), ("hi", limits.high)]);
    for (key, actual) in pairs.into_iter().chain(limits) {
        near_of(&format!("{place} {key}"), actual, number(&meta[key]), 1e-12);
    }
    assert_eq!(meta["clipped"], scale.clipped, "{place} clipped");
}

fn adversarial_cross_sections_of(folder: &Path) {
    let config = config_of(folder);
    let golden = json(folder, "adversarial_standardize.json");
    let golden = golden.as_object().unwrap();
    let mut compared = 0;
    for (case, golden) in golden {
        let (raw, weights) = (numbers_or_nan(&golden["x"]), numbers_or_nan(&golden["w"]));
        let members = vec![true; raw.len()];
        for (kind, center) in [
            ("equal", Center::Equal),
            ("regression", Center::Regression(&weights)),
        ] {
            let place = format!("adversarial_standardize.json {case}/{kind}");
            let mut values = raw.clone();
            let outcome = standardise(&mut values, &members, center, &cross_section(&config)).unwrap();
            compare_scale(&outcome, &golden[kind], &place);
            let expected = numbers_or_nan(&golden[kind]["z"]);
            assert_eq!(values.len(), expected.len(), "{place}");
            for (row, (value, expected)) in values.iter().zip(expected).enumerate() {
                near_of(&format!("{place} z[{row}]"), *value, expected, 1e-12);
                compared += 1;
            }
        }
    }
    println!(
        "adversarial_standardize.json: {compared} values of {} cases",
        golden.len()
    );
    assert!(0 < compared);
}
