//! The price table that comes with the golden sets.

use ktd_agents::Usage;
use ktd_experiment::price_table::PriceTable;
use ktd_experiment::price_table::TokenPricing;
use ktd_kit::golden::outside;
use serde_json::Value;

#[test]
fn the_sample_is_one_of_our_tables() {
    let Some(folder) = outside("providers") else {
        return;
    };
    let path = folder.join("prices.sample.json");
    let table = PriceTable::read(&path).unwrap();
    let sample: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let rows = sample["rows"].as_array().unwrap();
    for row in rows {
        let record = table.record(
            row["vendor"].as_str().unwrap_or("any"),
            row["model"].as_str().unwrap(),
        );
        assert!(record.is_some(), "{row}");
    }
    assert!(!rows.is_empty());
    let usage = |input| Usage {
        uncached_input: input,
        visible_output: 1_000,
        ..Usage::NOTHING
    };
    let cost = |input| {
        let record = table.record("openai", "gpt-5.5");
        TokenPricing::of(false, record)
            .cost(&usage(input))
            .unwrap()
            .amount
            .0
    };
    assert_eq!(cost(272_000), 272_000 * 5_000_000 + 1_000 * 30_000_000);
    assert_eq!(cost(272_001), 272_001 * 10_000_000 + 1_000 * 45_000_000);
}
