//! What the runner of a box does to itself before it imports anything, and with which words it is started.

use crate::isolation::{Isolation, SwitchedOff};
use crate::limits::BoxLimits;
use crate::source::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The descriptor on which the runner reads jobs.
pub const BOX_CONTROL_IN: i32 = 3;
/// The descriptor on which it answers.
pub const BOX_CONTROL_OUT: i32 = 4;

/// A module that the runner imports once, and the name under which programs find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleName {
    /// Its path, such as `scipy.stats`.
    pub path: String,
    /// Its name in the globals of a program; none where programs import it themselves.
    pub name: Option<String>,
}

impl ModuleName {
    /// What is imported for factor functions, which find the libraries under their usual names.
    #[must_use]
    pub fn factors() -> Vec<Self> {
        [
            ("numpy", "np"),
            ("pandas", "pd"),
            ("talib", "talib"),
            ("math", "math"),
            ("scipy", "scipy"),
            ("scipy.stats", "stats"),
        ]
        .map(|(path, name)| Self {
            path: path.to_owned(),
            name: Some(name.to_owned()),
        })
        .to_vec()
    }

    /// What is imported for strategies, which import what they use themselves.
    #[must_use]
    pub fn strategies() -> Vec<Self> {
        ["numpy", "pandas", "talib", "scipy.stats"]
            .map(Self::unnamed)
            .to_vec()
    }

    /// A module that is imported and given no name.
    #[must_use]
    pub fn unnamed(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            name: None,
        }
    }
}

/// What differs from box to box of how its runner is started.
#[derive(Debug, Clone, PartialEq)]
pub struct RunnerPolicy {
    /// The level that was asked for.
    pub isolation: Isolation,
    /// Limits of a job.
    pub limits: BoxLimits,
    /// How many jobs the box is for: its processor time grows with them.
    pub jobs: u32,
    /// The interpreter, as it is seen in the box.
    pub python: String,
    /// What it may read, as it is seen in the box.
    pub readable: Vec<String>,
    /// What the runner imports.
    pub modules: Vec<ModuleName>,
    /// The seed of Python's hashes.
    pub hash_seed: u32,
    /// A layer that is left out: for tests of the self-test alone.
    #[doc(hidden)]
    pub switched_off: Option<SwitchedOff>,
}

const OPEN_FILES: u64 = 256;
const PROCESSES: u64 = 64;

/// Where the runner lies in a box with a root of its own.
pub(crate) const RUNNER_PATH: &str = "/box/runner.py";

impl RunnerPolicy {
    /// Processor seconds of the box.
    #[must_use]
    pub fn box_cpu_s(&self) -> u64 {
        u64::from(self.limits.cpu_s) * u64::from(self.jobs.max(1)) + 60
    }

    /// The arguments of Python: the runner as a file where the box has a root of its own, as text where it has not. `filters`:
    /// those of the whole box and of a job, empty where there are none.
    #[must_use]
    pub fn python_arguments(&self, runner: &str, (box_filter, job_filter): (&[u8], &[u8])) -> Vec<String> {
        let is_alone = self.isolation == Isolation::Bwrap;
        let program = if is_alone {
            vec![RUNNER_PATH.to_owned()]
        } else {
            vec!["-c".to_owned(), runner.to_owned()]
        };
        let modules: Vec<String> = self
            .modules
            .iter()
            .map(|module| match &module.name {
                Some(name) => format!("{}={name}", module.path),
                None => module.path.clone(),
            })
            .collect();
        let filter = hex(job_filter);
        // Isolated mode (`-I`) would ignore the seed of hashes with the rest of the environment, which is ours and empty.
        // Packages, and what they run at the start, come once the runner has restricted itself.
        let flags = ["-s", "-S", "-P", "-B"].map(str::to_owned).into_iter();
        let place = if is_alone { "alone" } else { "shared" };
        flags
            .chain(program)
            .chain([
                modules.join(","),
                filter,
                place.to_owned(),
                self.restrictions(box_filter).to_string(),
            ])
            .collect()
    }

    /// What the runner gives up before it imports anything.
    fn restrictions(&self, box_filter: &[u8]) -> Value {
        let counts = self.isolation.counts();
        let has_rules = counts && self.switched_off != Some(SwitchedOff::Landlock);
        json!({
            "limits": self.resource_limits(),
            "readable": has_rules.then_some(&self.readable),
            "is_only_layer": self.isolation == Isolation::Landlock,
            "filter": hex(box_filter),
        })
    }

    /// Limits of the box by their names; those of a job are lower.
    fn resource_limits(&self) -> Vec<(&'static str, u64)> {
        let mut limits = vec![
            ("RLIMIT_CPU", self.box_cpu_s()),
            ("RLIMIT_CORE", 0),
            ("RLIMIT_NOFILE", OPEN_FILES),
        ];
        if self.isolation.counts() {
            limits.extend([
                ("RLIMIT_AS", self.limits.address_space_bytes()),
                ("RLIMIT_FSIZE", 0),
                ("RLIMIT_MEMLOCK", 0),
                ("RLIMIT_MSGQUEUE", 0),
            ]);
        }
        // Counted for a user: without a user namespace the processes outside the box would count too.
        if self.isolation == Isolation::Bwrap {
            limits.push(("RLIMIT_NPROC", PROCESSES));
        }
        limits
    }

    /// The environment of Python.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        environment(self.hash_seed)
    }
}

/// The whole environment of a process in the box.
pub(crate) fn environment(hash_seed: u32) -> Vec<(&'static str, String)> {
    let fixed = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("MKL_NUM_THREADS", "1"),
        ("NUMEXPR_NUM_THREADS", "1"),
    ];
    let mut variables: Vec<(&'static str, String)> =
        fixed.map(|(name, value)| (name, value.to_owned())).to_vec();
    variables.push(("PYTHONHASHSEED", hash_seed.to_string()));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(isolation: Isolation) -> RunnerPolicy {
        RunnerPolicy {
            isolation,
            limits: BoxLimits::FACTORS,
            jobs: 150,
            python: "/box/env/bin/python3".to_owned(),
            readable: Vec::new(),
            modules: ModuleName::factors(),
            hash_seed: 0,
            switched_off: None,
        }
    }

    #[test]
    fn python_reads_the_runner_from_the_root_of_the_box_or_from_its_arguments() {
        let arguments = policy(Isolation::Bwrap).python_arguments("text", (&[2], &[1, 255]));
        insta::assert_snapshot!(arguments.join("\n"));
        let arguments = policy(Isolation::Landlock).python_arguments("text", (&[], &[]));
        assert_eq!(&arguments[4..6], ["-c", "text"]);
        assert_eq!(arguments[8], "shared");
        assert_eq!(policy(Isolation::Bwrap).box_cpu_s(), 20 * 150 + 60);
    }
}
