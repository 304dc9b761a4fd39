//! Money: no cap is exceeded however often a run is stopped, killed and continued; what was paid for is not paid again;
//! a busy provider is left alone by all who use its key.

use futures::future::BoxFuture;
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_bundle::episode_tariff::tariff_of_cell;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::spending_of;
use ktd_client::ClientError;
use ktd_client::Payer;
use ktd_client::money::Scope;
use ktd_client::money::{Budget, Metering};
use ktd_client::progress::Silent;
use ktd_env::KeyedStream;
use ktd_episode::EpisodeError;
use ktd_episode::grid::Grid;
use ktd_episode::{EpisodeInput, Shared, run_episode};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::Cell;
use ktd_experiment::price_table::{PriceTable, TokenPricing};
use ktd_kit::Recorded;
use ktd_kit::episode::{dice, experiment, key, leaping, market, prepare, shared};
use ktd_kit::provider::{Attempt, Provider};
use ktd_record::spending::Spending;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1.5,"output":7.25,
    "tiers":[{"prompt_tokens_over":2000,"input":2.75,"output":9}]}]}"#;

/// A model behind a vendor, whose answers are those of `momentum`.
struct Scene {
    prepared: Grid,
    shared: Shared,
}

impl Scene {
    fn new(seeds: &str) -> Self {
        let rest = format!(
            "masks = [{{ level = \"bright\" }}]\nmodes = [\"open-research\"]\nseeds = {seeds}\n\
             retries = {{ attempts = 3, unanswered_hours = 0, first_wait_ms = 1000, longest_wait_ms = 4000 }}\n\
             agents = [{{ id = \"a\", model = \"m\", base_url = \"http://127.0.0.1:1\", max_output_tokens = 700 }}]\n"
        );
        let config = experiment(3, &rest);
        let mut prepared = prepare(&config, market(5), key(6));
        let table = PriceTable::parse(PRICES).unwrap();
        for cell in &mut prepared.cells {
            cell.basis = TokenPricing::of(false, table.record("compatible", "m"));
        }
        let shared = shared(&prepared);
        Self { prepared, shared }
    }

    fn cell(&self) -> &Cell {
        &self.prepared.cells[0]
    }

    /// Runs or continues the first cell under a cap, of which what its bundle holds is spent.
    fn run(&mut self, cap: Option<u64>, provider: &Provider, out: &Path) -> Result<Summary, EpisodeError> {
        let paths = BundlePaths::new(out);
        let budget = cap.map(|cap| {
            let budget = Budget::new(Caps {
                experiment: Some(Picodollars(cap)),
                ..Caps::default()
            });
            if paths.header().exists() {
                let payer = Payer::of_cell(self.cell());
                payer.count_recorded(&paths.exchanges(), &budget).unwrap();
            }
            Arc::new(budget)
        });
        self.shared.metering = Arc::new(Metering {
            budget: budget.clone(),
            ..Metering::default()
        });
        let input = EpisodeInput {
            shared: &self.shared,
            cell: self.cell(),
            key: key(6),
        };
        let result = leaping().block_on(run_episode(&input, &paths, provider, &Silent));
        if let (Some(budget), Some(cap)) = (budget, cap) {
            let account = budget.account(&Scope::Experiment);
            let on_disk = self.counted(&paths);
            assert_eq!(account.spent, on_disk, "what is counted is what is recorded");
            assert_eq!(account.reserved, Picodollars::ZERO);
            assert!(on_disk.0 <= cap, "{on_disk} of {cap}");
        }
        result
    }

    /// What a bundle's sends count for against a cap.
    fn counted(&self, paths: &BundlePaths) -> Picodollars {
        let tariff = tariff_of_cell(self.cell());
        Spending::expected(&paths.exchanges(), &tariff).unwrap().unwrap()
    }
}

fn momentum(script: &[Attempt]) -> Provider {
    Provider::new(named("momentum", 1).unwrap(), script)
}

fn read(out: &Path, file: &str) -> Vec<u8> {
    std::fs::read(out.join(file)).unwrap()
}

