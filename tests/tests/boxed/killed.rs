//! What is left of a box when `ktd` is killed: nothing.

use crate::has_boxes;
use ktd_kit::program::binary;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A deadline that no machine meets by chance: the rule is one second.
const DEADLINE: Duration = Duration::from_mins(2);

/// The parents of all processes that are not merely waiting to be reaped.
fn parents() -> BTreeMap<u32, u32> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name of a program stands in brackets and may hold anything.
        let Some((_, rest)) = text.rsplit_once(") ") else {
            continue;
        };
        let mut fields = rest.split(' ');
        let (state, parent) = (fields.next().unwrap(), fields.next().unwrap());
        if state != "Z" {
            parents.insert(process, parent.parse().unwrap());
        }
    }
    parents
}

fn descendants(of: u32) -> BTreeSet<u32> {
    let parents = parents();
    let mut found = BTreeSet::from([of]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(_, parent)| found.contains(parent))
            .map(|(process, _)| *process)
            .collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            found.remove(&of);
            return found;
        }
    }
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_process_of_a_box_outlives_a_killed_program() {
    if !has_boxes() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sleeps.py");
    std::fs::write(&file, "import time\ntime.sleep(1000000)\n").unwrap();
    for isolation in ["bwrap", "landlock"] {
        if isolation == "landlock" && ktd_boxed::landlock_version() < 4 {
            continue;
        }
        let mut child = Command::new(binary())
            .args(["box", "run", "--wall", "3600", "--isolation", isolation])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let least = if isolation == "bwrap" { 4 } else { 2 };
        // Bubblewrap twice, the runner, the job; or the runner and the job.
        let started = wait_for("no job was started", || {
            let found = descendants(child.id());
            let has_job = least <= found.len() && found.iter().any(|process| is_job(*process));
            has_job.then_some(found)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("a process of the box is left", || {
            let alive = parents();
            started
                .iter()
                .all(|process| !alive.contains_key(process))
                .then_some(())
        });
    }
}

/// Whether a process is a job: the runner of the real box, which imports libraries, forked it.
fn is_job(process: u32) -> bool {
    let is_runner = |process: u32| {
        let text = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&text).contains("numpy=np")
    };
    is_runner(process) && parents().get(&process).is_some_and(|parent| is_runner(*parent))
}
