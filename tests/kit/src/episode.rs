//! Small markets, experiments on them run in this process, and their bundles read back.

use crate::recorded::Recorded;
use crate::study::with_study_run;
use crate::this_program;
use ktd_bundle::BundlePaths;
use ktd_bundle::header::Header;
use ktd_bundle::open::read_header;
use ktd_bundle::summary::KEYED;
use ktd_bundle::summary_file::{read_summary, summary_of};
use ktd_data::market_source::MarketSource;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{KeyedStream, Market};
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::{CellResult, EpisodesStudy, EpisodesWorld, Shared};
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::data_record::SyntheticRecord;
use ktd_io::whole_file::json_bytes;
use ktd_masking::MaskKey;
use ktd_record::chain::{Log, LogReader};
use ktd_record::exchanges::RequestPlace;
use ktd_study::run_study_over;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Names of the synthetic market.
pub const NAMES: u32 = 40;
/// Trading days of the synthetic market.
pub const DAYS: u32 = 420;

/// Three modes, shown as it is and hidden as far as it goes.
pub const GRID: &str = r#"
masks = [{ level = "bright" }, { level = "blinded", numeric = "rescaled" }]
modes = ["memory-only", "fixed-candidate", "open-research"]
agents = [
    { id = "momentum", builtin = "momentum" },
    { id = "equal-weight", builtin = "equal-weight" },
    { id = "random", builtin = "random" },
    { id = "schema-breaker", builtin = "schema-breaker" },
]
"#;

/// Every file of a bundle.
pub const FILES: [&str; 7] = [
    "header.json",
    "events.jsonl",
    "exchanges.jsonl.zst",
    "summary.json",
    "private/episode.json",
    "private/ledger.jsonl",
    "private/summary.json",
];

/// The synthetic market of a seed.
#[must_use]
pub fn market(seed: u64) -> Market {
    generate(&SynthConfig {
        seed,
        names: NAMES,
        days: DAYS,
    })
    .unwrap()
}

/// An experiment on the last days of a panel.
#[must_use]
pub fn experiment(days: usize, rest: &str) -> ExperimentConfig {
    let text = format!("name = \"try\"\nwindows = [{{ id = \"w\", last_days = {days} }}]\n{rest}");
    ExperimentConfig::parse(&text).unwrap()
}

/// The key of a mask whose bytes are all this one.
#[must_use]
pub fn key(byte: u8) -> MaskKey {
    MaskKey::from_bytes([byte; 32])
}

/// The grid of an experiment on a market that need not lie in a file.
#[must_use]
pub fn prepare(config: &ExperimentConfig, market: Market, key: MaskKey) -> Grid {
    let synthetic = config.synthetic.map(|synthetic| SyntheticRecord {
        seed: synthetic.seed.unwrap(),
        names: NAMES,
        days: DAYS,
    });
    let source = MarketSource::new(market, synthetic, None);
    let plan = RunPlan {
        config: config.clone(),
        base: PathBuf::new(),
        output: PathBuf::new(),
        program: Some(this_program()),
    };
    Grid::over(plan, source, key).unwrap()
}

/// What the episodes of a grid share, which cost nothing.
#[must_use]
pub fn shared(grid: &Grid) -> Shared {
    grid.shared(Arc::default())
}

/// Runs every cell; a cell that stops fails the test.
#[expect(
    clippy::must_use_candidate,
    reason = "some tests want nothing but that every cell ends"
)]
pub fn run(config: &ExperimentConfig, grid: &Grid, output: &Path) -> Vec<(Cell, PathBuf)> {
    let mut grid = grid.clone();
    grid.plan.config = config.clone();
    output.clone_into(&mut grid.plan.output);
    run_grid(grid, 4)
        .into_iter()
        .map(|result| {
            let ended = result.result.map(|_| ());
            assert!(ended.is_ok(), "cell {}: {ended:?}", result.cell.id);
            (result.cell, result.bundle)
        })
        .collect()
}

/// Runs every cell of a grid as a study in this process.
#[must_use]
pub fn run_grid(grid: Grid, threads: usize) -> Vec<CellResult> {
    let RunPlan {
        config, base, output, ..
    } = grid.plan.clone();
    let world = EpisodesWorld::of(grid);
    let mut end = with_study_run(threads, &this_program(), |run| {
        run_study_over::<EpisodesStudy>(config, world, (&base, &output), run)
    })
    .unwrap();
    CellResult::all(&mut end).unwrap()
}

/// A runtime of several threads.
#[must_use]
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

/// A runtime whose time stands still while there is something to do, and leaps to the next moment when all wait.
#[must_use]
pub fn leaping() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// A finished bundle of one cell on a panel file, beside which others can be made.
#[derive(Debug)]
pub struct OnPanel {
    /// The folder in which panel and bundle lie.
    pub folder: TempDir,
    /// Where the bundle lies.
    pub bundle: PathBuf,
}

impl OnPanel {
    /// Runs an experiment of one cell over so many days on the market of a seed, written to a panel file.
    #[must_use]
    pub fn new(seed: u64, days: usize, rest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let panel = folder.path().join("panel.ktdp");
        std::fs::write(&panel, market(seed).to_bytes()).unwrap();
        let config = experiment(days, rest);
        let prepared = Grid {
            source: MarketSource::from_file(&panel).unwrap(),
            ..prepare(&config, market(seed), key(4))
        };
        let bundle = run(&config, &prepared, folder.path()).remove(0).1;
        Self { folder, bundle }
    }

