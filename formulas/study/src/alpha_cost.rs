//! What a study costs: seconds an alpha of each figure, and requests, tokens and money of the models behind it.
//!
//! Seconds differ from run to run, so that they have files of their own and no part in a report.

use crate::alpha_batch::BatchTask;
use crate::alpha_exchange::AlphaExchange;
use crate::alpha_found::AlphaFound;
use crate::figure_columns::FigureColumns;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use ktd_alphas::{
    DayTable, StabilityMode, daily_correlations, pool_diversity, portfolio_test, rank_stability,
    sharpe_interval,
};
use ktd_expressions::CheckedFormula;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::{json_bytes, list_if_exists, parse_json, read_if_exists};
use ktd_record::spending::Spending;
use ktd_stats::moments::count;
use ktd_study::{Hands, Opening, StudyError};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Alphas that are measured, the first of the study.
const SAMPLE: usize = 5;

/// What a figure costs on the machine that measured it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct FigureCost {
    /// The figure, as the table of alphas calls it.
    pub figure: String,
    /// Seconds an alpha, one thread but for values and robustness.
    pub seconds: f64,
}

/// What the models of a study have cost.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ModelCost {
    /// `miner` or `judge`.
    pub role: String,
    /// The pool that it found, or its name among the judges.
    pub id: String,
    /// Requests that were sent.
    pub calls: u64,
    /// Tokens of requests and replies.
    pub tokens: u64,
    /// Money in US dollars; none where prices are not known.
    pub usd: Option<f64>,
}

/// What a study costs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct StudyCost {
    /// The split whose days were measured.
    pub split: String,
    /// Its days.
    pub days: usize,
    /// Instruments.
    pub names: usize,
    /// Alphas that were measured.
    pub alphas: usize,
    /// By figure.
    pub figures: Vec<FigureCost>,
    /// By model.
    pub models: Vec<ModelCost>,
}

/// Measures the first alphas of a study on its last open split, figure by figure, and reads what models have spent; both
/// are written to `cost.json` and `cost.csv` of the study's folder. `seconds` is a clock.
///
/// # Errors
/// [`StudyError`] when something cannot be evaluated, read or written.
pub fn measure_cost(
    open: &OpenStudy,
    at: &Opening<'_>,
    seconds: &dyn Fn() -> f64,
) -> Result<StudyCost, StudyError> {
    let tables = open.tables();
    let splits = open.split_tables(&tables)?;
    let task = open.score_task(at.threads);
    let mut formulas = open.formulas();
    formulas.truncate(SAMPLE);
    let last = splits
        .last()
        .ok_or_else(|| StudyError::input("no split is open", "give a split"))?;
    let batch = BatchTask {
        open,
        task: &task,
        splits: std::slice::from_ref(last),
        sigma: open.sigma()?,
        exchange: None,
    };
    let cost = StudyCost {
        split: last.name.to_owned(),
        days: last.split.days.len(),
        names: open.data.stocks().count(),
        alphas: formulas.len(),
        figures: figures(&batch, (last, &formulas), seconds)?,
        models: models(open, at.base)?,
    };
    let path = at.out.join("cost.json");
    let json = json_bytes(&path, &cost)?;
    let csv = ReportTable::new("cost", cost_table(&cost)).csv().into_bytes();
    replace_report(&[(path, json), (at.out.join("cost.csv"), csv)], &[])?;
    Ok(cost)
}

/// Seconds by what is done.
struct Meter<'c> {
    clock: &'c dyn Fn() -> f64,
    alphas: f64,
    found: Vec<FigureCost>,
}

impl Meter<'_> {
    fn timed<T>(&mut self, figure: &str, work: impl FnOnce() -> T) -> T {
        let before = (self.clock)();
        let done = work();
        let seconds = ((self.clock)() - before) / self.alphas;
        self.found.push(FigureCost {
            figure: figure.to_owned(),
            seconds,
        });
        done
    }
}

