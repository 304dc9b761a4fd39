//! The rows of a report: alphas, pools and their combinations over the days of a split.

use crate::StudyError;
use crate::alpha_report::{
    AlphaReport, AlphaRow, CombinationRow, Figure, FigureRow, PoolRow, SplitRow, coded,
};
use crate::open_study::{OpenStudy, StudyTables};
use crate::study_pool::StudyPool;
use ktd_alphas::{
    AlphaEvaluation, DayTable, EvaluationSplit, composite_scores, correlation_weights, daily_z_scores,
    equal_weights, evaluate_alpha, line_fit, pool_diversity, ridge_weights, shared_mean_intervals,
    weighted_combination,
};
use ktd_io::parallel::in_parallel;
use ktd_stats::moments::mean;
use ktd_stats::{Interval, Undefined};

/// Figures of which a pool shows the mean over its alphas.
const AVERAGED: [&str; 10] = [
    "pps",
    "ic",
    "rank_ic",
    "rre",
    "pfs",
    "pfs_n",
    "pfs_t",
    "turnover",
    "composite",
    "logic",
];

/// What a split's rows are made from.
#[derive(Debug)]
pub(crate) struct SplitTables<'s> {
    place: usize,
    name: &'static str,
    tables: &'s StudyTables,
    split: EvaluationSplit<'s>,
    train_days: Option<Vec<usize>>,
}

impl<'s> SplitTables<'s> {
    pub(crate) fn new(open: &'s OpenStudy, tables: &'s StudyTables, place: usize) -> Self {
        let first = tables.window.start;
        let span = open.splits.get(place);
        let train = open.splits.iter().find(|split| split.name == "train");
        Self {
            place,
            name: span.map_or("", |span| span.name),
            tables,
            split: EvaluationSplit {
                labels: &tables.labels,
                other_labels: &tables.other_labels,
                members: &tables.members,
                days: span.map(|span| span.days(first)).unwrap_or_default(),
                label_days: span.map(|span| span.label_days(first)).unwrap_or_default(),
                min_names: open.study.min_names,
                beta: open.study.beta,
            },
            train_days: train.map(|train| train.label_days(first)),
        }
    }
}

/// Adds the rows of a split.
pub(crate) fn add_split(
    report: &mut AlphaReport,
    open: &OpenStudy,
    split: &SplitTables<'_>,
) -> Result<(), StudyError> {
    let scores = &split.tables.scores;
    let evaluations = in_parallel(scores, open.run.threads, |scores| {
        evaluate_alpha(scores, &split.split)
    });
    let intervals = intervals(&evaluations, open, split)?;
    let mut rows: Vec<AlphaRow> = Vec::with_capacity(scores.len());
    for pool in &open.pools {
        for place in 0..pool.set.checked.len() {
            let alpha = rows.len();
            if let (Some(evaluation), Some(interval)) = (evaluations.get(alpha), intervals.get(alpha)) {
                rows.extend(alpha_row(
                    open,
                    split,
                    (pool, place),
                    alpha,
                    (evaluation, interval),
                ));
            }
        }
    }
    add_composites(&mut rows);
    report.splits.push(split_row(open, split, &rows));
    let mut first = 0;
    for pool in &open.pools {
        let alphas = first..first + pool.set.checked.len();
        first = alphas.end;
        let (scores, rows) = (scores.get(alphas.clone()), rows.get(alphas));
        let (scores, rows) = (scores.unwrap_or_default(), rows.unwrap_or_default());
        add_pool(report, open, split, pool, (scores, rows));
    }
    report.alphas.extend(rows);
    Ok(())
}

fn intervals(
    evaluations: &[AlphaEvaluation],
    open: &OpenStudy,
    split: &SplitTables<'_>,
) -> Result<Vec<Result<Interval, Undefined>>, StudyError> {
    let (beta, days) = (open.study.beta, &split.split.label_days);
    let first = days.first().copied().unwrap_or(0);
    let series: Vec<Vec<(usize, f64)>> = evaluations
        .iter()
        .map(|evaluation| {
            let days = evaluation.daily.days.iter();
            days.map(|day| (day.day - first, beta * day.ic + (1.0 - beta) * day.rank_ic))
                .collect()
        })
        .collect();
    shared_mean_intervals(&series, days.len(), open.study.seed).map_err(StudyError::invalid)
}

