//! The test of a box before anything runs in it.

use crate::code_box::CodeRunner as _;
use crate::error::BoxError;
use crate::launcher::BoxLauncher;
use ktd_sandbox::{BoxJob, Isolation, ProbeCheck, SelfTest, SourceText, check_probe, probe_jobs};

/// Namespaces that a box must have of its own.
const NAMESPACES: [&str; 5] = ["ipc", "mnt", "net", "pid", "uts"];
/// `EPERM`.
const NOT_PERMITTED: i32 = 1;

impl BoxLauncher {
    /// Tries in a box what it must refuse.
    pub(crate) fn self_test(&self) -> Result<SelfTest, BoxError> {
        let isolation = self.isolation();
        let mut checks = Vec::new();
        let jobs = probe_jobs(isolation, 0 < self.header().landlock_abi);
        let source = |text: &str| SourceText::read(text.as_bytes(), 256).map_err(BoxError::from);
        let mut opened = self.open_bare(source("pass")?)?;
        let (namespaces, ready) = opened.introduction()?;
        if isolation == Isolation::Bwrap {
            let shared = NAMESPACES.iter().filter(|name| {
                let own = own_namespace(name);
                namespaces
                    .get(&format!("{name}-namespace"))
                    .is_none_or(|made| own.is_none_or(|own| own == *made))
            });
            let shared: Vec<&str> = shared.copied().collect();
            checks.push(check("namespaces", shared.is_empty(), &shared.join(", ")));
            checks.push(check(
                "own processes",
                ready.is_alone,
                "the first process is another",
            ));
        }
        if isolation.counts() {
            let answer = format!(
                "a forbidden call of the runner was answered with {}",
                ready.refusal
            );
            checks.push(check(
                "filter of the box",
                ready.refusal == NOT_PERMITTED,
                &answer,
            ));
        }
        for (name, text) in jobs {
            opened.replace_source(source(&text)?, self.header().limits);
            let outcome = opened.run(&BoxJob::script(format!("self-test: {name}")))?;
            let mut printed = String::from_utf8_lossy(&outcome.diagnostics).into_owned();
            if printed.trim().is_empty() {
                outcome.status.label().clone_into(&mut printed);
            }
            checks.push(check_probe(isolation, name, &printed));
        }
        Ok(SelfTest { checks })
    }
}

fn check(name: &str, passed: bool, fault: &str) -> ProbeCheck {
    ProbeCheck {
        name: name.to_owned(),
        passed,
        answer: if passed {
            "its own".to_owned()
        } else {
            fault.to_owned()
        },
    }
}

/// The number of a namespace of this process.
fn own_namespace(name: &str) -> Option<u64> {
    let link = std::fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
    let text = link.to_str()?;
    text.split_once('[')?.1.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_namespaces_that_can_be_compared() {
        for name in NAMESPACES {
            assert!(own_namespace(name).is_some(), "{name}");
        }
        assert_eq!(own_namespace("none"), None);
    }
}
