//! What a person sees of a run under way: from another terminal, and when Ctrl-C ends it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use crate::viewer::Viewer;
use ktd_baselines::named;
use ktd_kit::program::json_of;
use ktd_kit::vendor::{Then, json_reply};
use ktd_kit::{Folder, Vendor, assert_ok, command, refused};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const STEPS: usize = 6;
/// Answers before the vendor falls silent until it is told to go on.
const ANSWERS: usize = 3;
const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1.5,"output":7.25}]}"#;

/// Whether a vendor may go on.
type Gate = Arc<(Mutex<bool>, Condvar)>;

fn open(gate: &Gate) {
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
}

/// A vendor of a model that trades, and answers nothing after so many answers until its gate is open.
fn vendor(gate: &Gate) -> Vendor {
    let (model, count, gate) = (
        named("momentum", 1).unwrap(),
        AtomicUsize::new(0),
        Arc::clone(gate),
    );
    Vendor::new(move |request, stream| {
        if ANSWERS <= count.fetch_add(1, Ordering::Relaxed) {
            let held = gate.1.wait_while(gate.0.lock().unwrap(), |is_open| !*is_open);
            drop(held.unwrap());
        }
        let answer = String::from_utf8_lossy(&model.reply(&request.body)).replace("builtin-", "replied-");
        stream.write_all(&json_reply(answer.as_bytes()))?;
        Ok(Then::Keep)
    })
}