fn alpha_row(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    (pool, place): (&StudyPool, usize),
    alpha: usize,
    (evaluation, interval): (&AlphaEvaluation, &Result<Interval, Undefined>),
) -> Option<AlphaRow> {
    let (line, formula) = pool.set.checked.get(place)?;
    let mut row = FigureRow::default();
    add_evaluation(&mut row, evaluation, open.label_words().1);
    row.put("pps_low", coded(*interval).map(|interval| interval.lower));
    row.put("pps_high", coded(*interval).map(|interval| interval.upper));
    let robustness = |law: usize| -> Figure {
        if open.study.noise.draws == 0 {
            return Err("no_noise".to_owned());
        }
        let laws = split.tables.robustness.get(split.place);
        let of_law = laws.and_then(|laws| laws.get(law)?.get(alpha).copied().flatten());
        of_law.ok_or_else(|| "too_few_days".to_owned())
    };
    let (normal, student) = (robustness(0), robustness(1));
    let both = normal.clone().and_then(|normal| Ok((normal, student.clone()?)));
    row.put(
        "pfs",
        both.clone()
            .map(|(normal, student)| f64::midpoint(normal, student)),
    );
    row.put("pfs_min", both.map(|(normal, student)| normal.min(student)));
    row.put("pfs_n", normal);
    row.put("pfs_t", student);
    row.put("logic", open.logic.of(formula.canonical()));
    Some(AlphaRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        id: line.id.clone(),
        formula: formula.canonical().to_owned(),
        is_turned: split.tables.turned.get(alpha).copied().unwrap_or(false),
        duplicate_of: pool.set.duplicate_of(place).map(str::to_owned),
        is_constant: evaluation.is_constant,
        row,
    })
}

/// The figures that alphas and combinations share.
fn add_evaluation(row: &mut FigureRow, evaluation: &AlphaEvaluation, other_label: &str) {
    let count = ktd_stats::moments::count;
    let power = coded(evaluation.power);
    let mut put = |name: &str, figure: Figure| row.put(name, figure);
    put("days", Ok(count(evaluation.daily.days.len())));
    put("left_out", Ok(count(evaluation.daily.left_out)));
    put("pps", power.clone().map(|power| power.score));
    put("ic", power.clone().map(|power| power.ic));
    put("rank_ic", power.clone().map(|power| power.rank_ic));
    put("icir", power.clone().and_then(|power| coded(power.ic_ratio)));
    put(
        "rank_icir",
        power.clone().and_then(|power| coded(power.rank_ic_ratio)),
    );
    put("nw_t", power.and_then(|power| coded(power.rank_ic_t)));
    let other = coded(evaluation.other_power);
    put(
        &format!("pps_{other_label}"),
        other.clone().map(|power| power.score),
    );
    put(&format!("ic_{other_label}"), other.clone().map(|power| power.ic));
    put(
        &format!("rank_ic_{other_label}"),
        other.map(|power| power.rank_ic),
    );
    put(
        "rre",
        coded(evaluation.stability).map(|stability| stability.score),
    );
    let test = coded(evaluation.portfolio.as_ref().map_err(|reason| *reason));
    put("turnover", test.clone().and_then(|test| coded(test.turnover)));
    put("ar", test.clone().map(|test| test.annual_return));
    put("sr", test.clone().and_then(|test| coded(test.sharpe)));
    put("mdd", test.clone().map(|test| test.max_drawdown));
    put("without_label", test.map(|test| count(test.without_label)));
    let test = coded(evaluation.with_costs.as_ref().map_err(|reason| *reason));
    put("ar_10bps", test.clone().map(|test| test.annual_return));
    put("sr_10bps", test.and_then(|test| coded(test.sharpe)));
}

fn add_composites(rows: &mut [AlphaRow]) {
    let column = |name: &str| -> Vec<Option<f64>> { rows.iter().map(|row| row.row.get(name)).collect() };
    let composites = composite_scores(&["pps", "rre", "pfs", "logic"].map(column));
    for (row, composite) in rows.iter_mut().zip(composites) {
        row.row.put("composite", coded(composite));
    }
}

