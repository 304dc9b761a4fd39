//! What is recorded of a box and of its jobs. Times and memory are no part of it: they differ from run to run.

use crate::isolation::Isolation;
use crate::jobs::JobKind;
use crate::limits::BoxLimits;
use crate::locks::PackageSet;
use crate::self_test::SelfTest;
use crate::status::JobStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The environment in which programs ran.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentRecord {
    /// The set of packages.
    pub set: PackageSet,
    /// The hash of its lock file.
    pub lock_sha256: String,
    /// The version and build of the interpreter.
    pub python: String,
    /// The hash of the file lists of all that is installed.
    pub installed_sha256: String,
}

/// The hashes of the two filters.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterHashes {
    /// Of the filter of the box.
    pub box_sha256: String,
    /// Of the filter of a job.
    pub job_sha256: String,
}

/// What every run in the box has in common, recorded once.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxHeader {
    /// What stands between a job and the machine.
    pub isolation: Isolation,
    /// The path of bubblewrap, where it is used.
    pub bwrap_path: Option<String>,
    /// Its version.
    pub bwrap_version: Option<String>,
    /// The release of the kernel.
    pub kernel: String,
    /// The version of Landlock in the kernel, 0 where it has none.
    pub landlock_abi: u32,
    /// How memory and processes are counted: `v2`, `v1` or `none`.
    pub cgroup: String,
    /// The filters of system calls; none where there is no isolation.
    pub filters: Option<FilterHashes>,
    /// The hash of the runner.
    pub runner_sha256: String,
    /// The Python environment.
    pub environment: EnvironmentRecord,
    /// The limits of a job.
    pub limits: BoxLimits,
    /// What the box refused before anything ran in it.
    pub self_test: SelfTest,
}

/// What one job was and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEvent {
    /// Its number in its box.
    pub id: u64,
    /// What it was run for.
    pub purpose: String,
    /// What it was to give back.
    pub kind: JobKind,
    /// The hash of its source.
    pub source_sha256: String,
    /// The hash of all that it was given, the source included.
    pub input_sha256: String,
    /// The seed of its random numbers.
    pub seed: u32,
    /// The seed of Python's hashes.
    pub hash_seed: u32,
    /// How it ended.
    pub status: JobStatus,
    /// Its exit status, the negative number of a signal that ended it; none where the box was killed.
    pub exit: Option<i32>,
    /// What is wrong with its result.
    pub fault: Option<String>,
    /// The hash of its result, where there is one.
    pub result_sha256: Option<String>,
    /// The bytes of its result.
    pub result_bytes: u64,
    /// The bytes that it printed.
    pub diagnostics_bytes: u64,
}
