//! The arguments of bubblewrap.

use crate::isolation::SwitchedOff;
use crate::policy::{RUNNER_PATH, environment};

/// What differs from machine to machine, and from box to box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BwrapPlan {
    /// The folder of the Python environment.
    pub environment: String,
    /// Files and folders of the interpreter itself, besides the system's libraries.
    pub interpreter_paths: Vec<String>,
    /// Python and its arguments.
    pub python: Vec<String>,
    /// Whether the machine has `/lib64`.
    pub has_lib64: bool,
    /// The seed of Python's hashes.
    pub hash_seed: u32,
    /// The descriptor on which the text of the runner is read.
    pub runner_descriptor: i32,
    /// The descriptor on which bubblewrap says what it made.
    pub info_descriptor: i32,
    /// The descriptor that it waits for before it starts anything.
    pub block_descriptor: i32,
    /// A layer that is left out: for tests of the self-test alone.
    #[doc(hidden)]
    pub switched_off: Option<SwitchedOff>,
}

impl BwrapPlan {
    /// Where the environment lies in the box: a job learns nothing of the machine's folders from it.
    pub const ENVIRONMENT: &'static str = "/box/env";
    /// What Python needs of the machine besides itself. No folder of programs: one may hold this one, and this one the answers.
    pub const SYSTEM: [&'static str; 2] = ["/usr/lib", "/usr/share/zoneinfo"];
}

/// The working directory in the box, in which nothing can be written.
const WORKING_DIRECTORY: &str = "/tmp";

/// The arguments of bubblewrap for one box: no `/proc`, no `/sys`, no `/etc`, no home, no place to write to.
#[must_use]
pub fn bwrap_arguments(plan: &BwrapPlan) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |parts: &[&str]| arguments.extend(parts.iter().map(|part| (*part).to_owned()));
    // `--unshare-all` alone leaves the user namespace optional, and `--disable-userns` then fails.
    add(&["--unshare-user", "--unshare-all"]);
    if plan.switched_off == Some(SwitchedOff::Network) {
        add(&["--share-net"]);
    }
    add(&[
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--clearenv",
    ]);
    for (name, value) in environment(plan.hash_seed) {
        add(&["--setenv", name, &value]);
    }
    for folder in BwrapPlan::SYSTEM {
        add(&["--ro-bind-try", folder, folder]);
    }
    add(&["--symlink", "usr/lib", "/lib"]);
    if plan.has_lib64 {
        add(&[
            "--ro-bind-try",
            "/usr/lib64",
            "/usr/lib64",
            "--symlink",
            "usr/lib64",
            "/lib64",
        ]);
    }
    for path in &plan.interpreter_paths {
        add(&["--ro-bind", path, path]);
    }
    add(&["--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null"]);
    add(&["--dev-bind", "/dev/urandom", "/dev/urandom"]);
    add(&["--dir", WORKING_DIRECTORY, "--dir", "/box"]);
    add(&["--ro-bind", &plan.environment, BwrapPlan::ENVIRONMENT]);
    // The runner comes through a pipe: no file of the machine holds it, so none is left and none can be changed.
    add(&[
        "--perms",
        "0444",
        "--ro-bind-data",
        &plan.runner_descriptor.to_string(),
        RUNNER_PATH,
    ]);
    add(&["--remount-ro", "/"]);
    if plan.switched_off == Some(SwitchedOff::ReadOnly) {
        add(&["--tmpfs", WORKING_DIRECTORY]);
    }
    add(&[
        "--chdir",
        WORKING_DIRECTORY,
        "--hostname",
        "box",
        "--uid",
        "65534",
        "--gid",
        "65534",
    ]);
    add(&["--disable-userns"]);
    add(&["--info-fd", &plan.info_descriptor.to_string()]);
    add(&["--block-fd", &plan.block_descriptor.to_string(), "--"]);
    arguments.extend(plan.python.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> BwrapPlan {
        BwrapPlan {
            environment: "/data/python/pandas2".to_owned(),
            interpreter_paths: vec!["/opt/python".to_owned()],
            python: vec!["/box/env/bin/python3".to_owned(), "ARGUMENTS".to_owned()],
            has_lib64: true,
            hash_seed: 2,
            runner_descriptor: 5,
            info_descriptor: 6,
            block_descriptor: 7,
            switched_off: None,
        }
    }

    /// An option and its values a line.
    fn lines(arguments: &[String]) -> String {
        arguments.join(" ").replace(" --", "\n--")
    }

    #[test]
    fn arguments_are_these_and_no_others() {
        insta::assert_snapshot!(lines(&bwrap_arguments(&plan())));
    }

    #[test]
    fn a_machine_without_lib64_gets_no_link_to_it() {
        let without = bwrap_arguments(&BwrapPlan {
            has_lib64: false,
            ..plan()
        });
        assert!(!without.iter().any(|part| part.contains("lib64")));
        assert_eq!(without.len() + 6, bwrap_arguments(&plan()).len());
    }

    #[test]
    fn every_change_of_the_root_is_before_it_becomes_read_only() {
        let arguments = bwrap_arguments(&plan());
        let closed = arguments.iter().position(|part| part == "--remount-ro").unwrap();
        let last = arguments
            .iter()
            .rposition(|part| part.starts_with("--ro-bind") || part == "--dir")
            .unwrap();
        assert!(last < closed);
        assert!(
            !arguments
                .iter()
                .any(|part| ["--bind", "--tmpfs", "--proc", "--dev", "--share-net"].contains(&part.as_str()))
        );
    }
}
