//! What a study costs: seconds an alpha of each figure, and requests, tokens and money of the models behind it.
//!
//! Seconds differ from run to run, so that they have files of their own and no part in a report.

use crate::FormulaStudyError;
use crate::alpha_batch::BatchTask;
use crate::alpha_exchange::AlphaExchange;
use crate::alpha_found::AlphaFound;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use crate::study_values::ScoreTask;
use ktd_alphas::{
    DayTable, PortfolioTerms, StabilityMode, daily_correlations, pool_diversity, portfolio_test,
    rank_stability,
};
use ktd_expressions::CheckedFormula;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, list, parse_json, read_bounded};
use ktd_record::spending::Spending;
use ktd_stats::moments::count;
use ktd_study::{Hands, StudyError};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
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
    folder: &Path,
    seconds: &dyn Fn() -> f64,
) -> Result<StudyCost, StudyError> {
    let tables = open.tables();
    let spans = open.splits.iter();
    let splits: Vec<SplitTables<'_>> = spans.map(|span| SplitTables::new(open, &tables, span)).collect();
    let task = ScoreTask {
        data: &open.data,
        precision: open.study.numeric.precision(),
        window: tables.window.clone(),
        threads: open.run.threads,
    };
    let mut formulas = open.formulas();
    formulas.truncate(SAMPLE);
    let Some(last) = splits.last() else {
        return Err(StudyError::input("no split is open", "give a split"));
    };
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
        models: models(open, folder)?,
    };
    let path = folder.join("cost.json");
    let json = json_bytes(&path, &cost)?;
    let csv = ReportTable::new("cost", cost_table(&cost)).csv().into_bytes();
    replace_report(&[(path, json), (folder.join("cost.csv"), csv)], &[])?;
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
        let daily = |scores: &DayTable| daily_correlations(scores, split.labels, members, days, least);
        scores
            .iter()
            .filter_map(|scores| daily(scores).power(split.beta).ok())
            .count()
    });
    meter.timed("RRE", || {
        let of =
            |scores: &DayTable| rank_stability(scores, members, &split.days, least, StabilityMode::Common);
        scores.iter().filter_map(|scores| of(scores).ok()).count()
    });
    meter.timed("SR", || {
        let terms = PortfolioTerms {
            min_names: least,
            ..PortfolioTerms::default()
        };
        let of = |scores: &DayTable| portfolio_test(scores, split.labels, members, days, terms);
        scores.iter().filter_map(|scores| of(scores).ok()).count()
    });
    let (mut found, mut evaluations): (Vec<AlphaFound>, Vec<_>) = (Vec::new(), Vec::new());
    for table in &scores {
        let (alpha, mut of_split) = batch.alpha(table.clone());
        found.push(alpha);
        evaluations.append(&mut of_split);
    }
    meter.timed("intervals", || {
        batch.add_intervals(last, evaluations.iter().collect(), 0, &mut found)
    })?;
    if batch.sigma.is_some() {
        meter.timed("PFS", || {
            let forms: Vec<&str> = formulas.iter().map(CheckedFormula::canonical).collect();
            let hands = Hands::unrecorded(&ktd_study::Unheard, batch.task.threads);
            batch.add_robustness(&|| Ok(&columns), (formulas, &forms), &mut found, &hands)
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
fn models(open: &OpenStudy, folder: &Path) -> Result<Vec<ModelCost>, FormulaStudyError> {
    let mut found = Vec::new();
    for pool in &open.study.pools {
        if let Some(mined) = &pool.mined {
            found.extend(spent("miner", &pool.id, mined)?);
        }
    }
    let judges = folder.join("judge").join("units");
    if judges.is_dir() {
        let mut folders = list(&judges)?;
        folders.sort();
        for judge in folders {
            let id = judge.file_name().map(|name| name.to_string_lossy().into_owned());
            found.extend(spent("judge", &id.unwrap_or_default(), &judge)?);
        }
    }
    Ok(found)
}

fn spent(role: &str, id: &str, folder: &Path) -> Result<Option<ModelCost>, FormulaStudyError> {
    let path = folder.join("spending.json");
    if !path.exists() {
        return Ok(None);
    }
    let spending: Spending = parse_json(&path, &read_bounded(&path, JSON_LIMIT_BYTES)?)?;
    let sends = spending.sends;
    let calls = [
        sends.reported,
        sends.estimated,
        sends.incomplete,
        sends.unknown,
        sends.uncharged,
    ];
    Ok(Some(ModelCost {
        role: role.to_owned(),
        id: id.to_owned(),
        calls: calls.into_iter().fold(0, u64::saturating_add),
        tokens: spending.tokens.all(),
        usd: spending.total().map(ktd_experiment::amount::Picodollars::to_usd),
    }))
}

/// What a study costs, figure by figure and model by model.
#[must_use]
pub fn cost_table(cost: &StudyCost) -> TableData {
    let heads = [
        ("of", Left),
        ("seconds an alpha", Right),
        ("calls", Right),
        ("tokens", Right),
        ("USD", Right),
    ];
    let figures = cost.figures.iter().map(|row| {
        vec![
            TableCell::Text(row.figure.clone()),
            TableCell::Fine(row.seconds),
            TableCell::Empty,
            TableCell::Empty,
            TableCell::Empty,
        ]
    });
    let whole = |number: u64| TableCell::Count(usize::try_from(number).unwrap_or(usize::MAX));
    let models = cost.models.iter().map(|row| {
        vec![
            TableCell::Text(format!("{} {}", row.role, row.id)),
            TableCell::Empty,
            whole(row.calls),
            whole(row.tokens),
            TableCell::optional(row.usd, TableCell::Fine),
        ]
    });
    let title = format!(
        "cost on this machine: {} alphas, split {}, {} instruments, {} days",
        cost.alphas, cost.split, cost.names, cost.days
    );
    TableData::new(title, heads).with_rows(figures.chain(models))
}
