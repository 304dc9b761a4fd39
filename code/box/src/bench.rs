//! How long boxes and jobs take, against bare Python on the same machine.

use crate::code_box::CodeRunner as _;
use crate::error::BoxError;
use crate::launcher::BoxLauncher;
use ktd_sandbox::{BoxJob, ColumnValues, JobColumn, JobData, JobKind, JobStatus, SourceText};
use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROWS: u32 = 500;
const RUNS: u32 = 150;
const IMPORTS: &str = "import numpy, pandas, scipy.stats, talib";
const FACTOR: &str = "\
def alpha_mean(df):
    close = df['day_close']
    value = close / close.rolling(20).mean() - 1
    return value.rename('alpha_mean')
";

/// Figures of one machine, each the least of several rounds; seconds of the clock, but where processor time is said.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct BoxBench {
    /// How many rounds there were.
    pub rounds: u32,
    /// Bare Python that imports the libraries and ends.
    pub bare_start_s: f64,
    /// A box until it is ready, with the same imports.
    pub box_start_s: f64,
    /// A job that computes nothing.
    pub job_s: f64,
    /// The 150 runs of a small factor over 500 rows, with the start of their box.
    pub factor_runs_s: f64,
    /// Processor time of this process for a job.
    pub host_cpu_s: f64,
}

/// A goal, as a ratio of two figures or as a figure.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct BenchGoal {
    /// What it is of.
    pub name: &'static str,
    /// What was measured.
    pub figure: f64,
    /// The most that it may be.
    pub most: f64,
}

impl BenchGoal {
    /// Whether it is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.figure <= self.most
    }
}

impl BoxBench {
    /// Measures in rounds, one thing after the other in each.
    ///
    /// # Errors
    /// Where a box or bare Python fails.
    pub fn measure(launcher: &BoxLauncher, rounds: u32) -> Result<Self, BoxError> {
        let mut bench = Self {
            rounds,
            bare_start_s: f64::INFINITY,
            box_start_s: f64::INFINITY,
            job_s: f64::INFINITY,
            factor_runs_s: f64::INFINITY,
            host_cpu_s: f64::INFINITY,
        };
        for _ in 0..rounds.max(1) {
            bench.bare_start_s = bench.bare_start_s.min(bare_start(launcher)?);
            bench.round(launcher)?;
        }
        Ok(bench)
    }

    fn round(&mut self, launcher: &BoxLauncher) -> Result<(), BoxError> {
        let source = SourceText::read(FACTOR.as_bytes(), 256)?;
        let began = Instant::now();
        let mut opened = launcher.open(source, 0)?;
        opened.introduction()?;
        let start = began.elapsed().as_secs_f64();
        self.box_start_s = self.box_start_s.min(start);
        let empty = BoxJob::script("bench: nothing");
        for _ in 0..10 {
            let began = Instant::now();
            check(opened.run(&empty)?.status)?;
            self.job_s = self.job_s.min(began.elapsed().as_secs_f64());
        }
        let factor = factor();
        let (began, cpu) = (Instant::now(), processor_seconds());
        for _ in 0..RUNS {
            check(opened.run(&factor)?.status)?;
        }
        let host = (processor_seconds() - cpu) / f64::from(RUNS);
        self.host_cpu_s = self.host_cpu_s.min(host);
        self.factor_runs_s = self.factor_runs_s.min(start + began.elapsed().as_secs_f64());
        Ok(())
    }

    /// The goals and how they are met.
    #[must_use]
    pub fn goals(&self) -> Vec<BenchGoal> {
        let goal = |name: &'static str, figure: f64, most: f64| BenchGoal { name, figure, most };
        vec![
            goal("a job / a bare start", self.job_s / self.bare_start_s, 1.0 / 40.0),
            goal(
                "a start of a box / a bare start",
                self.box_start_s / self.bare_start_s,
                1.25,
            ),
            goal(
                "150 runs of a factor / 150 bare starts",
                self.factor_runs_s / (self.bare_start_s * f64::from(RUNS)),
                1.0 / 20.0,
            ),
            goal(
                "processor time of the host a job, in ms",
                self.host_cpu_s * 1_000.0,
                2.0,
            ),
        ]
    }
}

fn check(status: JobStatus) -> Result<(), BoxError> {
    if status == JobStatus::Ok {
        return Ok(());
    }
    Err(BoxError::invalid(format!(
        "a job of the bench ended with {}",
        status.label()
    )))
}

fn bare_start(launcher: &BoxLauncher) -> Result<f64, BoxError> {
    let python = launcher.environment_folder().join("bin/python3");
    let began = Instant::now();
    let status = Command::new(&python)
        .args(["-s", "-P", "-B", "-c", IMPORTS])
        .env_clear()
        .env("OPENBLAS_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .status()
        .map_err(BoxError::io("start", &python))?;
    if !status.success() {
        return Err(BoxError::invalid(format!(
            "{} cannot import the libraries",
            python.display()
        )));
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Prices that go up and down without chance.
fn factor() -> BoxJob {
    let days = (0..ROWS).map(|day| i64::from(day) * 86_400_000_000_000);
    let closes = (0..ROWS).map(|day| 10.0 + f64::from(day * 37 % 101) / 25.0);
    let column = |name: &str, values: ColumnValues| JobColumn {
        name: name.to_owned(),
        values,
    };
    BoxJob {
        kind: JobKind::Series,
        entry: Some("alpha_mean".to_owned()),
        data: JobData::Frame(vec![
            column("day", ColumnValues::Time(days.collect())),
            column("day_close", ColumnValues::F64(closes.collect())),
        ]),
        ..BoxJob::script("bench: a factor")
    }
}

/// Processor time of this process so far.
fn processor_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u32::try_from(used.tv_sec).unwrap_or(u32::MAX);
    let rest = u32::try_from(used.tv_nsec).unwrap_or(0);
    f64::from(seconds) + f64::from(rest) / 1e9
}
