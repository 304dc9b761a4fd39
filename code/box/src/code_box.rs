//! The box of one submission.

use crate::error::BoxError;
use crate::launcher::{BoxLauncher, Namespaces};
use crate::places::Place;
use crate::process::{Answer, BoxProcess};
use ktd_io::parallel::in_parallel;
use ktd_io::sha256::sha256_hex;
use ktd_sandbox::{
    BoxJob, BoxLimits, JobEnd, JobEvent, JobReport, JobResult, JobStatus, JudgedJob, ModuleName, RunSteps,
    RunnerMessage, SourceText, encode_job, judge_job, keyed_order,
};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// How long the runner may take to import what it was asked to.
const READY_WAIT: Duration = Duration::from_mins(5);
/// A job of a box that failed is repeated in a new one.
const ATTEMPTS: u32 = 3;

/// What a job used: it differs from run to run, and is no part of a record that is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobMeasure {
    /// Time on the clock.
    pub wall_ms: u64,
    /// Processor time.
    pub cpu_ms: u64,
    /// The most memory that it held.
    pub memory_kb: u64,
}

/// A job that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// How it ended.
    pub status: JobStatus,
    /// What it gave back, or how it failed.
    pub result: Option<JobResult>,
    /// What it printed, at most the first 64 KiB: foreign, and escaped wherever it is shown.
    pub diagnostics: Vec<u8>,
    /// What is recorded of it.
    pub event: JobEvent,
    /// What it used.
    pub measure: JobMeasure,
    /// What it ran in Python, where that was counted.
    pub steps: Option<RunSteps>,
}

/// Something that runs the jobs of one submission, each in a process of its own that remembers nothing.
pub trait CodeRunner {
    /// Runs a job.
    ///
    /// # Errors
    /// Where the box itself failed, again and again: never the program's fault.
    fn run(&mut self, job: &BoxJob) -> Result<JobOutcome, BoxError>;

    /// Runs jobs in an order that a key draws; outcomes in the order of the jobs.
    ///
    /// # Errors
    /// As [`CodeRunner::run`].
    fn run_all(&mut self, jobs: &[BoxJob], key: &str) -> Result<Vec<JobOutcome>, BoxError> {
        let mut outcomes: Vec<Option<JobOutcome>> = jobs.iter().map(|_| None).collect();
        for at in keyed_order(key, jobs.len()) {
            if let (Some(job), Some(outcome)) = (jobs.get(at), outcomes.get_mut(at)) {
                *outcome = Some(self.run(job)?);
            }
        }
        Ok(outcomes.into_iter().flatten().collect())
    }
}

impl BoxLauncher {
    /// A box for one submission, on this thread: it ends with the thread. It begins to import at once, and may be opened
    /// before the last one is done with; waits while twice as many are open as may work side by side, which a thread that
    /// holds all of them does for ever.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn open(&self, source: SourceText, hash_seed: u32) -> Result<CodeBox<'_>, BoxError> {
        CodeBox::open(self, self.place(), source, hash_seed, &self.setup().modules)
    }

    /// Does a piece of work for each submission, as many side by side as there may be boxes; results in the order of the
    /// submissions.
    pub fn each<I: Sync, R: Send>(&self, submissions: &[I], work: impl Fn(&Self, &I) -> R + Sync) -> Vec<R> {
        in_parallel(submissions, self.side_by_side(), |submission| {
            work(self, submission)
        })
    }

    /// A box that is tested before anything else is run.
    pub(crate) fn open_bare(&self, source: SourceText) -> Result<CodeBox<'_>, BoxError> {
        CodeBox::open(self, self.place(), source, 0, &[])
    }
}

/// A box, on the thread that opened it: the kernel ends it with that thread.
#[derive(Debug)]
pub struct CodeBox<'l> {
    launcher: &'l BoxLauncher,
    source: SourceText,
    source_sha256: String,
    hash_seed: u32,
    modules: Vec<ModuleName>,
    limits: BoxLimits,
    process: Option<Running>,
    jobs: u64,
    /// What all jobs of the submission used.
    used: JobMeasure,
    _place: Place<'l>,
    _thread: PhantomData<*const ()>,
}

/// A started box, and what the runner said of itself once it was ready.
#[derive(Debug)]
struct Running {
    process: BoxProcess,
    namespaces: Namespaces,
    ready: Option<Ready>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    pub(crate) refusal: i32,
    pub(crate) is_alone: bool,
}

impl<'l> CodeBox<'l> {
    pub(crate) fn open(
        launcher: &'l BoxLauncher,
        place: Place<'l>,
        source: SourceText,
        hash_seed: u32,
        modules: &[ModuleName],
    ) -> Result<Self, BoxError> {
        let mut opened = Self {
            launcher,
            source_sha256: source.sha256(),
            source,
            hash_seed,
            modules: modules.to_vec(),
            limits: launcher.header().limits,
            process: None,
            jobs: 0,
            used: JobMeasure::default(),
            _place: place,
            _thread: PhantomData,
        };
        // It imports while the caller does something else.
        opened.start()?;
        Ok(opened)
    }

