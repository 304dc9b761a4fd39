//! `ktd view`: pages on loopback over results, to this machine alone, whatever the files hold; and the exported site.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_bundle::BundlePaths;
use ktd_bundle::open::read_header;
use ktd_io::sha256::sha256_hex;
use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok, command, copy, quiet, refused};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
masks = [{ level = "bright" }, { level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
agents = [{ id = "momentum", builtin = "momentum" }]
windows = [{ id = "w", last_days = 4 }]
"#;
const BLINDED: &str = "momentum__w__blinded-rescaled__open-research__s1";
const BRIGHT: &str = "momentum__w__bright-exact__open-research__s1";

/// Results, and what was published of them, made once for all tests, which only copy them.
fn results() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::with(&[("try.toml", EXPERIMENT)]);
        assert_ok(&quiet(
            folder.path(),
            &["run", "try.toml", "--out", "results/try"],
        ));
        assert_ok(&quiet(folder.path(), &["certify", "--new-key", "key.pem"]));
        let publish = [
            "publish",
            "results/try",
            "--key",
            "key.pem",
            "--out",
            "public",
            "--open-mask",
        ];
        assert_ok(&quiet(folder.path(), &publish));
        folder
    })
}

/// A viewer of a folder, ended with the value.
pub(super) struct Viewer {
    child: Child,
    host: String,
}

impl Viewer {
    pub(super) fn of(folder: &Path, arguments: &[&str]) -> Self {
        Self::with_errors(folder, arguments, Stdio::inherit())
    }

    fn with_errors(folder: &Path, arguments: &[&str], errors: Stdio) -> Self {
        let arguments = [&["view"], arguments, &["--no-open", "--port", "0"]].concat();
        let mut child = command(folder, &arguments)
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let host = line
            .trim()
            .strip_prefix("http://")
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        assert!(host.starts_with("127.0.0.1:"), "{host}");
        Self { child, host }
    }

    /// Status and text of an answer.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut stream = self.begin(method, path, headers);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    /// A request that is sent, and whose answer nobody has read.
    fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let headers: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let headers = headers.concat();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n"
        )
        .unwrap();
        stream
    }

    pub(super) fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &[("host", &self.host)])
    }

    pub(super) fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path);
        assert_eq!(status, 200, "{path}: {page}");
        page
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn every_page_of_an_experiment_is_there() {
    let viewer = Viewer::of(results().path(), &["results/try"]);
    let index = viewer.page("/");
    assert!(
        index.contains("2 episodes") && index.contains(&format!("e/try~{BLINDED}/index.html")),
        "{index}"
    );
    let episode = viewer.page(&format!("/e/try~{BLINDED}/index.html"));
    assert!(
        episode.contains("4 of 4 steps, ended: <bdi>completed</bdi>"),
        "{episode}"
    );
    let step = viewer.page(&format!("/e/try~{BLINDED}/1.html"));
    for part in [
        "screen_candidates",
        "What it was shown",
        "Rank by twelve-month momentum.",
        "1.request.0.0.txt",
    ] {
        assert!(step.contains(part), "{part}: {step}");
    }
    let request = viewer.page(&format!("/e/try~{BLINDED}/1.request.0.0.txt"));
    assert!(
        request.contains("text/plain") && request.contains("\"messages\""),
        "{request}"
    );
    // A step that is asked for first of all is read alone, and is the same page.
    let body = |page: &str| page.split_once("\r\n\r\n").unwrap().1.to_owned();
    let cold = Viewer::of(results().path(), &["results/try"]);
    assert_eq!(body(&cold.page(&format!("/e/try~{BLINDED}/1.html"))), body(&step));
    let found = viewer.page(&format!("/e/try~{BLINDED}/search.html?q=TWELVE-month"));
    assert!(found.contains("<mark><bdi>twelve-month</bdi></mark>"), "{found}");
    let address = format!("/compare.html?a=try~{BLINDED}&b=try~{BRIGHT}");
    let compared = viewer.page(&format!("{address}&real=1"));
    assert!(
        compared.contains("Side by side") && compared.contains("0 of 4 steps differ"),
        "{compared}"
    );
    // Who does not ask for the private part, or has none, is not told that behind other aliases the same stocks were bought.
    let public = Viewer::of(results().path(), &["results/try", "--public"]);
    for compared in [viewer.page(&address), public.page(&format!("{address}&real=1"))] {
        assert!(compared.contains("What differs"), "{compared}");
    }
    assert!(
        !viewer
            .page(&format!("/e/try~{BRIGHT}/index.html"))
            .contains("real=1")
    );
}

