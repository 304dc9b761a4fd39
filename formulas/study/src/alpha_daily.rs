//! What the figures of alphas are made of, day by day, so that anybody can make them again.

use crate::alpha_batch::BatchTask;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use ktd_alphas::{AlphaEvaluation, DayTable, evaluate_alpha, portfolio_weights};
use ktd_io::parallel::in_parallel;
use ktd_io::whole_file::create_directory;
use ktd_study::{Opening, RowCells, RowsFile, StudyError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Alphas that are evaluated before their rows are written.
const AT_ONCE: usize = 8;

/// Days of each alpha: its correlations with the label, and what its portfolio earned.
const DAY_COLUMNS: [(&str, RowCells); 8] = [
    ("split", RowCells::Text),
    ("pool", RowCells::Text),
    ("id", RowCells::Text),
    ("date", RowCells::Text),
    ("ic", RowCells::Number),
    ("rank_ic", RowCells::Number),
    ("gross", RowCells::Number),
    ("net", RowCells::Number),
];

/// Names that each alpha's portfolio holds from a day on.
const WEIGHT_COLUMNS: [(&str, RowCells); 6] = [
    ("split", RowCells::Text),
    ("pool", RowCells::Text),
    ("id", RowCells::Text),
    ("date", RowCells::Text),
    ("symbol", RowCells::Text),
    ("weight", RowCells::Number),
];

type Rows = Vec<Vec<Value>>;

/// Writes `days.parquet` and `weights.parquet` of a study's alphas into a folder: all days of the open splits whose labels end
/// within them.
///
/// # Errors
/// [`StudyError`] when something cannot be evaluated or written.
pub fn write_daily(open: &OpenStudy, at: &Opening<'_>, folder: &Path) -> Result<(), StudyError> {
    let tables = open.tables();
    let splits = open.split_tables(&tables)?;
    let task = open.score_task(at.threads);
    let batch = BatchTask {
        open,
        task: &task,
        splits: &splits,
        sigma: None,
        exchange: None,
    };
    create_directory(folder)?;
    let mut days = RowsFile::create(&folder.join("days.parquet"), &DAY_COLUMNS)?;
    let mut weights = RowsFile::create(&folder.join("weights.parquet"), &WEIGHT_COLUMNS)?;
    for pool in &open.pools {
        for some in pool.set.checked.chunks(open.batch().min(AT_ONCE)) {
            let formulas: Vec<_> = some.iter().map(|(_, formula)| formula.clone()).collect();
            let columns = task.columns(&open.data.panel, &formulas, &mut || ())?;
            let places: Vec<usize> = (0..some.len()).collect();
            let made = in_parallel(&places, at.threads, |place| {
                let scores = batch.oriented(columns.table(*place)).0;
                let id = some.get(*place).map_or("", |(line, _)| line.id.as_str());
                let of_split = |split| rows_of_split(open, split, &scores, (&pool.id, id));
                splits.iter().map(of_split).collect::<Vec<(Rows, Rows)>>()
            });
            for (of_days, of_weights) in made.into_iter().flatten() {
                days.add(&of_days)?;
                weights.add(&of_weights)?;
            }
        }
    }
    days.finish()?;
    weights.finish()
}

/// The rows of an alpha on a split: of its days, and of what it holds on them.
fn rows_of_split(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    scores: &DayTable,
    (pool, id): (&str, &str),
) -> (Rows, Rows) {
    let codes: Vec<&str> = open.data.stocks().map(|(stock, _)| stock.code.as_str()).collect();
    let (members, terms) = (split.split.members, split.split.portfolio_terms());
    let evaluation = evaluate_alpha(scores, &split.split);
    let earned = |series: ktd_alphas::DaySeries| series.into_iter().collect::<BTreeMap<usize, f64>>();
    let (gross, net) = (earned(evaluation.returns()), earned(evaluation.net_returns()));
    let correlations = correlations(&evaluation);
    let (mut days, mut weights) = (Vec::new(), Vec::new());
    for day in &split.split.label_days {
        let date = open.day_of(Some(day));
        let known = correlations.get(day);
        days.push(vec![
            json!(split.name),
            json!(pool),
            json!(id),
            json!(date),
            json!(known.map(|(ic, _)| ic)),
            json!(known.map(|(_, rank_ic)| rank_ic)),
            json!(gross.get(day)),
            json!(net.get(day)),
        ]);
        let held = portfolio_weights(scores.day(*day), members.day(*day), terms).unwrap_or_default();
        for (code, weight) in codes.iter().zip(held).filter(|(_, weight)| weight.abs() > 0.0) {
            weights.push(vec![
                json!(split.name),
                json!(pool),
                json!(id),
                json!(date),
                json!(code),
                json!(weight),
            ]);
        }
    }
    (days, weights)
}

fn correlations(evaluation: &AlphaEvaluation) -> BTreeMap<usize, (f64, f64)> {
    let days = evaluation.daily.days.iter();
    days.map(|day| (day.day, (day.ic, day.rank_ic))).collect()
}
