//! The golden set's inputs: tables, panel and configuration.

use ktd_attribution::model::{FactorModel, ModelConfig, Residuals};
use ktd_attribution::{Panel, PanelColumns};
use ktd_env::factors::{FactorConfig, RollingWindow, Winsor};
use ktd_kit::golden::{number, whole};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One test a comparison, over every set there is.
macro_rules! over_every_set {
    ($sets:expr; $($test:ident => $compare:ident,)+) => {
        $(
            #[test]
            fn $test() {
                for set in $sets {
                    $compare(&set);
                }
            }
        )+
    };
}
pub(crate) use over_every_set;

/// Absolute, for factor returns, residuals and contributions.
pub(crate) const TOLERANCE: f64 = 1e-12;

/// The folders of the set: our own small one, and the one outside the repository.
pub(crate) fn folders() -> Vec<PathBuf> {
    let folders = ktd_kit::golden::folders("attribution").into_iter();
    folders.map(|folder| folder.join("gold")).collect()
}

pub(crate) fn json(folder: &Path, file: &str) -> Value {
    ktd_kit::golden::json(&folder.join(file))
}

/// A golden table, rows keyed by column.
pub(crate) struct Table {
    pub(crate) file: String,
    pub(crate) rows: Vec<BTreeMap<String, String>>,
}

impl Table {
    pub(crate) fn read(folder: &Path, file: &str) -> Self {
        let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
        let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
        assert!(!rows.is_empty(), "{file} is empty");
        Self {
            file: file.to_owned(),
            rows,
        }
    }

    pub(crate) fn number(&self, row: usize, column: &str) -> f64 {
        let text = &self.rows[row][column];
        if text.is_empty() {
            f64::NAN
        } else {
            text.parse().unwrap()
        }
    }

    pub(crate) fn count(&self, row: usize, column: &str) -> usize {
        self.rows[row][column].parse().unwrap()
    }

    /// Fails unless both are missing or they agree within [`TOLERANCE`].
    pub(crate) fn near(&self, row: usize, column: &str, actual: Option<f64>) {
        let expected = self.number(row, column);
        let agree = actual.map_or_else(
            || expected.is_nan(),
            |actual| (actual - expected).abs() <= TOLERANCE,
        );
        assert!(
            agree,
            "{}: {actual:?}, expected {expected:e}",
            self.place(row, column)
        );
    }

    /// Fails unless both are missing or they agree within the tolerance, which is of the value where it is `relative`.
    pub(crate) fn compare(&self, row: usize, column: &str, actual: f64, (tolerance, relative): (f64, bool)) {
        let expected = self.number(row, column);
        let scale = if relative { expected.abs() } else { 1.0 };
        let agree = if expected.is_nan() || actual.is_nan() {
            expected.is_nan() && actual.is_nan()
        } else {
            (actual - expected).abs() <= tolerance * scale
        };
        let place = self.place(row, column);
        assert!(agree, "{place}: {actual:e}, expected {expected:e}");
    }

    /// Where a comparison failed.
    pub(crate) fn place(&self, row: usize, column: &str) -> String {
        format!("{} line {} column {column}", self.file, row + 2)
    }
}

/// The panel, the names in its order, and the configuration of the golden set.
pub(crate) struct Golden {
    pub(crate) folder: PathBuf,
    pub(crate) panel: Panel,
    pub(crate) names: Vec<String>,
    pub(crate) config: ModelConfig,
    /// Return days of the golden tables.
    pub(crate) days: std::ops::Range<usize>,
}

impl Golden {
    /// Every set there is.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        folders().into_iter().map(Self::read)
    }

    fn read(folder: PathBuf) -> Self {
        let table = Table::read(&folder, "panel.csv");
        let stocks: BTreeSet<&String> = table.rows.iter().map(|row| &row["stock"]).collect();
        let names: Vec<String> = stocks.into_iter().cloned().collect();
        let returns = Table::read(&folder, "factor_returns_sqrt_amount_equal.csv");
        let return_days: Vec<usize> = (0..returns.rows.len())
            .map(|row| returns.count(row, "ret_day"))
            .collect();
        Self {
            panel: Panel::new(columns(&table, &names)).unwrap(),
            config: model_config(&json(&folder, "config.json")),
            days: return_days[0]..return_days.last().unwrap() + 1,
            names,
            folder,
        }
    }

    pub(crate) fn fit(&self, change: impl Fn(&mut ModelConfig)) -> FactorModel {
        let mut config = self.config.clone();
        change(&mut config);
        FactorModel::fit(&self.panel, &config, self.days.clone()).unwrap()
    }

    pub(crate) fn row(&self, stock: &str) -> usize {
        self.names.binary_search(&stock.to_owned()).unwrap()
    }
}

fn columns(table: &Table, names: &[String]) -> PanelColumns {
    let days = (0..table.rows.len())
        .map(|row| table.count(row, "day"))
        .max()
        .unwrap()
        + 1;
    let cells = names.len() * days;
    let mut columns = PanelColumns {
        names: names.len(),
        days,
        traded: vec![false; cells],
        member: vec![false; cells],
        ..PanelColumns::default()
    };
    for column in [
        &mut columns.open,
        &mut columns.high,
        &mut columns.low,
        &mut columns.close,
        &mut columns.volume,
        &mut columns.amount,
    ] {
        column.resize(cells, f64::NAN);
    }
    for row in 0..table.rows.len() {
        let name = names.binary_search(&table.rows[row]["stock"]).unwrap();
        let cell = name * days + table.count(row, "day");
        columns.open[cell] = table.number(row, "open");
        columns.high[cell] = table.number(row, "high");
        columns.low[cell] = table.number(row, "low");
        columns.close[cell] = table.number(row, "close");
        columns.volume[cell] = table.number(row, "volume");
        columns.amount[cell] = table.number(row, "amount");
        columns.traded[cell] = !table.number(row, "close").is_nan();
        columns.member[cell] = table.rows[row]["member"] == "1";
    }
    columns
}

pub(crate) fn model_config(config: &Value) -> ModelConfig {
    let size = |key: &str| whole(&config[key]);
    let window = |days, min_days| RollingWindow::new(size(days), size(min_days));
    let number = |key: &str| number(&config[key]);
    assert_eq!(
        (
            &config["center"],
            &config["weight"],
            config["zscore_ddof"].as_u64()
        ),
        (&Value::from("equal"), &Value::from("sqrt_amount"), Some(0))
    );
    ModelConfig {
        factors: FactorConfig {
            momentum_long_days: size("mom_long"),
            momentum_skip_days: size("mom_skip"),
            momentum_min_days: size("mom_min"),
            volatility: window("rv_win", "rv_min"),
            short: window("short_win", "short_min"),
            skewness: window("skew_win", "skew_min"),
            high: window("high_win", "high_min"),
            amount_variation: window("cv_win", "cv_min"),
            illiquidity_scale_cny: number("illiq_scale"),
            illiquidity_log: config["illiq_log"].as_bool().unwrap(),
        },
        winsor: Winsor::Mad {
            k: number("mad_k"),
            scale: number("mad_c"),
        },
        max_missing: size("max_missing"),
        weight_window: window("weight_win", "weight_min"),
        min_names: size("min_cross_section"),
        // Of ten columns, as the benchmark has fifty names.
        min_names_per_column: size("min_cross_section") / 10,
        rank_tolerance: number("rank_tol"),
        // Golden splits are those of the residuals.
        residuals: Residuals::Fitted,
        ..ModelConfig::ktd()
    }
}
