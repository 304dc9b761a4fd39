//! Runs of one program in the box: bars go in, two logs come out.

use crate::error::StrategyError;
use crate::run_outcome::{LogsOutcome, RunFault};
use crate::stepped::{self, joined, with_steps, without_steps};
use chrono::NaiveDateTime;
use ktd_boxed::{BoxLauncher, CodeBox, CodeRunner, JobOutcome};
use ktd_sandbox::{
    BoxJob, ColumnValues, JobColumn, JobData, JobKind, JobResult, JobStatus, JobTable, SourceText,
    SyntaxNode, TableCellValue,
};
use ktd_strategy_code::{
    AssetBars, BarTime, CandidateLogs, CandidateTable, INITIAL_CAPITAL, LogCell, StrategyBars,
    StrategyContract, TRADE_COLUMNS,
};
use serde_json::{Value, json};

/// Seed of all runs but the repetitions.
pub(crate) const SEED: u32 = 42;

/// Hexadecimal digits from which a number is an address.
const ADDRESS_DIGITS: usize = 8;

/// Rows of a log that are read, for each that a log of these bars has: doubled rows are seen by the gates.
const ROWS_SLACK: usize = 2;

/// The box of one program, and how it is called.
pub(crate) struct ProgramBox<'l> {
    opened: CodeBox<'l>,
    class: String,
    configuration: Value,
    /// What draws the order of jobs.
    key: String,
    contract: StrategyContract,
    source: SourceText,
}

/// A program, and how it is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) source: &'a SourceText,
    pub(crate) class: &'a str,
    pub(crate) configuration: &'a Value,
    pub(crate) key: &'a str,
    pub(crate) contract: StrategyContract,
}

/// One run to be made.
pub(crate) struct PlannedRun {
    pub(crate) market: StrategyBars,
    pub(crate) seed: u32,
    pub(crate) purpose: &'static str,
    /// Whether it is scored: by the contract `step` what is said of a bar then comes from a process that was given no later one.
    pub(crate) is_scored: bool,
}

impl<'l> ProgramBox<'l> {
    pub(crate) fn open(
        launcher: &'l BoxLauncher,
        program: Program<'_>,
        hash_seed: u32,
    ) -> Result<Self, StrategyError> {
        let source = match program.contract {
            StrategyContract::Run => program.source.clone(),
            StrategyContract::Step => with_steps(program.source)
                .map_err(|fault| StrategyError::invalid(format!("source: {fault}")))?,
        };
        Ok(Self {
            opened: launcher.open(source, hash_seed)?,
            class: program.class.to_owned(),
            configuration: program.configuration.clone(),
            key: program.key.to_owned(),
            contract: program.contract,
            source: program.source.clone(),
        })
    }

    /// The syntax tree of the source, without running it.
    pub(crate) fn syntax_tree(&mut self) -> Result<Result<Vec<SyntaxNode>, RunFault>, StrategyError> {
        let outcome = self.opened.run(&BoxJob::facts("facts"))?;
        Ok(match outcome.result {
            Some(JobResult::Facts(nodes)) => Ok(without_steps(nodes, &self.source)),
            result => Err(fault_of(outcome.status, result)),
        })
    }

    pub(crate) fn run(&mut self, run: &PlannedRun) -> Result<LogsOutcome, StrategyError> {
        if run.is_scored && self.contract == StrategyContract::Step {
            return self.bar_by_bar(run);
        }
        let outcome = self.opened.run(&self.job(run, (&run.market, "run")))?;
        Ok(logs_of(outcome, &run.market))
    }

    /// A run of which each bar is told by a process of its own, which was given the bars up to it.
    fn bar_by_bar(&mut self, run: &PlannedRun) -> Result<LogsOutcome, StrategyError> {
        let prefixes = (1..=run.market.times().len()).map(|bars| run.market.prefix(bars));
        let prefixes: Vec<StrategyBars> = prefixes.collect();
        let jobs = prefixes.iter().map(|market| self.job(run, (market, "last")));
        let jobs: Vec<BoxJob> = jobs.collect();
        let outcomes = self.opened.run_all(&jobs, &self.key)?.into_iter();
        Ok(joined(
            outcomes
                .zip(&prefixes)
                .map(|(outcome, market)| logs_of(outcome, market))
                .collect(),
        ))
    }

