//! The fuzz targets over their cases, over texts of our own, and over some thousand mutations of both.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a broken law fails the test; the same text is the root of a crate in the fuzzer's build"
)]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

use ktd_env::KeyedStream;
use ktd_kit::episode::{OnPanel, below, dice};
use ktd_kit::workspace_root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use targets::TARGETS;

/// Mutations of each target.
const MUTATIONS: u32 = 250;
/// Longest input, bytes: as the fuzzer's.
const INPUT_BYTES_MAX: usize = 1 << 16;

/// Inputs of a target, each with where it is from.
type Inputs = BTreeMap<String, Vec<u8>>;

fn cases_folder() -> PathBuf {
    workspace_root().join("tests/fuzz/cases")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The cases that are kept of a target: `.txt` as it is, `.hex` as the bytes that it spells.
fn cases(target: &str) -> Inputs {
    let entries = std::fs::read_dir(cases_folder().join(target)).unwrap();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let is_hex = path.extension().is_some_and(|extension| extension == "hex");
        let bytes = if is_hex {
            unhex(std::str::from_utf8(&bytes).unwrap())
        } else {
            bytes
        };
        (path.file_name().unwrap().to_string_lossy().into_owned(), bytes)
    };
    entries.map(|entry| read(entry.unwrap().path())).collect()
}

/// An input whose first byte leaves every choice at its first.
fn chosen(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    [&[0], bytes.as_ref()].concat()
}

/// Inputs from an episode of two days, by their targets.
fn from_an_episode() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let settings = r#"
        masks = [{ level = "blinded", numeric = "rescaled" }]
        modes = ["open-research"]
        agents = [{ id = "momentum", builtin = "momentum" }]
    "#;
    let episode = OnPanel::new(3, 2, settings);
    let read = |name: &str| std::fs::read(episode.bundle.join(name)).unwrap();
    let bodies = |name: &str| ktd_kit::episode::bodies(&episode.bundle.join(name)).join("\n");
    let exchanges = zstd::decode_all(read("exchanges.jsonl.zst").as_slice()).unwrap();
    let line = |mark: &str| {
        let lines = exchanges
            .split(|byte| *byte == b'\n')
            .map(String::from_utf8_lossy);
        let found = lines.into_iter().find(|line| line.contains(mark)).unwrap();
        found.split_once(mark).unwrap().1.trim_end_matches('}').to_owned()
    };
    vec![
        ("header", "header.json", read("header.json")),
        ("header", "summary.json", read("summary.json")),
        ("header", "episode.json", read("private/episode.json")),
        ("events", "events.jsonl", chosen(bodies("events.jsonl"))),
        ("events", "ledger.jsonl", chosen(bodies("private/ledger.jsonl"))),
        ("exchanges", "exchanges.jsonl", chosen(&exchanges)),
        (
            "exchanges",
            "exchanges.jsonl.zst",
            [&[3], read("exchanges.jsonl.zst").as_slice()].concat(),
        ),
        (
            "chat_completions",
            "recorded reply",
            chosen(line("\"body\":") + "}"),
        ),
    ]
}

/// A Qlib directory of three days as one input.
fn qlib_directory() -> Vec<u8> {
    let bin = |words: [f32; 4]| words.map(f32::to_le_bytes).concat();
    let text = |text: &str| text.as_bytes().to_vec();
    let mut files = vec![
        text("2024-01-02\n2024-01-03\n2024-01-04\n"),
        text("SH600000\t2024-01-02\t2024-01-04\nSZ000001\t2024-01-03\t2024-01-04\n"),
    ];
    for start in [0.0, 0.0] {
        for words in [
            [start, 10.0, 10.1, 10.2],
            [start, 10.3, 10.4, 10.5],
            [start, 9.8, 9.9, 10.0],
            [start, 10.1, 10.2, 10.3],
            [start, 1e6, 2e6, 1.5e6],
            [start, 1.0, 1.0, 0.5],
            [start, 0.01, 0.0, -0.1],
            [start, 1e7, 2e7, 1.5e7],
        ] {
            files.push(bin(words));
        }
    }
    chosen(files.join(b"\n%%\n".as_slice()))
}

/// A panel without the hash that closes it.
fn panel() -> Vec<u8> {
    let (seed, names, days) = (5, 3, 300);
    let market = ktd_env::synth::generate(&ktd_env::synth::SynthConfig { seed, names, days });
    let cut = market.unwrap();
    let cut = cut.cut_after(cut.day_at(6).unwrap());
    let bytes = cut.to_bytes();
    bytes[..bytes.len() - 32].to_vec()
}

/// A certificate with the first of each of its long lists, so that mutations meet its numbers.
fn certificate() -> Vec<u8> {
    const KEPT: usize = 12;
    let path = crate::certify::scene().join("out/certificate.json");
    let mut signed: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let certificate = &mut signed["certificate"];
    for list in ["figures", "unanswered", "controls", "baseline"] {
        certificate[list].as_array_mut().unwrap().truncate(KEPT);
    }
    certificate["files"].as_object_mut().unwrap().clear();
    serde_json::to_vec(&signed).unwrap()
}

