//! What a panel holds: names, days, traded value and daily volatility by board.
//!
//! ```text
//! ktd data synth --out market.ktdp
//! cargo run -p ktd-frames --example panel_summary -- market.ktdp
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use ktd_env::Market;
use ktd_frames::panel_frame;
use polars::prelude::{IntoLazy, PolarsResult, SortMultipleOptions, col, lit};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("name a panel: panel_summary PANEL")?;
    let market = Market::from_bytes(&std::fs::read(path)?)?;
    println!("{}", summary(&market)?);
    Ok(())
}

/// One row a board.
fn summary(market: &Market) -> PolarsResult<polars::prelude::DataFrame> {
    let adjusted = col("close") * col("factor");
    let before = adjusted.clone().shift(lit(1)).over([col("symbol")])?;
    panel_frame(market)?
        .lazy()
        .with_column((adjusted / before - lit(1.0)).alias("return"))
        .group_by([col("board")])
        .agg([
            col("symbol").n_unique().alias("names"),
            col("date").min().alias("first"),
            col("date").max().alias("last"),
            col("close").count().alias("bars"),
            (col("amount").sum() / lit(1.0e9)).alias("billion_cny"),
            col("return").std(1).alias("daily_volatility"),
        ])
        .sort(["board"], SortMultipleOptions::default())
        .collect()
}
