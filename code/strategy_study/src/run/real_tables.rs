//! Tables of submitted programs on real bars, beside the reference.

use super::found::SubmissionFound;
use super::selection::selection_table;
use crate::bars::{EarnedRow, FillRow, RealRow, RealVersion};
use crate::cells::text;
use ktd_stats::{Sample, median};
use ktd_strategy_code::COSTS_BPS;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde::{Deserialize, Serialize};

/// What the iterations of one submission earned on real bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct RealSubmission {
    /// The model.
    pub model: String,
    /// The document.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// Whether that one passes all gates.
    pub is_valid: bool,
    /// Whether a fault of the infrastructure ended it early: its versions are trials, and it has no row.
    pub is_lost: bool,
    /// Whether it starts with the last version of another experiment, whose versions are no trials here.
    pub is_continued: bool,
    /// Its iterations with a program.
    pub versions: Vec<RealVersion>,
}

impl RealSubmission {
    /// Those of a submission; none without real bars.
    pub(crate) fn of(found: &SubmissionFound) -> Option<Self> {
        // A lost submission has no result of its own, but what it tried was tried.
        let is_lost = found.lost.is_some();
        Some(Self {
            versions: found.real.clone()?,
            model: found.rows.model.clone(),
            strategy: found.rows.strategy.clone(),
            seed: found.rows.seed,
            ranked: found.rows.ranked,
            is_valid: !is_lost && found.valid().is_some(),
            is_lost,
            is_continued: found.is_continued,
        })
    }
}

/// The table of what ranked versions earn on the test split, that of what each iteration earns on both (medians over series), and
/// that of Sharpe ratios against all trials. None without real bars.
pub(crate) fn real_tables(submissions: &[RealSubmission]) -> Vec<TableData> {
    if submissions.is_empty() {
        return Vec::new();
    }
    vec![
        ranked_table(submissions),
        iteration_table(submissions),
        selection_table(submissions),
    ]
}

/// Submissions that no fault of the infrastructure ended early.
fn kept(submissions: &[RealSubmission]) -> impl Iterator<Item = &RealSubmission> {
    submissions.iter().filter(|submission| !submission.is_lost)
}

/// Rows of a submission's iteration on a split.
fn rows_of<'r>(
    submission: &'r RealSubmission,
    iteration: Option<usize>,
    split: &'r str,
) -> impl Iterator<Item = &'r RealRow> + Clone {
    let versions = submission.versions.iter();
    versions
        .filter(move |version| Some(version.iteration) == iteration)
        .flat_map(|version| &version.rows)
        .filter(move |row| row.split == split)
}

fn middle(values: impl Iterator<Item = f64>, form: fn(f64) -> TableCell) -> TableCell {
    let values: Vec<f64> = values.collect();
    let sample = Sample::new("series", &values).ok();
    let middle = sample.and_then(|sample| median(&sample).ok());
    middle.map_or_else(
        || TableCell::Missing("no series has this figure".to_owned()),
        form,
    )
}

