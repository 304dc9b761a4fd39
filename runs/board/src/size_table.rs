//! The table of true sizes of what a board concludes.

use ktd_attribution::sizes::{PlantedShocks, SizeDesign, TrueSizes};
use ktd_io::parallel::in_parallel;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;

/// How many boards are planted, and by which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeOptions {
    /// Boards of each design.
    pub boards: u32,
    /// Random turns by which each is judged.
    pub replicates: u32,
    /// The seed of all.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
}

/// How often boards of agents without skill were wrong, design by design.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct SizeReport {
    /// Boards of each design.
    pub boards: u32,
    /// The seed of all.
    pub seed: u64,
    /// One a design.
    pub rows: Vec<SizeRow>,
}

/// One design. Shares are of boards, intervals or pairs.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct SizeRow {
    /// How selections came about.
    pub shocks: String,
    /// Agents on a board.
    pub agents: usize,
    /// Days of a window.
    pub days: usize,
    /// White's p at most .05; none where seeds or windows truly differ.
    pub white: Option<f64>,
    /// Hansen's p at most .05; none where seeds or windows truly differ.
    pub hansen: Option<f64>,
    /// 95 % intervals that hold the truth.
    pub interval: f64,
    /// Equal pairs told apart at 10 %.
    pub pairs: f64,
    /// Boards with a rank set that lacks a rank.
    pub ranks: f64,
    /// Whether the stated sizes are not claimed of such a design.
    pub is_exempt: bool,
}

/// How many designs there are.
#[must_use]
pub fn designs() -> usize {
    SizeDesign::all().len()
}

/// Plants boards of every design and counts; `tick` is called after each design.
#[must_use]
pub fn sizes(options: SizeOptions, tick: &(dyn Fn() + Sync)) -> SizeReport {
    let rows = in_parallel(&SizeDesign::all(), options.threads, |design| {
        let found = design.sizes((options.boards, options.replicates), options.seed);
        tick();
        row(design, &found)
    });
    SizeReport {
        boards: options.boards,
        seed: options.seed,
        rows,
    }
}

fn row(design: &SizeDesign, found: &TrueSizes) -> SizeRow {
    SizeRow {
        shocks: match design.shocks {
            PlantedShocks::Independent => "independent".to_owned(),
            PlantedShocks::Persistent(correlation) => format!("persistent {correlation}"),
            PlantedShocks::FatTailed => "fat-tailed".to_owned(),
            PlantedShocks::Sectors => "sectors".to_owned(),
            PlantedShocks::Seeds => "3 seeds".to_owned(),
            PlantedShocks::Windows(windows) => format!("{windows} windows"),
        },
        agents: design.agents,
        days: design.days,
        white: found.white,
        hansen: found.hansen,
        interval: found.interval,
        pairs: found.pairs,
        ranks: found.ranks,
        is_exempt: design.is_exempt(),
    }
}

impl SizeReport {
    /// The table of all designs.
    #[must_use]
    pub fn table(&self) -> TableData {
        let heads = [
            ("shocks", Left),
            ("agents", Right),
            ("days", Right),
            ("White p < .05", Right),
            ("Hansen p < .05", Right),
            ("95 % interval holds", Right),
            ("equal pairs apart", Right),
            ("any rank lacks", Right),
            ("", Left),
        ];
        let rows = self.rows.iter().map(|row| {
            vec![
                TableCell::Text(row.shocks.clone()),
                TableCell::Count(row.agents),
                TableCell::Count(row.days),
                TableCell::optional(row.white, TableCell::Percent),
                TableCell::optional(row.hansen, TableCell::Percent),
                TableCell::Percent(row.interval),
                TableCell::Percent(row.pairs),
                TableCell::Percent(row.ranks),
                TableCell::Text(if row.is_exempt {
                    "not claimed".to_owned()
                } else {
                    String::new()
                }),
            ]
        });
        let title = format!(
            "True sizes over {} boards a row; nominal 5, 5, 95, 10, 5 %",
            self.boards
        );
        TableData::new(title, heads).with_rows(rows)
    }
}
