//! The table of true sizes of what a report of strategy code concludes.

use ktd_io::parallel::in_parallel;
use ktd_strategy_code::{StrategySizeDesign, StrategySizes};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;

/// How often reports on what is planted were wrong, design by design.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StrategySizeReport {
    /// Draws of each design.
    pub draws: u32,
    /// The seed of all.
    pub seed: u64,
    /// One a design.
    pub rows: Vec<StrategySizeRow>,
}

/// One design. Shares are of draws.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StrategySizeRow {
    /// What is concluded.
    pub conclusion: &'static str,
    /// What is planted, in words.
    pub planted: String,
    /// 95 % bounds that hold the truth; none of a conclusion without bounds.
    pub coverage: Option<f64>,
    /// Draws in which an effect is named that is not there; none where one is planted.
    pub size: Option<f64>,
    /// Draws in which the planted effect is named; none where there is none.
    pub power: Option<f64>,
    /// Why these errors are not claimed; none where they are.
    pub not_claimed: Option<&'static str>,
}

/// How many designs there are.
#[must_use]
pub fn strategy_size_designs() -> usize {
    StrategySizeDesign::all().len()
}

/// Plants what every design says and counts; `tick` is called after each design.
#[must_use]
pub fn strategy_sizes(
    (draws, seed): (u32, u64),
    threads: usize,
    tick: &(dyn Fn() + Sync),
) -> StrategySizeReport {
    let rows = in_parallel(&StrategySizeDesign::all(), threads, |design| {
        let found = design.sizes(draws, seed);
        tick();
        row(design, found)
    });
    StrategySizeReport { draws, seed, rows }
}

fn row(design: &StrategySizeDesign, found: StrategySizes) -> StrategySizeRow {
    StrategySizeRow {
        conclusion: design.conclusion,
        planted: design.planted.clone(),
        coverage: found.coverage,
        size: found.size,
        power: found.power,
        not_claimed: design.not_claimed,
    }
}

impl StrategySizeReport {
    /// The table of all designs.
    #[must_use]
    pub fn table(&self) -> TableData {
        let title = format!(
            "True sizes over {} draws a row; nominal: bounds hold 95 %, and at most 5 % are named without an effect",
            self.draws
        );
        let share = |value: Option<f64>| TableCell::optional(value, TableCell::Percent);
        RowTable::new(title, &self.rows)
            .text("conclusion", |own| own.conclusion)
            .text("planted", |own| &own.planted)
            .column(("95 % bounds hold", Right), |own| share(own.coverage))
            .column(("named without an effect", Right), |own| share(own.size))
            .column(("planted effect named", Right), |own| share(own.power))
            .text("not claimed", |own| own.not_claimed.unwrap_or_default())
            .table()
    }
}