    /// The same box for another program: for batteries of programs that are ours, never for two submissions.
    pub(crate) fn replace_source(&mut self, source: SourceText, limits: BoxLimits) {
        self.source_sha256 = source.sha256();
        self.source = source;
        self.limits = limits;
        self.used = JobMeasure::default();
    }

    /// What the box says of its namespaces, and the runner of itself.
    pub(crate) fn introduction(&mut self) -> Result<(Namespaces, Ready), BoxError> {
        let ready = self
            .ready()
            .map_err(|what| BoxError::Failed { attempts: 1, what })?;
        let namespaces = self.process.as_ref().map(|running| running.namespaces.clone());
        Ok((namespaces.unwrap_or_default(), ready))
    }

    /// The processes of the box, seen from outside.
    #[doc(hidden)]
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|running| running.process.id())
    }

    fn start(&mut self) -> Result<(), BoxError> {
        let (process, namespaces) = self.launcher.start(self.hash_seed, &self.modules)?;
        self.process = Some(Running {
            process,
            namespaces,
            ready: None,
        });
        Ok(())
    }

    /// Waits until the runner has imported everything.
    fn ready(&mut self) -> Result<Ready, String> {
        if self.process.is_none() {
            self.start().map_err(|error| error.to_string())?;
        }
        let Some(running) = &mut self.process else {
            return Err("it was not started".to_owned());
        };
        if let Some(ready) = running.ready {
            return Ok(ready);
        }
        let fault = match running.process.exchange(&[], READY_WAIT) {
            Answer::Message(RunnerMessage::Ready {
                refusal, is_alone, ..
            }) => {
                let ready = Ready { refusal, is_alone };
                running.ready = Some(ready);
                return Ok(ready);
            }
            Answer::Message(RunnerMessage::Failed { message }) => message,
            Answer::Message(RunnerMessage::Done(_)) => "the runner ended a job that nobody sent".to_owned(),
            Answer::Timeout => "the libraries were not imported in time".to_owned(),
            Answer::Ended(what) => what,
        };
        self.process = None;
        Err(fault)
    }

    /// Whether the submission has used up what all its jobs may use.
    fn is_used_up(&self) -> bool {
        let limit = |seconds: u32| u64::from(seconds) * 1_000;
        limit(self.limits.budget_cpu_s) <= self.used.cpu_ms
            || limit(self.limits.budget_wall_s) <= self.used.wall_ms
    }

    /// Whether the box runs a program that does nothing.
    fn is_sound(&mut self) -> Result<bool, BoxError> {
        self.jobs += 1;
        let nothing = BoxJob::script("a program that does nothing");
        let frame = encode_job(self.jobs, &nothing, "pass", &self.limits)?;
        let (end, _) = self.attempt(self.jobs, &frame);
        Ok(matches!(end, JobEnd::Reported { report, .. } if report.exit == 0))
    }

    /// Sends a job and waits for its end; a box that cannot go on is ended. Whose fault it is that a runner was lost shows in a
    /// new box.
    fn attempt(&mut self, id: u64, frame: &[u8]) -> (JobEnd, String) {
        if let Err(what) = self.ready() {
            return (JobEnd::BoxFailed, what);
        }
        let Some(running) = &mut self.process else {
            return (JobEnd::BoxFailed, "it was not started".to_owned());
        };
        let wall = Duration::from_secs(self.limits.wall_s.into());
        let answer = running.process.exchange(frame, wall);
        let is_out_of_memory = running.process.is_out_of_memory();
        let (end, what) = match answer {
            Answer::Message(RunnerMessage::Done(report)) if report.id == id => {
                return (
                    JobEnd::Reported {
                        report,
                        is_out_of_memory,
                    },
                    String::new(),
                );
            }
            Answer::Timeout => (JobEnd::Timeout, String::new()),
            // The group ran out of memory, and the kernel chose the runner.
            Answer::Ended(_) if is_out_of_memory => (
                JobEnd::Reported {
                    report: killed(id),
                    is_out_of_memory,
                },
                String::new(),
            ),
            Answer::Ended(what) => (JobEnd::RunnerLost, what),
            Answer::Message(_) => (
                JobEnd::RunnerLost,
                "the runner answered something else".to_owned(),
            ),
        };
        self.process = None;
        (end, what)
    }

    fn outcome(
        &self,
        id: u64,
        job: &BoxJob,
        input_sha256: String,
        end: JobEnd,
        wall: Duration,
    ) -> JobOutcome {
        let JudgedJob {
            status,
            result,
            fault,
        } = judge_job(&end, job.kind, job.data.rows(), &self.limits);
        let report = if let JobEnd::Reported { report, .. } = end {
            Some(report)
        } else {
            None
        };
        let written = report
            .as_ref()
            .map(|report| report.result.as_slice())
            .unwrap_or_default();
        let event = JobEvent {
            id,
            purpose: job.purpose.clone(),
            kind: job.kind,
            source_sha256: self.source_sha256.clone(),
            input_sha256,
            seed: job.seed,
            hash_seed: self.hash_seed,
            status,
            exit: report.as_ref().map(|report| report.exit),
            fault: fault.map(|fault| fault.label().to_owned()),
            result_sha256: (!written.is_empty()).then(|| sha256_hex(written)),
            result_bytes: written.len() as u64,
            diagnostics_bytes: report.as_ref().map_or(0, |report| report.diagnostics_bytes),
        };
        let measure = JobMeasure {
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            cpu_ms: report.as_ref().map_or(0, |report| report.cpu_ms),
            memory_kb: report.as_ref().map_or(0, |report| report.memory_kb),
        };
        JobOutcome {
            status,
            result,
            steps: report.as_ref().and_then(|report| report.steps),
            diagnostics: report.map(|report| report.diagnostics).unwrap_or_default(),
            event,
            measure,
        }
    }
}