#[test]
fn at_a_cap_an_episode_stops_between_calls_and_goes_on_when_it_is_raised() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, capped) = (folder.path().join("whole"), folder.path().join("capped"));
    let mut scene = Scene::new("[1]");
    let provider = momentum(&[]);
    let expected = scene.run(None, &provider, &whole).unwrap();
    let total = expected.money.total().unwrap();
    assert!(0 < total.0);
    // Every price is exact a token: the sum of the parts is the cost to the last place.
    let cassette = Recorded::read(&BundlePaths::new(&whole).exchanges()).unwrap();
    let tariff = tariff_of_cell(scene.cell());
    let parts = cassette
        .sends()
        .map(|sent| tariff.charge_of(sent).amount().unwrap());
    assert_eq!(parts.sum::<Picodollars>(), total);

    let asked = momentum(&[]);
    let (mut cap, mut stops) = (0, 0);
    let summary = loop {
        match scene.run(Some(cap), &asked, &capped) {
            Ok(summary) => break summary,
            Err(EpisodeError::Client(ClientError::Budget { reached, .. })) => {
                assert_eq!(reached.cap, Picodollars(cap));
                assert!(reached.cap < reached.spent.plus(reached.needed));
                assert!(!capped.join("summary.json").exists(), "it has not ended");
            }
            Err(error) => panic!("{error}"),
        }
        stops += 1;
        cap += total.0 / 7;
    };
    assert!(5 < stops, "{stops}");
    assert_eq!(asked.sent(), provider.sent(), "nothing is asked twice");
    assert_eq!(summary, expected);
    for file in [
        "header.json",
        "events.jsonl",
        "exchanges.jsonl.zst",
        "summary.json",
    ] {
        assert!(read(&capped, file) == read(&whole, file), "{file} differs");
    }
}

/// What a kill leaves: the store ends after some record, or inside one.
fn cut(out: &Path, dice: &mut KeyedStream) {
    let path = BundlePaths::new(out).exchanges();
    let bytes = std::fs::read(&path).unwrap();
    let length = dice.below(bytes.len() as u64 + 1);
    std::fs::write(&path, &bytes[..usize::try_from(length).unwrap()]).unwrap();
    // Events are written after what they rest on.
    std::fs::write(BundlePaths::new(out).events(), b"").unwrap();
    std::fs::remove_file(BundlePaths::new(out).ledger()).ok();
}

/// Faults, caps and kills in any order: spent never exceeds the cap, and what is spent never falls but by what a kill
/// took from the record.
#[test]
fn random_faults_caps_and_kills() {
    let mut dice = dice(91, "money");
    let faults = [
        Attempt::Status(
            429,
            r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
        ),
        Attempt::Timeout,
        Attempt::Status(200, r#"{"id":"x","choices":[{"index":0,"message":{"role":"assis"#),
        Attempt::Refused,
        Attempt::Good,
        Attempt::Good,
    ];
    let mut kinds = [0_u64; 4];
    for round in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let mut scene = Scene::new("[1]");
        let script: Vec<Attempt> = (0..20)
            .map(|_| faults[usize::try_from(dice.below(faults.len() as u64)).unwrap()])
            .collect();
        let provider = momentum(&script);
        let mut cap = 0;
        for life in 0..60 {
            let result = scene.run(Some(cap), &provider, folder.path());
            match result {
                Ok(summary) => {
                    let paths = BundlePaths::new(folder.path());
                    let spending = spending_of(&paths).unwrap();
                    assert_eq!(summary.money, spending);
                    let sends = spending.sends;
                    for (sum, part) in kinds.iter_mut().zip([
                        sends.reported,
                        sends.incomplete,
                        sends.unknown,
                        sends.uncharged,
                    ]) {
                        *sum += part;
                    }
                    assert!(scene.counted(&paths).0 <= cap);
                    break;
                }
                Err(EpisodeError::Client(ClientError::Budget { .. })) => {
                    cap += dice.below(40_000_000_000);
                    if dice.below(4) == 0 && folder.path().join("exchanges.jsonl.zst").exists() {
                        cut(folder.path(), &mut dice);
                    }
                }
                Err(error) => panic!("round {round}, life {life}: {error}"),
            }
            assert!(life < 59, "round {round}: it does not end");
        }
    }
    println!("reported, incomplete, unknown, uncharged: {kinds:?}");
    assert!(kinds.iter().all(|kind| 0 < *kind), "{kinds:?}");
}

