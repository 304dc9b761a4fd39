//! The rules of the box in which a program written by a model runs: what it may do, what it may use up, how data goes in
//! and a result comes out, and what a job that ended was.
//!
//! A [`SourceText`] is the program of one submission, and a [`BoxJob`] one run of it. [`BoxLimits`] say what a run may use.
//! [`bwrap_arguments`] and [`RunnerPolicy`] are what the box is made of, [`system_call_filter`] what its programs may ask
//! the kernel. [`encode_job`] makes the bytes of a job, [`decode_result`] reads the bytes that a job wrote, all of which are
//! foreign, and [`judge_job`] says how it ended. [`SelfTest`] holds what a box must refuse before anything runs in it, and
//! [`BatteryCase`] one program that tries to get out.
//!
//! Knows: nothing of ours. Never knows: processes, files, clocks, threads.

mod agent_box;
mod arguments;
mod battery;
mod calls;
mod cells;
mod events;
mod facts;
mod filter;
mod frames;
mod isolation;
mod jobs;
mod limits;
mod locks;
mod messages;
mod policy;
mod results;
mod runner;
mod self_test;
mod source;
mod status;

pub use agent_box::{AgentBoxPlan, agent_box_arguments};
pub use arguments::{BwrapPlan, bwrap_arguments};
pub use battery::{
    BatteryCase, BatteryFinding, BatteryRun, CaseError, Expectation, OWN_BATTERY, judge_case, parse_cases,
};
pub use calls::{JOB_CALLS, RUNNER_CALLS};
pub use cells::TableCellValue;
pub use events::{BoxHeader, EnvironmentRecord, FilterHashes, JobEvent};
pub use facts::SyntaxNode;
pub use filter::{FilterError, FilterStage, TargetMachine, filter_bytes, system_call_filter};
pub use frames::{FrameError, HEAD_BYTES_MAX, encode_job};
pub use isolation::{Isolation, SwitchedOff};
pub use jobs::{BoxJob, ColumnValues, JobColumn, JobData, JobKind, keyed_order};
pub use limits::{BoxLimits, LimitError};
pub use locks::{LockedPackage, PYTHON_MINORS, PackageSet, installed_sha256};
pub use messages::{JobReport, RunSteps, RunnerMessage, decode_message};
pub use policy::{BOX_CONTROL_IN, BOX_CONTROL_OUT, ModuleName, RunnerPolicy};
pub use results::{JobResult, JobTable, ResultFault, decode_result};
pub use runner::{RUNNER, runner_sha256};
pub use self_test::{ProbeCheck, SelfTest, check_probe, probe_jobs};
pub use source::{SourceFault, SourceText};
pub use status::{JobEnd, JobStatus, JudgedJob, judge_job};
