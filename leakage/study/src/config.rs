//! An experiment file of the one-switch benchmark.

use ktd_env::TradeDate;
use ktd_leakage::{AdjustedFrom, COSTS_BPS, LeakageSettings, ModelFamily, Switch, UniverseRule};
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The highest cost: all of a turnover.
const MOST_COST_BPS: f64 = 10_000.0;

/// What is run: models x protocols x horizons x years x seeds on one panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakConfig {
    /// `leakage`.
    #[serde(default, skip_serializing)]
    pub kind: Option<String>,
    /// Its name.
    pub name: String,
    /// The panel file, relative to this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PathBuf>,
    /// Daily bars of any market in place of a panel: codes, boards and lots do not matter here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<PriceFile>,
    /// The synthetic market in place of a panel: a market without any alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticMarket>,
    /// Which names take part.
    #[serde(default)]
    pub universe: LeakUniverse,
    /// The last day that is read, year-month-day; by default the panel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Years that are tested; by default every whole one with two whole years before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_years: Option<Vec<i32>>,
    /// Sessions that a label looks ahead.
    #[serde(default = "default_horizons")]
    pub horizons: Vec<usize>,
    /// Models by name.
    #[serde(default = "default_models")]
    pub models: Vec<ModelFamily>,
    /// Protocols by name; the reference is always run.
    #[serde(default = "default_protocols")]
    pub protocols: Vec<Switch>,
    /// Seeds of the models that draw.
    #[serde(default = "default_seeds")]
    pub seeds: Vec<u64>,
    /// Costs of a turnover of 1, in hundredths of a percent, that the cost table has.
    #[serde(default = "default_costs")]
    pub costs_bps: Vec<f64>,
    /// Names that a session needs.
    #[serde(default = "default_min_names")]
    pub min_names: usize,
    /// Sessions by which a centred window reads ahead.
    #[serde(default = "default_future_days")]
    pub future_days: usize,
    /// Windows of the peers' graph.
    #[serde(default)]
    pub graph: GraphSettings,
}

/// A long file of daily bars: `date,symbol,open,high,low,close,volume` and, where prices are as traded, `factor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceFile {
    /// The file, Parquet or CSV(.gz), relative to the experiment file.
    pub file: PathBuf,
    /// From where factors are counted.
    #[serde(default)]
    pub adjusted_from: AdjustedFrom,
}

/// A synthetic market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticMarket {
    /// Its seed.
    pub seed: u64,
    /// How many names.
    pub names: u32,
    /// How many trading days.
    pub days: u32,
}

/// Names that take part.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LeakUniverse {
    /// Members of the index, each on the days of its membership.
    Members,
    /// Every name of the panel.
    #[default]
    All,
    /// Names that traded on at least this share of all sessions: survivors, as in the paper's panels.
    Share(f64),
}

/// Windows of the peers' graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSettings {
    /// Sessions of a window.
    pub days: usize,
    /// Peers of a name.
    pub peers: usize,
}

impl Default for GraphSettings {
    fn default() -> Self {
        let benchmark = LeakageSettings::BENCHMARK;
        Self {
            days: benchmark.graph_days,
            peers: benchmark.graph_peers,
        }
    }
}

fn default_horizons() -> Vec<usize> {
    vec![5, 20]
}

fn default_models() -> Vec<ModelFamily> {
    vec![ModelFamily::Momentum, ModelFamily::Ridge]
}

fn default_protocols() -> Vec<Switch> {
    Switch::ALL.to_vec()
}

fn default_seeds() -> Vec<u64> {
    vec![1]
}

fn default_costs() -> Vec<f64> {
    COSTS_BPS.to_vec()
}

const fn default_min_names() -> usize {
    LeakageSettings::BENCHMARK.min_names
}

const fn default_future_days() -> usize {
    LeakageSettings::BENCHMARK.future_days
}

impl LeakConfig {
    /// The models of the file, in the order of all.
    #[must_use]
    pub fn families(&self) -> Vec<ModelFamily> {
        let asked = |family: &ModelFamily| self.models.contains(family);
        ModelFamily::ALL.into_iter().filter(asked).collect()
    }