#[test]
fn a_cell_whose_prices_changed_is_continued_at_todays_and_stays_at_them_when_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut scene = Scene::new("[1]");
    let first = scene.run(Some(30_000_000_000), &momentum(&[]), out);
    assert!(
        matches!(first, Err(EpisodeError::Client(ClientError::Budget { .. }))),
        "{first:?}"
    );
    let before = spending_of(&BundlePaths::new(out)).unwrap().total().unwrap();
    let dearer = PriceTable::parse(&PRICES.replace("1.5", "15")).unwrap();
    scene.prepared.cells[0].basis = TokenPricing::of(false, dearer.record("compatible", "m"));
    let summary = scene.run(None, &momentum(&[]), out).unwrap();
    assert!(before < summary.money.total().unwrap());
    let header = String::from_utf8(read(out, "header.json")).unwrap();
    assert!(header.contains("\"input\": \"15\""), "{header}");
    // Once it has ended, other prices change nothing of it.
    scene.prepared.cells[0].basis = TokenPricing::Unknown;
    assert_eq!(scene.run(None, &momentum(&[]), out).unwrap(), summary);
}

/// A provider, and the moments at which it was asked.
struct Watched {
    provider: Provider,
    start: Instant,
    asked: Mutex<Vec<Duration>>,
}

impl Watched {
    fn new(script: &[Attempt], start: Instant) -> Self {
        Self {
            provider: momentum(script),
            start,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> Vec<Duration> {
        self.asked.lock().unwrap().clone()
    }
}

impl Transport for Watched {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        self.asked.lock().unwrap().push(self.start.elapsed());
        self.provider.send(request)
    }
}

/// Two cells use one key. One of them is told to wait; the other hears of it.
#[test]
fn a_pause_holds_for_all_cells_of_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::new("[1, 2]");
    let paths = |place: usize| BundlePaths::new(&folder.path().join(place.to_string()));
    let input = |place: usize| EpisodeInput {
        shared: &scene.shared,
        cell: &scene.prepared.cells[place],
        key: key(6),
    };
    leaping().block_on(async {
        let start = Instant::now();
        let busy = Attempt::Status(503, r#"{"error":{"message":"busy"}}"#);
        let told = Watched::new(&[Attempt::Good, busy, busy], start);
        let other = Watched::new(&[], start);
        let (inputs, bundles) = ([input(0), input(1)], [paths(0), paths(1)]);
        let (first, second) = futures::join!(
            run_episode(&inputs[0], &bundles[0], &told, &Silent),
            run_episode(&inputs[1], &bundles[1], &other, &Silent),
        );
        assert_eq!(first.unwrap().counters.infrastructure_faults["overloaded"], 2);
        assert!(second.unwrap().counters.infrastructure_faults.is_empty());
        let (told, other) = (told.asked(), other.asked());
        println!("{told:?}\n{other:?}");
        // It was busy at the second and the third request; it wished for a second, and the second wait is our own.
        for (refused, wait) in [(told[1], 1), (told[2], 2)] {
            let pause = refused + Duration::from_millis(1)..refused + Duration::from_secs(wait);
            assert!(
                told.iter().chain(&other).all(|moment| !pause.contains(moment)),
                "somebody asked in {pause:?}"
            );
        }
        assert!(other.iter().any(|moment| told[1] < *moment), "nobody was held up");
    });
    let sends = spending_of(&paths(0)).unwrap().sends;
    assert_eq!(sends.uncharged, 2, "the provider said that it did not answer");
}
