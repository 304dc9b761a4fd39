//! What is left of a box when `ktd` is killed: nothing.

use ktd_boxed::GroupKind;
use ktd_kit::program::binary;
use ktd_kit::vendor::said;
use ktd_kit::{Folder, Vendor, has_boxes};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
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
        kill_at_work(&mut child, least);
    }
}

/// Kills a program once a job of one of its boxes is at work, and waits until none of its processes is left.
fn kill_at_work(child: &mut Child, least: usize) {
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

/// Hundredths of a second of the processor that a process has had.
fn worked(process: u32) -> u32 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let rest = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    // Its own and the kernel's: how asking for the time is shared between them differs from machine to machine.
    let ticks = rest.split(' ').skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<u32>().ok()).sum()
}

#[test]
fn a_runner_that_is_lost_whenever_a_program_runs_is_lost_by_the_program() {
    if !has_boxes() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sleeps.py");
    // It works first: so it is told from the harmless program that a new box runs before it.
    let program = "import time\nwhile time.process_time() < 1:\n    pass\ntime.sleep(1000000)\n";
    std::fs::write(&file, program).unwrap();
    let child = Command::new(binary())
        .args(["--json", "box", "run", "--wall", "3600"])
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..2 {
        let runner = wait_for("the program does not run", || {
            let jobs = descendants(child.id())
                .into_iter()
                .filter(|process| is_job(*process));
            let ours = jobs.into_iter().find(|job| 50 <= worked(*job))?;
            parents().get(&ours).copied()
        });
        assert!(
            Command::new("kill")
                .args(["-9", &runner.to_string()])
                .status()
                .unwrap()
                .success()
        );
        wait_for("a killed runner stays", || {
            (!parents().contains_key(&runner)).then_some(())
        });
    }
    let output = child.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["event"]["status"], "runner_lost", "{said}");
}

#[test]
fn a_killed_run_of_factor_functions_leaves_no_process_mount_file_or_group() {
    if !has_boxes() {
        return;
    }
    // every task is answered with a function that sleeps until its box ends it
    let vendor = Vendor::answering(|request| {
        let opening = request["messages"][1]["content"].as_str().unwrap();
        let (_, function) = opening.rsplit_once("Function name: ").unwrap();
        said(&format!(
            "import time\ndef {function}(df):\n    time.sleep(1000000)\n"
        ))
    });
    let experiment = format!(
        "kind = 'factor-code'\nname = 'x'\ntasks = 'momentum'\njobs = 2\n\
         agents = [{{ id = 'writer', model = 'm', vendor = 'vllm', base_url = '{}' }}]\n",
        vendor.base_url()
    );
    let folder = Folder::with(&[("code.toml", experiment.as_str())]);
    let scratch = folder.at("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let mut child = Command::new(binary())
        .args(["-q", "factor-code", "run", "code.toml"])
        .current_dir(folder.path())
        .env("TMPDIR", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    kill_at_work(&mut child, 4);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&*folder.path().to_string_lossy()), "{mounts}");
    assert!(!mounts.contains("/newroot"), "{mounts}");
    // Nobody is there to remove the kernel's empty groups but the next program that looks for them.
    wait_for("a group of the box is left", || {
        let can_make = GroupKind::find() != GroupKind::None;
        (!can_make || groups_of(child.id()).is_empty()).then_some(())
    });
    // Nothing that was written is a result: the same command continues.
    let bundle = folder.at("results/x/units/writer__original__s1");
    assert!(bundle.join("header.json").is_file() && !bundle.join("result.json").exists());
}

/// The groups of processes that a program made, wherever the kernel shows them.
fn groups_of(process: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with(&format!("ktd-box-{process}-")) {
                    found.push(entry.path());
                }
                waiting.push(entry.path());
            }
        }
    }
    found
}

/// Whether a process is a job: the runner of the real box, which imports libraries, forked it.
fn is_job(process: u32) -> bool {
    // Bubblewrap is given the words of the runner too.
    let is_runner = |process: u32| {
        let text = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let program = text.split('\0').next().unwrap_or_default();
        program.ends_with("python3") && text.contains("numpy=np")
    };
    is_runner(process) && parents().get(&process).is_some_and(|parent| is_runner(*parent))
}
