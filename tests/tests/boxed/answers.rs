//! What a job can read holds no answer, and what it does reaches nobody.

use crate::{prove, setup, source};
use ktd_boxed::{BoxSetup, CodeRunner, StudyBoxes};
use ktd_kit::has_boxes;
use ktd_sandbox::{BoxJob, BoxLimits, JobStatus};
use serde_json::Value;

/// The longest line of every golden function, and every definition.
fn answers() -> Vec<String> {
    let tasks = include_str!("../../../code/factor/tasks.jsonl").lines();
    let of_task = |line: &str| {
        let task: Value = serde_json::from_str(line).unwrap();
        let longest = task["golden"]
            .as_str()
            .unwrap()
            .lines()
            .max_by_key(|line| line.len());
        [
            longest.unwrap().trim().to_owned(),
            task["prompt"].as_str().unwrap().to_owned(),
        ]
    };
    // Shorter ones stand in libraries too.
    tasks.flat_map(of_task).filter(|text| 40 <= text.len()).collect()
}

#[test]
fn a_job_that_reads_whatever_it_can_open_finds_no_answer() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(BoxSetup {
        limits: BoxLimits::STRATEGIES,
        ..setup()
    });
    // Libraries of the system are too many to read: none of them has this program's name.
    let program = format!(
        "import os\nanswers = [text.encode() for text in {}]\nread, hits = 0, []\n\
         for root in ['/box', '/usr/share', '/tmp', '/dev', '/proc', '/usr/local', '/usr/bin', '/etc']:\n    \
         for folder, _, files in os.walk(root):\n        for file in files:\n            path = os.path.join(folder, file)\n            \
         if path in ('/dev/urandom', '/dev/null'):\n                continue\n            try:\n                \
         data = open(path, 'rb').read()\n            except OSError:\n                continue\n            \
         read += 1\n            hits += [path for answer in answers if answer in data]\n\
         named = [folder for folder, _, files in os.walk('/usr/lib') if any(file.startswith('ktd') for file in files)]\n\
         print(read, hits, named, os.path.exists('/box/ktd'), os.path.exists('/usr/bin/ls'))\n",
        serde_json::to_string(&answers()).unwrap()
    );
    let mut opened = launcher.open(source(&program), 0).unwrap();
    let outcome = opened.run(&BoxJob::script("reads all")).unwrap();
    let printed = String::from_utf8_lossy(&outcome.diagnostics).into_owned();
    let (read, rest) = printed.split_once(' ').unwrap();
    assert!(1_000 < read.parse::<usize>().unwrap(), "{printed}");
    assert_eq!(rest.trim(), "[] [] False False");
}

/// What a box shows is searched before anything runs in it: here for a line that stands in pandas.
#[test]
fn an_environment_that_holds_an_answer_is_refused() {
    if !has_boxes() {
        return;
    }
    let with_answers = |answer: &str| BoxSetup {
        answers: vec![answer.to_owned()],
        ..setup()
    };
    let fault = StudyBoxes::prove(with_answers("class DataFrame(NDFrame")).unwrap_err();
    assert!(fault.to_string().ends_with("pandas/core/frame.py"), "{fault}");
    StudyBoxes::prove(with_answers("a line that stands in no library")).unwrap();
}

#[test]
fn a_job_neither_signals_its_runner_nor_learns_its_seed() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let program = "import fcntl, numpy, os, sys\n\
        def told(attempt):\n    try:\n        attempt()\n        return 'allowed'\n    except OSError as error:\n        return error.errno\n\
        owner = told(lambda: fcntl.fcntl(3, fcntl.F_SETOWN, os.getppid()))\n\
        signal = told(lambda: fcntl.fcntl(3, 10, 9))\n\
        flags = fcntl.fcntl(3, fcntl.F_GETFL)\n\
        async_ = told(lambda: fcntl.fcntl(3, fcntl.F_SETFL, flags | os.O_ASYNC))\n\
        size = told(lambda: fcntl.fcntl(3, 1031, 4096))\n\
        cached = told(lambda: os.preadv(os.open('/box/runner.py', os.O_RDONLY), [bytearray(8)], 0, os.RWF_NOWAIT))\n\
        frame, seen = sys._getframe(), []\n\
        while frame:\n    seen += [key for value in frame.f_locals.values() if isinstance(value, dict) and 'source_n' in value for key in ('seed', 'id') if key in value]\n    frame = frame.f_back\n\
        seeded = numpy.random.get_state()[1][0] == 123456789\n\
        print(owner, signal, async_, size, cached, seen, sys.argv[1:], sys.orig_argv[1:], seeded)\n";
    let mut opened = launcher.open(source(program), 0).unwrap();
    let outcome = opened
        .run(&BoxJob {
            seed: 123_456_789,
            ..BoxJob::script("reaches out")
        })
        .unwrap();
    let printed = String::from_utf8_lossy(&outcome.diagnostics).into_owned();
    assert_eq!(printed.trim(), "1 1 1 1 1 [] [] [] False");
    assert_eq!(outcome.event.status, JobStatus::Ok);
}
