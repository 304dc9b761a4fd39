//! What a box must refuse before anything is run in it.

use crate::isolation::Isolation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeCheck {
    /// What was tried.
    pub name: String,
    /// Whether the box did as it must.
    pub passed: bool,
    /// What it answered.
    pub answer: String,
}

/// Everything that was tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTest {
    /// One after the other.
    pub checks: Vec<ProbeCheck>,
}

impl SelfTest {
    /// Whether the box may be used.
    #[must_use]
    pub fn passes(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.passed)
    }

    /// What failed, in one line.
    #[must_use]
    pub fn failures(&self) -> String {
        let failed = self.checks.iter().filter(|check| !check.passed);
        let failed: Vec<String> = failed
            .map(|check| format!("{}: {}", check.name, check.answer))
            .collect();
        failed.join("; ")
    }
}

/// `EPERM`, `ENOENT`, `EACCES`, `EROFS`, as they are printed.
const NOT_PERMITTED: &str = "1";
const NOT_THERE: &str = "2";
const NO_ACCESS: &str = "13";
const READ_ONLY: &str = "30";

/// Each probe: its name, what it tries, and what it must be answered with in a root of its own and without one. Answers
/// are numbers of errors, so that each names the layer that refused it.
const PROBES: [(&str, &str, &str, &str); 6] = [
    ("compute", "print(sum(range(11)))", "55", "55"),
    // The filter of a job; the namespace is seen from outside.
    (
        "network",
        "import _socket\ntry_it(lambda: _socket.socket(2, 1))",
        NOT_PERMITTED,
        NOT_PERMITTED,
    ),
    // The mount, which is asked before Landlock.
    (
        "write",
        "try_it(lambda: os.open('written', os.O_CREAT | os.O_WRONLY))",
        READ_ONLY,
        NO_ACCESS,
    ),
    // The filter of a job.
    (
        "process",
        "try_it(lambda: os.fork() or os._exit(0))",
        NOT_PERMITTED,
        NOT_PERMITTED,
    ),
    // The mounts: nothing of the machine but what Python needs.
    (
        "secrets",
        "try_it(lambda: os.listdir('/etc'))",
        NOT_THERE,
        NO_ACCESS,
    ),
    // Landlock: the root may be passed through and not be listed.
    (
        "landlock",
        "try_it(lambda: os.listdir('/'))",
        NO_ACCESS,
        NO_ACCESS,
    ),
];

/// What every probe begins with.
const PREAMBLE: &str = "\
import os
def try_it(attempt):
    try:
        attempt()
        print('allowed')
    except OSError as error:
        print(error.errno)
";

/// The names and sources of the jobs that are tried first. Without isolation nothing is refused, and only computing is
/// tried; Landlock is missed where the kernel has it.
#[must_use]
pub fn probe_jobs(isolation: Isolation, has_landlock: bool) -> Vec<(&'static str, String)> {
    let probes = PROBES
        .iter()
        .take(if isolation.counts() { PROBES.len() } else { 1 });
    probes
        .filter(|(name, ..)| has_landlock || *name != "landlock")
        .map(|(name, source, ..)| (*name, format!("{PREAMBLE}{source}\n")))
        .collect()
}

/// What a probe printed, judged.
#[must_use]
pub fn check_probe(isolation: Isolation, name: &str, printed: &str) -> ProbeCheck {
    let probe = PROBES.iter().find(|(known, ..)| *known == name);
    let expected = probe.map(|(_, _, own_root, shared)| match isolation {
        Isolation::Bwrap => *own_root,
        Isolation::Landlock | Isolation::None => *shared,
    });
    let answer = printed.trim();
    ProbeCheck {
        name: name.to_owned(),
        passed: expected == Some(answer),
        answer: answer
            .chars()
            .filter(|letter| !letter.is_control())
            .take(200)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_passes_by_the_answer_of_its_layer_alone() {
        assert!(check_probe(Isolation::Bwrap, "write", "30\n").passed);
        assert!(!check_probe(Isolation::Bwrap, "write", "13\n").passed);
        assert!(check_probe(Isolation::Landlock, "write", "13\n").passed);
        for (name, _) in probe_jobs(Isolation::Bwrap, true) {
            assert!(!check_probe(Isolation::Bwrap, name, "allowed").passed, "{name}");
            assert!(!check_probe(Isolation::Bwrap, name, "").passed, "{name}");
        }
        assert!(!check_probe(Isolation::Bwrap, "unknown", "").passed);
    }

    #[test]
    fn a_self_test_without_checks_proves_nothing() {
        assert!(!SelfTest::default().passes());
        let checks = vec![
            check_probe(Isolation::Bwrap, "compute", "55"),
            check_probe(Isolation::Bwrap, "write", "\u{1b}[0"),
        ];
        let test = SelfTest { checks };
        assert!(!test.passes());
        assert_eq!(test.failures(), "write: [0");
        assert_eq!(probe_jobs(Isolation::None, true).len(), 1);
        assert_eq!(probe_jobs(Isolation::Bwrap, false).len(), PROBES.len() - 1);
    }
}
