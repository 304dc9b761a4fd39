//! The runs of accepted functions on long panels, and of the definitions beside them.

use crate::boxed_reply::{frame_of, read_facts};
use crate::error::CodeError;
use crate::report::{FactorCodeReport, ReportedBundle};
use crate::run::FactorCodeEvent;
use ktd_boxed::{BoxLauncher, CodeRunner};
use ktd_factor_code::{
    ChosenFunction, FactorBars, FactorTask, JudgeRule, LayersPassed, RunTimes, timing_bars,
};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_bounded;
use ktd_sandbox::{BoxJob, BoxLimits, JobData, JobKind, JobResult, JobStatus, SourceText};
use std::collections::BTreeMap;
use std::time::Duration;

/// Runs of each function, where nothing else is asked for.
pub const TIMED_RUNS: u32 = 10;

/// The most that a source with its measure may hold.
const SOURCE_LIMIT_BYTES: u64 = 1 << 20;

/// The name of the function that measures another.
const MEASURE: &str = "ktd_seconds_of_a_run";

/// A function that was accepted, and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedFunction {
    /// The bundle that it was written for.
    pub bundle: String,
    /// Its task.
    pub task: String,
    /// The sample, from 1.
    pub sample: u64,
    /// The round, from 1.
    pub round: u32,
    /// Whether it breaks no rule of structure.
    pub is_vectorised: bool,
    /// Times of its runs in the box, or how one of them ended.
    pub code: Result<RunTimes, String>,
    /// Times of the task's definition, in this program.
    pub definition: RunTimes,
}

impl TimedFunction {
    /// How often longer its code takes than the definition.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let code = self.code.as_ref().ok()?;
        (0.0 < self.definition.mean).then(|| code.mean / self.definition.mean)
    }
}

/// How long the accepted functions of finished bundles take.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorCodeTimes {
    /// Function by function, in the order of bundles and events.
    pub functions: Vec<TimedFunction>,
    /// Rows of the panel.
    pub rows: usize,
    /// Runs of each function.
    pub runs: u32,
}

/// What measures.
struct Measure<'a> {
    launcher: &'a BoxLauncher,
    runs: u32,
    clock: &'a dyn Fn() -> Duration,
}

/// A function that is to be timed.
struct Accepted<'a> {
    reported: &'a ReportedBundle,
    task: &'a FactorTask,
    event: &'a FactorCodeEvent,
}

impl FactorCodeTimes {
    /// Runs every function of finished bundles that is safe and right by the strict rules, of any round and sample, in a
    /// process of its own each time, one after the other. `clock` is the time since some moment; `progress` is called with
    /// how many functions there are, and how many are done.
    ///
    /// # Errors
    /// [`CodeError`] where no box can be had, or a source is not the one that was judged.
    pub fn measure(
        report: &FactorCodeReport,
        launcher: &BoxLauncher,
        runs: u32,
        clock: &dyn Fn() -> Duration,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, CodeError> {
        let measure = Measure {
            launcher,
            runs,
            clock,
        };
        let accepted: Vec<Accepted<'_>> = report.bundles.iter().flat_map(accepted).collect();
        let mut by_seed: BTreeMap<u64, FactorBars> = BTreeMap::new();
        // one source may stand in several bundles
        let mut known: BTreeMap<(&str, u64, &str), Result<RunTimes, String>> = BTreeMap::new();
        let mut definitions: BTreeMap<(&str, u64, &str), RunTimes> = BTreeMap::new();
        let mut functions = Vec::with_capacity(accepted.len());
        let mut rows = 0;
        for (done, function) in accepted.iter().enumerate() {
            progress(accepted.len(), done);
            let header = &function.reported.bundle.header;
            let seed = header.panel_seed;
            if let std::collections::btree_map::Entry::Vacant(empty) = by_seed.entry(seed) {
                empty.insert(timing_bars(seed)?);
            }
            let Some(bars) = by_seed.get(&seed) else { continue };
            rows = bars.rows();
            let source = function.event.source_sha256.as_deref().unwrap_or_default();
            let of_code = (function.task.fx.as_str(), seed, source);
            let code = match known.get(&of_code) {
                Some(code) => code.clone(),
                None => measure.code(function, bars)?,
            };
            known.insert(of_code, code.clone());
            let of_definition = (function.task.fx.as_str(), seed, "");
            let definition = match definitions.get(&of_definition) {
                Some(times) => *times,
                None => measure.definition(function.task, bars)?,
            };
            definitions.insert(of_definition, definition);
            functions.push(TimedFunction {
                bundle: function.reported.name().to_owned(),
                task: function.task.id.to_string(),
                sample: function.event.sample,
                round: function.event.round,
                is_vectorised: function
                    .event
                    .verdict
                    .as_ref()
                    .is_some_and(ktd_factor_code::FactorVerdict::is_vectorised),
                code,
                definition,
            });
        }
        progress(accepted.len(), accepted.len());
        Ok(Self {
            functions,
            rows,
            runs,
        })
    }
}

/// The functions of a bundle that are safe and right.
fn accepted(reported: &ReportedBundle) -> impl Iterator<Item = Accepted<'_>> {
    reported.bundle.events.iter().filter_map(move |event| {
        let verdict = event.verdict.as_ref()?;
        let is_right = LayersPassed::Right <= verdict.passes(JudgeRule::Strict, &reported.rules);
        Some(Accepted {
            reported,
            task: reported.bundle.tasks.find(&event.task).filter(|_| is_right)?,
            event,
        })
    })
}