/// An experiment of a built-in agent and of one at an endpoint, under way: its vendor has fallen silent.
fn under_way(gate: &Gate) -> (Folder, Child, Value) {
    let vendor = vendor(gate);
    let experiment = format!(
        "name = 'season'\nsynthetic = {{ seed = 5, names = 30, days = 330 }}\nmasks = [{{ level = 'blinded' }}]\n\
         modes = ['fixed-candidate']\nwindows = [{{ id = 'w', last_days = {STEPS} }}]\nprices = 'prices.json'\n\
         budget = {{ experiment = \"2.50\" }}\nagents = [{{ id = 'momentum', builtin = 'momentum' }}, \
         {{ id = 'far', model = 'm', max_output_tokens = 700, base_url = '{}' }}]\n",
        vendor.base_url()
    );
    let folder = Folder::with(&[("the season.toml", &experiment), ("prices.json", PRICES)]);
    let mut run = command(folder.path(), &["run", "the season.toml", "--out", "season"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let mut status = Value::Null;
    while !(status["requests"]["answered"] == ANSWERS && status["finished"] == 1) {
        let is_late = Duration::from_mins(10) < began.elapsed();
        if is_late {
            run.kill().unwrap();
            run.wait().unwrap();
        }
        assert!(!is_late, "it never came so far: {status}");
        std::thread::sleep(Duration::from_millis(50));
        let output = folder.ktd(&["--json", "status", "season"]);
        status = serde_json::from_slice(&output.stdout).unwrap_or_default();
    }
    (folder, run, status)
}

#[test]
fn a_run_is_watched_from_another_process_to_its_end_with_what_open_units_spend() {
    let gate = Gate::default();
    let (folder, mut run, status) = under_way(&gate);
    let agents = status["agents"].as_array().unwrap();
    let of = |agent: usize, what: &str| agents[agent][what].as_u64().unwrap();
    assert_eq!([&agents[0]["agent"], &agents[1]["agent"]], ["momentum", "far"]);
    let counts = |agent| ["units", "finished", "open", "steps", "steps_done"].map(|what| of(agent, what));
    let steps = STEPS as u64;
    assert_eq!(counts(0), [1, 1, 0, steps, steps], "{status}");
    assert_eq!(counts(1), [1, 0, 1, steps, ANSWERS as u64 - 1], "{status}");
    assert!(agents[1]["seconds_left"].is_u64(), "{status}");
    let paid = status["spent"]["paid_picodollars"].as_u64().unwrap();
    assert!(
        0 < paid && agents[1]["spent_open"]["paid_picodollars"] == paid,
        "{status}"
    );
    assert_eq!(
        (&status["is_running"], &status["cap_picodollars"]),
        (&true.into(), &2_500_000_000_000_u64.into())
    );

    let mut watch = command(folder.path(), &["status", "season", "--watch", "--every", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(watch.stdout.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    assert!(
        first.starts_with("season: 1 of 2 units finished, 1 open, 0 failed; 8/12 steps"),
        "{first}"
    );
    assert!(
        first.contains(" of $2.5") && !first.contains("$0.0000"),
        "{first}"
    );
    open(&gate);
    let ended = run.wait().unwrap();
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert!(watch.wait().unwrap().success() && ended.success(), "{rest}");
    let last = rest.lines().last().unwrap();
    assert!(
        last.starts_with("season: 2 of 2 units finished, 0 open, 0 failed; 12/12 steps"),
        "{last}"
    );
    assert!(
        last.ends_with("; nobody runs it; to go on: ktd report season"),
        "{last}"
    );

    // Of a run that is over it says so at once.
    let again = folder.ktd(&["status", "season", "--watch", "--json"]);
    assert_ok(&again);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (&again["finished"], &again["is_running"]),
        (&2.into(), &false.into())
    );
}

#[test]
#[cfg(unix)]
fn ctrl_c_says_once_what_is_done_what_is_spent_and_how_to_go_on() {
    let gate = Gate::default();
    let (folder, mut run, status) = under_way(&gate);
    let viewer = Viewer::of(folder.path(), &["season"]);
    let page = viewer.page("/");
    assert!(page.contains("<main data-running>"), "{page}");
    let told = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    let mut said = String::new();
    run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{said}");
    let done = "season: 1 of 2 units are finished, 1 open; 8 of 12 steps\nspent: $";
    assert_eq!(said.matches(done).count(), 1, "{said}");
    assert!(said.contains(" at most, of $2.5"), "{said}");
    let goes_on = said
        .lines()
        .find_map(|line| line.strip_prefix("to go on: "))
        .unwrap();
    assert_eq!(said.matches("to go on: ").count(), 1, "{said}");
    // The request whose reply is lost counts at its most, everywhere alike.
    let lost = adds_up(&folder);
    assert!(0 < lost, "{said}");

    // Nor is it changed: it could not be checked.
    let said = refused(&folder.ktd(&["--quiet", "verify", "season"]), 2);
    assert!(said.contains("it is not finished: 1 of 2 units"), "{said}");

    // What is stopped is not live, and has spent what its records say.
    let page = viewer.page("/");
    assert!(
        !page.contains("data-running") && page.contains("nobody runs it now"),
        "{page}"
    );
    let spent = page.split_once("; spent: ").unwrap().1;
    assert!(
        spent.starts_with("\u{2264} $0.") && !spent.starts_with("\u{2264} $0.0000"),
        "{spent}"
    );

    // The command that it names goes on, and asks nothing twice that was answered.
    open(&gate);
    let again = Command::new("sh")
        .args(["-c", goes_on])
        .current_dir(folder.path())
        .env("KTD_CACHE", "")
        .output()
        .unwrap();
    assert_ok(&again);
    let ended = folder.ktd(&["--json", "status", "season"]);
    let ended: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(ended["finished"], 2, "{ended}");
    assert!(status["spent"]["paid_picodollars"].as_u64() < ended["spent"]["paid_picodollars"].as_u64());
    assert_eq!(adds_up(&folder), lost, "it was lost for good");
}

/// What may have been spent beyond what was paid; what agents and keys may have spent adds up to the whole.
#[cfg(unix)]
fn adds_up(folder: &Folder) -> u64 {
    let status = json_of(folder.path(), &["status", "season"]);
    let of = |part: &Value, what: &str| part["spent"][what].as_u64().unwrap();
    let most = of(&status, "at_most_picodollars");
    for parts in ["agents", "keys"] {
        let parts = status[parts].as_array().unwrap();
        let sum: u64 = parts.iter().map(|part| of(part, "at_most_picodollars")).sum();
        assert_eq!(sum, most, "{status}");
    }
    most - of(&status, "paid_picodollars")
}

/// A study that asks nobody, and work of which nothing is kept, say at once how far they were and what to type.
#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_what_asks_nobody_and_says_how_to_go_on() {
    let endless = "name = 'mined'\nselect = { take = 4, hall = 20 }\nmethod = 'gp'\ngp = { population = 30, generations = 1000000 }\n\
         splits = { train = ['2022-03-07', '2022-09-30'], valid = ['2022-10-10', '2023-02-22'] }\n";
    let folder = Folder::with(&[("mine.toml", endless)]);
    let study = "alpha mine mine.toml --out mined";
    let said = ended_by_ctrl_c(&folder, study, || folder.at("mined/units/search").exists());
    assert!(
        said.contains("mined: 0 of 1 units are finished, 1 open\nto go on: "),
        "{said}"
    );
    assert!(
        said.contains(study) && said.contains("it continues where it stopped"),
        "{said}"
    );

    let planting = "planting --draws 1000000";
    let said = ended_by_ctrl_c(&folder, planting, || true);
    assert!(
        said.contains("draws are finished; nothing is kept before the end\nto go on: "),
        "{said}"
    );
    assert!(
        said.contains(planting) && said.contains("it begins anew"),
        "{said}"
    );
}

/// What a command says that is told to end once it hears signals and `is_begun`.
#[cfg(target_os = "linux")]
fn ended_by_ctrl_c(folder: &Folder, line: &str, is_begun: impl Fn() -> bool) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut run = command(folder.path(), &words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second bit of the signals that a process catches is SIGINT.
    let hears = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !(hears(run.id()) && is_begun()) {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    let mut said = String::new();
    run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{said}");
    said
}