    /// Runs, in an order that a key draws; what they gave, in their own.
    pub(crate) fn run_all(&mut self, runs: &[PlannedRun]) -> Result<Vec<LogsOutcome>, StrategyError> {
        if self.contract == StrategyContract::Step {
            return runs.iter().map(|run| self.run(run)).collect();
        }
        let jobs: Vec<BoxJob> = runs
            .iter()
            .map(|run| self.job(run, (&run.market, "run")))
            .collect();
        let outcomes = self.opened.run_all(&jobs, &self.key)?;
        let markets = runs.iter().map(|run| &run.market);
        let logs = outcomes.into_iter().zip(markets);
        Ok(logs.map(|(outcome, market)| logs_of(outcome, market)).collect())
    }

    /// The job of a run over a market, by a method of what is called.
    fn job(&self, run: &PlannedRun, (market, method): (&StrategyBars, &str)) -> BoxJob {
        let data = match market.assets.as_slice() {
            [(_, bars)] => JobData::Frame(columns(bars)),
            assets => {
                let frames = assets.iter();
                JobData::Frames(
                    frames
                        .map(|(symbol, bars)| (symbol.clone(), columns(bars)))
                        .collect(),
                )
            }
        };
        let (class, init, arguments) = match self.contract {
            StrategyContract::Run => (
                self.class.as_str(),
                json!([self.configuration]),
                json!([INITIAL_CAPITAL]),
            ),
            StrategyContract::Step => (
                stepped::CLASS,
                json!([self.configuration, self.class]),
                json!([INITIAL_CAPITAL, TRADE_COLUMNS]),
            ),
        };
        BoxJob {
            kind: JobKind::Tables,
            seed: run.seed,
            entry: Some(class.to_owned()),
            config: json!({
                "init": init,
                "method": method,
                "arguments": arguments,
                "tables": ["trade_log", "audit_log"],
            }),
            data,
            ..BoxJob::script(run.purpose)
        }
    }
}

fn columns(bars: &AssetBars) -> Vec<JobColumn> {
    let times = bars.times.iter().map(nanoseconds).collect();
    let own = [
        ("open", &bars.open),
        ("high", &bars.high),
        ("low", &bars.low),
        ("close", &bars.close),
        ("volume", &bars.volume),
    ];
    let further = bars.further.iter().map(|(name, column)| (name.as_str(), column));
    let numbers = own.into_iter().chain(further).map(|(name, column)| JobColumn {
        name: name.to_owned(),
        values: ColumnValues::F64(column.clone()),
    });
    let times = JobColumn {
        name: "datetime".to_owned(),
        values: ColumnValues::Time(times),
    };
    std::iter::once(times).chain(numbers).collect()
}

/// A stamp as nanoseconds since 1970; a text of its form that is no day counts as 1970, which no bars of ours hold.
fn nanoseconds(time: &BarTime) -> i64 {
    NaiveDateTime::parse_from_str(time.as_str(), "%Y-%m-%dT%H:%M:%S")
        .ok()
        .and_then(|time| time.and_utc().timestamp_nanos_opt())
        .unwrap_or(0)
}

fn logs_of(outcome: JobOutcome, market: &StrategyBars) -> LogsOutcome {
    let tables = match outcome.result {
        Some(JobResult::Tables(tables)) if outcome.status == JobStatus::Ok => tables,
        result => {
            let mut fault = fault_of(outcome.status, result);
            if fault.message.is_empty()
                && let Some(name) = outcome.event.fault
            {
                fault.message = name;
            }
            return Err(fault);
        }
    };
    let Ok([trades, bars]) = <[JobTable; 2]>::try_from(tables) else {
        return Err(RunFault::new("tables", "two logs were asked for"));
    };
    // A log of bars has a row a bar, and on a bar each asset closes one holding. What comes after reads rows against rows.
    let assets = market.assets.len();
    let bars_count = market.assets.first().map_or(0, |(_, bars)| bars.times.len());
    for (table, most) in [(&trades, bars_count.saturating_mul(assets)), (&bars, bars_count)] {
        let most = most.saturating_mul(ROWS_SLACK);
        if most < table.rows.len() {
            return Err(RunFault::new(
                "tables",
                format!(
                    "{} has {} rows; at most {most} are read",
                    table.name,
                    table.rows.len()
                ),
            ));
        }
    }
    Ok(CandidateLogs {
        trades: table_of(trades)?,
        bars: table_of(bars)?,
    })
}

