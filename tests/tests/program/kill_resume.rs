//! Killed at any byte and started again, a run ends with the bytes of one that was never killed, but for the requests
//! that a kill left without an outcome; and no reply that was recorded is asked for twice.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken fixture fails the test, and what was drawn is told"
)]

use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use ktd_baselines::{BuiltinTransport, named};
use ktd_bundle::BundlePaths;
use ktd_client::progress::Silent;
use ktd_env::KeyedStream;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::{EpisodeInput, Shared, run_episode};
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::Recorded;
use ktd_kit::episode::{below, reopen_exchanges};
use ktd_kit::{Folder, copy, files};
use ktd_masking::MaskKey;
use ktd_record::exchanges::Sent;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const EXPERIMENT: &str = r#"
name = "kill"
parallel_cells = 4
synthetic = { seed = 5, names = 30, days = 330 }
mask_key_file = "mask.key"
masks = [
    { level = "bright" },
    { level = "blinded", numeric = "rescaled" },
    { level = "blinded", numeric = "banded" },
]
modes = ["fixed-candidate", "open-research"]
agents = [
    { id = "random", builtin = "random" },
    { id = "schema-breaker", builtin = "schema-breaker" },
]
windows = [{ id = "w", last_days = 5 }]
"#;

/// A directory with the experiment in it.
fn scene() -> Folder {
    Folder::with(&[("kill.toml", EXPERIMENT), ("mask.key", ktd_kit::MASK_KEY)])
}

/// The files below two directories are the same, but for requests of unknown outcome and what hangs on them: the hash
/// of the exchanges in a summary. How many such requests the right one has.
fn assert_same(left: &Path, right: &Path, how: &str) -> usize {
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    let (left_files, right_files) = (files(left), files(right));
    assert_eq!(names(&left_files), names(&right_files), "{how}");
    let mut unknown = 0;
    for (file, bytes) in &left_files {
        let other = &right_files[file];
        let is_same = match file.file_name().unwrap().to_str().unwrap() {
            "exchanges.jsonl.zst" => {
                let cassettes = [left, right].map(|root| Recorded::read(&root.join(file)).unwrap());
                let [first, second] = cassettes.each_ref();
                assert_eq!(first.unknown().count(), 0, "{how}");
                unknown += second.unknown().count();
                first.answered().eq(second.answered())
            }
            "summary.json" => without_exchanges(bytes) == without_exchanges(other),
            _ => bytes == other,
        };
        assert!(is_same, "{how}: {} differs", file.display());
    }
    unknown
}

fn without_exchanges(bytes: &[u8]) -> Value {
    let mut summary: Value = serde_json::from_slice(bytes).unwrap();
    // The private summary holds neither.
    if let Some(hashes) = summary.get_mut("sha256").and_then(Value::as_object_mut) {
        assert!(hashes.remove("exchanges.jsonl.zst").is_some());
        summary["money"]["sends"]["unknown"] = Value::from(0);
    }
    summary
}

/// A built-in agent that counts how often it is asked.
struct Counting {
    inner: BuiltinTransport,
    asked: AtomicUsize,
}

impl Transport for Counting {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.inner.send(request)
    }
}

/// One episode in this process, whose files can be cut anywhere.
struct Episode {
    folder: Folder,
    shared: Shared,
    cell: ktd_experiment::cells::Cell,
    runtime: tokio::runtime::Runtime,
    /// The bundle's files as an undisturbed run wrote them; a copy of them lies in `whole`.
    whole: BTreeMap<PathBuf, Vec<u8>>,
    exchanges: usize,
}

const LOGS: [&str; 3] = ["events.jsonl", "exchanges.jsonl", "private/ledger.jsonl"];