impl Measure<'_> {
    fn definition(&self, task: &FactorTask, bars: &FactorBars) -> Result<RunTimes, CodeError> {
        let mut seconds = Vec::new();
        for run in 0..=self.runs {
            let began = (self.clock)();
            let values = task.definition.evaluate(bars).map_err(CodeError::invalid)?;
            let took = (self.clock)().saturating_sub(began);
            // what the clock encloses must not be left out as unused
            std::hint::black_box(values);
            if 0 < run {
                seconds.push(took.as_secs_f64());
            }
        }
        RunTimes::of(&seconds).ok_or_else(|| CodeError::invalid("a function is to be run at least once"))
    }

    fn code(
        &self,
        function: &Accepted<'_>,
        bars: &FactorBars,
    ) -> Result<Result<RunTimes, String>, CodeError> {
        let text = source_of(function)?;
        let mut opened = self.launcher.open(source_text(&text)?, 0)?;
        let name = match read_facts(&mut opened)? {
            Ok(facts) => ChosenFunction::of(&facts).map(|function| function.name),
            Err(failure) => Err(failure.reason),
        };
        drop(opened);
        let name = match name {
            Ok(name) => name,
            Err(reason) => return Ok(Err(reason.code().to_owned())),
        };
        let mut opened = self.launcher.open(source_text(&with_measure(&text, &name))?, 0)?;
        let job = BoxJob {
            kind: JobKind::Series,
            entry: Some(MEASURE.to_owned()),
            data: JobData::Frame(frame_of(bars)),
            ..BoxJob::script("time")
        };
        let mut seconds = Vec::new();
        for _ in 0..self.runs {
            let outcome = opened.run(&job)?;
            match outcome.result {
                Some(JobResult::Series { values, .. }) if outcome.status == JobStatus::Ok => {
                    seconds.extend(values.first().filter(|taken| 0.0 <= **taken).copied());
                }
                _ => return Ok(Err(outcome.status.label().to_owned())),
            }
        }
        Ok(RunTimes::of(&seconds).ok_or_else(|| "no time".to_owned()))
    }
}

/// The source of a function, as it was judged.
fn source_of(function: &Accepted<'_>) -> Result<String, CodeError> {
    let (bundle, event) = (&function.reported.bundle, function.event);
    let place = (event.sample, bundle.header.samples);
    let path = bundle.paths.source(&event.task, place, event.round);
    let bytes = read_bounded(&path, SOURCE_LIMIT_BYTES)?;
    if Some(sha256_hex(&bytes)) != event.source_sha256 {
        return Err(CodeError::damaged(&path, "it is not the source that was judged"));
    }
    String::from_utf8(bytes).map_err(|_| CodeError::damaged(&path, "not UTF-8"))
}

fn source_text(text: &str) -> Result<SourceText, CodeError> {
    // with room for what measures
    let most = BoxLimits::FACTORS.source_kb.saturating_add(1);
    SourceText::read(text.as_bytes(), most).map_err(CodeError::invalid)
}

/// A source with a function that runs the judged one: on few rows first, so that what a first call alone must do is not
/// counted, and then on all.
fn with_measure(source: &str, function: &str) -> String {
    format!(
        "{source}\n\n\
         def {MEASURE}(df):\n    \
             from time import perf_counter\n    \
             import pandas\n    \
             {function}(df.iloc[:300].copy())\n    \
             given = df.copy()\n    \
             began = perf_counter()\n    \
             {function}(given)\n    \
             took = perf_counter() - began\n    \
             return pandas.Series([took] + [float('nan')] * (len(df) - 1), index=df.index)\n"
    )
}
