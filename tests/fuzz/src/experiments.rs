//! Files that a user writes or takes from others: experiments and price tables.

use super::{assert_explained, assert_read_again};
use ktd_agents::{Usage, UsageSource};
use ktd_env::Market;
use ktd_env::synth::{SynthConfig, generate};
use ktd_experiment::cells::cells;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::price_table::{PriceTable, TokenPricing};
use serde_json::Value;
use std::sync::OnceLock;

/// Most cells of an experiment that is laid out: a grid of many is no fault of the file.
const CELLS_MAX: usize = 10_000;

fn market() -> &'static Market {
    static MARKET: OnceLock<Market> = OnceLock::new();
    MARKET.get_or_init(|| {
        let (seed, names, days) = (3, 8, 300);
        generate(&SynthConfig { seed, names, days }).expect("the synthetic market is made")
    })
}

pub(crate) fn experiment(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let config = match ExperimentConfig::parse(&text) {
        Ok(config) => config,
        Err(error) => {
            assert_explained(&error);
            return assert_explained(&error.hint());
        }
    };
    let counts = [
        config.agents.len(),
        config.windows.len(),
        config.masks.len(),
        config.modes.len(),
        config.seeds.len(),
    ];
    let grid = counts.into_iter().fold(1, usize::saturating_mul);
    if CELLS_MAX < grid {
        return;
    }
    match cells(&config, market(), None) {
        Ok(cells) => {
            assert!(cells.len() <= grid);
            for cell in &cells {
                assert!(
                    !cell.id.is_empty() && !cell.id.contains(['/', '\\', '\0']),
                    "{:?}",
                    cell.id
                );
            }
        }
        Err(error) => assert_explained(&error),
    }
}

/// A price table in JSON. What a call costs is never more than the most that was reserved for it.
pub(crate) fn price_table(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let table = match PriceTable::parse(&text) {
        Ok(table) => table,
        Err(error) => return assert_explained(&error),
    };
    let file: Value = serde_json::from_str(&text).expect("a table is JSON");
    for row in file.get("rows").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let record = table.record(text("vendor"), text("model"));
        assert!(record.is_some(), "a row is found by its model: {row}");
        if let Some(record) = &record {
            assert_read_again(record);
        }
        let basis = TokenPricing::of(false, record);
        for (prompt, output) in [(0, 0), (1_000, 10), (300_000, 5_000), (u64::MAX, u64::MAX)] {
            check_bound(&basis, prompt, output);
        }
    }
}

/// However the tokens of a call are split, it costs at most what was reserved.
fn check_bound(basis: &TokenPricing, prompt: u64, output: u64) {
    let most = basis.most(prompt, Some(output)).expect("the prices are known");
    let half = prompt / 2;
    for (uncached_input, cache_read, cache_write_5m, cache_write_1h) in [
        (prompt, 0, 0, 0),
        (0, prompt, 0, 0),
        (0, 0, prompt, 0),
        (0, 0, 0, prompt),
        (half, half, 0, 0),
        (half, 0, 0, 0),
    ] {
        for (visible_output, reasoning_output) in [(output, 0), (0, output)] {
            let usage = Usage {
                uncached_input,
                cache_read,
                cache_write_5m,
                cache_write_1h,
                tool_prompt: 0,
                visible_output,
                reasoning_output,
                source: UsageSource::Reported,
                vendor_cost_picodollars: None,
            };
            let priced = basis.cost(&usage).expect("the prices are known");
            assert!(
                priced.amount <= most,
                "{usage:?} costs {:?}, reserved {most:?}",
                priced.amount
            );
        }
    }
}
