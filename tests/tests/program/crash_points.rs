//! Killed before a request is sent, on the wire, after its outcome and after a step, any number of times: the server
//! is asked nothing again whose outcome was recorded, the events are those of a run that was never killed, and a
//! request is shown as unknown exactly where the kill fell between intent and outcome.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken fixture fails the test, and what is skipped is told"
)]

use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_kit::Recorded;
use ktd_kit::vendor::{Then, json_reply, reply};
use ktd_kit::{Folder, Need, Vendor, command};
use ktd_record::exchanges::{ExchangeOutcome, RequestPlace};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

const CELL: &str = "m__w__blinded-rescaled__open-research__s1";
const STEPS: usize = 3;
const REFUSAL: &[u8] = br#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#;

/// What the server does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Answer,
    /// Kills the program that asked, and answers nothing.
    Kill,
    /// Says that the key is wrong.
    Refuse,
}

/// An endpoint on loopback that counts what it is asked.
#[derive(Default)]
struct Counting {
    /// How often each body was asked.
    asked: BTreeMap<String, usize>,
    /// What is done with the requests to come, by their number from now, 1-based.
    manners: BTreeMap<usize, Manner>,
    requests: usize,
    client: Option<Child>,
}

impl Counting {
    /// Notes a request and says what to do with it. A program to be killed is dead when this returns.
    fn hear(&mut self, body: &str) -> Manner {
        *self.asked.entry(body.to_owned()).or_insert(0) += 1;
        self.requests += 1;
        let manner = self.manners.get(&self.requests).copied();
        if manner == Some(Manner::Kill)
            && let Some(client) = &mut self.client
        {
            client.kill().unwrap();
            client.wait().unwrap();
        }
        manner.unwrap_or(Manner::Answer)
    }
}

/// A vendor that answers as `momentum` does, and counts.
struct Server {
    vendor: Vendor,
    counting: Arc<Mutex<Counting>>,
}

impl Server {
    fn start() -> Self {
        let counting = Arc::new(Mutex::new(Counting::default()));
        let shared = Arc::clone(&counting);
        let model = named("momentum", 1).unwrap();
        let vendor = Vendor::new(move |request, stream| {
            let body = String::from_utf8(request.body.clone()).unwrap();
            let manner = shared.lock().unwrap().hear(&body);
            let answer = match manner {
                // A reply with the number of a built-in agent's is no vendor's.
                Manner::Answer => {
                    let answer =
                        String::from_utf8_lossy(&model.reply(&request.body)).replace("builtin-", "replied-");
                    json_reply(answer.as_bytes())
                }
                Manner::Kill => return Ok(Then::Close),
                Manner::Refuse => reply("401 Unauthorized", "content-type: application/json\r\n", REFUSAL),
            };
            stream.write_all(&answer)?;
            Ok(Then::Keep)
        });
        Self { vendor, counting }
    }

    /// Forgets what was asked.
    fn reset(&self) {
        *self.counting.lock().unwrap() = Counting::default();
    }

    fn asked(&self) -> BTreeMap<String, usize> {
        self.counting.lock().unwrap().asked.clone()
    }
}

/// An experiment of one cell that asks the server, and what an undisturbed run of it gives.
struct Scene {
    folder: Folder,
    server: Server,
    events: Vec<u8>,
    /// How often each body is asked for.
    bodies: BTreeMap<String, usize>,
}

impl Scene {
    fn new() -> Self {
        let (folder, server) = (Folder::new(), Server::start());
        let experiment = format!(
            r#"
            name = "crash"
            parallel_cells = 1
            synthetic = {{ seed = 5, names = 20, days = 200 }}
            mask_key_file = "mask.key"
            masks = [{{ level = "blinded", numeric = "rescaled" }}]
            modes = ["open-research"]
            agents = [{{ id = "m", model = "momentum", base_url = "{}" }}]
            windows = [{{ id = "w", last_days = {STEPS} }}]
            retries = {{ attempts = 1 }}
            "#,
            server.vendor.base_url()
        );
        folder.write("crash.toml", experiment);
        folder.write("mask.key", ktd_kit::MASK_KEY);
        let mut scene = Self {
            folder,
            server,
            events: Vec::new(),
            bodies: BTreeMap::new(),
        };
        assert!(scene.run("whole", None).success());
        scene.events = std::fs::read(scene.bundle("whole").events()).unwrap();
        scene.bodies = scene.server.asked();
        println!(
            "{} requests, {} of them different",
            scene.requests(),
            scene.bodies.len()
        );
        scene
    }

