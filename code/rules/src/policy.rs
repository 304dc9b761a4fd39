//! What the inner stage of a box does to itself before it becomes Python.

use crate::isolation::{Isolation, SwitchedOff};
use crate::limits::BoxLimits;
use crate::source::hex;
use serde::{Deserialize, Serialize};

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

/// The one argument of the inner stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InnerPolicy {
    /// The level that was asked for.
    pub isolation: Isolation,
    /// Limits of a job.
    pub limits: BoxLimits,
    /// How many jobs the box is for: its processor time grows with them.
    pub jobs: u32,
    /// The interpreter, as the inner stage sees it.
    pub python: String,
    /// What it may read, as the inner stage sees it.
    pub readable: Vec<String>,
    /// What the runner imports.
    pub modules: Vec<ModuleName>,
    /// The seed of Python's hashes.
    pub hash_seed: u32,
    /// A layer that is left out: for tests of the self-test alone.
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<SwitchedOff>,
}

/// Where the runner lies in a box with a root of its own.
pub(crate) const RUNNER_PATH: &str = "/box/runner.py";

impl InnerPolicy {
    /// Processor seconds of the box.
    #[must_use]
    pub fn box_cpu_s(&self) -> u64 {
        u64::from(self.limits.cpu_s) * u64::from(self.jobs.max(1)) + 60
    }

    /// The arguments of Python: the runner as a file where the box has a root of its own, as text where it has not.
    #[must_use]
    pub fn python_arguments(&self, runner: &str, job_filter: &[u8]) -> Vec<String> {
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
        let flags = ["-s", "-P", "-B"].map(str::to_owned).into_iter();
        let place = if is_alone { "alone" } else { "shared" };
        flags
            .chain(program)
            .chain([modules.join(","), filter, place.to_owned()])
            .collect()
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

    fn policy(isolation: Isolation) -> InnerPolicy {
        InnerPolicy {
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
    fn a_policy_survives_its_argument() {
        let policy = policy(Isolation::Bwrap);
        let text = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<InnerPolicy>(&text).unwrap(), policy);
        assert!(!text.contains("switched_off"));
        assert_eq!(policy.box_cpu_s(), 20 * 150 + 60);
    }

    #[test]
    fn python_reads_the_runner_from_the_root_of_the_box_or_from_its_arguments() {
        let arguments = policy(Isolation::Bwrap).python_arguments("text", &[1, 255]);
        insta::assert_snapshot!(arguments.join("\n"));
        let arguments = policy(Isolation::Landlock).python_arguments("text", &[]);
        assert_eq!(&arguments[3..5], ["-c", "text"]);
        assert_eq!(arguments.last().unwrap(), "shared");
    }
}
