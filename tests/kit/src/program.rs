//! The program `ktd`, as a user starts it.

use crate::printed::check_printed;
use ktd_record::program_record::ProgramRecord;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

/// The file that cargo builds for the tests of this workspace: `ktd` itself, from the same source, built with the
/// features that tests switch on, so that nothing is compiled twice.
const NAME: &str = "ktd-under-test";

/// Where the program lies: where cargo says, or else beside the folder of the running test's own file.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let folder = test.ancestors().nth(2).unwrap();
        let beside = folder.join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
        let binary = std::env::var_os(format!("CARGO_BIN_EXE_{NAME}")).map_or(beside, PathBuf::from);
        assert!(
            binary.is_file(),
            "no program at {}: only integration tests of `ktd-tests` have cargo build it",
            binary.display()
        );
        binary
    })
}

/// `ktd ARGUMENTS` in a folder, neither logging nor dying at a crash point unless told to.
#[must_use]
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("KTD_LOG")
        .env_remove("COLUMNS")
        // Nothing is kept outside of a test's own folder.
        .env("KTD_CACHE", "")
        .env_remove("KTD_CRASH");
    command
}

/// What `ktd ARGUMENTS` does in a folder. What it prints under `--json` is as a schema of its command says.
#[must_use]
pub fn ktd(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(folder, arguments).output().unwrap();
    check_printed(arguments, &output);
    output
}

/// What `ktd --quiet ARGUMENTS` does in a folder.
#[must_use]
pub fn quiet(folder: &Path, arguments: &[&str]) -> Output {
    ktd(folder, &[&["--quiet"], arguments].concat())
}

/// What `ktd --quiet ARGUMENTS` does in a folder on one core; where there is no `taskset`, on as many as there are.
#[must_use]
pub fn on_one_core(folder: &Path, arguments: &[&str]) -> Output {
    let pinned = Command::new("taskset")
        .args(["-c", "0"])
        .arg(binary())
        .arg("--quiet")
        .args(arguments)
        .current_dir(folder)
        .output();
    pinned.unwrap_or_else(|_| quiet(folder, arguments))
}

/// Bytes of all files below a directory, as far as they stand still long enough to be counted.
#[must_use]
pub fn written(root: &Path) -> u64 {
    let entries = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => written(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

/// SIGKILL a drawn moment after so many bytes are written, or nothing when the process has ended by then: both are
/// fine. Whether the process was still running.
#[must_use]
pub fn kill_after(mut child: Child, root: &Path, bytes: u64, linger: Duration) -> bool {
    while written(root) < bytes && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(linger);
    let was_running = child.try_wait().unwrap().is_none();
    // A process that has just ended by itself cannot be killed any more.
    child.kill().ok();
    child.wait().unwrap();
    was_running
}

/// Fails the test unless the program succeeded.
#[track_caller]
pub fn assert_ok(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

/// The document that the program, which must have succeeded, printed.
#[track_caller]
#[must_use]
pub fn printed(output: &Output) -> Value {
    assert_ok(output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The document that `ktd --quiet --json ARGUMENTS` prints in a folder.
#[track_caller]
#[must_use]
pub fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    printed(&quiet(folder, &[&["--json"], arguments].concat()))
}

/// What the program, which must have ended with this code, wrote on standard error.
#[track_caller]
#[must_use]
pub fn refused(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The program under test, as its records name it.
#[must_use]
pub fn this_program() -> ProgramRecord {
    ProgramRecord {
        source_sha256: ktd_program::SOURCE_SHA256.to_owned(),
        commit: ktd_program::commit().map(str::to_owned),
    }
}