impl CodeRunner for CodeBox<'_> {
    fn run(&mut self, job: &BoxJob) -> Result<JobOutcome, BoxError> {
        // What a job is given does not depend on its number.
        let input_sha256 = sha256_hex(&encode_job(0, job, self.source.text(), &self.limits)?);
        if self.is_used_up() {
            self.jobs += 1;
            return Ok(self.outcome(self.jobs, job, input_sha256, JobEnd::Timeout, Duration::ZERO));
        }
        let (mut last, mut was_lost) = (String::new(), false);
        for _ in 0..ATTEMPTS {
            if was_lost && !self.is_sound()? {
                self.process = None;
                continue;
            }
            self.jobs += 1;
            let frame = encode_job(self.jobs, job, self.source.text(), &self.limits)?;
            let began = Instant::now();
            let (end, what) = match self.attempt(self.jobs, &frame) {
                // Once may be the machine's; again, where another program had just been run, is this one's.
                (JobEnd::RunnerLost, what) if !std::mem::replace(&mut was_lost, true) => {
                    (JobEnd::BoxFailed, what)
                }
                ended => ended,
            };
            let outcome = self.outcome(self.jobs, job, input_sha256.clone(), end, began.elapsed());
            self.used.cpu_ms += outcome.measure.cpu_ms;
            self.used.wall_ms += outcome.measure.wall_ms;
            if outcome.status != JobStatus::BoxFailed {
                return Ok(outcome);
            }
            self.process = None;
            last = what;
        }
        Err(BoxError::Failed {
            attempts: ATTEMPTS,
            what: last,
        })
    }
}

/// A job whose box was killed with it.
const fn killed(id: u64) -> JobReport {
    JobReport {
        id,
        exit: -9,
        is_armed: true,
        is_flood: false,
        cpu_ms: 0,
        memory_kb: 0,
        result: Vec::new(),
        diagnostics: Vec::new(),
        diagnostics_bytes: 0,
        steps: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A runner that notes the order in which it is asked.
    struct Noted(Vec<String>);

    impl CodeRunner for Noted {
        fn run(&mut self, job: &BoxJob) -> Result<JobOutcome, BoxError> {
            self.0.push(job.purpose.clone());
            let event = JobEvent {
                id: 0,
                purpose: job.purpose.clone(),
                kind: job.kind,
                source_sha256: String::new(),
                input_sha256: String::new(),
                seed: job.seed,
                hash_seed: 0,
                status: JobStatus::Ok,
                exit: Some(0),
                fault: None,
                result_sha256: None,
                result_bytes: 0,
                diagnostics_bytes: 0,
            };
            Ok(JobOutcome {
                status: JobStatus::Ok,
                result: None,
                diagnostics: Vec::new(),
                event,
                measure: JobMeasure::default(),
                steps: None,
            })
        }
    }

    #[test]
    fn jobs_are_run_in_the_order_of_a_key_and_come_back_in_their_own() {
        let jobs: Vec<BoxJob> = (0..40).map(|at| BoxJob::script(at.to_string())).collect();
        let mut noted = Noted(Vec::new());
        let outcomes = noted.run_all(&jobs, "a key").unwrap();
        let purposes: Vec<String> = outcomes
            .into_iter()
            .map(|outcome| outcome.event.purpose)
            .collect();
        let own: Vec<String> = jobs.into_iter().map(|job| job.purpose).collect();
        assert_eq!(purposes, own);
        assert_ne!(noted.0, own);
        noted.0.sort_by_key(|purpose| purpose.parse::<u32>().unwrap());
        assert_eq!(noted.0, own);
    }
}