fn table_of(table: JobTable) -> Result<CandidateTable, RunFault> {
    let mut columns: Vec<(String, Vec<LogCell>)> = table
        .columns
        .into_iter()
        .map(|name| (name, Vec::with_capacity(table.rows.len())))
        .collect();
    for row in table.rows {
        for ((_, cells), cell) in columns.iter_mut().zip(row) {
            cells.push(cell_of(cell));
        }
    }
    CandidateTable::of_program(columns).map_err(|problem| RunFault::new(&table.name, problem))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of logs are f64")]
fn cell_of(cell: TableCellValue) -> LogCell {
    match cell {
        TableCellValue::Missing => LogCell::Missing,
        TableCellValue::Flag(true) => LogCell::Text("True".to_owned()),
        TableCellValue::Flag(false) => LogCell::Text("False".to_owned()),
        TableCellValue::Whole(value) => LogCell::Number(value as f64),
        TableCellValue::Number(value) => LogCell::Number(value),
        TableCellValue::Text(text) if text.is_empty() => LogCell::Missing,
        TableCellValue::Text(text) => LogCell::Text(text),
    }
}

/// Why a job gave no logs.
fn fault_of(status: JobStatus, result: Option<JobResult>) -> RunFault {
    match result {
        Some(JobResult::Error {
            class, message, line, ..
        }) => RunFault {
            code: class,
            message: without_addresses(&message),
            line,
        },
        _ => RunFault::new(status.label(), ""),
    }
}

/// A message without addresses of memory, which differ from run to run and would make two records of one program.
fn without_addresses(message: &str) -> String {
    let mut parts = message.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (address, rest) = part.split_at(digits);
        text.push_str("0x");
        text.push_str(if digits < ADDRESS_DIGITS { address } else { "_" });
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_a_time_of_the_box() {
        let time = BarTime::parse("2021-01-04T09:45:00").unwrap();
        assert_eq!(nanoseconds(&time), 1_609_753_500_000_000_000);
    }

    #[test]
    fn cells_of_a_log_are_read_by_column() {
        let table = JobTable {
            name: "audit_log".to_owned(),
            columns: vec!["datetime".to_owned(), "units".to_owned(), "note".to_owned()],
            rows: vec![vec![
                TableCellValue::Text("2021-01-04".to_owned()),
                TableCellValue::Whole(2),
                TableCellValue::Text(String::new()),
            ]],
        };
        let read = table_of(table.clone()).unwrap();
        assert_eq!(read.text("datetime", 0), Some("2021-01-04T00:00:00"));
        assert_eq!(read.number("units", 0), Some(2.0));
        assert!(read.cell("note", 0).is_missing());
        let mut zone = table;
        zone.rows[0][0] = TableCellValue::Text("2021-01-04T00:00:00Z".to_owned());
        assert_eq!(table_of(zone).unwrap_err().code, "audit_log");
    }

    #[test]
    fn a_fault_names_what_ended_the_run() {
        let error = JobResult::Error {
            class: "KeyError".to_owned(),
            message: "'N_slow'".to_owned(),
            place: "call".to_owned(),
            line: Some(54),
        };
        assert_eq!(
            fault_of(JobStatus::Error, Some(error)).to_string(),
            "KeyError: 'N_slow' (line 54)"
        );
        assert_eq!(fault_of(JobStatus::Cpu, None).to_string(), "cpu");
        let message = "<object at 0x7f3a20c1d5b0> and 0x1f";
        assert_eq!(without_addresses(message), "<object at 0x_> and 0x1f");
    }
}