impl Episode {
    fn new(agent: &str, mode: &str, days: usize) -> Self {
        let folder = scene();
        let config =
            ExperimentConfig::parse(&EXPERIMENT.replace("last_days = 5", &format!("last_days = {days}")))
                .unwrap();
        let plan = RunPlan {
            config,
            base: folder.path().to_owned(),
            output: folder.path().join("out"),
            program: Some(ktd_kit::this_program()),
        };
        let grid = Grid::open(plan).unwrap();
        let wanted = format!("{agent}__w__blinded-rescaled__{mode}__s1");
        let cell = grid.cells.iter().find(|cell| cell.id == wanted).unwrap().clone();
        let shared = grid.shared(std::sync::Arc::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let mut episode = Self {
            folder,
            shared,
            cell,
            runtime,
            whole: BTreeMap::new(),
            exchanges: 0,
        };
        episode.exchanges = episode.run();
        std::fs::rename(episode.bundle(), episode.undisturbed()).unwrap();
        // The logs as they stand while the episode runs.
        copy(&episode.undisturbed(), &episode.bundle());
        reopen_exchanges(&episode.bundle());
        episode.whole = files(&episode.bundle());
        episode
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join("bundle")
    }

    fn undisturbed(&self) -> PathBuf {
        self.folder.path().join("whole")
    }

    /// Runs or continues; how often the agent was asked.
    fn run(&self) -> usize {
        let input = EpisodeInput {
            shared: &self.shared,
            cell: &self.cell,
            key: MaskKey::from_bytes([3; 32]),
        };
        let agent = self.cell.agent.builtin_name().unwrap().to_owned();
        let transport = Counting {
            inner: BuiltinTransport::new(named(&agent, self.cell.seed).unwrap()),
            asked: AtomicUsize::new(0),
        };
        let paths = BundlePaths::new(&self.bundle());
        let run = run_episode(&input, &paths, &transport, &Silent);
        let ended = self.runtime.block_on(run).map(|_| ());
        assert!(ended.is_ok(), "{ended:?}");
        transport.asked.into_inner()
    }

    /// Puts back the whole bundle with its logs cut to these lengths, continues it, and compares.
    fn check(&self, lengths: &BTreeMap<&str, usize>) {
        let bundle = self.bundle();
        self.put_back(lengths);
        let how = format!("{}, cut to {lengths:?}", self.cell.id);
        let cassette = Recorded::read(&BundlePaths::new(&bundle).exchanges()).unwrap();
        let (recorded, open) = (cassette.answered().count(), cassette.unknown().count());
        // One request is under way at a time, and the cut may have fallen between its intent and its outcome.
        assert!(
            open == usize::from(cassette.sends().last().is_some_and(Sent::is_unknown)),
            "{how}: {open} without outcome"
        );
        let asked = self.run();
        let unknown = assert_same(&self.undisturbed(), &bundle, &how);
        assert_eq!(unknown, open, "{how}: requests without outcome are shown as such");
        assert_eq!(
            recorded + asked,
            self.exchanges,
            "{how}: a recorded reply was asked for again"
        );
    }

    fn put_back(&self, lengths: &BTreeMap<&str, usize>) {
        let bundle = self.bundle();
        std::fs::remove_dir_all(&bundle).ok();
        std::fs::create_dir_all(bundle.join("private")).unwrap();
        for (file, bytes) in &self.whole {
            let name = file.to_str().unwrap();
            if name != "summary.json" {
                let length = lengths.get(name).copied().unwrap_or(bytes.len());
                std::fs::write(bundle.join(file), &bytes[..length]).unwrap();
            }
        }
    }

    fn len(&self, file: &str) -> usize {
        self.whole[Path::new(file)].len()
    }
}

/// A kill leaves what was written in order. Here every log is cut by itself, which is more than a kill can do.
#[test]
fn one_log_cut_at_any_byte_is_continued() {
    const SAMPLES: usize = 30;
    let mut dice = KeyedStream::for_purpose(41, "cut");
    for (agent, mode) in [("random", "fixed-candidate"), ("schema-breaker", "open-research")] {
        let episode = Episode::new(agent, mode, 3);
        for file in LOGS {
            let bytes = &episode.whole[Path::new(file)];
            let ends = (0..bytes.len()).filter(|place| bytes[*place] == b'\n');
            let around = ends.flat_map(|end| [end, end + 1]).take(SAMPLES / 2);
            let drawn = (0..SAMPLES).map(|_| below(&mut dice, bytes.len()));
            for length in [0, 1, bytes.len() - 1].into_iter().chain(around).chain(drawn) {
                episode.check(&BTreeMap::from([(file, length)]));
            }
        }
    }
}

#[test]
fn a_short_episode_is_continued_from_every_single_byte_of_its_last_lines() {
    const BYTES: usize = 80;
    let episode = Episode::new("random", "fixed-candidate", 2);
    for file in LOGS {
        let len = episode.len(file);
        for length in len.saturating_sub(BYTES)..=len {
            episode.check(&BTreeMap::from([(file, length)]));
        }
    }
}

#[test]
fn all_logs_cut_at_once_are_continued() {
    let mut dice = KeyedStream::for_purpose(42, "cut all");
    let episode = Episode::new("schema-breaker", "fixed-candidate", 4);
    for round in 0..60 {
        let lengths: BTreeMap<&str, usize> = LOGS
            .into_iter()
            .map(|file| (file, below(&mut dice, episode.len(file) + 1)))
            .collect();
        println!("round {round}: {lengths:?}");
        episode.check(&lengths);
    }
}

#[test]
fn a_bundle_without_any_log_begins_again() {
    let episode = Episode::new("random", "open-research", 2);
    episode.check(&LOGS.into_iter().map(|file| (file, 0)).collect());
}

/// A damaged record in the middle is no torn end: what follows it is not thrown away.
#[test]
fn a_damaged_record_is_told_and_nothing_is_cut_off() {
    let episode = Episode::new("random", "open-research", 3);
    episode.put_back(&BTreeMap::new());
    let path = episode.bundle().join("exchanges.jsonl.zst");
    std::fs::remove_file(episode.bundle().join("exchanges.jsonl")).unwrap();
    let bytes = std::fs::read(episode.undisturbed().join("exchanges.jsonl.zst")).unwrap();
    let mut dice = KeyedStream::for_purpose(43, "damage");
    for _ in 0..40 {
        let mut damaged = bytes.clone();
        damaged[below(&mut dice, bytes.len())] ^= u8::try_from(1 + dice.below(255)).unwrap();
        std::fs::write(&path, &damaged).unwrap();
        let child = Recorded::read(&path);
        assert!(child.is_err(), "{child:?}");
        assert_eq!(std::fs::read(&path).unwrap().len(), bytes.len());
    }
}