fn figures(
    batch: &BatchTask<'_>,
    (last, formulas): (&SplitTables<'_>, &[CheckedFormula]),
    clock: &dyn Fn() -> f64,
) -> Result<Vec<FigureCost>, StudyError> {
    let mut meter = Meter {
        clock,
        alphas: count(formulas.len()),
        found: Vec::new(),
    };
    let columns = meter.timed("values", || {
        batch.task.columns(&batch.open.data.panel, formulas, &mut || ())
    })?;
    let scores: Vec<DayTable> = (0..formulas.len()).map(|place| columns.table(place)).collect();
    let split = &last.split;
    let (members, days, least) = (split.members, &split.label_days, split.min_names);
    meter.timed("PPS", || {
        let of = |scores: &DayTable| daily_correlations(scores, split.labels, members, days, least);
        scores
            .iter()
            .filter_map(|scores| of(scores).power(split.beta).ok())
            .count()
    });
    meter.timed("RRE", || {
        let of =
            |scores: &DayTable| rank_stability(scores, members, &split.days, least, StabilityMode::Common);
        scores.iter().filter_map(|scores| of(scores).ok()).count()
    });
    meter.timed("SR", || {
        let of =
            |scores: &DayTable| portfolio_test(scores, split.labels, members, days, split.portfolio_terms());
        scores.iter().filter_map(|scores| of(scores).ok()).count()
    });
    let mut found: Vec<AlphaFound> = scores.iter().map(|table| batch.alpha(table.clone())).collect();
    meter.timed("intervals", || {
        let returns = found.iter().flat_map(|alpha| &alpha.splits);
        returns
            .filter(|split| sharpe_interval(&split.returns).is_ok())
            .count()
    });
    if batch.sigma.is_some() {
        meter.timed("PFS", || {
            let forms: Vec<&str> = formulas.iter().map(CheckedFormula::canonical).collect();
            let hands = Hands::unrecorded(&ktd_study::Unheard, batch.task.threads);
            let (draws, _) = batch.draws(&|| Ok(&columns), (formulas, &forms), &hands)?;
            batch.add_robustness(&mut found, &draws);
            Ok::<(), StudyError>(())
        })?;
    }
    meter.timed("DE", || {
        pool_diversity(&scores.iter().collect::<Vec<_>>(), members, &split.days).is_ok()
    });
    if let Some(exchange) = AlphaExchange::of(batch.open) {
        meter.timed("SR through the exchange", || {
            for (alpha, scores) in found.iter_mut().zip(&scores) {
                if let Some(of_split) = alpha.splits.first_mut() {
                    exchange.add_figures(&mut of_split.row, scores, last);
                }
            }
        });
    }
    Ok(meter.found)
}

/// What models have spent: those that found pools, and the judges.
fn models(open: &OpenStudy, base: &Path) -> Result<Vec<ModelCost>, StudyError> {
    let mined = open.study.pools.iter();
    let mined = mined.filter_map(|pool| Some(("miner", pool.id.clone(), pool.mined.as_ref()?)));
    let judged = open
        .study
        .judged
        .iter()
        .map(|folder| ("judge", open.study.name.clone(), folder));
    let mut found = Vec::new();
    for (role, id, folder) in mined.chain(judged) {
        for unit in list_if_exists(&base.join(folder).join("units"))? {
            let path = unit.join("spending.json");
            let Some(bytes) = read_if_exists(&path)? else {
                continue;
            };
            let spending: Spending = parse_json(&path, &bytes)?;
            let sends = spending.sends;
            let unknown = sends.incomplete + sends.unknown + sends.uncharged;
            found.push(ModelCost {
                role: role.to_owned(),
                id: id.clone(),
                calls: sends.reported + sends.estimated + unknown,
                tokens: spending.tokens.all(),
                usd: spending.total().map(ktd_experiment::amount::Picodollars::to_usd),
            });
        }
    }
    Ok(found)
}

/// What a study costs, figure by figure and model by model.
#[must_use]
pub fn cost_table(cost: &StudyCost) -> TableData {
    let figures = cost
        .figures
        .iter()
        .map(|row| (row.figure.clone(), Some(row.seconds), None));
    let models = cost
        .models
        .iter()
        .map(|row| (format!("{} {}", row.role, row.id), None, Some(row)));
    let rows: Vec<(String, Option<f64>, Option<&ModelCost>)> = figures.chain(models).collect();
    let whole = |number: Option<u64>| match number {
        Some(number) => TableCell::Count(usize::try_from(number).unwrap_or(usize::MAX)),
        None => TableCell::Empty,
    };
    let title = format!(
        "cost on this machine: {} alphas, split {}, {} instruments, {} days",
        cost.alphas, cost.split, cost.names, cost.days
    );
    RowTable::new(title, &rows)
        .text("of", |(of, _, _)| of)
        .fine("seconds an alpha", |(_, seconds, _)| *seconds)
        .right("calls", |(_, _, model)| whole(model.map(|model| model.calls)))
        .right("tokens", |(_, _, model)| whole(model.map(|model| model.tokens)))
        .fine("USD", |(_, _, model)| model.and_then(|model| model.usd))
        .table()
}
