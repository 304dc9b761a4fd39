//! `ktd box run` and `ktd box test`: programs in a box.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::{Console, visible_lines};
use clap::Args;
use ktd_boxed::{BoxLauncher, CodeRunner, JobOutcome, read_table, run_battery};
use ktd_io::whole_file::{read_input, read_input_bytes};
use ktd_sandbox::{
    BatteryFinding, BoxHeader, BoxJob, BoxLimits, JobEvent, JobKind, JobResult, JobStatus, OWN_BATTERY,
    SourceText, SyntaxNode, parse_cases,
};
use ktd_view::draw::{Align, TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const RUN_EXAMPLE: &str = "\
Example:
  ktd box run factor.py --data prices.csv --entry alpha_momentum

With --entry the function gets the table as a data frame, indexed by a first column date, and gives back a series. Without it \
the file runs as a script. Exit code 1: the program did not end well.";
const TEST_EXAMPLE: &str = "\
Example:
  ktd box test cases.jsonl

One JSON object a line: name, group, expect (contained, ok TEXT, limit cpu|wall|memory|flood, pair), source, why. Exit code 1: \
a program was not contained.";
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLE)]
pub(super) struct RunArgs {
    /// The Python file.
    file: PathBuf,
    /// A CSV file that the function gets as a data frame.
    #[arg(long, value_name = "FILE", requires = "entry")]
    data: Option<PathBuf>,
    /// The function that is called.
    #[arg(long, value_name = "NAME", requires = "data")]
    entry: Option<String>,
    /// Print the syntax tree instead; nothing of the file is executed.
    #[arg(long, conflicts_with_all = ["data", "entry"])]
    facts: bool,
    /// The seed of random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Processor seconds that it may use.
    #[arg(long, value_name = "S", default_value_t = BoxLimits::FACTORS.cpu_s)]
    cpu: u32,
    /// Seconds that it may take.
    #[arg(long, value_name = "S", default_value_t = BoxLimits::FACTORS.wall_s)]
    wall: u32,
    /// Megabytes of memory that it may use.
    #[arg(long, value_name = "MB", default_value_t = BoxLimits::FACTORS.memory_mb)]
    memory: u32,
    #[command(flatten)]
    boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = TEST_EXAMPLE)]
pub(super) struct TestArgs {
    /// The programs, one JSON object a line [default: the few that come with ktd].
    cases: Option<PathBuf>,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Runs a file.
pub(super) fn run_file(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let bytes = read_input_bytes(&args.file)?;
    let source = SourceText::read(&bytes, BoxLimits::FACTORS.source_kb)
        .map_err(|fault| CliError::invalid(format!("{}: {fault}", args.file.display())))?;
    if source.had_mark() {
        console.note("a byte order mark at the beginning of the file was dropped");
    }
    let mut setup = args.boxes.setup();
    setup.limits = BoxLimits {
        cpu_s: args.cpu,
        wall_s: args.wall,
        memory_mb: args.memory,
        ..BoxLimits::FACTORS
    };
    let job = job(args)?;
    let launcher = BoxLauncher::prove(setup)?;
    let outcome = launcher.open(source, 0)?.run(&job)?;
    let document = RunDocument {
        header: launcher.header(),
        event: &outcome.event,
        diagnostics: String::from_utf8_lossy(&outcome.diagnostics),
        result: outcome.result.as_ref().map(ResultDocument::of),
        wall_ms: outcome.measure.wall_ms,
        cpu_ms: outcome.measure.cpu_ms,
        memory_kb: outcome.measure.memory_kb,
    };
    console.result(&outcome_text(&outcome), &document)?;
    if outcome.status == JobStatus::Ok {
        return Ok(());
    }
    Err(CliError::difference(format!(
        "{}: {}",
        args.file.display(),
        outcome.status.label()
    )))
}

fn job(args: &RunArgs) -> Result<BoxJob, CliError> {
    let job = if args.facts {
        BoxJob::facts("ktd box run")
    } else {
        BoxJob::script("ktd box run")
    };
    let Some(data) = &args.data else {
        return Ok(BoxJob {
            seed: args.seed,
            ..job
        });
    };
    Ok(BoxJob {
        kind: JobKind::Series,
        seed: args.seed,
        entry: args.entry.clone(),
        data: read_table(data)?,
        ..job
    })
}

/// What a program printed and gave back, escaped for a terminal.
fn outcome_text(outcome: &JobOutcome) -> String {
    let printed = visible_lines(&String::from_utf8_lossy(&outcome.diagnostics));
    let mut text = printed.trim_end().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    let given = match &outcome.result {
        Some(JobResult::Series { name, flags, values }) => {
            let values: Vec<String> = values.iter().map(f64::to_string).collect();
            let name = name.as_deref().unwrap_or("without a name");
            let flags = if flags.is_empty() {
                String::new()
            } else {
                format!(" ({})", flags.join(", "))
            };
            format!("series {name}{flags}\n{}\n", values.join("\n"))
        }
        Some(JobResult::Error {
            class,
            message,
            place,
            line,
        }) => {
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            format!("{class}: {message} ({place}{line})\n")
        }
        Some(JobResult::Facts(nodes)) => {
            let line = |node: &SyntaxNode| {
                let line = node.line.map(|line| line.to_string()).unwrap_or_default();
                [line, node.kind.clone(), node.text.clone().unwrap_or_default()].join("\t")
            };
            let lines: Vec<String> = nodes.iter().map(line).collect();
            lines.join("\n") + "\n"
        }
        Some(JobResult::Tables(_)) | None => String::new(),
    };
    let measure = &outcome.measure;
    let status = outcome.event.fault.as_ref().map_or_else(
        || outcome.status.label().to_owned(),
        |fault| format!("{} ({fault})", outcome.status.label()),
    );
    format!(
        "{text}{}status {status}, {} ms on the clock, {} ms of processor time, {} MB\n",
        visible_lines(&given),
        measure.wall_ms,
        measure.cpu_ms,
        measure.memory_kb >> 10
    )
}

/// A program that was run.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RunDocument<'o> {
    header: &'o BoxHeader,
    event: &'o JobEvent,
    /// What it printed.
    diagnostics: Cow<'o, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultDocument<'o>>,
    /// On the clock.
    wall_ms: u64,
    /// Of a processor.
    cpu_ms: u64,
    /// At most.
    memory_kb: u64,
}

