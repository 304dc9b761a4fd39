//! Boxes on this machine: what gets out, what is remembered, what is left, and what a machine without boxes is answered.
//! They need bubblewrap and the Python environment; without them each is passed over with a word.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a box that does not answer fails the test, and what is absent is told"
)]

mod answers;
mod battery;
mod jobs;
mod killed;
mod layers;
mod loops;
mod machine;
mod recall;
mod strategies;

use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_sandbox::{BoxJob, ColumnValues, JobColumn, JobData, JobKind, SourceText};
use serde_json::json;

fn setup() -> BoxSetup {
    BoxSetup::default()
}

fn prove(setup: BoxSetup) -> BoxLauncher {
    BoxLauncher::prove(setup).unwrap_or_else(|error| panic!("{error}\n{}", error.hint()))
}

fn source(text: &str) -> SourceText {
    SourceText::read(text.as_bytes(), 256).unwrap()
}

fn column(name: &str, values: ColumnValues) -> JobColumn {
    JobColumn {
        name: name.to_owned(),
        values,
    }
}

/// A call of a function with some days of closes.
fn series(entry: &str, closes: &[f64]) -> BoxJob {
    let days = (0..closes.len()).map(|day| i64::try_from(day).unwrap() * 86_400_000_000_000);
    BoxJob {
        kind: JobKind::Series,
        entry: Some(entry.to_owned()),
        data: JobData::Frame(vec![
            column("day", ColumnValues::Time(days.collect())),
            column("day_close", ColumnValues::F64(closes.to_vec())),
        ]),
        ..BoxJob::script("a test")
    }
}

/// A call of a class's method that gives back two tables.
fn tables(entry: &str, data: JobData) -> BoxJob {
    BoxJob {
        kind: JobKind::Tables,
        entry: Some(entry.to_owned()),
        config: json!({
            "init": [{"N": 2, "parameters": {"N": {"value": 2}}}],
            "method": "run",
            "arguments": [100_000.0],
            "tables": ["trade_log", "audit_log"],
        }),
        data,
        ..BoxJob::script("a test")
    }
}
