//! Planted canaries: the keys of an experiment, and the codes, company names and dates that a blinded run hides, are
//! found nowhere in what the program writes, prints and sends, in whatever spelling.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod forms;
mod server;

use forms::{Facts, Finder, Secrets};
use ktd_env::synth::{SynthConfig, generate};
use ktd_kit::vendor::Message;
use ktd_kit::{Folder, Vendor, command};
use std::path::{Path, PathBuf};
use std::process::Output;

/// What JSON, a URL and a shell each escape in their own way.
const KEY_IN_ENVIRONMENT: &str = r#"sk-canary/7f"3\9+A=?&zQ-environment"#;
const KEY_IN_FILE: &str = "sk-canary/file-0123456789/abcdefghij";
const STEPS: usize = 3;

struct Scene {
    folder: Folder,
    server: Vendor,
}

impl Scene {
    /// An experiment whose agents speak four wires to a server that repeats their keys wherever it can.
    fn new() -> Self {
        let (folder, server) = (Folder::new(), server::start());
        let at = server.address;
        let experiment = format!(
            r#"
            name = "canary"
            parallel_cells = 1
            synthetic = {{ seed = 5, names = 40, days = 220 }}
            masks = [{{ level = "blinded", numeric = "rescaled" }}]
            modes = ["open-research"]
            windows = [{{ id = "w", last_days = {STEPS} }}]
            retries = {{ attempts = 4, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }}
            agents = [
              {{ id = "chat", model = "m", base_url = "http://{at}/v1", api_key_env = "KTD_CANARY" }},
              {{ id = "responses", model = "m", wire = "responses", base_url = "http://{at}/v1", api_key_file = "key" }},
              {{ id = "messages", model = "m", vendor = "anthropic", base_url = "http://{at}", api_key_env = "KTD_CANARY" }},
              {{ id = "gemini", model = "m", vendor = "google", base_url = "http://{at}/v1beta", api_key_file = "key" }},
              {{ id = "refused", model = "m", base_url = "http://{at}/refused", api_key_env = "KTD_CANARY" }},
              {{ id = "lost", model = "m", base_url = "http://{at}/lost", api_key_file = "key" }},
            ]
            "#
        );
        folder.write("canary.toml", experiment);
        folder.write("key", format!("{KEY_IN_FILE}\n"));
        Self { folder, server }
    }

    /// The program, as talkative as it can be.
    fn ktd(&self, arguments: &[&str]) -> Output {
        command(self.folder.path(), arguments)
            .env("KTD_CANARY", KEY_IN_ENVIRONMENT)
            .env("KTD_LOG", "trace")
            .env("RUST_BACKTRACE", "full")
            .output()
            .unwrap()
    }

    fn out(&self) -> PathBuf {
        self.folder.at("out")
    }

    /// Runs the experiment, and everything that can be done with its bundles; what was printed, each with its command.
    fn run(&self) -> Vec<(String, Vec<u8>)> {
        let mut said = Vec::new();
        let mut tell = |arguments: &[&str]| {
            let Output {
                stdout,
                stderr,
                status,
            } = self.ktd(arguments);
            said.push((format!("{} (stdout)", arguments.join(" ")), stdout));
            said.push((format!("{} (stderr)", arguments.join(" ")), stderr));
            status.code().unwrap()
        };
        // One agent's key is refused and another's steps are lost: the command does not end well.
        assert_eq!(tell(&["run", "canary.toml", "--out", "out", "--json"]), 2);
        assert_eq!(
            tell(&["run", "canary.toml", "--out", "out"]),
            2,
            "again, continued"
        );
        for agent in ["chat", "responses", "messages", "gemini", "lost"] {
            let bundle = format!("out/cells/{agent}__w__blinded-rescaled__open-research__s1");
            for arguments in [
                ["--json", "verify", &bundle].as_slice(),
                &["replay", &bundle],
                &["replay", &bundle, "--step", "1"],
                &["replay", &bundle, "--step", "1", "--json"],
            ] {
                assert_eq!(tell(arguments), 0, "{arguments:?}");
            }
        }
        for agent in ["chat", "responses", "messages", "gemini", "refused"] {
            tell(&[
                "doctor",
                "canary.toml",
                "--probe",
                agent,
                "--out",
                "out",
                "--json",
            ]);
        }
        let refused = "out/cells/refused__w__blinded-rescaled__open-research__s1";
        assert_ne!(tell(&["replay", refused, "--json"]), 0);
        said
    }

    /// All files below the results, each as it is and, where it is compressed, unpacked.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut folders) = (Vec::new(), vec![self.out()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                if path.extension().is_some_and(|extension| extension == "zst") {
                    found.push((
                        path.with_extension("unpacked"),
                        zstd::decode_all(bytes.as_slice()).unwrap(),
                    ));
                }
                found.push((path, bytes));
            }
        }
        found
    }
}

fn is_private(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "private")
}

