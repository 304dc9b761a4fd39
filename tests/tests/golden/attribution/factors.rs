//! Factors and exposures against the golden set of attribution, made by an independent implementation.

use crate::golden::attribution::set::{folders, json, model_config};
use ktd_attribution::model::ModelConfig;
use ktd_env::factors::{
    Center, CrossSection, CrossSectionConfig, Factor, FactorColumns, FactorConfig, Series, compute,
    mean_amount, missing_per_row, standardise,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A table of a golden file.
struct Table {
    file: &'static str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(folder: &Path, file: &'static str) -> Self {
        let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
        let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
        Self {
            file,
            header,
            rows: reader.records().map(|row| cells(row.unwrap())).collect(),
        }
    }

    fn text(&self, row: usize, column: &str) -> &str {
        let index = self.header.iter().position(|name| name == column).unwrap();
        &self.rows[row][index]
    }

    fn day(&self, row: usize, column: &str) -> usize {
        self.text(row, column).parse().unwrap()
    }

    /// A number, NaN where the cell is empty or says so.
    fn number(&self, row: usize, column: &str) -> f64 {
        let text = self.text(row, column);
        if text.is_empty() {
            f64::NAN
        } else {
            text.parse().unwrap()
        }
    }

    /// Fails with file, row and column unless both are missing or they agree within `tolerance` of the value,
    /// or of one where `absolute`.
    fn compare(&self, row: usize, column: &str, actual: f64, tolerance: f64, absolute: bool) {
        let expected = self.number(row, column);
        let scale = if absolute { 1.0 } else { expected.abs() };
        let agree = if expected.is_nan() || actual.is_nan() {
            expected.is_nan() && actual.is_nan()
        } else {
            (actual - expected).abs() <= tolerance * scale
        };
        let line = row + 2;
        assert!(
            agree,
            "{} line {line} column {column}: {actual:e}, expected {expected:e}",
            self.file
        );
    }
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
        .map(|row| table.day(row, "day"))
        .max()
        .unwrap()
        + 1;
    let mut names: BTreeMap<String, Name> = BTreeMap::new();
    for row in 0..table.rows.len() {
        let name = names
            .entry(table.text(row, "stock").to_owned())
            .or_insert_with(|| Name {
                columns: std::array::from_fn(|_| vec![f64::NAN; days]),
                traded: vec![false; days],
                member: vec![false; days],
            });
        let day = table.day(row, "day");
        for (values, column) in name.columns.iter_mut().zip(COLUMNS) {
            values[day] = table.number(row, column);
        }
        name.traded[day] = !table.text(row, "close").is_empty();
        name.member[day] = table.text(row, "member") == "1";
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

#[test]
fn raw_factors() {
    for folder in folders() {
        raw_factors_of(&folder);
    }
}

fn raw_factors_of(folder: &Path) {
    let names = panel(folder);
    let factors = all_factors(&names, &config_of(folder).factors);
    let golden = Table::read(folder, "factors_raw.csv");
    let mut missing = 0;
    for row in 0..golden.rows.len() {
        let (day, stock) = (golden.day(row, "asof"), golden.text(row, "stock"));
        for factor in Factor::ALL {
            let value = factors[stock].value(factor, day);
            missing += usize::from(value.is_none());
            golden.compare(row, factor.name(), value.unwrap_or(f64::NAN), 1e-10, false);
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
    let day = golden.day(rows[0], "ret_day");
    let known = day - 1;
    let stock = |row: usize| golden.text(row, "stock");
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
        golden.compare(*row, "reg_weight", amount.sqrt(), 1e-12, false);
        let covered = missing <= config.max_missing;
        let live = name.traded[known] && name.traded[day];
        let estimates = name.member[known] && name.traded[known] && !amount.is_nan() && covered;
        let flag = |yes: bool| if yes { "1" } else { "0" };
        let line = row + 2;
        let file = golden.file;
        assert_eq!(
            golden.text(*row, "covered"),
            flag(live && covered),
            "{file} line {line} covered"
        );
        let estimated = flag(estimates && live);
        assert_eq!(
            golden.text(*row, "in_estimation"),
            estimated,
            "{file} line {line} in_estimation"
        );
        members.push(estimates);
    }
    for (factor, mut values) in Factor::ALL.into_iter().zip(raw) {
        standardise(&mut values, &members, Center::Equal, &cross_section(config)).unwrap();
        for (row, value) in rows.iter().zip(values) {
            golden.compare(*row, factor.name(), value, 1e-12, true);
        }
    }
}

#[test]
fn exposures() {
    for folder in folders() {
        exposures_of(&folder);
    }
}

fn exposures_of(folder: &Path) {
    let names = panel(folder);
    let factors = all_factors(&names, &config_of(folder).factors);
    let golden = Table::read(folder, "exposures_z.csv");
    let mut days: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in 0..golden.rows.len() {
        days.entry(golden.day(row, "ret_day")).or_default().push(row);
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

/// A JSON list of numbers, NaN where it says `null` or `NaN`.
fn numbers(value: &Value) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    value.as_array().unwrap().iter().map(number).collect()
}

fn near(actual: f64, expected: f64, place: &str) {
    let agree = (actual - expected).abs() <= 1e-12 * expected.abs().max(1.0);
    assert!(
        agree,
        "adversarial_standardize.json {place}: {actual:e}, expected {expected:e}"
    );
}

fn compare_scale(outcome: &CrossSection, golden: &Value, place: &str) {
    let meta = &golden["meta"];
    let CrossSection::Scaled(scale) = outcome else {
        assert_eq!(
            meta["status"], "degenerate",
            "adversarial_standardize.json {place}"
        );
        return;
    };
    assert_eq!(meta["status"], "ok", "adversarial_standardize.json {place}");
    let pairs = [
        ("median", scale.spread.median),
        ("mad", scale.spread.mad),
        ("mu", scale.center),
        ("sd", scale.sd),
    ];
    for (key, actual) in pairs {
        near(actual, meta[key].as_f64().unwrap(), &format!("{place} {key}"));
    }
    assert_eq!(
        scale.spread.limits.is_some(),
        meta["lo"].is_number(),
        "{place} limits"
    );
    if let Some(limits) = scale.spread.limits {
        near(limits.low, meta["lo"].as_f64().unwrap(), &format!("{place} lo"));
        near(limits.high, meta["hi"].as_f64().unwrap(), &format!("{place} hi"));
    }
    assert_eq!(meta["clipped"], scale.clipped, "{place} clipped");
}

#[test]
fn adversarial_cross_sections() {
    for folder in folders() {
        adversarial_cross_sections_of(&folder);
    }
}

fn adversarial_cross_sections_of(folder: &Path) {
    let config = config_of(folder);
    let text = std::fs::read_to_string(folder.join("adversarial_standardize.json")).unwrap();
    let golden: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for (case, golden) in &golden {
        let (raw, weights) = (numbers(&golden["x"]), numbers(&golden["w"]));
        let members = vec![true; raw.len()];
        for (kind, center) in [
            ("equal", Center::Equal),
            ("regression", Center::Regression(&weights)),
        ] {
            let place = format!("{case}/{kind}");
            let mut values = raw.clone();
            let outcome = standardise(&mut values, &members, center, &cross_section(&config)).unwrap();
            compare_scale(&outcome, &golden[kind], &place);
            let expected = numbers(&golden[kind]["z"]);
            assert_eq!(values.len(), expected.len(), "{place}");
            for (row, (value, expected)) in values.iter().zip(expected).enumerate() {
                near(*value, expected, &format!("{place} z[{row}]"));
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
