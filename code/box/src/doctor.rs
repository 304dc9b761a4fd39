//! What a machine has for boxes, and what it lacks.

use crate::answers::file_with_an_answer;
use crate::bwrap::Bubblewrap;
use crate::environment::PythonEnvironment;
use crate::error::BoxError;
use crate::landlock_version::landlock_version;
use crate::launcher::{BoxLauncher, answer_lies_in};
use crate::memory_group::GroupKind;
use crate::setup::BoxSetup;
use ktd_sandbox::{BwrapPlan, Isolation};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// One part of a box on this machine.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BoxPart {
    /// What it is.
    pub name: &'static str,
    /// Whether it is there.
    pub is_there: bool,
    /// Its version, or what is wrong.
    pub detail: String,
    /// How to get it.
    pub hint: Option<String>,
}

/// Looks at every part, and at last at a whole box of the level that is asked for.
#[must_use]
pub fn examine(setup: &BoxSetup) -> Vec<BoxPart> {
    let mut parts = Vec::new();
    if setup.isolation == Isolation::Bwrap {
        let found = Bubblewrap::find();
        parts.push(part(
            "bubblewrap",
            found.map(|found| format!("{} at {}", found.version, found.path.display())),
        ));
    }
    parts.push(landlock(setup.isolation));
    let groups = GroupKind::find();
    parts.push(BoxPart {
        name: "memory groups",
        is_there: true,
        detail: match groups {
            GroupKind::None => "none: memory is limited as address space".to_owned(),
            GroupKind::Unified(_) | GroupKind::Separate { .. } => format!("cgroup {}", groups.label()),
        },
        hint: None,
    });
    let environment = PythonEnvironment::open(&setup.environment_folder(), setup.set, setup.box_user());
    let version = |found: PythonEnvironment| {
        let python = found
            .record
            .python
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        format!(
            "{}, Python {python} at {}",
            found.record.set.label(),
            found.folder.display()
        )
    };
    parts.push(part("Python environment", environment.map(version)));
    if !setup.answers.is_empty() {
        parts.push(part("answers", no_answer_in_sight(setup)));
    }
    let proved = BoxLauncher::prove(setup.clone());
    let proof = proved.map(|launcher| {
        let checks = launcher.header().self_test.checks.len();
        format!(
            "holds at level {}: {checks} of {checks} checks",
            setup.isolation.label()
        )
    });
    parts.push(part("a box", proof));
    parts
}

/// Whether no file that a box shows holds an answer: of the system's libraries too, which the start of a run does not read again.
fn no_answer_in_sight(setup: &BoxSetup) -> Result<String, BoxError> {
    let folder = setup.environment_folder();
    let environment = PythonEnvironment::open(&folder, setup.set, setup.box_user())?;
    let system = BwrapPlan::SYSTEM.into_iter().chain(["/usr/lib64"]);
    let system = system.map(PathBuf::from).filter(|place| place.exists());
    let shown: Vec<PathBuf> = environment.shown().into_iter().chain(system).collect();
    match file_with_an_answer(&shown, &setup.answers)? {
        None => Ok("none in any file that a box shows".to_owned()),
        Some(file) => Err(answer_lies_in(&file)),
    }
}

/// Landlock, without which a box with namespaces holds as well.
fn landlock(isolation: Isolation) -> BoxPart {
    let version = landlock_version();
    let (detail, hint) = if 0 < version {
        (format!("version {version}"), None)
    } else {
        let hint =
            "use a kernel from 5.13 on with Landlock switched on; a box with namespaces holds without it";
        ("not in this kernel".to_owned(), Some(hint.to_owned()))
    };
    BoxPart {
        name: "Landlock",
        is_there: 0 < version || isolation != Isolation::Landlock,
        detail,
        hint,
    }
}

fn part(name: &'static str, found: Result<String, BoxError>) -> BoxPart {
    match found {
        Ok(detail) => BoxPart {
            name,
            is_there: true,
            detail,
            hint: None,
        },
        Err(error) => BoxPart {
            name,
            is_there: false,
            detail: error.to_string(),
            hint: Some(error.hint()).filter(|hint| !hint.is_empty()),
        },
    }
}
