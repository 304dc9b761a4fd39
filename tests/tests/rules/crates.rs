//! The plan of the house: every crate by name, whom it knows, and which power it holds.
//!
//! A new crate, edge or power is a decision: a line here, and in ARCHITECTURE.md, which is written from this table by
//! `UPDATE=1 cargo test -p ktd-tests --test rules`.

use Power::{
    Arguments, Clock, Codecs, Entropy, Environment, Files, Frames, Mcp, Processes, Reveal, Serialisation,
    Signals, Signatures, Sockets, Tasks, Threads,
};

/// What a crate may do beyond computing from its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Files => "files",
            Codecs => "codecs",
            Clock => "clock",
            Environment => "environment",
            Threads => "threads",
            Tasks => "tasks",
            Processes => "processes",
            Signals => "signals",
            Sockets => "sockets",
            Mcp => "MCP",
            Entropy => "entropy",
            Signatures => "signatures",
            Arguments => "arguments",
            Serialisation => "serialisation",
            Frames => "frames",
            Reveal => "reveal",
        }
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
            Sockets => &["reqwest", "rustls", "axum", "tokio/net"],
            Mcp => &["rmcp"],
            Entropy => &["getrandom"],
            Signatures => &["ring"],
            Arguments => &["clap", "console", "indicatif", "tracing-subscriber"],
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
pub(crate) const WITHOUT_POWER: [&str; 19] = [
    "aho-corasick",
    "base64",
    "blake3",
    "chrono",
    "futures",
    "governor",
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
    "thiserror",
    "tracing",
];

/// One crate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crate {
    /// Its name without the prefix.
    pub(crate) name: &'static str,
    /// Its folder.
    pub(crate) folder: &'static str,
    /// Crates of ours that its code may name: all of them, and no other.
    pub(crate) knows: &'static [&'static str],
    /// Crates of ours that its tests may name besides.
    pub(crate) tests_know: &'static [&'static str],
    /// What it must not know, for the reader.
    pub(crate) never: &'static str,
    /// Its powers: all that it uses, and no other.
    pub(crate) powers: &'static [Power],
}

/// Crates that nothing but tests is built with: they may know all, and hold every power.
pub(crate) const FOR_TESTS: [&str; 2] = ["tests", "kit"];

/// The optional leaf for people who analyse: its examples read files and arguments.
pub(crate) const OPTIONAL: &str = "frames";

