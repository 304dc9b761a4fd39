//! How a job ended, and whose fault it was.

use crate::jobs::JobKind;
use crate::limits::BoxLimits;
use crate::messages::JobReport;
use crate::results::{JobResult, ResultFault, decode_result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a job. All but the last are the program's own.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// It gave back what was asked for.
    Ok,
    /// It ended with a Python exception, or gave back what cannot be taken.
    Error,
    /// It ended without a result.
    NoResult,
    /// Its result is not one.
    BadResult,
    /// The clock ran out.
    Timeout,
    /// It used up its processor time.
    Cpu,
    /// It used up its memory.
    Memory,
    /// It printed too much, or gave back more than it may.
    Flood,
    /// A signal ended it.
    Signal,
    /// The runner was lost while it ran, and again in a new box in which a harmless program had just been run.
    RunnerLost,
    /// The box failed, which is never the program's fault.
    BoxFailed,
}

impl JobStatus {
    /// Its name in records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// How the process of a job ended.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEnd {
    /// The runner reported it.
    Reported {
        /// What it reported.
        report: JobReport,
        /// Whether the kernel counted a kill for lack of memory meanwhile.
        is_out_of_memory: bool,
    },
    /// The clock ran out, and the box was killed.
    Timeout,
    /// The runner was lost, or answered what it must not, whenever the job ran, and at no other time.
    RunnerLost,
    /// The box ended, or answered what it must not.
    BoxFailed,
}

/// A job that ended, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedJob {
    /// How it ended.
    pub status: JobStatus,
    /// What it gave back, or how it failed.
    pub result: Option<JobResult>,
    /// What is wrong with its result.
    pub fault: Option<ResultFault>,
}

const KILL: i32 = -9;
/// Signals that the kernel sends where memory is lacking: abort, bus error, kill, segmentation fault.
const MEMORY_SIGNALS: [i32; 4] = [-6, -7, KILL, -11];
/// The kernel counts whole ticks for the limit of processor time and measures what it reports: on a machine whose
/// processors are shared out, a job ends at its limit with less. Nothing else kills a job but lack of memory, which is
/// counted, and the runner, which says so.
const CPU_SHARE_MIN: u64 = 2;

/// The status of a job of a kind, over data of so many rows.
#[must_use]
pub fn judge_job(end: &JobEnd, kind: JobKind, rows: usize, limits: &BoxLimits) -> JudgedJob {
    let alone = |status: JobStatus| JudgedJob {
        status,
        result: None,
        fault: None,
    };
    let (report, is_out_of_memory) = match end {
        JobEnd::Timeout => return alone(JobStatus::Timeout),
        JobEnd::RunnerLost => return alone(JobStatus::RunnerLost),
        JobEnd::BoxFailed => return alone(JobStatus::BoxFailed),
        JobEnd::Reported {
            report,
            is_out_of_memory,
        } => (report, *is_out_of_memory),
    };
    if !report.is_armed {
        return alone(JobStatus::BoxFailed);
    }
    if report.is_flood {
        return alone(JobStatus::Flood);
    }
    let is_too_long = limits.out_max_bytes() < report.result.len() as u64;
    if is_too_long {
        return alone(JobStatus::Flood);
    }
    if report.exit < 0 {
        return alone(signal_status(report, is_out_of_memory, limits));
    }
    match decode_result(&report.result, rows, limits.out_max_bytes()) {
        Err(ResultFault::None) => alone(JobStatus::NoResult),
        Err(fault) => bad(fault),
        Ok(_) if report.exit != 0 => bad(ResultFault::Exit),
        Ok(result) if result.is_of(kind) => JudgedJob {
            status: JobStatus::Ok,
            result: Some(result),
            fault: None,
        },
        Ok(JobResult::Error {
            class,
            message,
            place,
            line,
        }) => JudgedJob {
            status: if class == "MemoryError" {
                JobStatus::Memory
            } else {
                JobStatus::Error
            },
            result: Some(JobResult::Error {
                class,
                message,
                place,
                line,
            }),
            fault: None,
        },
        Ok(_) => bad(ResultFault::Kind),
    }
}

const fn bad(fault: ResultFault) -> JudgedJob {
    JudgedJob {
        status: JobStatus::BadResult,
        result: None,
        fault: Some(fault),
    }
}