#[test]
fn what_is_hidden_is_found_nowhere() {
    let scene = Scene::new();
    let said = scene.run();
    let files = scene.files();
    let heard = scene.server.requests();
    assert!(
        20 < files.len() && 40 < heard.len(),
        "{} files, {} requests",
        files.len(),
        heard.len()
    );
    let wires = [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        ":generateContent",
    ];
    for wire in wires {
        let count = heard.iter().filter(|heard| heard.path().ends_with(wire)).count();
        assert!(STEPS * 3 < count, "{wire}: {count} requests");
    }

    let secrets = Secrets::of(&[KEY_IN_ENVIRONMENT, KEY_IN_FILE]);
    let config = SynthConfig {
        seed: 5,
        names: 40,
        days: 220,
    };
    let facts = Facts::of(&generate(&config).unwrap());
    for (path, bytes) in &files {
        assert_eq!(secrets.find(bytes), None, "{}", path.display());
        if !is_private(path) {
            assert_eq!(facts.find(bytes), None, "{}", path.display());
        }
    }
    for (command, bytes) in &said {
        assert_eq!(secrets.find(bytes), None, "{command}");
        assert_eq!(facts.find(bytes), None, "{command}");
    }
    for Message { head, body } in &heard {
        // The one line that the key belongs into.
        let is_other = |line: &&str| !server::carries_key(line);
        let lines: Vec<&str> = head.lines().filter(is_other).collect();
        assert_eq!(
            lines.len() + 1,
            head.lines().count(),
            "one line has the key: {head}"
        );
        let rest = [lines.join("\n").as_bytes(), body].concat();
        assert_eq!(secrets.find(&rest), None, "{head}");
        assert_eq!(facts.find(body), None, "{head}");
    }
}

/// The finders find what is planted, or finding nothing would show nothing.
#[test]
fn what_is_planted_is_found() {
    let secrets = Secrets::of(&[KEY_IN_ENVIRONMENT, KEY_IN_FILE]);
    for planted in forms::spellings(KEY_IN_ENVIRONMENT) {
        let text = format!("before {planted} after");
        assert!(secrets.find(text.as_bytes()).is_some(), "{planted}");
    }
    let facts = Facts::of(
        &generate(&SynthConfig {
            seed: 5,
            names: 40,
            days: 220,
        })
        .unwrap(),
    );
    let market = generate(&SynthConfig {
        seed: 5,
        names: 40,
        days: 220,
    })
    .unwrap();
    let (_, info) = market.names().next().unwrap();
    let code = info.ticker.reveal();
    let date = market.calendar()[100].reveal();
    for planted in [
        format!("{{\"stock_id\":\"{code}\"}}"),
        format!("{{\"text\":\"say {} aloud\"}}", &code[2..]),
        format!("[\"{}\"]", info.company_names[0]),
        format!("{{\"day\":\"{date}\"}}"),
        format!("x {} y", date.replace('-', "/")),
    ] {
        assert!(facts.find(planted.as_bytes()).is_some(), "{planted}");
        let nested = serde_json::json!({ "request": planted }).to_string();
        assert!(facts.find(nested.as_bytes()).is_some(), "{nested}");
    }
    assert_eq!(
        facts.find(format!("{{\"volume\":{}}}", &code[2..]).as_bytes()),
        None,
        "a number is honest"
    );
}

/// Experiments with a key where none belongs.
fn wrong_places() -> Vec<(&'static str, String)> {
    let agent = |rest: String| format!("agents = [{{ id = \"a\", model = \"m\", {rest} }}]");
    let address = |rest: &str| agent(format!("base_url = \"http://{rest}\""));
    let row = "[[dialects]]\nid = \"own\"\nname = \"Own\"\nendpoints = [{ wire = \"chat-completions\" }]\n";
    let header = format!("headers = {{ Authorization = \"Bearer {KEY_IN_FILE}\" }}");
    let own = agent("vendor = \"own\", base_url = \"http://127.0.0.1:9/v1\"".to_owned());
    vec![
        (
            "written out",
            agent(format!("vendor = \"vllm\", api_key = \"{KEY_IN_FILE}\"")),
        ),
        ("query", address(&format!("127.0.0.1:9/v1?key={KEY_IN_FILE}"))),
        (
            "credentials",
            address(&format!("me:{KEY_IN_FILE}@127.0.0.1:9/v1")),
        ),
        ("fragment", address(&format!("127.0.0.1:9/v1#{KEY_IN_FILE}"))),
        (
            "two lines",
            agent("vendor = \"openai\", api_key_env = \"KTD_TWO_LINES\"".to_owned()),
        ),
        ("header of a row", format!("{own}\n{row}{header}")),
    ]
}

/// Keys where they do not belong are refused without being repeated.
#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let folder = Folder::new();
    let secrets = Secrets::of(&[KEY_IN_FILE, "multi-line-canary-01"]);
    let refused = |arguments: &[&str], place: &str, code: i32| {
        let output = command(folder.path(), arguments)
            .env("KTD_TWO_LINES", "multi-line-canary-01\nmulti-line-canary-01")
            .env("KTD_LOG", "trace")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&said);
        assert_eq!(secrets.find(&said), None, "{place}, {arguments:?}: {text}");
        assert_eq!(output.status.code(), Some(code), "{place}, {arguments:?}: {text}");
    };
    for (place, text) in wrong_places() {
        let experiment = format!(
            r#"
            name = "wrong"
            synthetic = {{ seed = 5, names = 20, days = 80 }}
            modes = ["memory-only"]
            windows = [{{ id = "w", last_days = 1 }}]
            retries = {{ attempts = 1, unanswered_hours = 0 }}
            {text}
            "#
        );
        folder.write("wrong.toml", experiment);
        refused(&["run", "wrong.toml", "--json"], place, 2);
        refused(&["plan", "wrong.toml"], place, 2);
        refused(&["doctor", "wrong.toml"], place, 1);
        refused(&["doctor", "wrong.toml", "--probe", "a"], place, 2);
        let bundles = folder.at("results/wrong/cells");
        assert!(!bundles.exists(), "{place}: something was run");
    }
    let url = format!("http://127.0.0.1:9/v1?key={KEY_IN_FILE}");
    refused(
        &["doctor", "--probe", "openai/m", "--base-url", &url],
        "argument",
        2,
    );
}
