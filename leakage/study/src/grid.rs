//! The panel of a grid, and its runs.

use super::bars::{MarketBars, market_bars, table_bars, unfit};
use super::config::{LeakConfig, PriceFile, SyntheticMarket};
use crate::StudyError;
use ktd_data::bar_table::BarTable;
use ktd_data::{hash_text, load_panel};
use ktd_env::Market;
use ktd_env::synth::{SynthConfig, generate};
use ktd_io::sha256::sha256_hex;
use ktd_leakage::{LeakageBench, LeakageSettings, RunKey, default_test_years};
use serde_json::{Value, json};
use std::path::Path;

/// The panel of a grid, prepared.
#[derive(Debug)]
pub struct LeakSource {
    /// What the bars were read from.
    pub panel: String,
    /// Years that are tested.
    pub years: Vec<i32>,
    /// The benchmark.
    pub bench: LeakageBench,
}

impl LeakSource {
    /// Reads the panel of an experiment file in `folder`.
    ///
    /// # Errors
    /// [`StudyError`] for a panel that cannot be read, and without a year to test.
    pub fn read(config: &LeakConfig, folder: &Path) -> Result<Self, StudyError> {
        let (bars, panel) = if let Some(prices) = &config.prices {
            price_bars(config, prices, folder)?
        } else {
            let market = market(config, folder)?;
            let bars = market_bars(&market, config.universe)?;
            (bars, hash_text(market.content_hash()))
        };
        let years = config
            .test_years
            .clone()
            .unwrap_or_else(|| default_test_years(bars.bars.months()));
        if years.is_empty() {
            return Err(StudyError::input(
                "the panel has no year to test: a whole year with two whole years before it",
                "use a longer panel, or name `test_years`",
            ));
        }
        let eligible = bars.eligible.as_deref();
        let bench = LeakageBench::new(bars.bars, config.settings(), &config.horizons, eligible);
        Ok(Self {
            bench: bench.map_err(unfit)?,
            panel,
            years,
        })
    }
}

/// The bars of a long file, and the hash of what is read of it.
fn price_bars(
    config: &LeakConfig,
    prices: &PriceFile,
    folder: &Path,
) -> Result<(MarketBars, String), StudyError> {
    let table = BarTable::read(&folder.join(&prices.file), config.last_day()?)?;
    let bars = table_bars(&table, config.universe)?;
    let mut text: Vec<u8> = table.codes.join("\n").into_bytes();
    for day in &table.days {
        text.extend_from_slice(day.reveal().as_bytes());
    }
    for column in [&table.open, &table.high, &table.low, &table.close, &table.volume] {
        text.extend(column.iter().flat_map(|cell| cell.to_bits().to_le_bytes()));
    }
    Ok((bars, sha256_hex(&text)))
}

fn market(config: &LeakConfig, folder: &Path) -> Result<Market, StudyError> {
    let market = whole_market(config, folder)?;
    let Some(last) = config.last_day()? else {
        return Ok(market);
    };
    let before = market.calendar().partition_point(|day| *day <= last);
    let last = before.checked_sub(1).and_then(|place| market.day_at(place));
    let last = last
        .ok_or_else(|| StudyError::input("`until` lies before the panel's first day", "name a later day"))?;
    Ok(market.cut_after(last))
}

fn whole_market(config: &LeakConfig, folder: &Path) -> Result<Market, StudyError> {
    if let Some(panel) = &config.panel {
        return Ok(load_panel(&folder.join(panel))?);
    }
    let synthetic = config.synthetic.unwrap_or(SyntheticMarket {
        seed: 1,
        names: 36,
        days: 1_200,
    });
    let config = SynthConfig {
        seed: synthetic.seed,
        names: synthetic.names,
        days: synthetic.days,
    };
    generate(&config).map_err(|error| StudyError::input(error.to_string(), error.hint()))
}

/// Every run of an experiment file over these years: by model, horizon, protocol, seed and year. Seeds that change nothing are
/// one.
pub(super) fn run_keys(config: &LeakConfig, years: &[i32]) -> Vec<RunKey> {
    let mut keys = Vec::new();
    for family in config.families() {
        let seeds = if family.is_seeded() { config.seeds.len() } else { 1 };
        for horizon in &config.horizons {
            for switch in config.switches() {
                for seed in config.seeds.iter().take(seeds) {
                    keys.extend(years.iter().map(|year| RunKey {
                        family,
                        switch,
                        horizon: *horizon,
                        year: *year,
                        seed: *seed,
                    }));
                }
            }
        }
    }
    keys
}

/// All that a run depends on besides its key and the panel that it runs on.
pub(super) fn decided_by(config: &LeakConfig, panel: &str) -> Value {
    let LeakageSettings {
        min_names,
        future_days,
        graph_days,
        graph_peers,
    } = config.settings();
    json!({
        "panel": panel,
        "min_names": min_names,
        "future_days": future_days,
        "graph_days": graph_days,
        "graph_peers": graph_peers,
        "universe": config.universe,
    })
}
