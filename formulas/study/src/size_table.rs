//! The table of true sizes of what a report of alphas concludes.

use ktd_alphas::{PlantedPool, PoolConclusion, PoolSizeDesign};
use ktd_io::parallel::in_parallel;
use ktd_stats::moments::{count, mean};
use ktd_study::StudyError;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;

/// How often reports on planted pools conclude what, design by design.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct AlphaSizeReport {
    /// Pools of each design.
    pub pools: u32,
    /// The seed of all.
    pub seed: u64,
    /// One a design.
    pub rows: Vec<AlphaSizeRow>,
}

/// One design. Figures are shares of its pools.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct AlphaSizeRow {
    /// Alphas of a pool.
    pub alphas: usize,
    /// Days.
    pub days: usize,
    /// What their returns are.
    pub returns: String,
    /// 95 % intervals of an alpha's Sharpe ratio that hold the true one.
    pub interval: f64,
    /// Intervals of the best alpha that lie above 0.
    pub best_above: f64,
    /// Tests of the best against nothing with p below .05.
    pub best_told: f64,
    /// Pools of which an alpha has a deflated ratio above .95.
    pub deflated_told: f64,
    /// The same of the first alpha.
    pub first_told: f64,
    /// Two pools that are told apart by rank.
    pub pools_told: f64,
    /// Pools of which robust alphas are told from the rest by their drawdowns at any threshold.
    pub robust_told: f64,
    /// The mean probability of overfitting; none of pools too small.
    pub pbo: Option<f64>,
}

/// How many designs there are.
#[must_use]
pub fn alpha_size_designs() -> usize {
    PoolSizeDesign::all().len()
}

/// Plants pools of every design and counts; `tick` is called after each design.
///
/// # Errors
/// [`StudyError`] for a pool of which nothing is concluded; there is none.
pub fn alpha_sizes(
    (pools, seed): (u32, u64),
    threads: usize,
    tick: &(dyn Fn() + Sync),
) -> Result<AlphaSizeReport, StudyError> {
    let draws: Vec<u32> = (0..pools).collect();
    let mut rows = Vec::new();
    for design in PoolSizeDesign::all() {
        let found = in_parallel(&draws, threads, |draw| design.conclusion(seed, *draw));
        let found: Vec<PoolConclusion> = found
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(StudyError::invalid)?;
        rows.push(row(&design, &found));
        tick();
    }
    Ok(AlphaSizeReport { pools, seed, rows })
}

fn row(design: &PoolSizeDesign, found: &[PoolConclusion]) -> AlphaSizeRow {
    let share = |of: &dyn Fn(&PoolConclusion) -> bool| {
        count(found.iter().filter(|found| of(found)).count()) / count(found.len().max(1))
    };
    let overfitted: Vec<f64> = found.iter().filter_map(|found| found.pbo).collect();
    AlphaSizeRow {
        alphas: design.alphas,
        days: design.days,
        returns: match design.plant {
            PlantedPool::Dice => "dice".to_owned(),
            PlantedPool::SharedDice => "dice with a factor".to_owned(),
            PlantedPool::Skilled(skilled) => format!("{skilled} skilled"),
        },
        interval: share(&|found| found.interval_holds),
        best_above: share(&|found| found.best_above),
        best_told: share(&|found| found.best_told),
        deflated_told: share(&|found| found.deflated_told),
        first_told: share(&|found| found.first_told),
        pools_told: share(&|found| found.pools_told),
        robust_told: share(&|found| found.robust_told),
        pbo: mean(&overfitted),
    }
}

impl AlphaSizeReport {
    /// The table of all designs.
    #[must_use]
    pub fn table(&self) -> TableData {
        let title = format!(
            "True sizes over {} pools a row: on dice nominal 95 %, and at most 5 %; skill is an annual ratio of {}",
            self.pools,
            ktd_alphas::PLANTED_RATIO
        );
        let share = |of: fn(&AlphaSizeRow) -> f64| move |own: &AlphaSizeRow| TableCell::Percent(of(own));
        RowTable::new(title, &self.rows)
            .count("alphas", |own| own.alphas)
            .count("days", |own| own.days)
            .text("returns", |own| &own.returns)
            .column(("95 % interval holds", Right), share(|own| own.interval))
            .column(("best's above 0", Right), share(|own| own.best_above))
            .column(("SPA p < .05", Right), share(|own| own.best_told))
            .column(("any DSR > .95", Right), share(|own| own.deflated_told))
            .column(("first's DSR > .95", Right), share(|own| own.first_told))
            .column(("pools apart", Right), share(|own| own.pools_told))
            .column(("robust told", Right), share(|own| own.robust_told))
            .column(("PBO", Right), |own| {
                TableCell::optional(own.pbo, TableCell::Ratio)
            })
            .table()
    }
}