    fn requests(&self) -> usize {
        self.bodies.values().sum()
    }

    fn bundle(&self, out: &str) -> BundlePaths {
        BundlePaths::new(&self.root(out).join("cells").join(CELL))
    }

    fn root(&self, out: &str) -> PathBuf {
        self.folder.at(out)
    }

    /// Runs or continues, dying at a crash point such as `sent:3`.
    fn run(&self, out: &str, crash: Option<&str>) -> ExitStatus {
        let arguments = ["--quiet", "run", "crash.toml", "--out", out];
        let mut command = command(self.folder.path(), &arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(crash) = crash {
            command.env("KTD_CRASH", crash);
        }
        // The server holds the program, so that it can kill it; it hears nothing before it does.
        let mut counting = self.server.counting.lock().unwrap();
        counting.client = Some(command.spawn().unwrap());
        drop(counting);
        self.wait()
    }

    /// Waits without holding the server's lock, which it needs to kill.
    fn wait(&self) -> ExitStatus {
        loop {
            let mut counting = self.server.counting.lock().unwrap();
            if let Some(status) = counting.client.as_mut().unwrap().try_wait().unwrap() {
                return status;
            }
            drop(counting);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn cassette(&self, out: &str) -> Recorded {
        Recorded::read(&self.bundle(out).exchanges()).unwrap()
    }

    fn unknown(&self, out: &str) -> Vec<RequestPlace> {
        self.cassette(out).unknown().map(|sent| sent.intent.at).collect()
    }

    /// The whole bundle is that of the undisturbed run, but for its unknown sends.
    fn check_finished(&self, out: &str, how: &str) {
        let (paths, whole) = (self.bundle(out), self.bundle("whole"));
        assert!(
            std::fs::read(paths.events()).unwrap() == self.events,
            "{how}: other events"
        );
        for file in ["header.json", "private/ledger.jsonl"] {
            let read = |paths: &BundlePaths| std::fs::read(paths.root().join(file)).unwrap();
            assert!(read(&paths) == read(&whole), "{how}: {file} differs");
        }
        let (cassette, expected) = (self.cassette(out), self.cassette("whole"));
        assert!(
            cassette.answered().eq(expected.answered()),
            "{how}: other exchanges"
        );
        let bundle = paths.root().to_str().unwrap();
        let verified = self.folder.ktd(&["verify", bundle]);
        assert!(verified.status.success(), "{how}: {verified:?}");
    }

    /// How often the server was asked for each body beyond the once that each place of it needs.
    fn surplus(&self) -> BTreeMap<String, usize> {
        let asked = self.server.asked();
        assert!(
            asked.keys().eq(self.bodies.keys()),
            "other bodies than those of an undisturbed run"
        );
        asked
            .into_iter()
            .map(|(body, count)| {
                let needed = self.bodies[&body];
                assert!(needed <= count, "a place was not asked for");
                (body, count - needed)
            })
            .filter(|(_, surplus)| 0 < *surplus)
            .collect()
    }

    /// The bodies of unknown sends, and how many there are of each.
    fn unknown_bodies(&self, out: &str) -> BTreeMap<String, usize> {
        let mut bodies = BTreeMap::new();
        for sent in self.cassette(out).unknown() {
            *bodies.entry(sent.intent.request.clone()).or_insert(0) += 1;
        }
        bodies
    }
}

/// What one kill at a point leaves behind.
struct Leaves {
    point: &'static str,
    /// The request under way has no outcome.
    is_unknown: bool,
    /// The server heard it, and hears it once more.
    is_heard: bool,
}

const POINTS: [Leaves; 4] = [
    Leaves {
        point: "intent",
        is_unknown: true,
        is_heard: false,
    },
    Leaves {
        point: "sent",
        is_unknown: true,
        is_heard: true,
    },
    Leaves {
        point: "outcome",
        is_unknown: false,
        is_heard: false,
    },
    Leaves {
        point: "step",
        is_unknown: false,
        is_heard: false,
    },
];

#[test]
fn one_kill_at_each_passage_of_each_point() {
    if !Need::CrashPoints.is_met() {
        return;
    }
    let scene = Scene::new();
    for leaves in &POINTS {
        let passages = if leaves.point == "step" {
            STEPS
        } else {
            scene.requests()
        };
        for passage in 1..=passages {
            let crash = format!("{}:{passage}", leaves.point);
            let out = crash.replace(':', "-");
            scene.server.reset();
            assert!(!scene.run(&out, Some(&crash)).success(), "{crash}: it lived");
            let recorded = scene.cassette(&out);
            let places: Vec<RequestPlace> = recorded.sends().map(|sent| sent.intent.at).collect();
            let unknown = scene.unknown(&out);
            if leaves.is_unknown {
                assert_eq!(
                    (places.len(), &unknown[..]),
                    (passage, &places[passage - 1..]),
                    "{crash}"
                );
            } else {
                assert!(unknown.is_empty(), "{crash}: {unknown:?}");
            }
            assert!(scene.run(&out, None).success(), "{crash}: it was not continued");
            scene.check_finished(&out, &crash);
            assert_eq!(scene.unknown(&out), unknown, "{crash}: unknown ones stay as such");
            let heard_again = if leaves.is_heard {
                scene.unknown_bodies(&out)
            } else {
                BTreeMap::new()
            };
            assert!(scene.surplus() == heard_again, "{crash}: asked for again");
        }
        let more = format!("{}:{}", leaves.point, passages + 1);
        let out = format!("{}-never", leaves.point);
        assert!(
            scene.run(&out, Some(&more)).success(),
            "{more}: there is no such passage"
        );
    }
}

/// Killed again and again, one request further each time, it ends as if nothing had happened. Before the second
/// passage the request that the kill before left open is sent again, so that the next one is reached.
#[test]
fn killed_again_and_again_it_gets_to_its_end() {
    if !Need::CrashPoints.is_met() {
        return;
    }
    let scene = Scene::new();
    for (leaves, passage) in POINTS.iter().zip([2, 2, 1, 1]) {
        let crash = format!("{}:{passage}", leaves.point);
        let out = format!("again-{}", leaves.point);
        scene.server.reset();
        let mut kills = 0;
        while !scene.run(&out, Some(&crash)).success() {
            kills += 1;
            assert!(kills <= scene.requests() + STEPS, "{crash}: it gets no further");
        }
        scene.check_finished(&out, &crash);
        let unknown = scene.unknown(&out).len();
        assert_eq!(unknown, if leaves.is_unknown { kills } else { 0 }, "{crash}");
        let surplus: usize = scene.surplus().values().sum();
        assert_eq!(surplus, if leaves.is_heard { kills } else { 0 }, "{crash}");
        println!("{crash}: {kills} kills, {unknown} requests of unknown outcome");
    }
}

/// The request is on the wire, the server has heard all of it, and no answer has left: SIGKILL.
#[test]
fn killed_by_the_server_while_it_waits_for_the_answer() {
    let scene = Scene::new();
    for number in 1..=scene.requests() {
        let (out, how) = (format!("wire-{number}"), format!("request {number}"));
        scene.server.reset();
        // The same place is killed twice, so that it has two sends of unknown outcome.
        for _ in 0..2 {
            let asked = scene.server.asked().values().sum::<usize>();
            let number = if asked == 0 { number } else { asked + 1 };
            let manners = BTreeMap::from([(number, Manner::Kill)]);
            scene.server.counting.lock().unwrap().manners = manners;
            assert!(!scene.run(&out, None).success(), "{how}: it lived");
        }
        assert!(scene.run(&out, None).success(), "{how}: it was not continued");
        scene.check_finished(&out, &how);
        let unknown = scene.unknown(&out);
        assert_eq!(unknown.len(), 2, "{how}: {unknown:?}");
        assert_eq!(unknown[0], unknown[1], "{how}: the attempt stays the same");
        assert!(scene.surplus() == scene.unknown_bodies(&out), "{how}");
    }
}

/// A refused key is no unknown send for ever, and nothing of it is replayed.
#[test]
fn a_refused_request_is_recorded_as_such_and_sent_again() {
    let scene = Scene::new();
    scene.server.reset();
    scene.server.counting.lock().unwrap().manners = BTreeMap::from([(3, Manner::Refuse)]);
    assert_eq!(scene.run("refused", None).code(), Some(2));
    let cassette = scene.cassette("refused");
    let refused: Vec<_> = cassette
        .sends()
        .filter(|sent| sent.outcome == Some(ExchangeOutcome::Refused { status: Some(401) }))
        .collect();
    assert_eq!(
        (
            refused.len(),
            cassette.sends().count(),
            cassette.answered().count()
        ),
        (1, 3, 2)
    );
    assert!(scene.run("refused", None).success());
    scene.check_finished("refused", "refused");
    assert!(scene.unknown("refused").is_empty());
    let body = refused[0].intent.request.clone();
    assert!(scene.surplus() == BTreeMap::from([(body, 1)]));
}