/// Real names are shown where the private part lies beside and they are asked for, and marked.
#[test]
fn real_names_stand_behind_a_switch() {
    let viewer = Viewer::of(results().path(), &["results/try"]);
    let step = format!("/e/try~{BLINDED}/1.html");
    let is_real = |page: &str| page.contains("class=\"real\">SH") || page.contains("class=\"real\">SZ");
    assert!(!is_real(&viewer.page(&step)));
    assert!(is_real(&viewer.page(&format!("{step}?real=1"))));
    let public = Viewer::of(results().path(), &["results/try", "--public"]);
    assert!(!is_real(&public.page(&format!("{step}?real=1"))));
    assert!(
        !public
            .page(&format!("/e/try~{BLINDED}/index.html"))
            .contains("real=1")
    );
}

#[test]
fn only_pages_of_this_machine_are_answered() {
    let viewer = Viewer::of(results().path(), &["results/try"]);
    let own = ("host", viewer.host.as_str());
    assert_eq!(viewer.ask("GET", "/", &[("host", "evil.example")]).0, 421);
    assert_eq!(
        viewer
            .ask("GET", "/", &[own, ("origin", "https://evil.example")])
            .0,
        403
    );
    assert_eq!(
        viewer.ask("GET", "/", &[own, ("sec-fetch-site", "cross-site")]).0,
        403
    );
    assert_eq!(viewer.ask("POST", "/", &[own, ("content-length", "0")]).0, 405);
    for path in [
        "/e/try~x/../../../try.toml",
        "/results/try/private/mask.key",
        "/e/..%2f..%2ftry.toml/1.html",
        &format!("/e/try~{BLINDED}/private/episode.json"),
        &format!("/e/try~{BLINDED}/99.html"),
    ] {
        assert_eq!(viewer.get(path).0, 404, "{path}");
    }
    let (_, page) = viewer.get("/");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
    ] {
        assert!(page.contains(header), "{header}: {page}");
    }
}

/// A bundle whose files are not those of its summary, or lead elsewhere, gets a page that says so and nothing else.
#[test]
fn a_bundle_that_lies_gets_a_clear_page() {
    let folder = Folder::new();
    for name in ["changed", "linked", "bomb"] {
        copy(
            &results().at(&format!("results/try/cells/{BLINDED}")),
            &folder.at(&format!("lies/cells/{name}")),
        );
    }
    let events = folder.text("lies/cells/changed/events.jsonl");
    folder.write(
        "lies/cells/changed/events.jsonl",
        events.replacen("twelve", "eleven", 1),
    );
    folder.write("elsewhere.jsonl", &events);
    let link = folder.at("lies/cells/linked/events.jsonl");
    std::fs::remove_file(&link).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.at("elsewhere.jsonl"), &link).unwrap();
    folder.write(
        "lies/cells/bomb/exchanges.jsonl.zst",
        b"\x28\xb5\x2f\xfd no frame",
    );
    let viewer = Viewer::of(folder.path(), &["lies"]);
    assert!(viewer.page("/").contains("3 episodes"));
    for (page, what) in [
        ("/e/lies~changed/index.html", "damaged bundle: "),
        (
            "/e/lies~linked/index.html",
            "is a link, and links are not followed",
        ),
        ("/e/lies~bomb/1.html", "exchanges.jsonl.zst"),
    ] {
        let (status, text) = viewer.get(page);
        assert!(status == 422 && text.contains(what), "{page}: {status} {text}");
        assert!(!text.contains("<table"), "{page}: {text}");
    }
}