fn ranked_table(submissions: &[RealSubmission]) -> TableData {
    let mut heads = vec![
        ("model".to_owned(), Left),
        ("strategy".to_owned(), Left),
        ("seed".to_owned(), Right),
        ("who".to_owned(), Left),
        ("fill".to_owned(), Left),
        ("runs that end".to_owned(), Left),
    ];
    heads.extend(COSTS_BPS.map(|bps| (format!("{bps} bps"), Right)));
    heads.extend(["Sharpe", "drawdown", "trades"].map(|head| (head.to_owned(), Right)));
    let rows = kept(submissions).flat_map(|submission| {
        let rows = rows_of(submission, submission.ranked, "test");
        let count = rows.clone().count();
        let ended = rows.clone().filter(|row| row.program.is_some()).count();
        let program: Vec<&EarnedRow> = rows.clone().filter_map(|row| row.program.as_ref()).collect();
        let reference: Vec<&EarnedRow> = rows.map(|row| &row.reference).collect();
        let heads = vec![
            text(&submission.model),
            text(&submission.strategy),
            TableCell::Text(submission.seed.to_string()),
        ];
        let line = |who: &str, ended: usize, fill: &str, rows: Vec<&FillRow>| {
            let own = vec![text(who), text(fill), TableCell::Text(format!("{ended}/{count}"))];
            [heads.clone(), own, figures(&rows)].concat()
        };
        let fill = |rows: &[&EarnedRow], of: fn(&EarnedRow) -> &FillRow| -> Vec<FillRow> {
            rows.iter().map(|row| of(row).clone()).collect()
        };
        let close = |row: &[&EarnedRow]| fill(row, |row| &row.own_close);
        let open = |row: &[&EarnedRow]| fill(row, |row| &row.next_open);
        [
            ("program", ended, "own_close", close(&program)),
            ("program", ended, "next_open", open(&program)),
            ("reference", count, "own_close", close(&reference)),
            ("reference", count, "next_open", open(&reference)),
        ]
        .map(|(who, ended, fill, rows)| line(who, ended, fill, rows.iter().collect()))
    });
    let columns = heads.iter().map(|(head, align)| (head.as_str(), *align));
    TableData::new(
        "Total return of ranked versions on test bars after costs, median over series",
        columns,
    )
    .with_rows(rows)
    .with_note(
        "reference: the strategy of the document with the parameters of the card, on the same bars; a run counts where its \
         equity is that of its logged trades at the closes of the bars; look-ahead is not tested on these bars",
    )
}

fn figures(rows: &[&FillRow]) -> Vec<TableCell> {
    let at = |place: usize| rows.iter().filter_map(move |row| row.returns.get(place).copied());
    let mut cells: Vec<TableCell> = (0..COSTS_BPS.len())
        .map(|place| middle(at(place), TableCell::Change))
        .collect();
    cells.push(middle(rows.iter().filter_map(|row| row.sharpe), TableCell::Ratio));
    cells.push(middle(
        rows.iter().map(|row| row.max_drawdown),
        TableCell::Percent,
    ));
    let trades = rows
        .iter()
        .filter_map(|row| u32::try_from(row.trades).ok())
        .map(f64::from);
    cells.push(middle(trades, TableCell::Ratio));
    cells
}

/// What programs of an iteration return on test bars at the next open without costs: the median over submissions and series.
pub(crate) fn test_return(submissions: &[RealSubmission], iteration: usize) -> TableCell {
    let rows = kept(submissions).flat_map(|submission| rows_of(submission, Some(iteration), "test"));
    let programs = rows.filter_map(|row| row.program.as_ref());
    middle(
        programs.filter_map(|program| program.next_open.returns.first().copied()),
        TableCell::Change,
    )
}

/// What each iteration earns, without costs.
fn iteration_table(submissions: &[RealSubmission]) -> TableData {
    let heads = [
        ("model", Left),
        ("strategy", Left),
        ("seed", Right),
        ("iteration", Right),
        ("split", Left),
        ("runs that end", Left),
        ("own close", Right),
        ("next open", Right),
        ("reference", Right),
    ];
    let rows = kept(submissions).flat_map(|submission| {
        submission.versions.iter().flat_map(move |version| {
            ["train", "test"].map(|split| {
                let rows = rows_of(submission, Some(version.iteration), split);
                let free = |row: &FillRow| row.returns.first().copied();
                let own = rows.clone().filter_map(|row| row.program.as_ref());
                let count = rows.clone().count();
                vec![
                    text(&submission.model),
                    text(&submission.strategy),
                    TableCell::Text(submission.seed.to_string()),
                    TableCell::Count(version.iteration),
                    text(split),
                    TableCell::Text(format!("{}/{count}", own.clone().count())),
                    middle(
                        own.clone().filter_map(|row| free(&row.own_close)),
                        TableCell::Change,
                    ),
                    middle(own.filter_map(|row| free(&row.next_open)), TableCell::Change),
                    middle(
                        rows.filter_map(|row| free(&row.reference.own_close)),
                        TableCell::Change,
                    ),
                ]
            })
        })
    });
    TableData::new(
        "Total return on real bars by iteration, median over series",
        heads,
    )
    .with_rows(rows)
}