    /// The path of a name beside the bundle.
    #[must_use]
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// All files of a bundle by their names.
#[must_use]
pub fn files(bundle: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    FILES
        .into_iter()
        .map(|file| (file, std::fs::read(bundle.join(file)).unwrap()))
        .collect()
}

/// The files of two bundles are the same bytes; the first that differs is named.
pub fn assert_same_files(left: &Path, right: &Path) {
    for (file, bytes) in files(left) {
        let other = std::fs::read(right.join(file)).unwrap();
        assert!(
            bytes == other,
            "{file} differs:\n{}\n{}",
            left.display(),
            right.display()
        );
    }
}

/// What a model was asked and what happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The bodies of the event log, without the chain, which starts from the header.
    pub events: Vec<String>,
    /// The answered requests, each with its place.
    pub requests: Vec<(RequestPlace, String)>,
}

impl Trace {
    /// The trace of a finished bundle.
    #[must_use]
    pub fn of(bundle: &Path) -> Self {
        let paths = BundlePaths::new(bundle);
        let cassette = Recorded::read(&paths.exchanges()).unwrap();
        Self {
            events: bodies(&paths.events()),
            requests: cassette
                .answered()
                .map(|sent| (sent.intent.at, sent.intent.request.clone()))
                .collect(),
        }
    }

    /// What may depend on the first `days` trading days of the window alone: their steps whole, and the step after
    /// them up to its decision, whose as-of day is the last of them.
    #[must_use]
    pub fn before_close_of(&self, days: usize) -> Self {
        let settles = format!("{{\"kind\":\"fills\",\"step\":{},", days + 1);
        let end = self.events.iter().position(|body| body.starts_with(&settles));
        Self {
            events: self.events[..end.unwrap_or(self.events.len())].to_vec(),
            requests: self
                .requests
                .iter()
                .filter(|(at, _)| at.step <= days + 1)
                .cloned()
                .collect(),
        }
    }
}

/// The bodies of a log, line by line, as they are written.
#[must_use]
pub fn bodies(log: &Path) -> Vec<String> {
    let bodies: Vec<Box<serde_json::value::RawValue>> = LogReader::open(log).unwrap().bodies().unwrap();
    bodies.iter().map(|body| body.get().to_owned()).collect()
}

/// Turns the finished exchanges of a bundle into an open part of the same records, as they stand while an episode runs.
pub fn reopen_exchanges(bundle: &Path) {
    let packed = bundle.join("exchanges.jsonl.zst");
    let lines = zstd::decode_all(std::fs::File::open(&packed).unwrap()).unwrap();
    std::fs::write(bundle.join("exchanges.jsonl"), lines).unwrap();
    std::fs::remove_file(packed).unwrap();
}

/// A stream of a test, its seed printed so that a failure can be repeated.
#[must_use]
pub fn dice(seed: u64, purpose: &str) -> KeyedStream {
    println!("{purpose}: seed {seed}");
    KeyedStream::for_purpose(seed, purpose)
}

/// A number below a bound, as a place in a list.
#[must_use]
pub fn below(dice: &mut KeyedStream, bound: usize) -> usize {
    usize::try_from(dice.below(bound as u64)).unwrap()
}

/// Changes the header of a finished bundle and computes anew whatever hangs on it, as a forger does who holds no key: the
/// chain of events and the summary with its hashes.
pub fn relabel(bundle: &Path, change: impl FnOnce(&mut Header)) {
    let paths = BundlePaths::new(bundle);
    let mut header = read_header(&paths).unwrap();
    change(&mut header);
    std::fs::write(paths.header(), json_bytes(&paths.header(), &header).unwrap()).unwrap();
    chain_anew(&paths.events(), &header.genesis().unwrap());
    summarise_anew(bundle);
}

/// Writes the bodies of a log as a chain that starts from something else.
pub fn chain_anew(log: &Path, genesis: &str) {
    let mut chain = Log::kept_by_caller(log, genesis);
    let chained = bodies(log).into_iter().map(|body| {
        let body = serde_json::value::RawValue::from_string(body).unwrap();
        chain.append(&body).unwrap() + "\n"
    });
    let chained: String = chained.collect();
    std::fs::write(log, chained).unwrap();
}

/// Writes the summary that the other files of a bundle give; the hash that needs the key stands as it is.
pub fn summarise_anew(bundle: &Path) {
    let paths = BundlePaths::new(bundle);
    // What is damaged gives none: the old one stands then.
    let Ok(mut summary) = summary_of(&paths, None) else {
        return;
    };
    let keyed = read_summary(&paths).unwrap().sha256;
    summary
        .sha256
        .extend(keyed.into_iter().filter(|(file, _)| file.ends_with(KEYED)));
    std::fs::write(paths.summary(), json_bytes(&paths.summary(), &summary).unwrap()).unwrap();
}

/// Replaces a text in every recorded exchange of a finished bundle.
pub fn rewrite_exchanges(bundle: &Path, from: &str, to: &str) {
    let packed = bundle.join("exchanges.jsonl.zst");
    let lines = zstd::decode_all(std::fs::File::open(&packed).unwrap()).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains(from), "{from}");
    let lines = lines.replace(from, to);
    std::fs::write(packed, zstd::encode_all(lines.as_bytes(), 3).unwrap()).unwrap();
    summarise_anew(bundle);
}
