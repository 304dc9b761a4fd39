//! Nothing is remembered, and boxes know nothing of each other.

use crate::{prove, series, setup, source};
use ktd_boxed::{BoxSetup, CodeRunner};
use ktd_kit::has_boxes;
use ktd_sandbox::{BoxJob, BoxLimits, JobStatus};

/// A function that remembers the longest answer that it ever gave: in one process it passes every test of prefixes.
const REMEMBERS: &str = "\
longest = None
def f(df):
    global longest
    value = df['day_close'].shift(-1)
    if longest is None or len(longest) < len(value): longest = value
    return longest.iloc[:len(value)]
";

#[test]
fn a_function_that_keeps_the_longer_run_cannot() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let closes: Vec<f64> = (0..50).map(f64::from).collect();
    let mut opened = launcher.open(source(REMEMBERS), 0).unwrap();
    let whole = opened.run(&series("f", &closes)).unwrap();
    let prefix = opened.run(&series("f", &closes[..30])).unwrap();
    let values = |outcome: &ktd_boxed::JobOutcome| match &outcome.result {
        Some(ktd_sandbox::JobResult::Series { values, .. }) => values.clone(),
        other => panic!("{other:?}"),
    };
    assert!((values(&whole)[29] - 30.0).abs() < 1e-12);
    assert!(values(&prefix)[29].is_nan());
}

#[test]
fn results_do_not_depend_on_how_many_boxes_there_are() {
    if !has_boxes() {
        return;
    }
    let texts: Vec<String> = (0..6)
        .map(|at| {
            format!(
                "import random\nprint({at}, random.random(), hash('x'), sorted({{'a','b','c'}}, key=hash))"
            )
        })
        .collect();
    let printed = |side_by_side: usize| {
        let launcher = prove(BoxSetup {
            side_by_side,
            ..setup()
        });
        let outcomes = launcher.each(&texts, |launcher, text| {
            let mut opened = launcher.open(source(text), 1).unwrap();
            let jobs = vec![
                BoxJob::script("first"),
                BoxJob {
                    seed: 7,
                    ..BoxJob::script("second")
                },
            ];
            let outcomes = opened.run_all(&jobs, text).unwrap();
            outcomes
                .into_iter()
                .map(|outcome| outcome.diagnostics)
                .collect::<Vec<_>>()
        });
        assert!(outcomes.iter().flatten().all(|printed| !printed.is_empty()));
        outcomes
    };
    let alone = printed(1);
    assert_eq!(alone, printed(4));
    // The seeds of a job and of a box decide.
    assert_ne!(alone[0][0], alone[0][1]);
}

#[test]
fn seeds_of_hashes_are_those_of_the_box() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let hash = |seed: u32| {
        let mut opened = launcher.open(source("print(hash('x'))"), seed).unwrap();
        opened.run(&BoxJob::script("a test")).unwrap().diagnostics
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_job_that_floods_dies_or_hangs_changes_no_box_beside_it() {
    if !has_boxes() {
        return;
    }
    let limits = BoxLimits {
        wall_s: 30,
        ..BoxLimits::FACTORS
    };
    let launcher = prove(BoxSetup {
        side_by_side: 4,
        limits,
        modules: Vec::new(),
        ..setup()
    });
    let texts = [
        ("while True: print('x' * 100000)", JobStatus::Flood),
        ("import ctypes\nctypes.string_at(0)", JobStatus::Signal),
        ("import time\ntime.sleep(1000000)", JobStatus::Timeout),
        ("print(sum(range(1000)))", JobStatus::Ok),
    ];
    let statuses = launcher.each(&texts, |launcher, (text, _)| {
        let mut opened = launcher.open(source(text), 0).unwrap();
        let run = |opened: &mut ktd_boxed::CodeBox<'_>| opened.run(&BoxJob::script("a test")).unwrap();
        // Twice, so that a box works again after what happened in it.
        [run(&mut opened).status, run(&mut opened).status]
    });
    for ((text, expected), statuses) in texts.iter().zip(statuses) {
        assert_eq!(statuses, [*expected; 2], "{text}");
    }
}

#[test]
fn a_submission_that_has_used_up_its_budget_gets_no_further_job() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(BoxSetup {
        limits: BoxLimits {
            budget_cpu_s: 1,
            ..BoxLimits::FACTORS
        },
        modules: Vec::new(),
        ..setup()
    });
    let busy = "import time\nwhile time.process_time() < 0.7: pass\nprint('done')";
    let mut opened = launcher.open(source(busy), 0).unwrap();
    let statuses = [0; 3].map(|_| opened.run(&BoxJob::script("busy")).unwrap().status);
    assert_eq!(statuses, [JobStatus::Ok, JobStatus::Ok, JobStatus::Timeout]);
    // another submission has a budget of its own
    let mut other = launcher.open(source("print(1)"), 0).unwrap();
    assert_eq!(
        other.run(&BoxJob::script("another")).unwrap().status,
        JobStatus::Ok
    );
}

#[test]
fn a_thousand_jobs_leak_no_descriptor_and_no_process() {
    if !has_boxes() {
        return;
    }
    // The runner may open 256 descriptors and start 64 processes: what leaked would end it long before.
    let launcher = prove(BoxSetup {
        modules: Vec::new(),
        ..setup()
    });
    let mut opened = launcher.open(source("import os\nprint(os.dup(0))"), 0).unwrap();
    let before = opened.process_id();
    for at in 0..1_000 {
        let outcome = opened.run(&BoxJob::script(format!("job {at}"))).unwrap();
        assert_eq!(
            (outcome.status, outcome.diagnostics.as_slice()),
            (JobStatus::Ok, &b"4\n"[..]),
            "{at}"
        );
    }
    assert_eq!(opened.process_id(), before);
}