/// Texts that a model, a file or an agent could plant.
const HOSTILE: [&str; 7] = [
    "<script>window.planted=true</script>",
    "<svg onload=\"window.planted=true\"></svg>",
    "\"><img src=x onerror=window.planted=true>",
    "<a href=\"javascript:window.planted=true\">x</a>",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{202e}gnp.exe\u{2066}",
    "=cmd|' /C calc'!A0",
];

/// A bundle that a stranger wrote by hand, whose every text is hostile.
fn plant(folder: &Folder, name: &str) {
    let header = results().text(&format!("results/try/cells/{BLINDED}/header.json"));
    folder.write(&format!("{name}/header.json"), header);
    let all = HOSTILE.join(" ");
    let order = json!({ "stock_id": all, "side": "BUY", "target_weight_millionths": 1, "confidence": 0.5, "reason": all });
    let table = json!({ "columns": [all, "stock_id", "weight"], "rows": [[all, all, 0.5]] });
    let bodies = [
        json!({ "kind": "episode_begin", "mode": "open-research", "initial_cash_fen": 100 }),
        json!({ "kind": "step_begin", "step": 1, "day": all, "as_of": all }),
        json!({ "kind": "tool_call", "step": 1, "name": all, "refused": all }),
        json!({ "kind": "model_fault", "step": 1, "code": all, "detail": all }),
        json!({ "kind": "decision", "step": 1, "outcome": "submitted", "orders": [order], "overall_reason": all, "is_repaired": false }),
        json!({ "kind": "fills", "step": 1, "fills": { "orders": table, "reasons": { all.as_str(): all } } }),
        json!({ "kind": "step_end", "step": 1, "holdings": { "nav": 1, "holdings": table }, "ledger": "" }),
    ];
    let header = read_header(&BundlePaths::new(&folder.at(name))).unwrap();
    let (mut prev, mut log) = (header.genesis().unwrap(), String::new());
    for (seq, body) in bodies.iter().enumerate() {
        let line = json!({ "seq": seq, "prev": prev, "body": body }).to_string();
        prev = sha256_hex(line.as_bytes());
        log.push_str(&line);
        log.push('\n');
    }
    folder.write(&format!("{name}/events.jsonl"), log);
    folder.write(&format!("{name}/exchanges.jsonl"), exchanges(&all, 1 << 20));
}

/// One exchange, with a word of so many letters.
fn exchanges(all: &str, letters: usize) -> String {
    let at = json!({ "step": 1, "ordinal": 0, "attempt": 0 });
    let arguments = json!({ all: all }).to_string();
    let request = json!({ "messages": [
        { "role": "system", "content": all }, { "role": all, "content": "x".repeat(letters) },
        { "role": "user", "content": format!("{all} STATE:\n{{\"a\":{}}}", Value::from(all)) }] });
    let call = json!({ "id": "c", "type": "function", "function": { "name": "t", "arguments": arguments } });
    let message =
        json!({ "role": "assistant", "content": all, "reasoning_content": all, "tool_calls": [call] });
    let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": all }] });
    let headers = json!({ all: all });
    let intent = json!({ "at": at, "key": "", "path": "/chat/completions", "request": request });
    let outcome = json!({ "at": at, "reply": { "status": 200, "headers": headers, "body": body } });
    format!(
        "{}\n{}\n",
        json!({ "seq": 0, "intent": intent }),
        json!({ "seq": 1, "outcome": outcome })
    )
}

#[test]
fn planted_texts_stay_text() {
    let folder = Folder::new();
    plant(&folder, "planted/cells/one");
    plant(&folder, "planted/cells/<script>alert(1)<script>");
    let viewer = Viewer::of(folder.path(), &["planted"]);
    let pages = [
        "/",
        "/e/planted~one/index.html",
        "/e/planted~one/1.html",
        "/e/planted~one/search.html?q=planted",
        "/e/planted~one/search.html?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/compare.html?a=planted~one&b=planted~-script-alert-1--script-",
    ];
    for path in pages {
        let page = viewer.page(path);
        let body = page.split_once("\r\n\r\n").unwrap().1;
        assert!(body.len() < 2 << 20, "{path}: {} bytes", body.len());
        assert!(body.matches("<script").count() == 1, "{path}: {body}");
        for part in [
            "<svg onload",
            "<img",
            "href=\"javascript:",
            "\u{1b}",
            "\u{202e}",
            "\u{2066}",
            "\"><img",
        ] {
            assert!(!body.contains(part), "{path} holds {part:?}");
        }
    }
    let raw = viewer.page("/e/planted~one/1.reply.0.0.txt");
    assert!(
        raw.contains("content-type: text/plain") && raw.contains("content-security-policy: sandbox"),
        "{raw}"
    );
}