    /// The protocols of the file with the reference, in the order of all.
    #[must_use]
    pub fn switches(&self) -> Vec<Switch> {
        let asked = |switch: &Switch| *switch == Switch::Clean || self.protocols.contains(switch);
        Switch::ALL.into_iter().filter(asked).collect()
    }

    /// From where factors are counted; those of a panel look back from each day.
    #[must_use]
    pub fn adjusted_from(&self) -> AdjustedFrom {
        let prices = self.prices.as_ref();
        prices.map_or(AdjustedFrom::Start, |prices| prices.adjusted_from)
    }

    /// The last day that is read.
    ///
    /// # Errors
    /// [`StudyError`] for what is no date.
    pub fn last_day(&self) -> Result<Option<TradeDate>, StudyError> {
        let parse = |text: &String| {
            TradeDate::parse(text).map_err(|_| {
                StudyError::input(
                    format_args!("until = {text:?} is no date"),
                    "write a date such as 2024-12-31",
                )
            })
        };
        self.until.as_ref().map(parse).transpose()
    }

    /// The settings of the benchmark.
    #[must_use]
    pub const fn settings(&self) -> LeakageSettings {
        LeakageSettings {
            min_names: self.min_names,
            future_days: self.future_days,
            graph_days: self.graph.days,
            graph_peers: self.graph.peers,
        }
    }
}

impl LeakUniverse {
    /// The rule of the names that take part.
    pub(super) const fn rule(self) -> UniverseRule {
        match self {
            Self::Members | Self::All => UniverseRule::AsOfDay,
            Self::Share(_) => UniverseRule::Survivors,
        }
    }
}

/// One market, and one that can say who its members are where that is asked for.
fn check_source(config: &LeakConfig) -> Result<(), StudyError> {
    let sources = [
        config.panel.is_some(),
        config.prices.is_some(),
        config.synthetic.is_some(),
    ];
    if sources.into_iter().filter(|is_there| *is_there).count() != 1 {
        return Err(StudyError::input(
            "it needs one of `panel`, `prices` and `synthetic`",
            "write panel = \"csi300.ktdp\", prices = { file = \"bars.parquet\" }, or synthetic = { seed = 1, names = 36, days = 1200 }",
        ));
    }
    if config.prices.is_some() && config.universe == LeakUniverse::Members {
        return Err(StudyError::input(
            "`prices` does not say who is a member",
            "choose universe = \"all\" or { share = 0.9 }, or import a panel with `ktd data import --universe`",
        ));
    }
    Ok(())
}

/// Whether the keys of a file go together.
///
/// # Errors
/// [`StudyError`] for an empty list, a number out of its range, and a file with both a panel and a synthetic market.
pub(super) fn check_config(config: &LeakConfig) -> Result<(), StudyError> {
    check_source(config)?;
    config.last_day()?;
    for (key, is_empty) in [
        ("models", config.models.is_empty()),
        ("horizons", config.horizons.is_empty()),
        ("seeds", config.seeds.is_empty()),
        ("costs_bps", config.costs_bps.is_empty()),
    ] {
        if is_empty {
            return Err(StudyError::input(
                format_args!("`{key}` is empty"),
                "remove the key for its default",
            ));
        }
    }
    if let Some(cost) = config
        .costs_bps
        .iter()
        .find(|cost| !(0.0..=MOST_COST_BPS).contains(*cost))
    {
        return Err(StudyError::input(
            format_args!("costs_bps has {cost}, which is no cost"),
            format!("write hundredths of a percent from 0 to {MOST_COST_BPS}"),
        ));
    }
    if let LeakUniverse::Share(share) = config.universe
        && !(0.0 < share && share <= 1.0)
    {
        return Err(StudyError::input(
            format_args!("universe = {{ share = {share} }} is no share"),
            "write a share above 0 and at most 1, such as 0.9",
        ));
    }
    Ok(())
}
