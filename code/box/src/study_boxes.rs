//! Boxes of a recorded study.

use crate::{BoxError, BoxLauncher, BoxSetup};
use ktd_io::parallel::available_threads;
use ktd_sandbox::{BoxHeader, BoxLimits, EnvironmentRecord, FilterHashes, Isolation};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What programs are run in, as far as results may depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxRecord {
    /// What stands between a program and the machine.
    pub isolation: Isolation,
    /// The filters of system calls.
    pub filters: Option<FilterHashes>,
    /// SHA-256 of the runner.
    pub runner_sha256: String,
    /// The Python environment.
    pub environment: EnvironmentRecord,
    /// The limits of a run.
    pub limits: BoxLimits,
}

impl SandboxRecord {
    fn of(header: &BoxHeader) -> Self {
        Self {
            isolation: header.isolation,
            filters: header.filters.clone(),
            runner_sha256: header.runner_sha256.clone(),
            environment: header.environment.clone(),
            limits: header.limits,
        }
    }
}

/// Boxes of a study: tested before anything is asked, or, where a record is made again, before its first program is run.
#[derive(Debug)]
pub struct StudyBoxes {
    setup: BoxSetup,
    record: SandboxRecord,
    launcher: OnceLock<BoxLauncher>,
    proving: Mutex<()>,
}

impl StudyBoxes {
    /// Boxes of this machine.
    ///
    /// # Errors
    /// [`BoxError`] for what the machine lacks, or what a box let through.
    pub fn prove(setup: BoxSetup) -> Result<Self, BoxError> {
        let launcher = BoxLauncher::prove_without_answers(setup.clone())?;
        Ok(Self {
            setup,
            record: SandboxRecord::of(launcher.header()),
            launcher: launcher.into(),
            proving: Mutex::default(),
        })
    }

    /// Boxes of a setup like those of a record. It may come from anybody: it chooses no level at which its programs would run unboxed.
    #[must_use]
    pub fn recorded(record: SandboxRecord, setup: BoxSetup) -> Self {
        let isolation = if record.isolation.counts() {
            record.isolation
        } else {
            Isolation::Bwrap
        };
        Self {
            setup: BoxSetup {
                isolation,
                set: record.environment.set,
                ..setup
            },
            record,
            launcher: OnceLock::new(),
            proving: Mutex::default(),
        }
    }

    /// What programs were run in, for the record.
    #[must_use]
    pub const fn record(&self) -> &SandboxRecord {
        &self.record
    }

    /// How many programs may run side by side.
    #[must_use]
    pub fn side_by_side(&self) -> usize {
        let by_default = || available_threads().saturating_sub(1).max(1);
        self.launcher
            .get()
            .map_or_else(by_default, BoxLauncher::side_by_side)
    }

    /// What starts a box, once one was seen to hold.
    ///
    /// # Errors
    /// [`BoxError`] as [`Self::prove`].
    pub fn launcher(&self) -> Result<&BoxLauncher, BoxError> {
        let _one = self.proving.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(launcher) = self.launcher.get() {
            return Ok(launcher);
        }
        let launcher = BoxLauncher::prove_without_answers(self.setup.clone())?;
        Ok(self.launcher.get_or_init(|| launcher))
    }
}
