//! How boxes are to be.

use crate::environment::environment_folder;
use ktd_sandbox::{BoxLimits, Isolation, ModuleName, PackageSet, SwitchedOff};
use std::path::PathBuf;

/// The user that bubblewrap is started under when root asks for a box.
pub const NOBODY: u32 = 65_534;

/// How boxes are to be, before the machine is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxSetup {
    /// What must stand between a job and the machine. Never taken: another level.
    pub isolation: Isolation,
    /// What a job may use.
    pub limits: BoxLimits,
    /// What the runner imports before the first job.
    pub modules: Vec<ModuleName>,
    /// The set of packages.
    pub set: PackageSet,
    /// The folder of the Python environment; by default that of the set.
    pub environment: Option<PathBuf>,
    /// The user of a box that root asks for.
    pub user: u32,
    /// How many boxes may be side by side; 0 for one less than there are processors.
    pub side_by_side: usize,
    /// For how many jobs a box is: its processor time grows with them.
    pub jobs: u32,
    /// Texts that no file of the box may hold: answers to what is judged in it.
    pub answers: Vec<String>,
    /// A layer that is left out: for tests of the self-test alone.
    #[doc(hidden)]
    pub switched_off: Option<SwitchedOff>,
}

impl Default for BoxSetup {
    fn default() -> Self {
        Self {
            isolation: Isolation::Bwrap,
            limits: BoxLimits::FACTORS,
            modules: ModuleName::factors(),
            set: PackageSet::default(),
            environment: None,
            user: NOBODY,
            side_by_side: 0,
            jobs: 1_000,
            answers: Vec::new(),
            switched_off: None,
        }
    }
}

impl BoxSetup {
    /// The folder of the Python environment.
    pub(crate) fn environment_folder(&self) -> PathBuf {
        let by_default = || environment_folder(self.set);
        self.environment.clone().unwrap_or_else(by_default)
    }

    /// The user that a box is started under, where it is another than this process's.
    #[must_use]
    pub fn box_user(&self) -> Option<u32> {
        let is_root = rustix::process::geteuid().is_root();
        (is_root && self.isolation.counts()).then_some(self.user)
    }
}
