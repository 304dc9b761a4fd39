//! Times of functions as tables.

use super::measure::{FactorCodeTimes, TimedFunction};
use ktd_factor_code::RunTimes;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

const TIME_HEADS: [(&str, Align); 4] = [
    ("mean ms", Right),
    ("sd", Right),
    ("least", Right),
    ("most", Right),
];

impl FactorCodeTimes {
    /// Table 7 by bundle and by function, and table 8.
    #[must_use]
    pub fn tables(&self) -> Vec<ReportTable> {
        let note = format!(
            "times in ms, each run in a process of its own on {} rows, {} runs; definition: in this program, on the same \
             rows; ratio: code over definition",
            self.rows, self.runs
        );
        let mut tables = vec![self.bundles(), self.by_function(), self.loops()];
        for table in &mut tables {
            table.data.notes.push(note.clone());
        }
        tables
    }

    fn bundles(&self) -> ReportTable {
        let mut heads = vec![("bundle", Left), ("vectorised", Left), ("functions", Right)];
        heads.extend(TIME_HEADS);
        heads.extend([("definitions", Right), ("ratio", Right)]);
        let mut by_kind: BTreeMap<(&str, bool), Vec<(&TimedFunction, &RunTimes)>> = BTreeMap::new();
        for (function, times) in self.timed() {
            let kind = (function.bundle.as_str(), function.is_vectorised);
            by_kind.entry(kind).or_default().push((function, times));
        }
        let rows = by_kind.into_iter().map(|((bundle, is_vectorised), functions)| {
            let means: Vec<f64> = functions.iter().map(|(_, times)| times.mean).collect();
            let definitions: Vec<f64> = functions
                .iter()
                .map(|(function, _)| function.definition.mean)
                .collect();
            let (code, definition) = (RunTimes::of(&means), RunTimes::of(&definitions));
            let mut row = vec![
                text(bundle),
                text(yes_or_no(is_vectorised)),
                TableCell::Count(functions.len()),
            ];
            row.extend(cells(code.as_ref()));
            row.push(milliseconds(definition.map(|times| times.mean)));
            row.push(ratio(
                code.map(|times| times.mean),
                definition.map(|times| times.mean),
            ));
            row
        });
        let data = TableData::new(
            "T7. Run time of functions that are safe and right, by bundle",
            heads,
        )
        .with_rows(rows)
        .with_note("mean, sd, least and most: of the functions' mean times");
        ReportTable::new("T7_times", data)
    }

    fn by_function(&self) -> ReportTable {
        let mut heads = vec![
            ("bundle", Left),
            ("task", Left),
            ("sample", Right),
            ("round", Right),
            ("vectorised", Left),
            ("n", Right),
        ];
        heads.extend(TIME_HEADS);
        heads.extend([("definition", Right), ("ratio", Right)]);
        let rows = self.functions.iter().map(|function| {
            let mut row = vec![
                text(&function.bundle),
                text(&function.task),
                text(&function.sample.to_string()),
                text(&function.round.to_string()),
                text(yes_or_no(function.is_vectorised)),
            ];
            match &function.code {
                Ok(times) => {
                    row.push(TableCell::Count(times.runs));
                    row.extend(cells(Some(times)));
                }
                Err(why) => {
                    row.push(TableCell::Count(0));
                    row.extend(TIME_HEADS.map(|_| TableCell::Missing(why.clone())));
                }
            }
            let code = function.code.as_ref().ok().map(|times| times.mean);
            row.push(milliseconds(Some(function.definition.mean)));
            row.push(ratio(code, Some(function.definition.mean)));
            row
        });
        let data = TableData::new("T7. Run time by function", heads).with_rows(rows);
        ReportTable::new("T7_functions", data)
    }

    /// Tasks for which both a loop and a vectorised function were accepted.
    fn loops(&self) -> ReportTable {
        let heads = [
            ("task", Left),
            ("loops", Right),
            ("mean ms of loops", Right),
            ("vectorised", Right),
            ("mean ms of vectorised", Right),
            ("loop / vectorised", Right),
        ];
        let mut by_task: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
        for (function, times) in self.timed() {
            let [loops, vectorised] = by_task.entry(&function.task).or_default();
            let kind = if function.is_vectorised { vectorised } else { loops };
            kind.push(times.mean);
        }
        let rows = by_task.into_iter().filter_map(|(task, [loops, vectorised])| {
            let (of_loops, of_vectorised) = (RunTimes::of(&loops)?, RunTimes::of(&vectorised)?);
            Some(vec![
                text(task),
                TableCell::Count(of_loops.runs),
                milliseconds(Some(of_loops.mean)),
                TableCell::Count(of_vectorised.runs),
                milliseconds(Some(of_vectorised.mean)),
                ratio(Some(of_loops.mean), Some(of_vectorised.mean)),
            ])
        });
        let data = TableData::new("T8. Loops against vectorised functions of one task", heads)
            .with_rows(rows)
            .with_note("of all bundles, rounds and samples; a task is left out where one of the two was not accepted");
        ReportTable::new("T8_loops", data)
    }

    /// The functions whose runs all ended well.
    fn timed(&self) -> impl Iterator<Item = (&TimedFunction, &RunTimes)> {
        let functions = self.functions.iter();
        functions.filter_map(|function| Some((function, function.code.as_ref().ok()?)))
    }
}

const fn yes_or_no(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

fn text(value: &str) -> TableCell {
    TableCell::Text(value.to_owned())
}

fn milliseconds(value: Option<f64>) -> TableCell {
    value.map_or_else(|| TableCell::Missing("no run".to_owned()), in_milliseconds)
}

fn in_milliseconds(seconds: f64) -> TableCell {
    TableCell::Fine(1_000.0 * seconds)
}

fn cells(times: Option<&RunTimes>) -> [TableCell; 4] {
    let spread = times.and_then(|times| times.deviation);
    [
        milliseconds(times.map(|times| times.mean)),
        spread.map_or_else(|| TableCell::Missing("one alone".to_owned()), in_milliseconds),
        milliseconds(times.map(|times| times.least)),
        milliseconds(times.map(|times| times.most)),
    ]
}

fn ratio(one: Option<f64>, other: Option<f64>) -> TableCell {
    match (one, other) {
        (Some(one), Some(other)) if 0.0 < other => TableCell::Ratio(one / other),
        _ => TableCell::Missing("no run".to_owned()),
    }
}
