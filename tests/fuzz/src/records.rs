//! Files of a bundle, which may be a stranger's: header, logs, exchanges.

use super::{assert_explained, assert_read_again, split_choice};
use ktd_agents::{ChatRequest, Dialect, ReplyFormat, Sampling, Thinking, ToolChoice, Wire, WireRequest};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::header::{Header, PrivateEpisode};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::open::{read_header, read_private};
use ktd_bundle::summary::{EpisodeFold, Summary};
use ktd_env::Market;
use ktd_env::synth::{SynthConfig, generate};
use ktd_io::frame::{FAST_LEVEL, pack};
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_record::chain::{Log, LogReader, NO_GENESIS};
use ktd_record::exchanges::{
    Cassette, ExchangeOutcome, ExchangeStore, RequestPlace, read_sends, request_key,
};
use serde_json::value::RawValue;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A folder for the bundle whose header is read, one a process.
fn bundle() -> &'static BundlePaths {
    static BUNDLE: OnceLock<(TempDir, BundlePaths)> = OnceLock::new();
    let (_, paths) = BUNDLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = BundlePaths::new(folder.path());
        paths.create().expect("a bundle");
        (folder, paths)
    });
    paths
}

/// `header.json`, or one of the other documents of a bundle.
pub(crate) fn header(input: &[u8]) {
    let paths = bundle();
    if let Ok(summary) = serde_json::from_slice::<Summary>(input) {
        assert_read_again(&summary);
    }
    std::fs::write(paths.header(), input).expect("a file of our own");
    let header = match read_header(paths) {
        Ok(header) => header,
        Err(error) => {
            assert_explained(&error);
            return assert_explained(&error.hint());
        }
    };
    assert_read_again::<Header>(&header);
    assert!(header.genesis().is_ok_and(|genesis| genesis.len() == 64));
    for name in [&header.cell, &header.experiment, &header.agent.id] {
        assert!(!name.contains(['/', '\\', '\0', '\n', '\u{1b}', '=']), "{name:?}");
    }
    check_private(paths, &header, input);
}

fn check_private(paths: &BundlePaths, header: &Header, input: &[u8]) {
    std::fs::write(paths.episode(), input).expect("a file of our own");
    if let Err(error) = read_private(paths, header) {
        assert_explained(&error);
    }
    if let Ok(private) = serde_json::from_slice::<PrivateEpisode>(input) {
        assert_read_again(&private);
    }
}

/// Lines of bodies with the chain that a stranger would write around them.
fn chained(bodies: &str) -> String {
    let (mut prev, mut text) = (NO_GENESIS.to_owned(), String::new());
    for (seq, body) in bodies.lines().enumerate() {
        let line = format!(r#"{{"seq":{seq},"prev":"{prev}","body":{body}}}"#);
        prev = sha256_hex(line.as_bytes());
        writeln!(text, "{line}").expect("a text grows");
    }
    text
}

/// The first byte says whether the rest is a log as it is, or bodies around which the chain is written.
pub(crate) fn events(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let path = Path::new("events.jsonl");
    let text = String::from_utf8_lossy(input);
    let bytes = if choice % 4 == 3 {
        input.to_vec()
    } else {
        chained(&text).into_bytes()
    };
    let log = || LogReader::parse(path, &bytes);
    let end = match log().and_then(LogReader::read_to_end) {
        Ok(end) => end,
        Err(error) => return assert_explained(&error),
    };
    let bodies: Vec<Box<RawValue>> = log().and_then(LogReader::bodies).expect("a line has a body");
    let mut written = Log::kept_by_caller(path, NO_GENESIS);
    let again = bodies
        .iter()
        .map(|body| written.append(body).expect("read lines are written") + "\n");
    let again: String = again.collect();
    let again = LogReader::parse(path, again.as_bytes()).and_then(LogReader::read_to_end);
    assert_eq!(end.lines, again.expect("a log that was written is read").lines);
    match log().and_then(LogReader::bodies::<ReadEvent>) {
        Ok(events) => check_events(&events),
        Err(error) => assert_explained(&error),
    }
    match log().and_then(LogReader::bodies::<LedgerLine>) {
        Ok(ledger) => ledger.iter().for_each(check_ledger),
        Err(error) => assert_explained(&error),
    }
}

fn check_events(events: &[ReadEvent]) {
    let fold = EpisodeFold::of(events);
    assert_eq!(fold, EpisodeFold::of(events));
    for event in events {
        assert_read_again(event);
    }
}

fn check_ledger(line: &LedgerLine) {
    static MARKET: OnceLock<Market> = OnceLock::new();
    let market = MARKET.get_or_init(|| {
        let (seed, names, days) = (3, 8, 300);
        generate(&SynthConfig { seed, names, days }).expect("the synthetic market is made")
    });
    assert_read_again(line);
    match line.restore(market, Path::new("ledger.jsonl")) {
        Ok((account, report)) => assert_eq!(account.nav, report.nav),
        Err(error) => assert_explained(&error),
    }
}

/// A request like those of an episode.
fn request() -> &'static WireRequest {
    static REQUEST: OnceLock<WireRequest> = OnceLock::new();
    REQUEST.get_or_init(|| {
        let request: ChatRequest = ChatRequest {
            model: "model".to_owned(),
            messages: Vec::new(),
            tools: std::sync::Arc::new([]),
            tool_choice: ToolChoice::Auto,
            reply_format: ReplyFormat::Free,
            thinking: Thinking::VendorDefault,
            sampling: Sampling::default(),
            cache_key: None,
        };
        Wire::ChatCompletions.encode(&request, &Dialect::plain())
    })
}