fn split_row(open: &OpenStudy, split: &SplitTables<'_>, rows: &[AlphaRow]) -> SplitRow {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some((row.row.get("rre")?, row.row.get("turnover")?)))
        .filter(|(_, turnover)| 0.0 < *turnover)
        .collect();
    let fit = coded(line_fit(&points));
    let mut row = FigureRow::default();
    row.put("slope", fit.clone().map(|fit| fit.slope));
    row.put("slope_error", fit.clone().map(|fit| fit.slope_error));
    row.put("intercept", fit.clone().map(|fit| fit.intercept));
    row.put("intercept_error", fit.clone().map(|fit| fit.intercept_error));
    row.put("p", fit.clone().map(|fit| fit.p));
    row.put("r_squared", fit.map(|fit| fit.r_squared));
    let day = |place: Option<&usize>| {
        let session = place.map(|day| split.tables.window.start + day);
        let day = session.and_then(|session| open.data.panel.calendar.get(session));
        day.map(|day| day.reveal()).unwrap_or_default()
    };
    let days = &split.split.days;
    SplitRow {
        split: split.name.to_owned(),
        from: day(days.first()),
        to: day(days.last()),
        days: days.len(),
        label_days: split.split.label_days.len(),
        cells: split.tables.members.cells(days),
        points: points.len(),
        row,
    }
}

fn add_pool(
    report: &mut AlphaReport,
    open: &OpenStudy,
    split: &SplitTables<'_>,
    pool: &StudyPool,
    (scores, rows): (&[DayTable], &[AlphaRow]),
) {
    let (members, days) = (split.split.members, &split.split.days);
    let z_scores = in_parallel(scores, open.run.threads, |scores| daily_z_scores(scores, members));
    let z_scores: Vec<&DayTable> = z_scores.iter().collect();
    let mut row = FigureRow::default();
    for name in AVERAGED {
        let values: Vec<f64> = rows.iter().filter_map(|row| row.row.get(name)).collect();
        row.put(name, mean(&values).ok_or_else(|| "no_alpha_has_it".to_owned()));
    }
    row.put(
        "de",
        coded(pool_diversity(&z_scores, members, days)).map(|found| found.score),
    );
    report.pools.push(PoolRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        alphas: rows.len(),
        duplicates: rows.iter().filter(|row| row.duplicate_of.is_some()).count(),
        constants: rows.iter().filter(|row| row.is_constant).count(),
        refused: pool.set.refused.len(),
        tried: pool.tried,
        row,
    });
    for (weights, found) in weights(open, split, scores, &z_scores) {
        let mut row = FigureRow::default();
        match found {
            Ok(found) => {
                let combined = weighted_combination(&z_scores, &found, members);
                let evaluation = evaluate_alpha(&combined, &split.split);
                add_evaluation(&mut row, &evaluation, open.label_words().1);
            }
            Err(reason) => row.put("pps", Err(reason)),
        }
        report.combinations.push(CombinationRow {
            split: split.name.to_owned(),
            pool: pool.id.clone(),
            weights: weights.to_owned(),
            row,
        });
    }
}

type Weights = (&'static str, Result<Vec<f64>, String>);

fn weights(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    scores: &[DayTable],
    z_scores: &[&DayTable],
) -> [Weights; 3] {
    let (labels, members, study) = (split.split.labels, split.split.members, &open.study);
    let train = split
        .train_days
        .as_ref()
        .ok_or_else(|| "no_train_split".to_owned());
    let scores: Vec<&DayTable> = scores.iter().collect();
    let by_correlation = train.clone().and_then(|days| {
        let weights = correlation_weights(&scores, labels, members, days, study.min_names);
        let is_any = weights.iter().any(|weight| 0.0 < *weight);
        if is_any {
            Ok(weights)
        } else {
            Err("no_positive_weight".to_owned())
        }
    });
    let ridge = train.and_then(|days| {
        let z_labels = daily_z_scores(labels, members);
        coded(ridge_weights(
            z_scores,
            &z_labels,
            members,
            days,
            study.ridge_penalty,
        ))
    });
    [
        ("equal", Ok(equal_weights(z_scores.len()))),
        ("ic", by_correlation),
        ("ridge", ridge),
    ]
}