fn signal_status(report: &JobReport, is_out_of_memory: bool, limits: &BoxLimits) -> JobStatus {
    let cpu_ms = u64::from(limits.cpu_s) * 1_000;
    let memory_kb = u64::from(limits.memory_mb) * 1_024;
    let is_full = memory_kb * 95 <= report.memory_kb.saturating_mul(100);
    let has_memory_fault = is_full && MEMORY_SIGNALS.contains(&report.exit);
    if is_out_of_memory {
        JobStatus::Memory
    } else if report.exit == KILL && cpu_ms <= report.cpu_ms.saturating_mul(CPU_SHARE_MIN) {
        JobStatus::Cpu
    } else if has_memory_fault {
        JobStatus::Memory
    } else {
        JobStatus::Signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BoxLimits = BoxLimits::FACTORS;

    fn report(exit: i32) -> JobReport {
        JobReport {
            id: 1,
            exit,
            is_armed: true,
            is_flood: false,
            cpu_ms: 5,
            memory_kb: 100_000,
            result: Vec::new(),
            diagnostics: Vec::new(),
            diagnostics_bytes: 0,
            steps: None,
        }
    }

    fn status(report: JobReport) -> JobStatus {
        let end = JobEnd::Reported {
            report,
            is_out_of_memory: false,
        };
        judge_job(&end, JobKind::Series, 1, &LIMITS).status
    }

    fn result(head: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = b"KTR1".to_vec();
        bytes.extend(u32::try_from(head.len()).unwrap().to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn kills_are_told_apart() {
        assert_eq!(status(report(-9)), JobStatus::Signal);
        assert_eq!(
            status(JobReport {
                cpu_ms: 20_000,
                ..report(-9)
            }),
            JobStatus::Cpu
        );
        // Ticks were counted for the limit that another guest of the machine had.
        assert_eq!(
            status(JobReport {
                cpu_ms: 18_829,
                ..report(-9)
            }),
            JobStatus::Cpu
        );
        assert_eq!(
            status(JobReport {
                cpu_ms: 9_999,
                ..report(-9)
            }),
            JobStatus::Signal
        );
        assert_eq!(
            status(JobReport {
                cpu_ms: 20_000,
                ..report(-11)
            }),
            JobStatus::Signal
        );
        let full = 3_072 * 1_024;
        assert_eq!(
            status(JobReport {
                memory_kb: full,
                ..report(-11)
            }),
            JobStatus::Memory
        );
        assert_eq!(
            status(JobReport {
                memory_kb: full / 2,
                ..report(-11)
            }),
            JobStatus::Signal
        );
        assert_eq!(
            status(JobReport {
                memory_kb: full,
                ..report(-15)
            }),
            JobStatus::Signal
        );
        let counted = JobEnd::Reported {
            report: report(-9),
            is_out_of_memory: true,
        };
        assert_eq!(
            judge_job(&counted, JobKind::Series, 1, &LIMITS).status,
            JobStatus::Memory
        );
    }

    #[test]
    fn an_end_without_a_result_is_no_result_whatever_the_exit_status() {
        assert_eq!(status(report(0)), JobStatus::NoResult);
        assert_eq!(status(report(97)), JobStatus::NoResult);
    }

    #[test]
    fn a_box_that_did_not_arm_a_job_failed() {
        assert_eq!(
            status(JobReport {
                is_armed: false,
                ..report(0)
            }),
            JobStatus::BoxFailed
        );
        assert_eq!(
            judge_job(&JobEnd::BoxFailed, JobKind::Series, 1, &LIMITS).status,
            JobStatus::BoxFailed
        );
        assert_eq!(
            judge_job(&JobEnd::Timeout, JobKind::Series, 1, &LIMITS).status,
            JobStatus::Timeout
        );
        assert_eq!(
            judge_job(&JobEnd::RunnerLost, JobKind::Series, 1, &LIMITS).status,
            JobStatus::RunnerLost
        );
        assert_eq!(
            status(JobReport {
                is_flood: true,
                ..report(-9)
            }),
            JobStatus::Flood
        );
    }

    #[test]
    fn a_result_counts_from_a_process_that_ended_well_and_is_of_the_kind_asked_for() {
        let series = result(
            r#"{"kind":"series","rows":1,"name":null,"flags":[]}"#,
            &1f64.to_le_bytes(),
        );
        assert_eq!(
            status(JobReport {
                result: series.clone(),
                ..report(0)
            }),
            JobStatus::Ok
        );
        let end = |exit: i32| JobEnd::Reported {
            report: JobReport {
                result: series.clone(),
                ..report(exit)
            },
            is_out_of_memory: false,
        };
        assert_eq!(
            judge_job(&end(1), JobKind::Series, 1, &LIMITS).fault,
            Some(ResultFault::Exit)
        );
        assert_eq!(
            judge_job(&end(0), JobKind::Tables, 1, &LIMITS).fault,
            Some(ResultFault::Kind)
        );
        assert_eq!(
            judge_job(&end(0), JobKind::Series, 2, &LIMITS).fault,
            Some(ResultFault::Rows)
        );
        assert_eq!(
            judge_job(&end(-11), JobKind::Series, 1, &LIMITS).status,
            JobStatus::Signal
        );
    }

    #[test]
    fn a_result_that_is_too_long_is_a_flood() {
        let long = vec![0; usize::try_from(LIMITS.out_max_bytes()).unwrap() + 1];
        let end = JobEnd::Reported {
            report: JobReport {
                result: long,
                ..report(-9)
            },
            is_out_of_memory: false,
        };
        assert_eq!(
            judge_job(&end, JobKind::Series, 1, &LIMITS).status,
            JobStatus::Flood
        );
    }

    #[test]
    fn lack_of_memory_that_python_met_is_lack_of_memory() {
        let head = |class: &str| {
            format!(r#"{{"kind":"error","class":"{class}","message":"","where":"call","line":null}}"#)
        };
        let of = |class: &str| {
            status(JobReport {
                result: result(&head(class), b""),
                ..report(0)
            })
        };
        assert_eq!(of("MemoryError"), JobStatus::Memory);
        assert_eq!(of("KeyError"), JobStatus::Error);
    }
}
