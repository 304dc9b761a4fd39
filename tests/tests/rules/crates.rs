//! The plan of the house: every crate by name, whom it knows, and which power it holds.
//!
//! A new crate, edge or power is a decision: a line of `crates.toml`, and in ARCHITECTURE.md, which is written from that table by
//! `UPDATE=1 cargo test -p ktd-tests --test rules`.

use Power::{
    Arguments, Clock, Codecs, Entropy, Environment, Files, Frames, Mcp, Processes, Reveal, Serialisation,
    Signals, Signatures, Sockets, Tasks, Threads,
};
use serde::Deserialize;
use std::sync::LazyLock;

/// What a crate may do beyond computing from its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Power {
    /// Reading and writing files.
    Files,
    /// Bytes of tables and of compressed data.
    Codecs,
    /// The time now, and waiting.
    Clock,
    /// Environment variables, arguments and the working directory.
    Environment,
    /// Threads of the system.
    Threads,
    /// Tasks of the asynchronous runtime.
    Tasks,
    /// Other processes, and ending this one.
    Processes,
    /// Being asked to end.
    Signals,
    /// The network.
    Sockets,
    /// The Model Context Protocol.
    #[serde(rename = "MCP")]
    #[strum(serialize = "MCP")]
    Mcp,
    /// Keys from the system's chance.
    Entropy,
    /// Signing and checking signatures.
    Signatures,
    /// The command line and the terminal.
    Arguments,
    /// Reading and writing JSON and TOML.
    Serialisation,
    /// Frames of polars.
    Frames,
    /// Real codes and dates as text.
    Reveal,
}

impl Power {
    pub(crate) const ALL: [Self; 16] = [
        Files,
        Codecs,
        Clock,
        Environment,
        Threads,
        Tasks,
        Processes,
        Signals,
        Sockets,
        Mcp,
        Entropy,
        Signatures,
        Arguments,
        Serialisation,
        Frames,
        Reveal,
    ];

    pub(crate) fn label(self) -> &'static str {
        self.into()
    }

    /// Outside packages that carry it, a feature of one after a slash.
    pub(crate) const fn packages(self) -> &'static [&'static str] {
        match self {
            Files => &["tempfile", "rlimit"],
            Codecs => &["csv", "flate2", "zstd", "parquet"],
            Clock => &["tokio/time"],
            Tasks => &[
                "tokio",
                "tokio/rt",
                "tokio/rt-multi-thread",
                "tokio/macros",
                "tokio/sync",
                "tokio/io-util",
            ],
            Processes => &["rustix", "tokio/process", "landlock", "command-fds"],
            Signals => &["tokio/signal"],
            Sockets => &["reqwest", "rustls", "axum", "sqlx", "object_store", "tokio/net"],
            Mcp => &["rmcp"],
            Entropy => &["getrandom"],
            Signatures => &["ring"],
            Arguments => &[
                "clap",
                "clap_complete",
                "clap_mangen",
                "console",
                "indicatif",
                "tracing-subscriber",
            ],
            Serialisation => &[
                "serde",
                "serde_json",
                "serde_json_canonicalizer",
                "schemars",
                "toml",
                "jsonschema",
            ],
            Frames => &["polars"],
            Environment | Threads | Reveal => &[],
        }
    }

    /// Whether a banned path of the strict lint file belongs to it.
    pub(crate) fn bans(self, path: &str) -> bool {
        let below = |roots: &[&str]| {
            roots.iter().any(|root| {
                path.strip_prefix(root)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            })
        };
        match self {
            Files => below(&["std::fs", "std::path::Path::read_dir"]),
            Clock => below(&["std::time", "tokio::time"]),
            Environment => below(&["std::env"]),
            Threads => below(&["std::thread"]),
            Processes => below(&["std::process", "tokio::process", "seccompiler"]),
            Signals => below(&["tokio::signal"]),
            Sockets => below(&["std::net", "tokio::net"]),
            Reveal => below(&[
                "ktd_env::Ticker::reveal",
                "ktd_env::TradeDate::reveal",
                "ktd_env::NameId::index",
            ]),
            Codecs | Tasks | Mcp | Entropy | Signatures | Arguments | Serialisation | Frames => false,
        }
    }

    /// What code that uses a banned path of it looks like.
    pub(crate) const fn marks(self) -> &'static [&'static str] {
        match self {
            Files => &["std::fs"],
            Clock => &["SystemTime::now(", "Instant::now(", "sleep(", "timeout("],
            Environment => &["std::env::"],
            Threads => &["thread::"],
            Processes => &["std::process::Command", "tokio::process", "process::exit("],
            Signals => &["tokio::signal"],
            Sockets => &["std::net"],
            Reveal => &[".reveal()", ".index()"],
            Codecs | Tasks | Mcp | Entropy | Signatures | Arguments | Serialisation | Frames => &[],
        }
    }
}

/// Packages that compute from their arguments: any crate may use them.
pub(crate) const WITHOUT_POWER: [&str; 20] = [
    "aho-corasick",
    "base64",
    "blake3",
    "chrono",
    "futures",
    "icu_normalizer",
    "libm",
    "maud",
    "nalgebra",
    "num-bigint",
    "pulp",
    "rand_chacha",
    "regex",
    "seccompiler",
    "secrecy",
    "sha2",
    "strsim",
    "strum",
    "thiserror",
    "tracing",
];

/// One crate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crate {
    /// Its name without the prefix.
    pub(crate) name: String,
    /// Its folder.
    pub(crate) folder: String,
    /// Crates of ours that its code may name: all of them, and no other.
    #[serde(default)]
    pub(crate) knows: Vec<String>,
    /// Crates of ours that its tests may name besides.
    #[serde(default)]
    pub(crate) tests_know: Vec<String>,
    /// What it must not know, for the reader.
    pub(crate) never: String,
    /// Its powers: all that it uses, and no other.
    #[serde(default)]
    pub(crate) powers: Vec<Power>,
}

/// Crates that nothing but tests is built with: they may know all, and hold every power.
pub(crate) const FOR_TESTS: [&str; 2] = ["tests", "kit"];

/// The optional leaf for people who analyse: its examples read files and arguments.
pub(crate) const OPTIONAL: &str = "frames";

/// All crates but those for tests, in the order of the plan: `crates.toml`.
pub(crate) static CRATES: LazyLock<Vec<Crate>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "without its plan no rule can be held")]
    let plan: Plan = toml::from_str(include_str!("crates.toml")).expect("the plan of crates is whole");
    plan.crates
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    crates: Vec<Crate>,
}