/// All crates but those for tests, in the order of the plan.
pub(crate) const CRATES: [Crate; 46] = [
    Crate {
        name: "env",
        folder: "env",
        knows: &[],
        tests_know: &[],
        never: "models, prompts, aliases",
        powers: &[],
    },
    Crate {
        name: "qlib",
        folder: "env/qlib",
        knows: &[],
        tests_know: &[],
        never: "models, masks, the profile `ktd`",
        powers: &[],
    },
    Crate {
        name: "masking",
        folder: "masking",
        knows: &["env", "expressions"],
        tests_know: &[],
        never: "providers, tools, agents",
        powers: &[Serialisation, Reveal],
    },
    Crate {
        name: "guard",
        folder: "masking/guard",
        knows: &["env", "masking"],
        tests_know: &[],
        never: "agents, tools, prompts",
        powers: &[Serialisation],
    },
    Crate {
        name: "prompts",
        folder: "prompts",
        knows: &["masking"],
        tests_know: &[],
        never: "markets, agents",
        powers: &[],
    },
    Crate {
        name: "agents",
        folder: "agents",
        knows: &["masking"],
        tests_know: &[],
        never: "markets, masks, tools, prompts",
        powers: &[Sockets, Serialisation],
    },
    Crate {
        name: "baselines",
        folder: "agents/baselines",
        knows: &["agents", "tools"],
        tests_know: &["masking"],
        never: "a market, a mask's key",
        powers: &[Serialisation],
    },
    Crate {
        name: "unmasked",
        folder: "agents/unmasked",
        knows: &["masking", "agents"],
        tests_know: &[],
        never: "a market, a mask; what an episode is made of may not know it",
        powers: &[Serialisation],
    },
    // Formulas, because a model may rank by one (`screen_by_expression`); the columns are those of the mask.
    Crate {
        name: "tools",
        folder: "tools",
        knows: &["env", "masking", "expressions"],
        tests_know: &[],
        never: "agents, prompts; a later day",
        powers: &[Serialisation],
    },
    Crate {
        name: "attribution",
        folder: "attribution",
        knows: &["env", "stats"],
        tests_know: &[],
        never: "masks, agents, files",
        powers: &[],
    },
    Crate {
        name: "stats",
        folder: "attribution/stats",
        knows: &[],
        tests_know: &[],
        never: "markets, accounts, agents",
        powers: &[],
    },
    Crate {
        name: "probes",
        folder: "probes",
        knows: &["env", "masking", "guard", "tools", "stats"],
        tests_know: &[],
        never: "agents, ranks, files",
        powers: &[Serialisation],
    },
    Crate {
        name: "expressions",
        folder: "formulas/expressions",
        knows: &[],
        tests_know: &[],
        never: "panels, files, masks, clocks, threads",
        powers: &[],
    },
    Crate {
        name: "alphas",
        folder: "formulas/alphas",
        knows: &["env", "expressions", "stats"],
        tests_know: &[],
        never: "panels, files, masks, models",
        powers: &[],
    },
    Crate {
        name: "factor-code",
        folder: "code/factor",
        knows: &["env", "stats"],
        tests_know: &[],
        never: "processes, files, clocks, threads, models, markets",
        powers: &[Serialisation],
    },
    Crate {
        name: "learners",
        folder: "leakage/learners",
        knows: &[],
        tests_know: &[],
        never: "markets, protocols, files, threads",
        powers: &[],
    },
    Crate {
        name: "leakage",
        folder: "leakage/protocols",
        knows: &["stats", "learners"],
        tests_know: &[],
        never: "the simulator's market, masks, agents, files, threads",
        powers: &[],
    },
    Crate {
        name: "strategy-code",
        folder: "code/strategy",
        knows: &["env", "stats"],
        tests_know: &[],
        never: "processes, files, models, prompts, the exchange of episodes",
        powers: &[Serialisation],
    },
    Crate {
        name: "sandbox",
        folder: "code/rules",
        knows: &[],
        tests_know: &[],
        never: "processes, files, clocks, threads, what a program is for",
        powers: &[Serialisation],
    },
    Crate {
        name: "io",
        folder: "runs/io",
        knows: &[],
        tests_know: &[],
        never: "anything of a market, a mask or a model",
        powers: &[Files, Codecs, Threads, Serialisation],
    },
    // An edit anywhere builds it again: whoever knows it is built again too, so that few do.
    Crate {
        name: "program",
        folder: "runs/program",
        knows: &[],
        tests_know: &[],
        never: "what its hashes stand in",
        powers: &[],
    },
    Crate {
        name: "view",
        folder: "runs/view",
        knows: &[],
        tests_know: &[],
        never: "files, what its numbers mean",
        powers: &[Serialisation],
    },
    Crate {
        name: "experiment",
        folder: "runs/experiment",
        knows: &["env", "masking", "prompts", "agents", "tools", "baselines", "io"],
        tests_know: &[],
        never: "a bundle, a client, a running episode",
        powers: &[Serialisation, Reveal],
    },
    Crate {
        name: "data",
        folder: "runs/data",
        knows: &["env", "masking", "qlib", "io", "view", "experiment"],
        tests_know: &[],
        never: "a model, a record",
        powers: &[Files, Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "record",
        folder: "runs/record",
        // `experiment`: prices and providers, by which a send is charged.
        knows: &["agents", "io", "experiment"],
        tests_know: &[],
        never: "an episode, a market, a mask, a client",
        powers: &[Files, Entropy, Signatures, Serialisation],
    },
    Crate {
        name: "bundle",
        folder: "runs/bundle",
        // `prompts`: the recorded requests of a stranger's bundle are compared with the texts of the mask that it claims.
        knows: &[
            "env",
            "masking",
            "prompts",
            "agents",
            "attribution",
            "io",
            "experiment",
            "record",
        ],
        tests_know: &[],
        never: "a client, a running episode",
        powers: &[Files, Entropy, Serialisation, Reveal],
    },
    Crate {
        name: "client",
        folder: "runs/client",
        knows: &[
            "masking",
            "prompts",
            "agents",
            "guard",
            "io",
            "experiment",
            "record",
            "bundle",
        ],
        tests_know: &["env"],
        never: "a market, a mask's key, what is submitted",
        powers: &[Codecs, Clock, Environment, Tasks, Processes, Mcp, Serialisation],
    },
    Crate {
        name: "asking",
        folder: "runs/asking",
        knows: &["agents", "unmasked", "io", "experiment", "record", "client"],
        tests_know: &[],
        never: "what is asked, what an answer is worth, a market, a mask",
        powers: &[Files, Serialisation],
    },
    Crate {
        name: "study",
        folder: "runs/study",
        knows: &["io", "view", "experiment", "record", "client", "asking"],
        tests_know: &[],
        never: "a market, a mask, what a unit asks or is worth",
        powers: &[Files, Codecs, Tasks, Entropy, Serialisation],
    },
    Crate {
        name: "leakage-study",
        folder: "leakage/study",
        knows: &[
            "env",
            "expressions",
            "leakage",
            "stats",
            "io",
            "view",
            "data",
            "formulas",
            "study",
        ],
        tests_know: &[],
        never: "a model at an endpoint, a mask, threads of its units, how a record is kept",
        powers: &[Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "episode",
        folder: "runs/episode",
        knows: &[
            "env",
            "qlib",
            "masking",
            "prompts",
            "agents",
            "tools",
            "guard",
            "baselines",
            "io",
            "experiment",
            "data",
            "formulas",
            "record",
            "bundle",
            "client",
        ],
        tests_know: &[],
        never: "ranks, certificates, a terminal",
        powers: &[Tasks, Serialisation, Reveal],
    },
    Crate {
        name: "plan",
        folder: "runs/plan",
        knows: &[
            "env",
            "masking",
            "agents",
            "attribution",
            "stats",
            "io",
            "view",
            "experiment",
            "data",
            "record",
            "bundle",
            "client",
            "episode",
        ],
        tests_know: &[],
        never: "results, ranks, certificates",
        powers: &[Serialisation],
    },
    // Apart from `studies`, so that an agent's episode has the values that a study has, and knows no study.
    Crate {
        name: "formulas",
        folder: "formulas/market",
        knows: &["env", "expressions", "alphas", "io", "data"],
        tests_know: &[],
        never: "a mask, a model, a record, how a formula is evaluated",
        powers: &[Serialisation, Reveal],
    },
    Crate {
        name: "formula-study",
        folder: "formulas/study",
        knows: &[
            "env",
            "qlib",
            "masking",
            "prompts",
            "agents",
            "expressions",
            "alphas",
            "stats",
            "io",
            "view",
            "experiment",
            "data",
            "formulas",
            "record",
            "client",
            "asking",
            "study",
        ],
        tests_know: &[],
        never: "a mask, an episode, how a formula is evaluated",
        powers: &[Files, Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "predict",
        folder: "runs/predict",
        knows: &["env", "learners", "io", "data"],
        tests_know: &[],
        never: "a mask, a model of language, a record",
        powers: &[Reveal],
    },
    Crate {
        name: "boxed",
        folder: "code/box",
        knows: &["sandbox", "io"],
        tests_know: &[],
        never: "what a program is for, markets, masks, models",
        powers: &[Files, Clock, Environment, Threads, Processes, Serialisation],
    },
    Crate {
        name: "factor-study",
        folder: "code/factor_study",
        knows: &[
            "env",
            "prompts",
            "agents",
            "unmasked",
            "factor-code",
            "stats",
            "sandbox",
            "io",
            "view",
            "experiment",
            "data",
            "record",
            "asking",
            "boxed",
            "study",
        ],
        tests_know: &[],
        never: "a mask, an episode, how a function is judged, how a record is kept",
        powers: &[Serialisation],
    },
    Crate {
        name: "strategy-study",
        folder: "code/strategy_study",
        knows: &[
            "env",
            "prompts",
            "agents",
            "unmasked",
            "strategy-code",
            "stats",
            "sandbox",
            "io",
            "view",
            "experiment",
            "data",
            "record",
            "client",
            "boxed",
            "asking",
            "study",
        ],
        tests_know: &[],
        never: "a mask, an episode, how a gate decides",
        powers: &[Serialisation, Reveal],
    },
    Crate {
        name: "simulate",
        folder: "runs/simulate",
        knows: &["env", "tools", "qlib", "io", "experiment", "data"],
        tests_know: &[],
        never: "a mask, a model, a record",
        powers: &[Codecs, Serialisation, Reveal],
    },
    // The audit of the program itself: it alone holds the market, the tools and the exchange at once.
    Crate {
        name: "mirror",
        folder: "leakage/mirror",
        knows: &[
            "env",
            "qlib",
            "masking",
            "prompts",
            "tools",
            "baselines",
            "leakage",
            "stats",
            "io",
            "experiment",
            "data",
            "episode",
            "leakage-study",
        ],
        tests_know: &[],
        never: "a running episode, a record, a model",
        powers: &[Serialisation, Reveal],
    },
    Crate {
        name: "board",
        folder: "runs/board",
        knows: &[
            "env",
            "masking",
            "attribution",
            "probes",
            "stats",
            "io",
            "view",
            "experiment",
            "data",
            "record",
            "bundle",
        ],
        tests_know: &[],
        never: "a client, a running episode",
        powers: &[Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "reasons",
        folder: "runs/reasons",
        knows: &[
            "env",
            "masking",
            "guard",
            "stats",
            "io",
            "view",
            "experiment",
            "data",
            "record",
            "bundle",
        ],
        tests_know: &[],
        never: "ranks, a client, a running episode",
        powers: &[Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "certify",
        folder: "runs/certify",
        knows: &[
            "env",
            "masking",
            "prompts",
            "agents",
            "tools",
            "probes",
            "guard",
            "stats",
            "io",
            "program",
            "view",
            "experiment",
            "data",
            "record",
            "bundle",
            "client",
            "episode",
        ],
        tests_know: &[],
        never: "ranks, a terminal",
        powers: &[Files, Codecs, Serialisation, Reveal],
    },
    Crate {
        name: "viewer",
        folder: "runs/viewer",
        // `agents`: replies are read by the wires that they came over.
        knows: &["agents", "io", "view", "record", "bundle"],
        tests_know: &[],
        never: "a client, a running episode, a market, a mask's key; writes nothing but an exported site",
        powers: &[Clock, Tasks, Sockets, Serialisation],
    },
    Crate {
        name: "cli",
        folder: "runs/cli",
        knows: &[
            "env",
            "masking",
            "agents",
            "probes",
            "io",
            "program",
            "view",
            "experiment",
            "data",
            "record",
            "bundle",
            "client",
            "episode",
            "plan",
            "predict",
            "formulas",
            "study",
            "leakage-study",
            "formula-study",
            "board",
            "reasons",
            "certify",
            "simulate",
            "mirror",
            "sandbox",
            "boxed",
            "factor-study",
            "strategy-study",
            "viewer",
        ],
        tests_know: &[],
        never: "how anything is computed",
        powers: &[
            Codecs,
            Clock,
            Environment,
            Tasks,
            // Opens the browser.
            Processes,
            Signals,
            Mcp,
            Arguments,
            Serialisation,
            Reveal,
        ],
    },
    Crate {
        name: "frames",
        folder: "frames",
        knows: &["env"],
        tests_know: &[],
        never: "masks, prompts, agents, runs",
        powers: &[Serialisation, Frames, Reveal],
    },
];