/// Ctrl-C while one page is being made, another is on its way, and a third waits for changes: the program ends at once, without
/// a word, and says that nothing failed.
#[cfg(unix)]
#[test]
fn ctrl_c_during_a_page_ends_it_cleanly() {
    // More than the buffers of a connection hold: its answer is on its way until somebody reads it.
    const LETTERS: usize = 40 << 20;
    let folder = Folder::new();
    plant(&folder, "planted/cells/one");
    folder.write("planted/cells/one/exchanges.jsonl", exchanges("all", LETTERS));
    let mut viewer = Viewer::with_errors(folder.path(), &["planted"], Stdio::piped());
    let host = viewer.host.clone();
    let begin = |path: &str| viewer.begin("GET", path, &[("host", &host)]);
    let mut unread = begin("/e/planted~one/1.request.0.0.txt");
    let mut waiting = begin("/events");
    for stream in [&mut unread, &mut waiting] {
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
    }
    let mut made = begin("/e/planted~one/search.html?q=planted");

    let pid = viewer.child.id().to_string();
    let sent = std::process::Command::new("sh")
        .args(["-c", "kill -INT \"$0\"", &pid])
        .status();
    assert!(sent.unwrap().success());
    let late = Instant::now() + Duration::from_mins(2);
    let ended = loop {
        if let Some(ended) = viewer.child.try_wait().unwrap() {
            break ended;
        }
        assert!(Instant::now() < late, "the viewer goes on after Ctrl-C");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(ended.code(), Some(0));
    let mut errors = String::new();
    let mut stream = viewer.child.stderr.take().unwrap();
    stream.read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
    // What was on its way is cut off, not made up.
    let mut rest = Vec::new();
    unread.read_to_end(&mut rest).ok();
    assert!(rest.len() < LETTERS, "{} bytes", rest.len());
    made.read_to_end(&mut Vec::new()).ok();
}

/// The first real day of the board.
fn day_of(folder: &Folder) -> String {
    let document = std::fs::read(folder.at("results/try/board/leaderboard.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    let day = document.pointer("/tracks/0/dates/0").unwrap();
    day.as_str().unwrap().to_owned()
}

/// The board names real days: pages of a masked episode and of rows in its window have them behind their switch alone.
fn check_days((folder, viewer): (&Folder, &Viewer), [rows, sheet, episode]: [&str; 3]) {
    let day = &*day_of(folder);
    assert!(!sheet.contains(day) && !episode.contains(day), "{day}: {episode}");
    let bright = "board/try.board/momentum__w__bright-exact__open-research.html";
    assert!(!viewer.page(&format!("/{bright}")).contains(day));
    let masked = "board/try.board/momentum__w__blinded-rescaled__open-research.html?real=1";
    for real in [
        "/board/try.board.html?real=1",
        &format!("/e/try~{BLINDED}/index.html?real=1"),
        &format!("/{masked}"),
        &format!("/{bright}?real=1"),
    ] {
        assert!(viewer.page(real).contains(day), "{real}");
    }
    let public = Viewer::of(folder.path(), &["results/try", "--public"]);
    for masked in [&format!("/{masked}"), "/board/try.board.html?real=1"] {
        assert!(!public.page(masked).contains(day), "{masked}");
    }
    assert!(!rows.contains(day), "{rows}");
}

/// A board beside the episodes: its rows lead to tear sheets and these to episodes, which then show the market; without days.
#[test]
fn a_row_of_a_board_leads_to_its_episodes() {
    let folder = Folder::new();
    copy(&results().at("results"), &folder.at("results"));
    let board = "leaderboard results/try --out results/try/board --replicates 40 --portfolios 20";
    let board: Vec<&str> = board.split(' ').collect();
    assert_ok(&quiet(folder.path(), &board));
    let viewer = Viewer::of(folder.path(), &["results/try"]);
    let sheet = "board/try.board/momentum__w__blinded-rescaled__open-research.html";
    let index = viewer.page("/");
    assert!(
        index.contains("<td class=\"l\">board</td>") && index.contains("href=\"board/try.board.html\""),
        "{index}"
    );
    let rows = viewer.page("/board/try.board.html");
    assert!(
        rows.contains(&format!("href=\"{}\"", sheet.trim_start_matches("board/"))),
        "{rows}"
    );
    let sheet = viewer.page(&format!("/{sheet}"));
    for part in [
        "Where the return came from",
        "selection",
        "luck alone",
        BLINDED,
        "steps 1\u{2013}4",
        "Worst drawdowns",
        "days with a gain",
    ] {
        assert!(sheet.contains(part), "{part}: {sheet}");
    }
    let episode = viewer.page(&format!("/e/try~{BLINDED}/index.html"));
    assert!(
        episode.contains("class=\"nav-benchmark\"") && episode.contains("Exposures through time"),
        "{episode}"
    );
    check_days((&folder, &viewer), [&rows, &sheet, &episode]);
    // What the board's own page links to is there, as text.
    let own = viewer.page("/board/try.board/index.html");
    assert!(own.contains("href=\"leaderboard.json\""), "{own}");
    let rows = viewer.page("/board/try.board/leaderboard.json");
    assert!(
        rows.contains("content-type: text/plain") && rows.contains(&day_of(&folder)),
        "{rows}"
    );
    assert_eq!(viewer.get("/board/try.board/nobody.html").0, 404);

    // The own page of a board that `--real` made stands behind the switch, and so does what it links to.
    let path = folder.at("results/try/board/leaderboard.json");
    let record = std::fs::read_to_string(&path).unwrap();
    let named = record.replacen('{', "{\"names_closed_windows\":true,", 1);
    std::fs::write(&path, named).unwrap();
    for file in ["index.html", "leaderboard.json"] {
        let own = format!("/board/try.board/{file}");
        assert_eq!(viewer.get(&own).0, 422, "{own}");
        assert!(
            viewer.page(&format!("{own}?real=1")).contains("momentum"),
            "{own}"
        );
    }
    std::fs::write(&path, "{\"title\": 3}").unwrap();
    let broken = viewer.page("/board/try.board.html");
    assert!(broken.contains("Its rows cannot be read"), "{broken}");
    assert!(
        !viewer
            .page(&format!("/e/try~{BLINDED}/index.html"))
            .contains("nav-benchmark")
    );
}

/// A board beside its experiment: its page and its rows lead to the episodes, and one of another experiment says that there are none.
#[test]
fn a_board_beside_its_experiment_leads_to_its_episodes() {
    let folder = Folder::new();
    copy(&results().at("results"), &folder.at("results"));
    let board = "leaderboard results/try --out results/board --replicates 40 --portfolios 20";
    let board: Vec<&str> = board.split(' ').collect();
    assert_ok(&quiet(folder.path(), &board));
    let viewer = Viewer::of(folder.path(), &["results"]);
    let page = viewer.page("/board/results.board.html");
    assert!(page.contains("href=\"../x/try.html\""), "{page}");
    let text = std::fs::read_to_string(folder.at("results/board/report.md")).unwrap();
    let verdict = text.split("\n\n").nth(1).unwrap();
    let words: Vec<&str> = verdict.split(' ').take(4).collect();
    assert!(
        page.contains(&format!("<p><b><bdi>{}", words.join(" "))),
        "{page}"
    );
    let sheet = "/board/results.board/momentum__w__blinded-rescaled__open-research.html";
    let episode = format!("e/try~{BLINDED}/index.html");
    let shown = viewer.page(sheet);
    assert!(shown.contains(&episode), "{shown}");
    let path = folder.at("results/board/leaderboard.json");
    let record = std::fs::read_to_string(&path).unwrap();
    // The return of the row is another: it was another run of the experiment.
    let mut other: Value = serde_json::from_str(&record).unwrap();
    let tracks = other.get_mut("tracks").and_then(Value::as_array_mut).unwrap();
    let rows = tracks
        .iter_mut()
        .filter_map(|track| track.get_mut("leaders")?.as_array_mut());
    for row in rows.flatten() {
        if let Some(values) = row.pointer_mut("/metrics/total_return/values") {
            *values = serde_json::json!([7.5]);
        }
    }
    std::fs::write(&path, other.to_string()).unwrap();
    let page = viewer.page("/board/results.board.html");
    assert!(
        page.contains("do not lie below the named directories") && !page.contains("x/try.html"),
        "{page}"
    );
    assert!(!viewer.page(sheet).contains(&episode));
}

/// What a bound of a certificate rests on: probes and answers, and the truth for its owner, on request.
#[test]
fn a_bound_leads_to_probes_and_answers() {
    let folder = Folder::new();
    copy(&results().at("results"), &folder.at("results"));
    let certificate = folder.at("results/try/certificate");
    for part in ["answers", "probes", "private"] {
        std::fs::create_dir_all(certificate.join(part)).unwrap();
    }
    let bound =
        json!({ "measure": "top1", "attacker": "guesser", "kind": "day", "excess": 0.1, "threshold": 0.5 });
    let document = json!({ "certificate": { "verdict": "certified",
        "classes": [{ "class": "database", "verdict": "certified", "bounds": [bound] }] } });
    std::fs::write(certificate.join("certificate.json"), document.to_string()).unwrap();
    let packed = |lines: &[Value]| {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let text = lines.join("\n") + "\n";
        zstd::encode_all(text.as_bytes(), 1).unwrap()
    };
    let answers = [
        json!({ "kind": "day", "number": 0, "answer": { "stocks": ["SH600001"] } }),
        json!({ "kind": "episode", "number": 0, "answer": { "stocks": ["SH600002"] } }),
    ];
    std::fs::write(certificate.join("answers/guesser.jsonl.zst"), packed(&answers)).unwrap();
    let probe = json!({ "number": 0, "exhibits": [{ "target": "asset_0007", "steps": [] }] });
    std::fs::write(certificate.join("probes/day.jsonl.zst"), packed(&[probe])).unwrap();
    let truth = json!({ "kind": "day", "number": 0, "targets": [{ "stock": "SH600519" }] });
    std::fs::write(certificate.join("private/gold.jsonl"), format!("{truth}\n")).unwrap();

    let viewer = Viewer::of(folder.path(), &["results/try"]);
    let address = "/certificate/try.certificate/answers~day~guesser.html";
    let page = viewer.page("/certificate/try.certificate.html");
    assert!(
        page.contains(&format!(
            "href=\"{}\"",
            address.trim_start_matches("/certificate/")
        )),
        "{page}"
    );
    let answers = viewer.page(address);
    assert!(
        answers.contains("SH600001") && !answers.contains("SH600002") && !answers.contains("SH600519"),
        "{answers}"
    );
    assert!(viewer.page(&format!("{address}?real=1")).contains("SH600519"));
    assert!(
        viewer
            .page("/certificate/try.certificate/probe~day~0.html")
            .contains("asset_0007")
    );
    for none in [
        "answers~day~nobody",
        "answers~day~..",
        "probe~day~7",
        "probe~gold~0",
    ] {
        assert_eq!(
            viewer.get(&format!("/certificate/try.certificate/{none}.html")).0,
            404
        );
    }
    // What others would see has no truth and no switch.
    let public = Viewer::of(folder.path(), &["results/try", "--public"]);
    let page = public.page(&format!("{address}?real=1"));
    assert!(!page.contains("SH600519") && !page.contains("real=1"), "{page}");
    // A bomb is refused.
    let bomb = zstd::encode_all(std::io::repeat(b' ').take(300 << 20), 1).unwrap();
    std::fs::write(certificate.join("probes/day.jsonl.zst"), bomb).unwrap();
    let (status, page) = viewer.get("/certificate/try.certificate/probe~day~0.html");
    assert!(
        status == 422 && page.contains("longer than 16 MiB"),
        "{status} {page}"
    );
}

/// One episode as one file, which loads nothing.
#[test]
fn an_episode_is_exported_as_one_file() {
    let folder = Folder::new();
    copy(&results().at("public"), &folder.at("public"));
    let bundle = ktd_kit::files(&folder.at("public"))
        .into_keys()
        .find(|path| path.ends_with(format!("{BLINDED}/header.json")))
        .unwrap();
    let bundle = Path::new("public").join(bundle.parent().unwrap());
    let bundle = bundle.to_string_lossy().into_owned();
    assert_ok(&quiet(folder.path(), &["view", &bundle, "--export", "one.html"]));
    let page = std::fs::read_to_string(folder.at("one.html")).unwrap();
    for part in ["id=\"step-4\"", "href=\"#step-1\"", "screen_candidates"] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["<script", "<link", "http://", "https://", "src="] {
        assert!(!page.contains(part), "{part}");
    }
}

/// The days and codes of a private ledger.
fn real_words(ledger: &str) -> BTreeSet<String> {
    let lines = ledger
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut words = BTreeSet::new();
    for line in lines {
        let fills = line.pointer("/body/fills").and_then(Value::as_array).unwrap();
        let codes = fills.iter().map(|fill| fill.get("symbol"));
        let found = std::iter::once(line.pointer("/body/date")).chain(codes);
        words.extend(found.map(|word| word.and_then(Value::as_str).unwrap().to_owned()));
    }
    words
}

/// A site holds what was published, and nothing that names a real stock or day but what the mask shows.
#[test]
fn an_exported_site_holds_published_episodes_alone() {
    let folder = Folder::new();
    copy(&results().at("results"), &folder.at("results"));
    copy(&results().at("public"), &folder.at("public"));
    for place in ["boards/board", "results/try/board"] {
        folder.write(&format!("{place}/leaderboard.json"), "{}");
        folder.write(&format!("{place}/index.html"), "<script>alert(1)</script>");
    }
    let refusal = refused(
        &quiet(folder.path(), &["view", "results/try", "--export", "site"]),
        2,
    );
    assert!(refusal.contains("was not published"), "{refusal}");
    let exported = quiet(
        folder.path(),
        &["--json", "view", "public", "boards", "--export", "site"],
    );
    let exported = printed(&exported);
    assert_eq!(exported.get("left_out"), Some(&Value::from(1)));
    let files = ktd_kit::files(&folder.at("site"));
    assert_eq!(
        files.keys().filter(|path| path.ends_with("index.html")).count(),
        3
    );
    let ledger = folder.text(&format!("results/try/cells/{BLINDED}/private/ledger.jsonl"));
    let real = real_words(&ledger);
    assert!(6 < real.len(), "{real:?}");
    for (path, bytes) in &files {
        let is_blinded = path.to_string_lossy().contains("blinded");
        let text = String::from_utf8_lossy(bytes);
        let leaked = real
            .iter()
            .find(|word| is_blinded && text.contains(word.as_str()));
        assert_eq!(leaked, None, "{}", path.display());
        assert!(
            !text.contains("http://") && !text.contains("https://"),
            "{}",
            path.display()
        );
    }
    let again = refused(&quiet(folder.path(), &["view", "public", "--export", "site"]), 2);
    assert!(again.contains("is not empty"), "{again}");
    let with_board = ["view", "public", "boards", "--export", "more", "--documents"];
    assert_ok(&quiet(folder.path(), &with_board));
    let boards = ktd_kit::files(&folder.at("more"));
    let own = boards
        .iter()
        .find(|(path, _)| path.starts_with("board") && path.ends_with("index.html"));
    let (_, own) = own.unwrap();
    assert!(
        own.starts_with(
            b"<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\""
        )
    );
    let none = ["view", "results/try/board", "--export", "other"];
    let none = refused(&quiet(folder.path(), &none), 2);
    assert!(none.contains("there is no published episode"), "{none}");
}
