//! The table of true sizes of what a report of factor code concludes.

use ktd_factor_code::{FactorSizeDesign, FactorSizes, PlantedSkill};
use ktd_io::parallel::in_parallel;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;

/// How often reports on planted models were wrong, design by design.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct FactorSizeReport {
    /// Reports of each design.
    pub reports: u32,
    /// The seed of all.
    pub seed: u64,
    /// One a design.
    pub rows: Vec<FactorSizeRow>,
}

/// One design. Shares are of reports, intervals or pairs.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct FactorSizeRow {
    /// Tasks of nine families.
    pub tasks: usize,
    /// Answers to each.
    pub samples: usize,
    /// Models of a report.
    pub models: usize,
    /// How skill lies over families of tasks.
    pub skill: &'static str,
    /// True shares of right answers of the two halves of the models.
    pub shares: (f64, f64),
    /// 95 % intervals that hold the true share.
    pub interval: f64,
    /// Equal pairs with a p by itself of at most .05.
    pub pairs: f64,
    /// Reports that tell any equal pair apart.
    pub any_pair: f64,
    /// Reports with places that lack a true one.
    pub ranks: f64,
    /// Unequal pairs told apart; none where all are equal.
    pub power: Option<f64>,
}

/// How many designs there are.
#[must_use]
pub fn factor_size_designs() -> usize {
    FactorSizeDesign::all().len()
}

/// Plants models of every design and counts; `tick` is called after each design.
#[must_use]
pub fn factor_sizes(
    (reports, seed): (u32, u64),
    threads: usize,
    tick: &(dyn Fn() + Sync),
) -> FactorSizeReport {
    let rows = in_parallel(&FactorSizeDesign::all(), threads, |design| {
        let found = design.sizes(reports, seed);
        tick();
        row(design, found)
    });
    FactorSizeReport { reports, seed, rows }
}

fn row(design: &FactorSizeDesign, found: FactorSizes) -> FactorSizeRow {
    FactorSizeRow {
        tasks: design.tasks(),
        samples: design.samples,
        models: design.models,
        skill: match design.skill {
            PlantedSkill::Even => "even",
            PlantedSkill::AllOrNothing => "all or nothing",
        },
        shares: design.shares,
        interval: found.interval,
        pairs: found.pairs,
        any_pair: found.any_pair,
        ranks: found.ranks,
        power: found.power,
    }
}

impl FactorSizeReport {
    /// The table of all designs.
    #[must_use]
    pub fn table(&self) -> TableData {
        let title = format!(
            "True sizes over {} reports a row; nominal 95, and at most 5, 5, 5 %",
            self.reports
        );
        let share = |own: &FactorSizeRow| match own.shares {
            (first, second) if second < first => format!("{first} and {second}"),
            (share, _) => share.to_string(),
        };
        RowTable::new(title, &self.rows)
            .count("tasks", |own| own.tasks)
            .count("samples", |own| own.samples)
            .count("models", |own| own.models)
            .text("skill by family", |own| own.skill)
            .text("true share", share)
            .column(("95 % interval holds", Right), |own| {
                TableCell::Percent(own.interval)
            })
            .column(("equal pair p < .05", Right), |own| TableCell::Percent(own.pairs))
            .column(("any equal pair apart", Right), |own| {
                TableCell::Percent(own.any_pair)
            })
            .column(("any places lack", Right), |own| TableCell::Percent(own.ranks))
            .column(("unequal pairs apart", Right), |own| {
                TableCell::optional(own.power, TableCell::Percent)
            })
            .table()
    }
}