/// What a program gave back.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ResultDocument<'o> {
    /// Numbers; what is not finite is null.
    Series {
        name: Option<&'o str>,
        flags: &'o [String],
        #[schemars(with = "Vec<Option<f64>>")]
        values: &'o [f64],
    },
    /// What it raised.
    Error {
        class: &'o str,
        message: &'o str,
        r#where: &'o str,
        line: Option<u64>,
    },
    /// Nodes of its syntax.
    Facts { nodes: Vec<NodeRow<'o>> },
    /// Tables.
    Tables { tables: Vec<TableSize<'o>> },
}

/// A node: parent, field, place, kind, line, text, detail.
#[derive(Debug, JsonSchema, Serialize)]
struct NodeRow<'o>(
    Option<usize>,
    Option<&'o str>,
    Option<u64>,
    &'o str,
    Option<u64>,
    Option<&'o str>,
    Option<&'o str>,
);

impl<'o> NodeRow<'o> {
    fn of(node: &'o SyntaxNode) -> Self {
        let (field, text, detail) = (
            node.field.as_deref(),
            node.text.as_deref(),
            node.detail.as_deref(),
        );
        Self(
            node.parent,
            field,
            node.place,
            &node.kind,
            node.line,
            text,
            detail,
        )
    }
}

/// A table by its size.
#[derive(Debug, JsonSchema, Serialize)]
struct TableSize<'o> {
    name: &'o str,
    rows: usize,
}

impl<'o> ResultDocument<'o> {
    fn of(result: &'o JobResult) -> Self {
        match result {
            JobResult::Series { name, flags, values } => Self::Series {
                name: name.as_deref(),
                flags,
                values,
            },
            JobResult::Error {
                class,
                message,
                place,
                line,
            } => Self::Error {
                class,
                message,
                r#where: place,
                line: *line,
            },
            JobResult::Facts(nodes) => Self::Facts {
                nodes: nodes.iter().map(NodeRow::of).collect(),
            },
            JobResult::Tables(tables) => Self::Tables {
                tables: tables
                    .iter()
                    .map(|table| TableSize {
                        name: &table.name,
                        rows: table.rows.len(),
                    })
                    .collect(),
            },
        }
    }
}

/// Programs that try to get out.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct TestedBox<'o> {
    header: &'o BoxHeader,
    /// How many were contained.
    contained: usize,
    of: usize,
    cases: &'o [BatteryFinding],
}

/// Runs a battery.
pub(super) fn test(args: &TestArgs, console: Console) -> Result<(), CliError> {
    let text = match &args.cases {
        Some(path) => read_input(path)?,
        None => OWN_BATTERY.to_owned(),
    };
    let name = args
        .cases
        .as_deref()
        .unwrap_or_else(|| Path::new("the programs of ktd"));
    let cases = parse_cases(&text)
        .map_err(|fault| CliError::input(format!("{}: {fault}", name.display()), "fix the file of cases"))?;
    let launcher = BoxLauncher::prove(args.boxes.setup())?;
    let findings = run_battery(&launcher, &cases, |finding| {
        if !finding.contained {
            console.note(&format!("not contained: {}: {}", finding.name, finding.evidence));
        }
    })?;
    let held = findings.iter().filter(|finding| finding.contained).count();
    let text = format!(
        "{}{held} of {} contained at level {}\n",
        groups(&findings).text_in(console.layout()),
        findings.len(),
        launcher.header().isolation.label()
    );
    let document = TestedBox {
        header: launcher.header(),
        contained: held,
        of: findings.len(),
        cases: &findings,
    };
    console.result(&text, &document)?;
    if held == findings.len() {
        return Ok(());
    }
    Err(CliError::difference(format!(
        "{} programs were not contained",
        findings.len() - held
    )))
}

/// How many of each group were contained.
fn groups(findings: &[BatteryFinding]) -> TableData {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for finding in findings {
        let (held, all) = counts.entry(&finding.group).or_default();
        *held += usize::from(finding.contained);
        *all += 1;
    }
    let heads = [
        ("group", Align::Left),
        ("contained", Align::Right),
        ("of", Align::Right),
    ];
    let rows = counts.into_iter().map(|(group, (held, all))| {
        vec![
            TableCell::Text(group.to_owned()),
            TableCell::Count(held),
            TableCell::Count(all),
        ]
    });
    TableData::new("Programs that try to get out", heads).with_rows(rows)
}