/// Every input of every target, before mutation.
fn seeds() -> BTreeMap<&'static str, Inputs> {
    let mut seeds: BTreeMap<&str, Inputs> = TARGETS
        .iter()
        .map(|target| (target.name, cases(target.name)))
        .collect();
    let mut add = |target: &'static str, name: &str, bytes: Vec<u8>| {
        seeds.get_mut(target).unwrap().insert(name.to_owned(), bytes);
    };
    for (target, name, bytes) in from_an_episode() {
        add(target, name, bytes);
    }
    add("qlib_simulation", "three days", qlib_directory());
    add("qlib_import", "three days", qlib_directory());
    add("panel", "seven days", panel());
    add("certificate", "few figures", certificate());
    let configs = std::fs::read_dir(workspace_root().join("runs/configs")).unwrap();
    for path in configs.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        add("experiment", &name, std::fs::read(path).unwrap());
    }
    seeds
}

/// Runs a target; where it panics, the input is printed so that it can be kept.
fn run(target: &str, name: &str, input: &[u8]) {
    let ended = catch_unwind(|| targets::run(target, input));
    assert!(
        ended.is_ok(),
        "{target}, {name}: keep this as a case and fix what it reaches:\n{}",
        ktd_masking::hex(input)
    );
}

/// Words that parsers look for, and numbers at the ends of their types.
const WORDS: [&[u8]; 24] = [
    b"null",
    b"true",
    b"0",
    b"-1",
    b"-0.0",
    b"1e309",
    b"1e-400",
    b"0.1000000000000000055511151231257827",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"4294967296",
    b"NaN",
    b"\"\"",
    b"[]",
    b"{}",
    b"\\u0000",
    b"\\ud800",
    b"\n\n",
    b"data: ",
    b"[DONE]",
    b"\xff\xfe",
    b"\xff\xff\xff\xff",
];

fn mutate(dice: &mut KeyedStream, input: &mut Vec<u8>, others: &[&Vec<u8>]) {
    let place = below(dice, input.len() + 1);
    let end = place + below(dice, (input.len() - place).min(64) + 1);
    match below(dice, 7) {
        0 if place < input.len() => input[place] ^= 1 << below(dice, 8),
        1 if place < input.len() => input[place] = u8::try_from(below(dice, 256)).unwrap(),
        2 => drop(input.drain(place..end)),
        3 => {
            let part = input[place..end].to_vec();
            input.splice(place..place, part);
        }
        4 => {
            let word = WORDS[below(dice, WORDS.len())];
            input.splice(place..end, word.iter().copied());
        }
        5 => input.truncate(place),
        _ => {
            let other = others[below(dice, others.len())];
            let from = below(dice, other.len() + 1);
            input.splice(place..end, other[from..].iter().copied());
        }
    }
    input.truncate(INPUT_BYTES_MAX);
}

#[test]
fn every_case_and_every_mutation_keeps_the_laws() {
    let seeds = seeds();
    for target in TARGETS {
        let inputs = &seeds[target.name];
        assert!(!inputs.is_empty(), "{} has no input", target.name);
        for (name, input) in inputs {
            run(target.name, name, input);
        }
        let mut dice = dice(1, target.name);
        let others: Vec<&Vec<u8>> = inputs.values().collect();
        for number in 0..MUTATIONS {
            let mut input = others[below(&mut dice, others.len())].clone();
            for _ in 0..=below(&mut dice, 4) {
                mutate(&mut dice, &mut input, &others);
            }
            run(target.name, &format!("mutation {number}"), &input);
        }
    }
}

/// Without a good input of its own a target would see refusals alone.
#[test]
fn every_target_has_a_case_and_a_program_of_the_fuzzer() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    let named = |folder: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        entries.map(|entry| stem(entry.unwrap().path())).collect()
    };
    let folder = workspace_root().join("tests/fuzz");
    let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(named(&folder.join("cases")), expected);
    assert_eq!(named(&folder.join("targets")), expected);
    let manifest: toml::Table = std::fs::read_to_string(folder.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let programs = manifest["bin"].as_array().unwrap().iter();
    let programs: BTreeSet<&str> = programs.map(|bin| bin["name"].as_str().unwrap()).collect();
    assert_eq!(programs, names);
}

/// Writes the inputs into a folder from which the fuzzer starts, where `KTD_FUZZ_CORPUS` names one.
#[test]
fn inputs_are_written_where_the_fuzzer_starts_from() {
    let Some(folder) = std::env::var_os("KTD_FUZZ_CORPUS").map(PathBuf::from) else {
        return;
    };
    let seeds = seeds();
    for (target, inputs) in seeds {
        let folder = workspace_root().join(&folder).join(target);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, input) in inputs {
            std::fs::write(folder.join(name), input).unwrap();
        }
    }
}