thread_local! {
    /// A folder for the stores of one thread, which no other reads.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder is made");
}

/// The first byte says whether the rest is a compressed store, or lines that are compressed first.
pub(crate) fn exchanges(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let frame = if choice % 4 == 3 {
        input.to_vec()
    } else {
        zstd::encode_all(input, 1).expect("bytes are compressed")
    };
    let path = FOLDER.with(|folder| folder.path().join("exchanges.jsonl.zst"));
    std::fs::write(&path, &frame).expect("a file is written");
    let cassette = match Cassette::read(&path) {
        Ok(cassette) => cassette,
        Err(error) => return assert_explained(&error),
    };
    let sends = read_sends(&path).expect("what was indexed is read");
    assert_eq!(sends.len(), cassette.len());
    let in_order = Cassette::read_in_order(&path).expect("what was indexed is read");
    for sent in &sends {
        let at = sent.intent.at;
        let attempts = usize::try_from(cassette.last_attempts(at.step));
        assert!(attempts.is_ok_and(|attempts| attempts <= cassette.len()));
        if let Some(reply) = sent.answer().and_then(ExchangeOutcome::reply) {
            let hash = sha256_hex(&reply.body);
            for cassette in [&cassette, &in_order] {
                assert!(
                    cassette
                        .has_reply(at.step, at.ordinal, &hash)
                        .expect("it is read again")
                );
            }
        }
        check_request(&cassette, at);
    }
    let copy = path.with_file_name("copy.jsonl.zst");
    for part in [&copy, &copy.with_extension("")] {
        std::fs::remove_file(part).ok();
    }
    let store = ExchangeStore::continue_after(&copy, &Cassette::default()).expect("a store is opened");
    store
        .add_before((usize::MAX, 0), &cassette)
        .expect("records are copied");
    let copied = read_sends(&copy).expect("a store that was written is read");
    let answered = sends.iter().filter(|sent| sent.answer().is_some());
    assert!(
        copied
            .iter()
            .eq(answered.filter(|sent| sent.intent.at.step < usize::MAX))
    );
}

fn check_request(cassette: &Cassette, at: RequestPlace) {
    let key = request_key(request());
    if let Err(error) = cassette.find(at, &key, request()) {
        assert_explained(&error);
    }
    if let Some(nearest) = cassette.nearest(at, request()).expect("requests are read again") {
        assert_explained(&nearest);
    }
}

/// The first byte says of which kind the file is, and whether it is plain, packed as it is, or lines that are packed first.
pub(crate) fn lines(input: &[u8]) {
    let (choice, input) = split_choice(input);
    let kind = [LineKind::Exchanges, LineKind::Log, LineKind::Probes][choice % 3];
    let bounds = kind.bounds();
    let (name, bytes) = match choice / 3 % 3 {
        0 => ("a.jsonl", input.to_vec()),
        1 => ("a.jsonl.zst", input.to_vec()),
        _ => ("a.jsonl.zst", pack(input, FAST_LEVEL).expect("bytes are packed")),
    };
    let mut lines = match kind.lines(Path::new(name), &bytes) {
        Ok(lines) => lines,
        Err(error) => return assert_explained(&error),
    };
    let (mut count, mut total) = (0, 0);
    loop {
        match lines.next_line() {
            Ok(Some(line)) => {
                let length = line.len() as u64 + 1;
                assert!(length <= bounds.line_bytes && !line.contains(&b'\n'));
                assert!(!line.trim_ascii().is_empty());
                (count, total) = (count + 1, total + length);
            }
            Ok(None) => break,
            Err(error) => return assert_explained(&error),
        }
        assert!(total <= bounds.unpacked_bytes);
        assert_eq!((count, total), (lines.number(), lines.whole_bytes()));
    }
    assert!(matches!(lines.next_line(), Ok(None)), "the end is the end");
    assert!(lines.torn_bytes() <= bounds.line_bytes);
    assert_eq!(lines.check_whole().is_ok(), lines.torn_bytes() == 0);
    if name == "a.jsonl" {
        assert_eq!(total + lines.torn_bytes(), bytes.len() as u64, "no byte is lost");
    }
}
